"""The k best trees: the set of all trees is split around the second best again and again.

The best tree of a set and its second best differ in one arc into some node of the contraction, for
which the second best has the next best arc from a node that is not below it (Camerini, Fratta and
Maffioli 1980; Zmigrod et al. 2021). So the arc to give up is known, and what that costs; the set
falls into the trees with this arc, whose best is known already, and those without it, whose best is
the second best. With a single root, arcs of the root make room for none but such.

A set is described by the arcs that its trees must or must not have, as a list of differences.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.structures.arborescences_best import (
    FREE,
    Nodes,
    contract,
    expand,
    load_words,
    score_tree,
)
from syntagma.structures.arborescences_sample import mark_below
from syntagma.structures.base import FloatArray, IntArray
from syntagma.structures.eisner import Sentence

Int64Array = NDArray[np.int64]


class Sets(NamedTuple):
    """Sets of trees; each is part of its parent, by one arc that must or must not be there.

    ``ranks`` is that of the best tree of a set, ``given_up`` the word whose arc differs in the
    second best, and ``scores`` those of the second best, -inf if there is none left.
    """

    parents: Int64Array
    modifiers: Int64Array
    heads: Int64Array
    required: NDArray[np.bool_]
    ranks: Int64Array
    given_up: Int64Array
    scores: FloatArray


@njit(cache=True, nogil=True)
def _make_sets(count: int) -> Sets:
    return Sets(
        np.full(count, -1, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.bool_),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, -math.inf),
    )


@njit(cache=True, nogil=True)
def _second_best(
    n: int, count: int, single: bool, nodes: Nodes, heads: IntArray
) -> tuple[float, int]:
    """Price the second best tree: its loss, inf if there is none, and the word that changes."""
    below = np.empty(n + 1, np.int32)
    smallest, given_up = math.inf, 0
    for v in range(1, count):
        if nodes.states[v] == FREE:
            continue  # another arc replaced the one chosen
        source, entry = nodes.sources[v], nodes.entries[v]
        best = nodes.seconds[v]
        if not single or source > 0:
            mark_below(heads, n, entry, below)
            for u in range(1 if single else 0, n + 1):
                if u != source and not below[u] and nodes.weights[v, u] > best:
                    best = nodes.weights[v, u]
        if nodes.gains[v] - best < smallest:
            smallest, given_up = nodes.gains[v] - best, entry
    return smallest, given_up


@njit(cache=True, nogil=True)
def _solve(sentence: Sentence, sets: Sets, index: int, nodes: Nodes, heads: IntArray) -> None:
    """Find the best tree of a set, and price its second best."""
    n = sentence.words
    load_words(sentence, nodes)
    part = index
    while sets.parents[part] >= 0:
        row, head = nodes.weights[sets.modifiers[part]], sets.heads[part]
        kept = row[head] if sets.required[part] else -math.inf
        if sets.required[part]:
            row[: n + 1] = -math.inf
        row[head] = kept
        part = sets.parents[part]
    count = contract(n, sentence.single, True, nodes)
    expand(count, n, nodes, heads)
    loss, sets.given_up[index] = _second_best(n, count, sentence.single, nodes, heads)
    sets.scores[index] = score_tree(sentence, heads) - loss


@njit(cache=True, nogil=True)
def _reconcile(
    sentence: Sentence, sets: Sets, index: int, known: IntArray, found: IntArray
) -> None:
    """Keep to the best tree known: another one found is as good, and so the second best."""
    for m in range(1, sentence.words + 1):
        if known[m - 1] != found[m - 1]:
            sets.given_up[index] = m
            sets.scores[index] = score_tree(sentence, found)
            return


@njit(cache=True, nogil=True)
def best_arborescences(
    sentence: Sentence, nodes: Nodes, scores: FloatArray, heads: IntArray
) -> None:
    """Fill ``scores`` and the rows of ``heads`` with the k best trees, best first.

    What does not exist is left as it was.
    """
    n, k = sentence.words, scores.size
    load_words(sentence, nodes)
    count = contract(n, sentence.single, False, nodes)
    if count == 0:
        return
    expand(count, n, nodes, heads[0])
    scores[0] = score_tree(sentence, heads[0])
    if k == 1:
        return
    sets = _make_sets(2 * k)
    _solve(sentence, sets, 0, nodes, heads[0])
    again = np.empty(n, np.int32)
    made = 1
    for rank in range(1, k):
        split = int(np.argmax(sets.scores[:made]))
        if sets.scores[split] == -math.inf:
            return
        tree = heads[sets.ranks[split]]
        for required in (True, False):
            sets.parents[made] = split
            sets.modifiers[made] = sets.given_up[split]
            sets.heads[made] = tree[sets.given_up[split] - 1]
            sets.required[made] = required
            sets.ranks[made] = sets.ranks[split] if required else rank
            _solve(sentence, sets, made, nodes, again if required else heads[rank])
            if required:
                _reconcile(sentence, sets, made, tree, again)
            made += 1
        sets.scores[split] = -math.inf
        # prices are differences of sums: rounding must not disturb the order
        scores[rank] = min(scores[rank - 1], score_tree(sentence, heads[rank]))
