"""Hidden states on the words of trees: probabilities and moments by going through everything."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np


class Hidden(NamedTuple):
    """A latent tree model: columns of transitions (left, right) and emissions sum to 1."""

    start: np.ndarray
    transitions: np.ndarray
    emissions: np.ndarray


def random_model(rng, states: int, words: int, stationary: bool = False) -> Hidden:
    """A random model; in a stationary one every word of every tree has the same marginal.

    Models are drawn until one has moments that can be inverted without losing more than a few
    digits.
    """
    while True:
        model = _any_model(rng, states, words, stationary)
        if max(map(np.linalg.cond, (*model.transitions, model.emissions))) < 30:
            return model


def _any_model(rng, states: int, words: int, stationary: bool) -> Hidden:
    emissions = rng.dirichlet(np.full(words, 0.5), size=states).T
    if stationary:
        transitions = [
            0.5 * np.eye(states)[rng.permutation(states)]
            + 0.5
            * sum(w * np.eye(states)[rng.permutation(states)] for w in rng.dirichlet(np.ones(5)))
            for _ in range(2)
        ]
        return Hidden(np.full(states, 1 / states), np.stack(transitions), emissions)
    transitions = 0.5 * rng.dirichlet(np.ones(states), size=(2, states)).transpose(0, 2, 1)
    transitions += 0.5 * np.stack([np.eye(states)[rng.permutation(states)] for _ in range(2)])
    return Hidden(rng.dirichlet(np.ones(states)), transitions, emissions)


def side_of(word: int, head: int) -> int:
    return 0 if word < head else 1


def joint_probability(model: Hidden, heads, words, states) -> float:
    """Probability of words and states of one tree; words and states count from 0."""
    total = 1.0
    for i, (head, word, state) in enumerate(zip(heads, words, states, strict=True)):
        if head == 0:
            total *= model.start[state]
        else:
            total *= model.transitions[side_of(i, head - 1), state, states[head - 1]]
        total *= model.emissions[word, state]
    return float(total)


def probability(model: Hidden, heads, words) -> float:
    """Sum over all states of all words."""
    count = len(model.start)
    every = product(range(count), repeat=len(words))
    return sum(joint_probability(model, heads, words, states) for states in every)


def expected_counts(model: Hidden, heads, words) -> Hidden:
    """Expected starts, transitions and emissions of one tree, by enumeration."""
    found = Hidden(*(np.zeros_like(part) for part in model))
    whole = probability(model, heads, words)
    for states in product(range(len(model.start)), repeat=len(words)):
        share = joint_probability(model, heads, words, states) / whole
        for i, (head, word, state) in enumerate(zip(heads, words, states, strict=True)):
            found.emissions[word, state] += share
            if head == 0:
                found.start[state] += share
            else:
                found.transitions[side_of(i, head - 1), state, states[head - 1]] += share
    return found


def recursive_probability(model: Hidden, heads, words) -> float:
    """The same as `probability`, by recursion over the tree: for larger trees."""

    def below(i: int) -> np.ndarray:
        vector = model.emissions[words[i]].copy()
        for j, head in enumerate(heads):
            if head == i + 1:
                vector *= model.transitions[side_of(j, i)].T @ below(j)
        return vector

    return float(np.prod([model.start @ below(i) for i, head in enumerate(heads) if head == 0]))


def marginals(model: Hidden, heads) -> list[np.ndarray]:
    """Distribution of the state of every word of a tree."""

    def of(i: int) -> np.ndarray:
        head = heads[i] - 1
        return model.start if head < 0 else model.transitions[side_of(i, head)] @ of(head)

    return [of(i) for i in range(len(heads))]


def population(model: Hidden, embedding: np.ndarray, weighted_trees) -> dict[str, np.ndarray]:
    """Exact moments of trees drawn with these weights, by the names of the fast ones."""
    k = embedding.shape[1]
    g = embedding.T @ model.emissions
    names = ("words", "roots", "left_arcs", "right_arcs", "triple_count")
    found = {name: np.zeros(()) for name in names}
    found |= {name: np.zeros(k) for name in ("word", "root", "right_child")}
    squares = ("squares", "left_pairs", "right_pairs", "children", "head_left", "head_right")
    found |= {name: np.zeros((k, k)) for name in squares}
    found["triples"] = np.zeros((k, k, k))
    left, right = model.transitions
    for heads, weight in weighted_trees:
        for i, state in enumerate(marginals(model, heads)):
            found["words"] += weight
            found["word"] += weight * g @ state
            every = (model.emissions @ state)[:, None] * embedding
            found["squares"] += weight * embedding.T @ every
            if heads[i] == 0:
                found["roots"] += weight
                found["root"] += weight * g @ state
            before = sum(head == i + 1 for head in heads[:i])
            after = sum(head == i + 1 for head in heads[i + 1 :])
            spread = g @ np.diag(state)
            found["left_arcs"] += weight * before
            found["left_pairs"] += weight * before * spread @ left.T @ g.T
            found["right_arcs"] += weight * after
            found["right_pairs"] += weight * after * spread @ right.T @ g.T
            pairs = weight * before * after
            found["triple_count"] += pairs
            found["triples"] += pairs * np.einsum("ih,jh,lh,h->ijl", g @ left, g, g @ right, state)
            found["children"] += pairs * g @ left @ np.diag(state) @ right.T @ g.T
            found["head_left"] += pairs * spread @ left.T @ g.T
            found["head_right"] += pairs * spread @ right.T @ g.T
            found["right_child"] += pairs * g @ right @ state
    return found


def counted(embedding: np.ndarray, rows, trees) -> dict[str, np.ndarray]:
    """Sums of products over observed trees, loop by loop; trees and rows are lists of lists."""
    k = embedding.shape[1]
    found = {
        "word": np.zeros(k), "squares": np.zeros((k, k)), "root": np.zeros(k),
        "left_pairs": np.zeros((k, k)), "right_pairs": np.zeros((k, k)),
        "triple_count": np.zeros(()), "triples": np.zeros((k, k, k)),
        "children": np.zeros((k, k)), "head_left": np.zeros((k, k)),
        "head_right": np.zeros((k, k)), "right_child": np.zeros(k),
    }  # fmt: skip
    for words, heads in zip(rows, trees, strict=True):
        y = [embedding[word] for word in words]
        for i, head in enumerate(heads):
            found["word"] += y[i]
            found["squares"] += np.outer(y[i], y[i])
            if head == 0:
                found["root"] += y[i]
            else:
                side = "left" if i < head - 1 else "right"
                found[f"{side}_pairs"] += np.outer(y[head - 1], y[i])
            for a in range(i):
                for b in range(i + 1, len(heads)):
                    if heads[a] == heads[b] == i + 1:
                        found["triple_count"] += 1
                        found["triples"] += np.einsum("i,j,l->ijl", y[a], y[i], y[b])
                        found["children"] += np.outer(y[a], y[b])
                        found["head_left"] += np.outer(y[i], y[a])
                        found["head_right"] += np.outer(y[i], y[b])
                        found["right_child"] += y[b]
    return found


def sum_over(trees, matrices, start, stop, operators, joint, arcs, ends):
    """Sum over trees as `sum_over_trees` does, and the share of each arc, tree by tree."""
    words = len(matrices)
    total, shares = 0.0, np.zeros((words + 1, words + 1))

    def apply(vector):
        return np.einsum("ijl,j->il", joint, vector)

    for heads in trees:
        weight = 1.0

        def message(i, heads=heads):
            nonlocal weight
            halves = []
            children = [j for j, head in enumerate(heads) if head == i + 1]
            for side, inner in ((0, [j for j in children if j < i][::-1]),
                                (1, [j for j in children if j > i])):  # fmt: skip
                half = stop
                for place, j in enumerate(inner):
                    weight *= arcs[min(place, 1), i + 1, j + 1]
                    half = half @ apply(message(j) @ operators[side])
                weight *= ends[i, side, min(len(inner), 1)]
                halves.append(half)
            return (halves[0] @ apply(halves[1])) @ matrices[i]

        root = heads.index(0)
        value = message(root) @ start
        value *= weight * arcs[0, 0, root + 1]
        total += value
        for i, head in enumerate(heads):
            shares[head, i + 1] += value
    return total, shares / total
