"""Which trees have crossing arcs, and how to lift them until none is left.

Heads have to be trees (as those of a treebank always are) or unknown (-1).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Heads = NDArray[np.int32]
Offsets = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _under(heads: Heads, word: int, head: int) -> bool:
    """Whether `head` is the root or stands above `word`."""
    above = word
    while above > 0:
        if above == head:
            return True
        above = heads[above - 1]
    return head == 0


@njit(cache=True, nogil=True)
def _shortest_crossing(heads: Heads) -> int:
    """Find the shortest arc over a word that its head does not reach; 0 if there is none."""
    found, shortest = 0, len(heads) + 1
    for modifier in range(1, len(heads) + 1):
        head = heads[modifier - 1]
        span = abs(head - modifier)
        if head < 0 or span >= shortest:
            continue
        for between in range(min(head, modifier) + 1, max(head, modifier)):
            if not _under(heads, between, head):
                found, shortest = modifier, span
                break
    return found


@njit(cache=True, nogil=True)
def crossing_trees(heads: Heads, offsets: Offsets) -> NDArray[np.bool_]:
    """Tell of each sentence whether its tree has crossing arcs, the root before the first word.

    >>> heads = np.array([2, 0, 2, 3, 4, 0, 3], np.int32)
    >>> crossing_trees(heads, np.array([0, 3, 7])).tolist()
    [False, True]
    """
    out = np.zeros(len(offsets) - 1, np.bool_)
    for s in range(len(offsets) - 1):
        out[s] = _shortest_crossing(heads[offsets[s] : offsets[s + 1]]) > 0
    return out


@njit(cache=True, nogil=True)
def lift_crossings(heads: Heads, offsets: Offsets) -> Heads:
    """Give modifiers of crossing arcs their head's head, the shortest arc first, until none cross.

    >>> lift_crossings(np.array([3, 4, 0, 3], np.int32), np.array([0, 4])).tolist()
    [3, 3, 0, 3]
    """
    out = heads.copy()
    for s in range(len(offsets) - 1):
        tree = out[offsets[s] : offsets[s + 1]]
        modifier = _shortest_crossing(tree)
        while modifier > 0:
            tree[modifier - 1] = tree[tree[modifier - 1] - 1]
            modifier = _shortest_crossing(tree)
    return out
