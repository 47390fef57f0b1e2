"""Trees drawn exactly, by taking the elimination of the words back one word at a time.

Random walks (Wilson 1996) need not end in sensible time where words prefer each other strongly;
here every tree takes a bounded number of steps.

Let a tree over the words before ``v`` be drawn, by the weights without ``v``. Each of its arcs
from ``h`` to ``m`` stands for itself or for the way through ``v``, by their parts in its weight; in
the second case ``m`` becomes a modifier of ``v``, and ``h`` is forgotten. Then ``v`` takes its head
by its shares, among the words that are not below it now. This is exact: the ways to choose the
heads forgotten, so that the pieces hang together, sum to the share of the piece that holds the root
(Cayley's formula with weights), as do the ways to choose the head of ``v``.

Which word replaces an arc is drawn when the arc appears: its weight is the sum of its own and of
one term for every word to come.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from syntagma.structures.base import FloatArray, IntArray
from syntagma.structures.chain_sample import choose, mix, to_mass
from syntagma.structures.eisner import Sentence


@njit(cache=True, nogil=True)
def mark_below(heads: IntArray, words: int, top: int, below: IntArray) -> None:
    """Mark by 1 the word ``top`` and all of the first words that hang on it, others by 0."""
    below[: words + 1] = -1
    below[0] = 0
    below[top] = 1
    for word in range(1, words + 1):
        end = word
        while below[end] < 0:
            end = heads[end - 1]
        mark = below[end]
        end = word
        while below[end] < 0:
            below[end] = mark
            end = heads[end - 1]


@njit(cache=True, nogil=True)
def _uniform(key: np.uint64) -> float:
    return np.float64(key >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _replacement(
    m: int,
    h: int,
    sentence: Sentence,
    weights: FloatArray,
    shares: FloatArray,
    logarithms: bool,
    top: int,
    uniform: float,
) -> int:
    """Draw the word through which an arc really goes; the number of words plus one if none."""
    n = sentence.words
    itself = sentence.arcs[h * (n + 1) + m] > -math.inf
    last = n
    if h == 0 and m < top <= n:
        itself, last = False, top  # the word below the root stands in its place
    found = n + 1
    rest = uniform if logarithms else uniform * weights[m, h]
    for v in range(max(m, h) + 1, last + 1):
        if logarithms:
            part = math.exp(weights[m, v] + shares[v, h] - weights[m, h])
        else:
            part = weights[m, v] * shares[v, h]
        if part > 0.0:
            rest -= part
            if rest < 0.0:
                return v
            found = v
    return n + 1 if itself else found  # the last possible one takes what rounding leaves over


@njit(cache=True, nogil=True)
def draw_arborescence(
    sentence: Sentence,
    weights: FloatArray,
    shares: FloatArray,
    logarithms: bool,
    top: int,
    key: np.uint64,
    until: IntArray,
    below: IntArray,
    mass: FloatArray,
    heads: IntArray,
) -> None:
    """Draw one tree; ``top`` is as `log_eliminate` returns it."""
    n = sentence.words
    drawn = 0
    impossible = -math.inf if logarithms else 0.0
    for v in range(1, n + 1):
        replaced = root_freed = False
        for m in range(1, v):
            if until[m] == v:
                replaced = True
                root_freed = root_freed or heads[m - 1] == 0
                heads[m - 1] = v
        heads[v - 1] = 0
        if v <= top or not root_freed:
            possible = mass[:v]
            possible[:] = shares[v, :v]
            if v > top:
                possible[0] = impossible  # the root has its only child elsewhere
            if replaced:
                mark_below(heads, v - 1, v, below)
                for h in range(v):
                    possible[h] = impossible if below[h] else possible[h]
            if logarithms:
                to_mass(possible)
            heads[v - 1] = choose(possible, mix(key, drawn))
            drawn += 1
        for m in range(1, v + 1):
            if m == v or until[m] == v:
                head = heads[m - 1]
                uniform = _uniform(mix(key, drawn))
                until[m] = _replacement(
                    m, head, sentence, weights, shares, logarithms, top, uniform
                )
                drawn += 1
