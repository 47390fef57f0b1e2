"""The best non-projective tree: Chu-Liu-Edmonds on dense scores, in O(n^2) (Tarjan 1977).

A path grows from some word along the best arcs into its last node. Where it meets itself, the
cycle is contracted into one node, whose arcs are worth what they gain over the arcs of the cycle
that they replace; where it meets a finished node or the root, all of it is finished. There are
fewer than 2n nodes, and each is looked at and merged once, in O(n).

A single root needs no penalty: trees are compared by their number of arcs from the root first, and
by their score second (the exactness is that of Zmigrod et al. 2020, "Please mind the root"). Every
arc from the root into a node weighs one unit of the first kind more than any other arc into it,
and contraction keeps that difference; so an arc from the root is chosen only where there is no
other, and a second one of them says that no tree has a single root.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.structures.base import FloatArray, IntArray
from syntagma.structures.eisner import Sentence
from syntagma.structures.eisner_weights import largest

Int64Array = NDArray[np.int64]


class Nodes(NamedTuple):
    """Words 1..n and contracted cycles from n + 1 on; row ``v`` belongs to node ``v``.

    ``weights[v, u]`` is what the best arc from ``u`` into node ``v`` gains, and ``targets[v, u]``
    the word where it ends. ``sources``, ``entries`` and ``gains`` are those of the arc chosen, and
    ``seconds`` the gain of the best other one from the same source. ``above`` is the cycle that a
    node is part of, or -1. ``tops[w]`` is the outermost node around word ``w``, and ``spent[w]``
    the gains of the arcs that an arc into ``w`` replaces inside it.
    """

    weights: FloatArray
    targets: Int64Array
    sources: Int64Array
    entries: Int64Array
    gains: FloatArray
    seconds: FloatArray
    above: Int64Array
    states: Int64Array
    tops: Int64Array
    spent: FloatArray
    path: Int64Array


FREE, ON_PATH, FINISHED = range(3)


@njit(cache=True, nogil=True)
def make_nodes(words: int) -> Nodes:
    """Allocate nodes for sentences of up to ``words`` words."""
    nodes = 2 * words + 1
    return Nodes(
        np.empty((nodes, words + 1)),
        np.empty((nodes, words + 1), np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(words + 1, np.int64),
        np.empty(words + 1),
        np.empty(nodes, np.int64),
    )


@njit(cache=True, nogil=True)
def load_words(sentence: Sentence, nodes: Nodes) -> None:
    """Write the rows of the words: their arcs, by head."""
    n = sentence.words
    for h in range(n + 1):
        scores = sentence.arcs[h * (n + 1) : (h + 1) * (n + 1)]
        for m in range(1, n + 1):
            nodes.weights[m, h] = scores[m]
    for m in range(1, n + 1):
        nodes.weights[m, m] = -math.inf
        nodes.targets[m, : n + 1] = m


@njit(cache=True, nogil=True)
def _choose_arc(v: int, n: int, single: bool, second: bool, nodes: Nodes) -> bool:
    """Choose the best arc into a node, from the first word if several are; say if there is one."""
    row = nodes.weights[v]
    top = largest(row[1 : n + 1])
    source = 0
    if row[0] > top and not (single and top > -math.inf):
        top = row[0]
    elif top > -math.inf:
        source = 1
        while row[source] != top:
            source += 1
    else:
        return False
    entry = nodes.targets[v, source]
    nodes.sources[v], nodes.entries[v], nodes.gains[v] = source, entry, top
    nodes.seconds[v] = -math.inf
    if second and v > n:
        for w in range(1, n + 1):
            if nodes.tops[w] == v and w != entry:
                gain = nodes.weights[w, source] - nodes.spent[w]
                nodes.seconds[v] = max(nodes.seconds[v], gain)
    return True


@njit(cache=True, nogil=True)
def _merge(into: int, c: int, n: int, nodes: Nodes) -> None:
    """Raise the arcs into a cycle by those into one of its nodes."""
    gain = nodes.gains[c]
    weights, targets = nodes.weights[into, : n + 1], nodes.targets[into, : n + 1]
    others, ends = nodes.weights[c, : n + 1], nodes.targets[c, : n + 1]
    for u in range(n + 1):
        value = others[u] - gain
        better = value > weights[u]
        weights[u] = value if better else weights[u]
        targets[u] = ends[u] if better else targets[u]
    nodes.above[c] = into
    nodes.above[into] = -1


@njit(cache=True, nogil=True)
def contract(n: int, single: bool, second: bool, nodes: Nodes) -> int:
    """Choose an arc into every node; return the number of nodes and the root, 0 if impossible.

    ``second`` asks for ``seconds`` too.
    """
    count = n + 1
    roots = 0
    for w in range(n + 1):
        nodes.above[w] = -1
        nodes.states[w] = FREE
        nodes.tops[w] = w
        nodes.spent[w] = 0.0
    nodes.states[0] = FINISHED
    for start in range(1, n + 1):
        v = nodes.tops[start]
        depth = 0
        while nodes.states[v] != FINISHED:
            nodes.path[depth] = v
            nodes.states[v] = ON_PATH
            depth += 1
            if not _choose_arc(v, n, single, second, nodes):
                return 0
            if nodes.sources[v] == 0:
                roots += 1
                if single and roots > 1:
                    return 0
            v = nodes.tops[nodes.sources[v]]
            if nodes.states[v] != ON_PATH:
                continue
            cycle = count
            count += 1
            nodes.states[cycle] = FREE
            nodes.weights[cycle, : n + 1] = -math.inf
            nodes.targets[cycle, : n + 1] = 0
            c = -1
            while c != v:
                depth -= 1
                c = nodes.path[depth]
                _merge(cycle, c, n, nodes)
            for w in range(1, n + 1):
                if nodes.above[nodes.tops[w]] == cycle:
                    nodes.spent[w] += nodes.gains[nodes.tops[w]]
                    nodes.tops[w] = cycle
                    nodes.weights[cycle, w] = -math.inf
            v = cycle
        for d in range(depth):
            nodes.states[nodes.path[d]] = FINISHED
    return count


@njit(cache=True, nogil=True)
def expand(count: int, n: int, nodes: Nodes, heads: IntArray) -> None:
    """Write the tree, from the outermost cycles inwards.

    The arc into a node replaces those chosen for the nodes inside it around its end, whose states
    become `FREE`; one node for each word keeps its arc.
    """
    for v in range(count - 1, 0, -1):
        if nodes.states[v] == FREE:
            continue
        w = nodes.entries[v]
        heads[w - 1] = nodes.sources[v]
        while w != v:
            nodes.states[w] = FREE
            w = nodes.above[w]


@njit(cache=True, nogil=True)
def score_tree(sentence: Sentence, heads: IntArray) -> float:
    """Sum the scores of the arcs, from the first word on."""
    score = 0.0
    for m in range(1, sentence.words + 1):
        score += sentence.arcs[heads[m - 1] * (sentence.words + 1) + m]
    return score
