"""Small models with random, known parameters: hidden Markov sequences and latent-state grammars.

Parameters come from uniform numbers by multiplication and division only, so that a seed means the
same model on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.generated.grammar import Attachment, Emission, LatentGrammar, Rule

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class HiddenMarkovSequences(NamedTuple):
    """Sequences of one length, a row each, with the states and parameters they came from.

    ``transitions[i, j]`` is the probability of state ``j`` after ``i``; ``emissions[i, x]`` that of
    symbol ``x`` in state ``i``.
    """

    symbols: IntArray
    states: IntArray
    start: FloatArray
    transitions: FloatArray
    emissions: FloatArray

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sequence begins in ``symbols.ravel()``."""
        count, length = self.symbols.shape
        return np.arange(count + 1, dtype=np.int64) * length


def _distributions(rng: np.random.Generator, shape: tuple[int, ...], peak: int) -> FloatArray:
    """Make random distributions along the last axis; a higher ``peak`` makes them less even."""
    uniform = rng.random(shape)
    weights = np.ones(shape)
    for _ in range(peak):
        weights = weights * uniform
    return weights / weights.sum(axis=-1, keepdims=True)


def _draw(distributions: FloatArray, rows: NDArray[np.int64], rng: np.random.Generator) -> IntArray:
    """Draw one outcome for each row number."""
    cumulative = np.cumsum(distributions, axis=1)
    shifted = (cumulative / cumulative[:, -1:] + np.arange(len(cumulative))[:, None]).ravel()
    found = np.searchsorted(shifted, rows + rng.random(len(rows)), side="right")
    width = distributions.shape[1]
    return np.clip(found - rows * width, 0, width - 1).astype(np.int32)


def hmm_sequences(
    states: int, symbols: int, sequences: int, length: int, seed: int = 0
) -> HiddenMarkovSequences:
    """Draw sequences from a random hidden Markov model and return them with its parameters.

    Half of each state's probability stays with one successor and emissions are peaked, so that
    the model has full rank whenever ``symbols >= states``.

    >>> drawn = hmm_sequences(states=2, symbols=4, sequences=3, length=5, seed=1)
    >>> drawn.symbols.shape, drawn.transitions.shape
    ((3, 5), (2, 2))
    """
    sizes = {"states": states, "symbols": symbols, "sequences": sequences, "length": length}
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}: expected at least 1, found {size}")
    rng = np.random.default_rng(seed)
    start = _distributions(rng, (1, states), 1)
    transitions = 0.5 * np.roll(np.eye(states), 1, axis=1)
    transitions = transitions + 0.5 * _distributions(rng, (states, states), 2)
    emissions = _distributions(rng, (states, symbols), 6)
    hidden = np.empty((length, sequences), np.int32)
    seen = np.empty((length, sequences), np.int32)
    state = _draw(start, np.zeros(sequences, np.int64), rng)
    for position in range(length):
        hidden[position] = state
        seen[position] = _draw(emissions, state.astype(np.int64), rng)
        state = _draw(transitions, state.astype(np.int64), rng)
    return HiddenMarkovSequences(
        np.ascontiguousarray(seen.T),
        np.ascontiguousarray(hidden.T),
        start[0],
        transitions,
        emissions,
    )


def random_grammar(
    symbols: int = 2, tags: int = 3, states: int = 2, words: int = 8, seed: int = 0
) -> LatentGrammar:
    """Make a small binary latent-state grammar in which every rule is possible.

    Every inner symbol rewrites to any two symbols or tags; two inner children are rare enough for
    trees to stay finite. Words are shared by all tags.

    >>> grammar = random_grammar(seed=3)
    >>> grammar.spectral_radius < 1
    True
    """
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(symbols)] + [f"T{i}" for i in range(tags)]
    everything = range(symbols + tags)
    rights = [(left, right) for left in everything for right in everything]
    # an inner child is made rare: with p of them per child, 2 p children go on growing
    inner = np.array([(left < symbols) + (right < symbols) for left, right in rights])
    share = np.bincount(inner, minlength=3)
    weight = np.array([0.45, 0.4, 0.15])[inner] / share[inner]
    rules = []
    for parent in range(symbols):
        probability = rng.random((states, len(rights))) * weight
        probability *= np.array([0.45, 0.4, 0.15])[inner] / _by_kind(probability, inner)
        for number, right in enumerate(rights):
            children = tuple(_distributions(rng, (states, states), 3) for _ in right)
            head = (parent + number) % 2
            to = (head, head)
            arcs = (Attachment(head, to, ("dep", "dep")),) * states
            rules.append(Rule(parent, right, probability[:, number], children, arcs))
    emissions = {
        symbols + tag: Emission(
            np.arange(words, dtype=np.int32),
            _distributions(rng, (states, words), 4),
            tuple(f"w{word}" for word in range(words)),
            ("X",) * states,
        )
        for tag in range(tags)
    }
    return LatentGrammar(
        names,
        [[f"state={state}" for state in range(states)] for _ in names],
        _distributions(rng, (1, states), 1)[0],
        rules,
        emissions,
        [f"w{word}" for word in range(words)],
    )


def _by_kind(probability: FloatArray, inner: NDArray[np.int64]) -> FloatArray:
    """Total weight of the rules with as many inner children, at each rule."""
    totals = np.stack([probability[:, inner == kind].sum(axis=1) for kind in range(3)], axis=1)
    return totals[:, inner]
