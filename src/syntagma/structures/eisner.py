"""The grammar of projective dependency trees: items, and the ways to build each.

Positions are 0 (the root) and 1..n (the words). Every projective tree has exactly one derivation,
so sums over derivations are sums over trees (Eisner 1996; McDonald and Pereira 2006 for adjacent
siblings). An item covers the positions i..j:

========== =====================================================================================
SPLIT      two neighbouring half trees, headed by i and by j
OPEN_RIGHT the arc i -> j with everything between them
OPEN_LEFT  the arc j -> i with everything between them
RIGHT      i with all of its right modifiers, the last of which ends at j
LEFT       j with all of its left modifiers, the first of which begins at i
========== =====================================================================================

`RIGHT` from 0 to n is a whole tree. An edge joins a left and a right item at a position k.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from syntagma.structures.base import FloatArray, IntArray, Offsets

SPLIT, OPEN_RIGHT, OPEN_LEFT, RIGHT, LEFT = range(5)
KINDS = 5
SPLIT_ACROSS, OPEN_LEFT_ACROSS = KINDS, KINDS + 1  # copies with columns as rows, second order
TABLES = KINDS + 2

# items over one span are built in this order, and taken apart in the other
UPWARD = (SPLIT, OPEN_LEFT, OPEN_RIGHT, LEFT, RIGHT)
DOWNWARD = (RIGHT, LEFT, OPEN_RIGHT, OPEN_LEFT, SPLIT)


class Batch(NamedTuple):
    """Scores of a batch of sentences; ``siblings`` is empty when ``second`` is false."""

    arcs: FloatArray
    siblings: FloatArray
    offsets: Offsets
    arc_starts: Offsets
    sibling_starts: Offsets
    single: bool
    second: bool


class Sentence(NamedTuple):
    """The scores of one sentence of ``words`` words, as flat blocks."""

    arcs: FloatArray
    siblings: FloatArray
    words: int
    single: bool
    second: bool


@njit(cache=True, nogil=True)
def sentence_of(batch: Batch, s: int) -> Sentence:
    """Take sentence ``s`` out of a batch, without copying."""
    return Sentence(
        batch.arcs[batch.arc_starts[s] : batch.arc_starts[s + 1]],
        batch.siblings[batch.sibling_starts[s] : batch.sibling_starts[s + 1]],
        batch.offsets[s + 1] - batch.offsets[s],
        batch.single,
        batch.second,
    )


@njit(cache=True, nogil=True)
def item_at(kind: int, i: int, j: int, words: int, stride: int) -> int:
    """Place of an item in a flat chart whose rows are ``stride`` long."""
    return (kind * (words + 1) + i) * stride + j


@njit(cache=True, nogil=True)
def exists(kind: int, i: int) -> bool:
    """Say whether items of this kind begin at position i: the root modifies nothing."""
    return i > 0 or (kind != OPEN_LEFT and kind != LEFT)


@njit(cache=True, nogil=True)
def edge_range(kind: int, i: int, j: int, sentence: Sentence) -> tuple[int, int]:
    """First and last + 1 position k at which an item over i < j can be joined."""
    if kind == RIGHT:
        return i + 1, j + 1
    if kind == LEFT:
        return i, j
    if not sentence.second and kind != SPLIT:
        return i, i + 1
    if kind == OPEN_LEFT:
        return i + 1, j + 1
    if i == 0 and sentence.single:
        return 0, 1  # nothing may hang on the root before its only child
    return i, j


@njit(cache=True, nogil=True)
def edge_items(
    kind: int, i: int, j: int, k: int, sentence: Sentence, stride: int
) -> tuple[int, int]:
    """Places of the left and the right item that edge k joins; an axiom has i = j."""
    n = sentence.words
    if kind == SPLIT:
        return item_at(RIGHT, i, k, n, stride), item_at(LEFT, k + 1, j, n, stride)
    if kind == RIGHT:
        return item_at(OPEN_RIGHT, i, k, n, stride), item_at(RIGHT, k, j, n, stride)
    if kind == LEFT:
        return item_at(LEFT, i, k, n, stride), item_at(OPEN_LEFT, k, j, n, stride)
    if not sentence.second:
        return item_at(SPLIT, i, j, n, stride), item_at(RIGHT, j, j, n, stride)
    if kind == OPEN_RIGHT:
        if k == i:
            return item_at(RIGHT, i, i, n, stride), item_at(LEFT, i + 1, j, n, stride)
        return item_at(OPEN_RIGHT, i, k, n, stride), item_at(SPLIT, k, j, n, stride)
    if k == j:
        return item_at(RIGHT, i, j - 1, n, stride), item_at(LEFT, j, j, n, stride)
    return item_at(SPLIT, i, k, n, stride), item_at(OPEN_LEFT, k, j, n, stride)


@njit(cache=True, nogil=True)
def edge_score(kind: int, i: int, j: int, k: int, sentence: Sentence) -> float:
    """Score that an edge adds to those of its items: that of the arc it draws, if any."""
    if kind == OPEN_RIGHT:
        arc = i * (sentence.words + 1) + j
    elif kind == OPEN_LEFT:
        arc = j * (sentence.words + 1) + i
    else:
        return 0.0
    score = sentence.arcs[arc]
    if sentence.second:
        score += sentence.siblings[arc * (sentence.words + 1) + k]
    return score


@njit(cache=True, nogil=True)
def item_span(item: int, words: int, stride: int) -> tuple[int, int, int]:
    """Kind, i and j of a place in a flat chart whose rows are ``stride`` long."""
    row, j = divmod(item, stride)
    kind, i = divmod(row, words + 1)
    return kind, i, j


@njit(cache=True, nogil=True)
def sibling_of(heads: IntArray, modifier: int) -> int:
    """Nearest word between a modifier and its head with the same head; the head if none."""
    head = heads[modifier - 1]
    step = 1 if head > modifier else -1
    for between in range(modifier + step, head, step):
        if heads[between - 1] == head:
            return between
    return head


@njit(cache=True, nogil=True)
def score_trees(batch: Batch, heads: IntArray) -> FloatArray:
    """Sum the scores of the parts of one tree a sentence; a head of -1 makes it impossible."""
    scores = np.zeros(batch.offsets.size - 1)
    for s in range(scores.size):
        sentence = sentence_of(batch, s)
        tree = heads[batch.offsets[s] : batch.offsets[s + 1]]
        for m in range(1, sentence.words + 1):
            if tree[m - 1] < 0:
                scores[s] = -math.inf
                break
            arc = tree[m - 1] * (sentence.words + 1) + m
            scores[s] += sentence.arcs[arc]
            if sentence.second:
                scores[s] += sentence.siblings[arc * (sentence.words + 1) + sibling_of(tree, m)]
    return scores
