"""Log partitions and marginals of linear chains: backward sums and the passes over a batch.

States, weights and transitions are those of `chain_forward`. Where a table is the same everywhere,
its transitions are counted as sums of outer products of forward and backward rows, and multiplied
by the table once in the end.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from syntagma.structures.base import FloatArray, Offsets
from syntagma.structures.chain_forward import DONE, forward, shared_tables
from syntagma.structures.chain_lanes import LANES, combine, spread


@njit(cache=True, nogil=True, fastmath={"contract"})
def state_marginals(
    state: FloatArray,
    after: FloatArray,
    weight: FloatArray,
    word: FloatArray,
    scale: float,
    flow: FloatArray,
) -> None:
    """Turn ``after`` into marginals, and ``flow`` into what arriving in each state is worth."""
    for k in range(len(state)):
        flow[k] = weight[k] * word[k] * after[k] * scale if state[k] > 0.0 else 0.0
        after[k] *= state[k]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dot(a: FloatArray, b: FloatArray) -> float:
    """Sum the products of two rows."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True)
def backward(
    order: int,
    start: int,
    words: int,
    word_table: FloatArray,
    weight_tables: FloatArray,
    weights_vary: bool,
    transition_tables: FloatArray,
    reversed_table: FloatArray,
    transitions_vary: bool,
    allowed: Offsets,
    counts: Offsets,
    alpha: FloatArray,
    scales: FloatArray,
    beta: FloatArray,
    flow: FloatArray,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
) -> None:
    """Fill marginals and ``flow`` from the end of a sentence whose forward sums are known."""
    labels = label_marginals.shape[1]
    contexts, width = beta.shape
    flat_flow = flow.reshape(flow.size)
    flat_reversed = reversed_table.reshape(reversed_table.size)
    pulled = np.empty(width)
    beta[:] = scales[words]
    for t in range(words - 1, -1, -1):
        weight = weight_tables[t if weights_vary else 0]
        marginal = label_marginals[start + t]
        marginal[:] = 0.0
        paired = order == 2 and t > 0
        used = counts[t - 1] if paired else 1
        for a in range(used):
            j = allowed[t - 1, a] if paired else 0
            after = beta[j]
            state_marginals(alpha[t, j], after, weight[j], word_table[t], scales[t], flow[t, j])
            for k in range(labels):
                marginal[k] += after[k]
            if paired and weights_vary:
                weight_marginals[start + t, j] = after[:labels]
            elif paired:
                weight_sum = weight_sums[j]
                for k in range(width):
                    weight_sum[k] += after[k]
        if t < order:
            if t > 0:
                for a in range(used):
                    beta[0, allowed[0, a]] = flow[t, allowed[0, a]].sum()
            continue
        rows = allowed[t - order]
        for a in range(used):
            j = allowed[t - 1, a] if paired else 0
            if not transitions_vary:
                combine(
                    flat_flow,
                    (t * contexts + j) * width,
                    1,
                    allowed[t],
                    counts[t],
                    flat_reversed,
                    j * labels * width,
                    width,
                    pulled,
                    0,
                    width // LANES,
                    False,
                )
            for b in range(counts[t - order]):
                i = rows[b]
                if transitions_vary:
                    source, row = transition_tables[t, i * contexts + j], flow[t, j]
                    share = alpha[t - 1, i, j] if order == 2 else alpha[t - 1, 0, i]
                    target = transition_marginals[start + t, i * contexts + j]
                    for k in range(labels):
                        target[k] = share * source[k] * row[k]
                    pulled[i] = dot(source, row)
                if order == 2:
                    beta[i, j] = pulled[i]
                else:
                    beta[0, i] = pulled[i]


@njit(cache=True, nogil=True)
def add_transitions(
    order: int,
    words: int,
    word_table: FloatArray,
    allowed: Offsets,
    counts: Offsets,
    alpha: FloatArray,
    flow: FloatArray,
    times: Offsets,
    sums: FloatArray,
) -> None:
    """Add what transitions of a sentence are used, still to be multiplied by their table."""
    contexts, width = alpha.shape[1:]
    size, step = contexts * width, width if order == 2 else 1
    flat_alpha, flat_flow = alpha.reshape(alpha.size), flow.reshape(flow.size)
    flat_sums = sums.reshape(sums.size)
    labels = allowed.shape[1]
    if words <= order:
        return
    if 2 * counts[:words].sum() < words * labels:  # few labels allowed: word by word
        for t in range(order, words):
            for a in range(counts[t - 1] if order == 2 else 1):
                j = allowed[t - 1, a] if order == 2 else 0
                spread(
                    flat_alpha,
                    (t - 1) * size + j,
                    step,
                    allowed[t - order],
                    counts[t - order],
                    flat_flow,
                    t * size + j * width,
                    flat_sums,
                    j * width,
                    size,
                    width // LANES,
                )
        return
    if order == 2:
        for t in range(1, words):
            if counts[t - 1] < labels:
                clear(alpha[t], word_table[t - 1])
                clear(flow[t], word_table[t - 1])
    for j in range(contexts):
        for i in range(labels):
            combine(
                flat_alpha,
                (order - 1) * size + j + i * step,
                size,
                times,
                words - order,
                flat_flow,
                order * size + j * width,
                size,
                flat_sums,
                i * size + j * width,
                width // LANES,
                True,
            )


@njit(cache=True, nogil=True)
def clear(states: FloatArray, word: FloatArray) -> None:
    """Zero the states whose context is a label that the word before does not allow."""
    for j in range(len(states)):
        if word[j] == 0.0:
            states[j] = 0.0


@njit(cache=True, nogil=True)
def sum_product_chunk(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    weight_table: FloatArray,
    weight_shift: float,
    transitions: FloatArray,
    transitions_vary: bool,
    transition_table: FloatArray,
    reversed_table: FloatArray,
    transition_shift: float,
    offsets: Offsets,
    first: int,
    last: int,
    derive: bool,
    log_partition: FloatArray,
    status: Offsets,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
    transition_sums: FloatArray,
) -> None:
    """Do the sentences ``first`` to ``last - 1`` with one set of working arrays."""
    longest = 1
    for s in range(first, last):
        longest = max(longest, offsets[s + 1] - offsets[s])
    contexts, width = weight_table.shape[1], weight_table.shape[2]
    slots = longest if derive else 1
    word_table = np.empty((longest, width))
    alpha = np.empty((longest, contexts, width))
    beta = np.empty((contexts, width))
    flow = np.empty((longest, contexts, width))
    times = np.arange(longest)
    scales = np.empty(longest + 1)
    allowed = np.empty((longest, labels.shape[1]), np.int64)
    counts = np.empty(longest, np.int64)
    if weights_vary:
        weight_table = np.empty((slots, contexts, width))
    if transitions_vary:
        transition_table = np.empty((slots, transition_table.shape[1], width))
    for s in range(first, last):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        total, state = forward(
            order,
            labels,
            weights,
            weights_vary,
            transitions,
            transitions_vary,
            start,
            words,
            derive,
            word_table,
            weight_table,
            transition_table,
            allowed,
            counts,
            alpha,
            scales,
        )
        log_partition[s] = (
            total + max(words - 1, 0) * weight_shift + max(words - order, 0) * transition_shift
        )
        status[s] = state
        if derive and state == DONE:
            backward(
                order,
                start,
                words,
                word_table,
                weight_table,
                weights_vary,
                transition_table,
                reversed_table,
                transitions_vary,
                allowed,
                counts,
                alpha,
                scales,
                beta,
                flow,
                label_marginals,
                weight_marginals,
                weight_sums,
                transition_marginals,
            )
            if not transitions_vary:
                add_transitions(
                    order,
                    words,
                    word_table,
                    allowed,
                    counts,
                    alpha,
                    flow,
                    times,
                    transition_sums,
                )
        elif derive:
            label_marginals[start : start + words] = 0.0


@njit(cache=True, nogil=True, parallel=True)
def sum_product(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    offsets: Offsets,
    bounds: Offsets,
    derive: bool,
    log_partition: FloatArray,
    status: Offsets,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
    transition_sums: FloatArray,
    weight_table: FloatArray,
    transition_table: FloatArray,
    reversed_table: FloatArray,
) -> None:
    """Fill log partitions and, with ``derive``, marginals, chunk by chunk of sentences.

    Sums over words are kept apart for each chunk, so that the caller merges them in order.
    """
    weight_shift, transition_shift = shared_tables(
        weights,
        weights_vary,
        weight_table,
        transitions,
        transitions_vary,
        transition_table,
        reversed_table,
    )
    for c in prange(len(bounds) - 1):
        sum_product_chunk(
            order,
            labels,
            weights,
            weights_vary,
            weight_table,
            weight_shift,
            transitions,
            transitions_vary,
            transition_table,
            reversed_table,
            transition_shift,
            offsets,
            bounds[c],
            bounds[c + 1],
            derive,
            log_partition,
            status,
            label_marginals,
            weight_marginals,
            weight_sums[c],
            transition_marginals,
            transition_sums[c],
        )
