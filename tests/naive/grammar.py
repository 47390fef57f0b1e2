"""The probability of a tree under a latent-state grammar, one assignment of states at a time."""

from __future__ import annotations

import itertools

import numpy as np


def log_probability(grammar, trees, tree: int) -> float:
    """Sum over all assignments of states to the nodes of one tree."""
    first, last = trees.offsets[tree], trees.offsets[tree + 1]
    symbols = trees.symbols[first:last].tolist()
    parents = trees.parents[first:last].tolist()
    words = trees.words[first:last].tolist()
    children = [[c for c, p in enumerate(parents) if p == node] for node in range(len(symbols))]
    total = 0.0
    for states in itertools.product(*(range(len(grammar.states[s])) for s in symbols)):
        total += joint(grammar, symbols, children, words, states)
    return float(np.log(total))


def joint(grammar, symbols, children, words, states) -> float:
    """Probability of a tree together with its states."""
    p = grammar.start[states[0]]
    for node, symbol in enumerate(symbols):
        if words[node] >= 0:
            emission = grammar.emissions[symbol]
            p *= emission.probability[states[node], emission.words.tolist().index(words[node])]
            continue
        right = tuple(symbols[child] for child in children[node])
        rule = next(r for r in grammar.rules if (r.left, r.right) == (symbol, right))
        p *= rule.probability[states[node]]
        for k, child in enumerate(children[node]):
            p *= rule.children[k][states[node], states[child]]
    return p
