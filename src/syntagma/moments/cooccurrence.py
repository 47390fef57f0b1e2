"""How often two words stand at a given distance: sparse counts that add up over a corpus.

A sentence is its words with a boundary at both ends; pairs reach as far as the boundaries and
include them, so that the first word of a sentence has a neighbour on its left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.corpora.tokens import BOUNDARY
from syntagma.moments.passes import Statistics

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Run(NamedTuple):
    """Sorted keys and their counts."""

    keys: Int64
    counts: Int64


class PairCounts(Statistics[Int32]):
    """Counts of pairs of words, at several distances.

    Parameters
    ----------
    size
        Different words, boundary and unknown word included.
    distances
        1 pairs a word with the next, 2 with the one after, ...
    """

    def __init__(self, size: int, distances: Sequence[int]) -> None:
        self.size = size
        self.distances = tuple(distances)
        # runs of falling length: each pair is copied once per doubling, not once per chunk
        self._runs: list[Run] = []

    def zero(self) -> PairCounts:
        """Return counts of nothing."""
        return PairCounts(self.size, self.distances)

    def add(self, chunk: Int32) -> None:
        """Count the pairs of whole sentences, given with the boundaries at both ends."""
        ids = np.asarray(chunk).astype(np.int64)
        boundaries = np.cumsum(ids == BOUNDARY)
        keys = []
        for place, distance in enumerate(self.distances):
            if distance >= len(ids):
                continue
            # no boundary stands between the two
            near = boundaries[distance - 1 : -1] == boundaries[:-distance]
            first = ids[:-distance] + place * self.size
            keys.append((first * self.size + ids[distance:])[near])
        flat = np.sort(np.concatenate([np.empty(0, np.int64), *keys]))
        starts = np.flatnonzero(np.diff(flat, prepend=-1))
        self._take(Run(flat[starts], np.diff(starts, append=len(flat))))

    def merge(self, other: PairCounts) -> None:
        """Add the counts of other sentences."""
        for run in other._runs:
            self._take(run)

    def _take(self, run: Run) -> None:
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2].keys) < 2 * len(self._runs[-1].keys):
            self._join()

    def _join(self) -> None:
        second, first = self._runs.pop(), self._runs.pop()
        keys, counts = _merged(first.keys, first.counts, second.keys, second.counts)
        self._runs.append(Run(keys, counts))

    def matrix(self, distance: int) -> Any:
        """Return the counts at one distance: a sparse matrix, rows are the first words."""
        from scipy.sparse import csr_array

        while len(self._runs) > 1:
            self._join()
        keys, counts = self._runs[0] if self._runs else Run(*np.zeros((2, 0), np.int64))
        block = self.size**2
        place = self.distances.index(distance)
        start, stop = np.searchsorted(keys, [place * block, (place + 1) * block])
        rows, columns = np.divmod(keys[start:stop] - place * block, self.size)
        starts = np.searchsorted(rows, np.arange(self.size + 1))
        shape = (self.size, self.size)
        values = counts[start:stop].astype(np.float64)
        return csr_array((values, columns.astype(np.int32), starts.astype(np.int32)), shape=shape)


@njit(cache=True, nogil=True)
def _merged(
    keys: Int64, counts: Int64, other_keys: Int64, other_counts: Int64
) -> tuple[Int64, Int64]:
    """Merge two sorted lists of keys, adding the counts of those in both."""
    n, m = len(keys), len(other_keys)
    found = np.empty(n + m, np.int64)
    sums = np.empty(n + m, np.int64)
    i, j, out = 0, 0, 0
    while i < n or j < m:
        if j == m or (i < n and keys[i] < other_keys[j]):
            found[out], sums[out] = keys[i], counts[i]
            i += 1
        elif i == n or other_keys[j] < keys[i]:
            found[out], sums[out] = other_keys[j], other_counts[j]
            j += 1
        else:
            found[out], sums[out] = keys[i], counts[i] + other_counts[j]
            i += 1
            j += 1
        out += 1
    return found[:out].copy(), sums[:out].copy()
