"""Moments of three neighbouring symbols, and their projections into few dimensions.

They come from counts, or exactly from a known model; nothing here is as large as the square of the
number of symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]


class Moments(NamedTuple):
    """Relative frequencies of first symbols, of all symbols, and of windows of three.

    Window w holds the symbols ``before[w], middle[w], last[w]`` with weight ``weights[w]``; windows
    are sorted by their middle and the weights sum to one. The pairs ``last_pairs`` (later symbol,
    earlier symbol) end the sequences and so start no window; their weights are per window too.
    ``windows`` is how many were counted.
    """

    first: FloatArray
    unigrams: FloatArray
    before: Int64
    middle: Int64
    last: Int64
    weights: FloatArray
    last_pairs: Int64
    last_weights: FloatArray
    windows: int

    @property
    def symbols(self) -> int:
        """How many different symbols there are."""
        return len(self.first)

    def neighbours(self) -> tuple[Int64, Int64, FloatArray]:
        """All pairs of neighbours: the later symbol, the earlier one and their weight."""
        later = np.concatenate([self.middle, self.last_pairs[0]])
        earlier = np.concatenate([self.before, self.last_pairs[1]])
        weights = np.concatenate([self.weights, self.last_weights])
        return later, earlier, weights / weights.sum()

    def middles(self) -> FloatArray:
        """How often each symbol stands in the middle of a window."""
        found = np.bincount(self.middle, self.weights, minlength=self.symbols)
        return found.astype(np.float64)

    def project(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Sum ``left[last] right[before]'`` over the windows of each middle symbol: (n, k, k)."""
        starts = np.searchsorted(self.middle, np.arange(self.symbols + 1))
        out = np.zeros((self.symbols, left.shape[1], right.shape[1]))
        project_windows(left, right, self.before, self.last, self.weights, starts, out)
        return out

    def project_pairs(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Sum ``left[middle] right[before]'`` over the windows: (k, k)."""
        starts = np.searchsorted(self.middle, np.arange(self.symbols + 1))
        sums = np.zeros((self.symbols, right.shape[1]))
        sum_contexts(right, self.before, self.weights, starts, sums)
        return left.T @ sums

    def project_before(self, right: FloatArray) -> FloatArray:
        """Mean of ``right[before]`` over the windows."""
        return np.bincount(self.before, self.weights, minlength=self.symbols) @ right


@njit(cache=True, nogil=True, parallel=True)
def project_windows(
    left: FloatArray,
    right: FloatArray,
    before: Int64,
    last: Int64,
    weights: FloatArray,
    starts: Int64,
    out: FloatArray,
) -> None:
    """Fill one matrix for each middle symbol, whose windows are ``starts[x]:starts[x + 1]``."""
    for x in prange(len(starts) - 1):
        target = out[x]
        for w in range(starts[x], starts[x + 1]):
            row, column = left[last[w]], right[before[w]]
            for i in range(len(row)):
                share = weights[w] * row[i]
                for j in range(len(column)):
                    target[i, j] += share * column[j]


@njit(cache=True, nogil=True, parallel=True)
def sum_contexts(
    right: FloatArray, before: Int64, weights: FloatArray, starts: Int64, out: FloatArray
) -> None:
    """Fill one row for each middle symbol: the sum of what stood before it."""
    for x in prange(len(starts) - 1):
        for w in range(starts[x], starts[x + 1]):
            column = right[before[w]]
            for j in range(len(column)):
                out[x, j] += weights[w] * column[j]
