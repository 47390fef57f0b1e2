"""What stands before and after each word, as vectors: the left and the right view of the word.

A sentence begins and ends with a boundary, which has a vector too. Each kernel fills left views;
right ones are the left views of the sentence read backwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.corpora.tokens import BOUNDARY

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]


class Smoothed(NamedTuple):
    """Averages of all words before (behind) a word, in which near ones count more.

    For a rate r, ``view(t) = (1 - r) view(t - 1) + r vector(word t - 1)``, which begins with the
    vector of the boundary; several rates stand one after another. Rate 1 is the neighbour alone.
    ``vectors`` has a row for each word number.
    """

    vectors: Float32
    rates: tuple[float, ...]

    @property
    def side(self) -> int:
        """Numbers in one view of a word."""
        return len(self.rates) * self.vectors.shape[1]

    def of(self, ids: Int32) -> Float32:
        """Return the views of every word, left then right; boundaries may lack one, which is 0."""
        views = np.zeros((len(ids), 2 * self.side), np.float32)
        rates = np.asarray(self.rates, np.float32)
        _smooth(ids, self.vectors, rates, views[:, : self.side])
        _smooth(ids[::-1], self.vectors, rates, views[::-1, self.side :])
        return views


class Placed(NamedTuple):
    """Sums of vectors that depend on the word and on its place.

    ``left[i]`` and ``right[i]`` have a row for each word number: its vector where it stands i + 1
    places before, or behind.
    """

    left: Float32
    right: Float32

    @property
    def side(self) -> int:
        """Numbers in one view of a word."""
        return int(self.left.shape[2])

    def of(self, ids: Int32) -> Float32:
        """Return the views of every word, left then right; boundaries may lack one, which is 0."""
        views = np.zeros((len(ids), 2 * self.side), np.float32)
        _place(ids, self.left, views[:, : self.side])
        _place(ids[::-1], self.right, views[::-1, self.side :])
        return views


@njit(cache=True, nogil=True, fastmath=True)
def _smooth(ids: Int32, vectors: Float32, rates: Float32, views: Float32) -> None:
    width = vectors.shape[1]
    for t in range(1, len(ids)):
        before = vectors[ids[t - 1]]
        for k in range(len(rates)):
            rate = rates[k]
            start = k * width
            if ids[t - 1] == BOUNDARY:
                for i in range(width):
                    views[t, start + i] = before[i]
            else:
                for i in range(width):
                    last = views[t - 1, start + i]
                    views[t, start + i] = last + rate * (before[i] - last)


@njit(cache=True, nogil=True, fastmath=True)
def _place(ids: Int32, vectors: Float32, views: Float32) -> None:
    for t in range(1, len(ids)):
        for away in range(1, min(t, len(vectors)) + 1):
            word = ids[t - away]
            seen = vectors[away - 1, word]
            for i in range(len(seen)):
                views[t, i] += seen[i]
            if word == BOUNDARY:
                break
