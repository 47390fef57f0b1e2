"""Linear chains in the log domain: slower, and right where scaled probabilities would underflow.

Compiled only when `chain_forward` reports a sentence as lost. States, weights and transitions are
as there; ``alpha`` and ``beta`` hold logarithms.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, Offsets
from syntagma.structures.exponential import exponential


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def largest(values: FloatArray) -> float:
    """Return the largest of a flat array."""
    top = -np.inf
    for i in range(len(values)):
        top = max(top, values[i])
    return top


@njit(cache=True, nogil=True)
def exponentials(values: FloatArray, shift: float) -> None:
    """Replace values by the exponentials of what they are above a shift."""
    for i in range(len(values)):
        values[i] = exponential(values[i] - shift)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def total_of(values: FloatArray) -> float:
    """Sum a flat array."""
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def log_sum(values: FloatArray) -> float:
    """Return the logarithm of the summed exponentials of a flat array, which is written over."""
    top = largest(values)
    if top == -np.inf:
        return top
    exponentials(values, top)
    return top + np.log(total_of(values))


@njit(cache=True, nogil=True)
def log_forward(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    words: int,
    alpha: FloatArray,
) -> float:
    """Fill log forward sums of every state; return log Z."""
    contexts, size = alpha.shape[1], alpha.shape[2]
    top, total = np.empty(size), np.empty(size)
    for t in range(words):
        word = labels[start + t]
        if t == 0:
            alpha[0, 0] = word
            continue
        weight = weights[start + t if weights_vary else 0]
        transition = transitions[start + t if transitions_vary else 0]
        for j in range(contexts):
            row = alpha[t, j]
            if t < order:
                row[:] = alpha[0, 0, j]
            else:
                top[:] = -np.inf
                for i in range(size):
                    before = alpha[t - 1, i, j] if order == 2 else alpha[t - 1, 0, i]
                    source = transition[i * contexts + j]
                    for k in range(size):
                        top[k] = max(top[k], before + source[k])
                for k in range(size):
                    total[k] = 0.0
                    top[k] = top[k] if top[k] > -np.inf else 0.0
                for i in range(size):
                    before = alpha[t - 1, i, j] if order == 2 else alpha[t - 1, 0, i]
                    if before > -np.inf:
                        source = transition[i * contexts + j]
                        for k in range(size):
                            total[k] += exponential(before + source[k] - top[k])
                for k in range(size):
                    row[k] = top[k] + np.log(total[k]) if total[k] > 0.0 else -np.inf
            for k in range(size):
                row[k] += weight[j, k] + word[k]
    last = alpha[words - 1, : contexts if words > 1 else 1]
    return log_sum(last.copy().reshape(last.size))


@njit(cache=True, nogil=True)
def log_backward(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    words: int,
    log_partition: float,
    alpha: FloatArray,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
    transition_sums: FloatArray,
) -> None:
    """Add the marginals of a sentence whose log forward sums are known."""
    contexts, size = alpha.shape[1], alpha.shape[2]
    beta, flow = np.zeros((contexts, size)), np.empty((contexts, size))
    way = np.empty(size)
    for t in range(words - 1, -1, -1):
        word = labels[start + t]
        weight = weights[start + t if weights_vary else 0]
        transition = transitions[start + t if transitions_vary else 0]
        for j in range(contexts if t > 0 else 1):
            for k in range(size):
                marginal = exponential(alpha[t, j, k] + beta[j, k] - log_partition)
                label_marginals[start + t, k] += marginal
                if order == 2 and t > 0:
                    if weights_vary:
                        weight_marginals[start + t, j, k] = marginal
                    else:
                        weight_sums[j, k] += marginal
                flow[j, k] = (weight[j, k] if t > 0 else 0.0) + word[k] + beta[j, k]
        if t == 0:
            break
        if t < order:
            for j in range(contexts):
                beta[0, j] = log_sum(flow[j])
            continue
        sums = transition_marginals[start + t] if transitions_vary else transition_sums
        for j in range(contexts):
            for i in range(size):
                row = i * contexts + j
                before = alpha[t - 1, i, j] if order == 2 else alpha[t - 1, 0, i]
                for k in range(size):
                    way[k] = transition[row, k] + flow[j, k]
                if before > -np.inf:
                    target = sums[row]
                    for k in range(size):
                        target[k] += exponential(way[k] + (before - log_partition))
                if order == 2:
                    beta[i, j] = log_sum(way)
                else:
                    beta[0, i] = log_sum(way)


@njit(cache=True, nogil=True, parallel=True)
def log_sum_product(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    sentences: Offsets,
    bounds: Offsets,
    derive: bool,
    log_partition: FloatArray,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
    transition_sums: FloatArray,
) -> None:
    """Fill log partitions and, with ``derive``, marginals of the listed sentences."""
    for c in prange(len(bounds) - 1):
        for s in sentences[bounds[c] : bounds[c + 1]]:
            start, words = offsets[s], offsets[s + 1] - offsets[s]
            alpha = np.empty((words, weights.shape[1], labels.shape[1]))
            log_partition[s] = log_forward(
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
            if derive and log_partition[s] > -np.inf:
                log_backward(
                    order,
                    labels,
                    weights,
                    weights_vary,
                    transitions,
                    transitions_vary,
                    start,
                    words,
                    log_partition[s],
                    alpha,
                    label_marginals,
                    weight_marginals,
                    weight_sums[c],
                    transition_marginals,
                    transition_sums[c],
                )
