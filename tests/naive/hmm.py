"""Hidden Markov models by enumeration of every state sequence, and their exact moments."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np


class Model(NamedTuple):
    """p(first state), p(state | state before) by rows, p(symbol | state) by rows."""

    initial: np.ndarray
    transitions: np.ndarray
    emissions: np.ndarray


def random_model(rng: np.random.Generator, states: int, symbols: int) -> Model:
    """Make a model whose start is not its stationary distribution."""
    return Model(
        rng.dirichlet(np.ones(states)),
        rng.dirichlet(np.ones(states), states),
        rng.dirichlet(np.ones(symbols), states),
    )


def paths(model: Model, sequence) -> list[tuple[tuple[int, ...], float]]:
    """Every state sequence with its probability together with the symbols."""
    found = []
    for path in itertools.product(range(len(model.initial)), repeat=len(sequence)):
        p = 1.0
        for t, (state, symbol) in enumerate(zip(path, sequence, strict=True)):
            p *= model.initial[state] if t == 0 else model.transitions[path[t - 1], state]
            p *= model.emissions[state, symbol]
        found.append((path, float(p)))
    return found


def probability(model: Model, sequence) -> float:
    """Probability of a sequence among those of its length."""
    return sum(p for _, p in paths(model, sequence))


def next_states(model: Model, sequence) -> np.ndarray:
    """Distribution over the state that comes after a sequence."""
    if not len(sequence):
        return model.initial
    belief = np.zeros(len(model.initial))
    for path, p in paths(model, sequence):
        belief += p * model.transitions[path[-1]]
    return belief / belief.sum()


def expectations(model: Model, sequences) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihood and expected counts of first states, transitions and emissions."""
    total = 0.0
    counts = [np.zeros_like(part) for part in model]
    for sequence in sequences:
        if not len(sequence):
            continue
        whole = probability(model, sequence)
        total += np.log(whole)
        for path, p in paths(model, sequence):
            counts[0][path[0]] += p / whole
            for before, after in itertools.pairwise(path):
                counts[1][before, after] += p / whole
            for state, symbol in zip(path, sequence, strict=True):
                counts[2][state, symbol] += p / whole
    return float(total), *counts


def population(model: Model, length: int):
    """Return exact moments of sequences of one length: nothing is stationary in them."""
    from syntagma.moments.trigrams import Moments

    size = model.emissions.shape[1]
    states = [model.initial]
    for _ in range(length - 1):
        states.append(states[-1] @ model.transitions)
    first = sum(states[: length - 2]) / (length - 2)
    o, t = model.emissions, model.transitions
    windows = np.einsum("i,ix,ij,jy,jl,lz->yzx", first, o, t, o, t, o)
    last = np.einsum("i,ix,ij,jy->yx", states[-2], o, t, o) / (length - 2)
    middle, after, before = (axis.ravel() for axis in np.indices((size,) * 3))
    return Moments(
        first=model.initial @ o,
        unigrams=sum(state @ o for state in states) / length,
        before=before,
        middle=middle,
        last=after,
        weights=windows.ravel(),
        last_pairs=np.stack([axis.ravel() for axis in np.indices((size, size))]),
        last_weights=last.ravel(),
        windows=1000,
    )


def windows(sequences) -> dict[tuple[int, int, int], int]:
    """Count the windows of three by hand."""
    counts: dict[tuple[int, int, int], int] = {}
    for sequence in sequences:
        for t in range(len(sequence) - 2):
            key = tuple(int(symbol) for symbol in sequence[t : t + 3])
            counts[key] = counts.get(key, 0) + 1
    return counts
