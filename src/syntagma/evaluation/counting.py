"""Counts per sentence, from which every figure, interval and list of worst sentences is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Ratio(NamedTuple):
    """A figure kept sentence by sentence: what was right, out of what was scored."""

    right: Counts
    total: Counts

    @property
    def percent(self) -> float | None:
        """The figure over all sentences, or None where nothing was scored."""
        return percent(int(self.right.sum()), int(self.total.sum()))


def percent(part: float, whole: float) -> float | None:
    """Part of the whole in per cent, or None of an empty whole.

    >>> percent(1, 4)
    25.0
    """
    return 100.0 * part / whole if whole else None


def per_sentence(mask: Mask, offsets: NDArray[np.int64]) -> Counts:
    """Count the true words of each sentence.

    >>> per_sentence(np.array([True, False, True]), np.array([0, 2, 2, 3])).tolist()
    [1, 0, 1]
    """
    running = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
    return running[offsets[1:]] - running[offsets[:-1]]


def filled(column: Column) -> Mask:
    """Mark the words whose value is not the empty one (`_`)."""
    return np.array([name != "_" for name in column.names], dtype=bool)[column.ids]


def same(one: Column, other: Column) -> Mask:
    """Mark the words where two columns hold the same string."""
    index = {name: i for i, name in enumerate(one.names)}
    table = np.array([index.get(name, -1) for name in other.names], dtype=np.int64)
    return table[other.ids] == one.ids
