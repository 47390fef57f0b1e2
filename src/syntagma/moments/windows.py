"""Counts of windows of three symbols: all that spectral learning of an HMM asks of a corpus.

Counts are whole numbers, kept as a sorted list of what was seen. They do not depend on the order of
the sequences, nor on the number of workers, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.moments.passes import Statistics
from syntagma.moments.trigrams import Moments

Int64 = NDArray[np.int64]
DENSE = 4_000_000  # so many possible keys are counted in an array, more by sorting
MOST_SYMBOLS = 2_000_000  # three of them make a key of 63 bits


class Chunk(NamedTuple):
    """Some sequences: numbers of symbols, and where each sequence starts."""

    symbols: NDArray[np.int32]
    offsets: Int64


class Tally:
    """How often each key was seen, the keys in order."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys = np.zeros(0, np.int64)
        self.counts = np.zeros(0, np.int64)

    def add(self, keys: Int64, counts: Int64 | None = None) -> None:
        """Count keys, each once or so many times."""
        if self.size <= DENSE:
            # sums stay exact below 2^53
            sums = np.bincount(keys, counts, minlength=self.size).astype(np.int64)
            sums[self.keys] += self.counts
            self.keys = np.flatnonzero(sums)
            self.counts = sums[self.keys]
            return
        if counts is None:
            keys, counts = np.unique(keys, return_counts=True)
        together = np.concatenate([self.keys, keys])
        self.keys, place = np.unique(together, return_inverse=True)
        weights = np.concatenate([self.counts, counts])
        self.counts = np.bincount(place, weights, minlength=len(self.keys)).astype(np.int64)


class Windows(Statistics[Chunk]):
    """First symbols, neighbours and windows of three of sequences over so many symbols."""

    def __init__(self, symbols: int) -> None:
        if symbols > MOST_SYMBOLS:
            raise InputError(f"expected at most {MOST_SYMBOLS:,} symbols, found {symbols:,}")
        self.symbols = symbols
        self.first = np.zeros(symbols, np.int64)
        self.unigrams = np.zeros(symbols, np.int64)
        self.last_pairs = Tally(symbols**2)
        self.triples = Tally(symbols**3)

    def zero(self) -> Windows:
        """Return counts over the same symbols that have seen nothing."""
        return Windows(self.symbols)

    def add(self, chunk: Chunk) -> None:
        """Count the windows of some sequences."""
        symbols, offsets = chunk.symbols.astype(np.int64), chunk.offsets
        size = self.symbols
        lengths = np.diff(offsets)
        self.first += np.bincount(symbols[offsets[:-1][lengths > 0]], minlength=size)
        self.unigrams += np.bincount(symbols, minlength=size)
        ends = offsets[1:][lengths > 1] - 2
        self.last_pairs.add(symbols[ends + 1] * size + symbols[ends])
        inside = np.ones(len(symbols), bool)
        inside[offsets[1:][lengths > 0] - 1] = False
        inside[ends] = False
        starts = np.flatnonzero(inside)
        middle, last, before = symbols[starts + 1], symbols[starts + 2], symbols[starts]
        self.triples.add((middle * size + last) * size + before)

    def merge(self, other: Windows) -> None:
        """Count what `other` has counted."""
        self.first += other.first
        self.unigrams += other.unigrams
        self.last_pairs.add(other.last_pairs.keys, other.last_pairs.counts)
        self.triples.add(other.triples.keys, other.triples.counts)

    def moments(self) -> Moments:
        """Turn counts into relative frequencies."""
        size, total = self.symbols, int(self.triples.counts.sum())
        if not total:
            raise InputError(
                "expected sequences of three symbols or more, found none: spectral learning "
                "counts windows of three; give longer sequences, or learn by EM"
            )
        pairs, before = np.divmod(self.triples.keys, size)
        middle, last = np.divmod(pairs, size)
        return Moments(
            first=self.first / self.first.sum(),
            unigrams=self.unigrams / self.unigrams.sum(),
            before=before,
            middle=middle,
            last=last,
            weights=self.triples.counts / total,
            last_pairs=np.stack(np.divmod(self.last_pairs.keys, size)),
            last_weights=self.last_pairs.counts / total,
            windows=total,
        )
