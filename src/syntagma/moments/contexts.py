"""Sums of the contexts of words over a corpus: all that a correlation with dense views needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.blas import ssyrk

from syntagma.corpora.tokens import BOUNDARY
from syntagma.moments.passes import Statistics
from syntagma.moments.views import Placed, Smoothed

Float32 = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Int32 = NDArray[np.int32]

BLOCK = 2048  # words whose views are held at once


class Context(NamedTuple):
    """The sum of the views of each word number, (numbers, both sides), and their second moment.

    The second moment is summed over words; boundaries, whose views lack a side, are left out.
    """

    sums: FloatArray
    moment: FloatArray


class ContextSums(Statistics[Int32]):
    """Sums of left and right views over the occurrences of words.

    Parameters
    ----------
    views
        What the views are.
    size
        Different words, boundary and unknown word included.
    """

    def __init__(self, views: Smoothed | Placed, size: int) -> None:
        self.views = views
        self.size = size
        self._sums: NDArray[Any] | None = None
        self._moment = np.zeros((2 * views.side, 2 * views.side))

    def zero(self) -> ContextSums:
        """Return sums over nothing."""
        return ContextSums(self.views, self.size)

    def add(self, chunk: Int32) -> None:
        """Sum over the words of whole sentences, given with the boundaries at both ends."""
        ids = np.ascontiguousarray(chunk)
        if self._sums is None:
            # single precision is enough for the few occurrences in a chunk
            self._sums = np.zeros((self.size, 2 * self.views.side), np.float32)
        for part in portions(ids, BLOCK):
            views = self.views.of(part)
            _scatter(part, views, self._sums)
            views[part == BOUNDARY] = 0.0
            self._moment += ssyrk(1.0, views.T)

    def merge(self, other: ContextSums) -> None:
        """Add the sums over other sentences."""
        self._moment += other._moment
        if other._sums is not None:
            if self._sums is None:
                self._sums = np.zeros(other._sums.shape)
            self._sums += other._sums

    def found(self) -> Context:
        """Return the sums."""
        upper = np.triu(self._moment)
        sums = np.zeros((self.size, 2 * self.views.side)) if self._sums is None else self._sums
        return Context(sums.astype(np.float64, copy=False), upper + np.triu(upper, 1).T)


def portions(ids: Int32, most: int) -> list[Int32]:
    """Cut a chunk into runs of whole sentences of about so many words, boundaries included."""
    boundaries = np.flatnonzero(ids == BOUNDARY)
    found, first = [], 0
    while first < len(boundaries) - 1:
        last = int(np.searchsorted(boundaries, boundaries[first] + most, side="right")) - 1
        last = max(last, first + 1)
        found.append(ids[boundaries[first] : boundaries[last] + 1])
        first = last
    return found


@njit(cache=True, nogil=True, fastmath=True)
def _scatter(ids: Int32, views: Float32, sums: Float32) -> None:
    for t in range(len(ids)):
        total, seen = sums[ids[t]], views[t]
        for i in range(len(total)):
            total[i] += seen[i]
