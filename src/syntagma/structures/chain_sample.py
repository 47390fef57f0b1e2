"""Draw label sequences from linear chains: sums forwards, choices backwards.

Every choice has its own random number, a hash of (seed, sentence, draw, word): threads and other
sentences do not matter. States are those of `chain_forward`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, IntArray, Offsets
from syntagma.structures.chain_forward import DONE, forward, shared_tables
from syntagma.structures.chain_log import log_forward
from syntagma.structures.exponential import exponential

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def mix(key: np.uint64 | int, number: int) -> np.uint64:
    """Hash a number into a key (the finaliser of splitmix64)."""
    z = (np.uint64(key) ^ np.uint64(number)) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def choose(mass: FloatArray, key: np.uint64) -> int:
    """Pick an index with probability proportional to its mass; running sums replace the mass."""
    for i in range(1, len(mass)):
        mass[i] += mass[i - 1]
    uniform = (np.float64(key >> np.uint64(12)) + 0.5) * 2.0**-52
    return np.searchsorted(mass, uniform * mass[-1], side="right")


@njit(cache=True, nogil=True)
def to_mass(logarithms: FloatArray) -> None:
    """Exponentiate in place, the largest becoming 1."""
    top = logarithms.max()
    for i in range(len(logarithms)):
        logarithms[i] = exponential(logarithms[i] - top)


@njit(cache=True, nogil=True)
def draw(
    order: int,
    words: int,
    alpha: FloatArray,
    tables: FloatArray,
    vary: bool,
    logarithms: bool,
    labels: int,
    key: np.uint64,
    outcome: IntArray,
) -> None:
    """Draw one sequence, last word first, given forward sums (or their logarithms)."""
    contexts = alpha.shape[1] if order == 2 else 1
    used = contexts if words > 1 else 1
    mass = np.empty(max(used * labels, labels))
    for j in range(used):
        mass[j * labels : (j + 1) * labels] = alpha[words - 1, j, :labels]
    if logarithms:
        to_mass(mass)
    state = choose(mass, mix(key, words - 1))
    j, k = state // labels, state % labels
    outcome[words - 1] = k
    mass = mass[:labels]
    for t in range(words - 1, 0, -1):
        if t < order:
            outcome[t - 1] = j
            continue
        table = tables[t if vary else 0]
        for i in range(labels):
            before = alpha[t - 1, i, j] if order == 2 else alpha[t - 1, 0, i]
            after = table[i * contexts + j, k]
            mass[i] = before + after if logarithms else before * after
        if logarithms:
            to_mass(mass)
        i = choose(mass, mix(key, t - 1))
        outcome[t - 1] = j if order == 2 else i
        k, j = (j, i) if order == 2 else (i, 0)


@njit(cache=True, nogil=True)
def sample_sentence(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    words: int,
    weight_tables: FloatArray,
    tables: FloatArray,
    key: np.uint64,
    outcome: IntArray,
) -> int:
    """Draw sequences of one sentence, if scaled probabilities will do; return how it went."""
    contexts, rows, width = weight_tables.shape[1], tables.shape[1], tables.shape[2]
    if weights_vary:
        weight_tables = np.empty((words, contexts, width))
    if transitions_vary:
        tables = np.empty((words, rows, width))
    alpha = np.zeros((words, contexts, width))
    _, state = forward(
        order,
        labels,
        weights,
        weights_vary,
        transitions,
        transitions_vary,
        start,
        words,
        weights_vary or transitions_vary,
        np.empty((words, width)),
        weight_tables,
        tables,
        np.empty((words, labels.shape[1]), np.int64),
        np.empty(words, np.int64),
        alpha,
        np.empty(words + 1),
    )
    if state == DONE and words > 0:
        for r in range(len(outcome)):
            draw(
                order,
                words,
                alpha,
                tables,
                transitions_vary,
                False,
                labels.shape[1],
                mix(key, r),
                outcome[r, start : start + words],
            )
    return state


@njit(cache=True, nogil=True, parallel=True)
def sample_chain(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    seed: np.uint64,
    status: Offsets,
    outcome: IntArray,
    weight_table: FloatArray,
    transition_table: FloatArray,
) -> None:
    """Draw sequences for every sentence whose scaled probabilities keep what matters."""
    shared_tables(
        weights,
        weights_vary,
        weight_table,
        transitions,
        transitions_vary,
        transition_table,
        np.empty((0, 0, 0)),
    )
    for s in prange(len(offsets) - 1):
        status[s] = sample_sentence(
            order,
            labels,
            weights,
            weights_vary,
            transitions,
            transitions_vary,
            offsets[s],
            offsets[s + 1] - offsets[s],
            weight_table,
            transition_table,
            mix(seed, s),
            outcome,
        )


@njit(cache=True, nogil=True, parallel=True)
def log_sample_chain(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    sentences: Offsets,
    seed: np.uint64,
    outcome: IntArray,
) -> None:
    """Draw sequences for the listed sentences, with logarithms."""
    for a in prange(len(sentences)):
        s = sentences[a]
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        alpha = np.empty((words, weights.shape[1], labels.shape[1]))
        log_partition = log_forward(
            order,
            labels,
            weights,
            weights_vary,
            transitions,
            transitions_vary,
            start,
            words,
            alpha,
        )
        if log_partition > -np.inf:
            tables = transitions[start : start + words] if transitions_vary else transitions
            for r in range(len(outcome)):
                draw(
                    order,
                    words,
                    alpha,
                    tables,
                    transitions_vary,
                    True,
                    labels.shape[1],
                    mix(mix(seed, s), r),
                    outcome[r, start : start + words],
                )
