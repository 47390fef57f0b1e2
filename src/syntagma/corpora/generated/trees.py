"""Constituency trees as flat arrays, and what follows from them: brackets and dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.brackets import Brackets
from syntagma.corpora.treebank import Column

IntArray = NDArray[np.int32]


class Dependencies(NamedTuple):
    """One entry per word: its head (0 is the root, else counted from 1) and the arc's label."""

    heads: IntArray
    labels: IntArray


@dataclass(frozen=True)
class Trees:
    """A batch of trees; the nodes of each stand in order, a parent before its children.

    Tree ``t`` owns the nodes ``offsets[t]:offsets[t + 1]``; its words are its nodes with
    ``words >= 0``, left to right. ``parents`` counts from the tree's own first node, -1 for the
    top. ``states`` is the latent state of every node, -1 where it is not known. ``rules`` is the
    rule that expands the node; -1 at a word, and where the grammar has none.
    """

    offsets: NDArray[np.int64]
    symbols: IntArray
    states: IntArray
    parents: IntArray
    words: IntArray
    rules: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, first: int, last: int) -> Trees:
        """Return the trees ``first:last``."""
        offsets = self.offsets[first : last + 1]
        nodes = slice(int(offsets[0]), int(offsets[-1]))
        columns = (self.symbols, self.states, self.parents, self.words, self.rules)
        return Trees(offsets - offsets[0], *(column[nodes] for column in columns))

    @property
    def word_offsets(self) -> NDArray[np.int64]:
        """Where the words of each tree begin, counting words only."""
        before = np.concatenate([[0], np.cumsum(self.words >= 0)])
        return before[self.offsets]

    def global_parents(self) -> NDArray[np.int64]:
        """Return each node's parent as an index into the whole batch, -1 for the tops."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.where(self.parents < 0, -1, self.parents + starts)

    def depths(self) -> IntArray:
        """Return how many nodes stand above each node."""
        parents = self.global_parents()
        depths = np.zeros(len(parents), np.int32)
        above = parents.copy()
        while (alive := above >= 0).any():
            depths += alive
            above = np.where(alive, parents[above], -1)
        return depths

    def columns(self, symbols: list[str], forms: Column) -> Brackets:
        """Return the same trees as the columns of brackets, over the words' written forms."""
        leaf = self.words >= 0
        parents = self.global_parents()
        below = leaf.astype(np.int64)
        depths = self.depths()
        for depth in range(int(depths.max(initial=0)), 0, -1):
            nodes = np.flatnonzero(depths == depth)
            below += np.bincount(parents[nodes], below[nodes], len(below)).astype(np.int64)
        tree = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        words_before: NDArray[np.int64] = np.cumsum(leaf) - leaf
        phrases_before: NDArray[np.int64] = np.cumsum(~leaf) - ~leaf
        first = (words_before - words_before[self.offsets[:-1]][tree])[~leaf]
        start = phrases_before[self.offsets[:-1]][tree]
        above = np.where(parents < 0, -1, phrases_before[parents] - start).astype(np.int32)
        names = np.array(symbols, object)
        return Brackets(
            np.append(phrases_before[self.offsets[:-1]], int((~leaf).sum())),
            Column.of(names[self.symbols[~leaf]].tolist()),
            above[~leaf],
            first.astype(np.int32),
            (first + below[~leaf]).astype(np.int32),
            self.word_offsets,
            forms,
            Column.of(names[self.symbols[leaf]].tolist()),
            above[leaf],
        )
