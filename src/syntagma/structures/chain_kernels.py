"""Forward and backward over linear chains with scaled probabilities.

Both orders are one recursion. A chain of order 2 remembers one more label: its *contexts* are the
labels before the current one (`contexts = labels`), while a chain of order 1 has a single empty
context. A state (context j, label k) weighs ``weight[j, k] * label[k]``, and a transition
(i, j) -> (j, k) weighs ``transition[i, j, k]``; in order 1 the weights are 1 and the transitions
are the pairs, in order 2 the weights are the pairs and the transitions the triples.

Maxima are subtracted before exponentiating and every word is normalised, so nothing overflows. A
state that falls below `FLOOR` although the potentials allow it may matter later (another part of
the chain may die out): the sentence is then reported as `LOST`, to be done again with logarithms.
When no state does, all sums are exact to rounding: what is flushed to zero is below 1e-308, against
at least 1e-270 that is kept.

Rows of labels are padded with zeros to a multiple of `LANES`, and kernels address flat arrays with
unsigned offsets (a signed index costs a test for negative numbers and keeps loops from becoming
vector instructions).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.structures.base import FloatArray, Offsets
from syntagma.structures.exponential import exponential

LANES = 8
FLOOR = 1e-270
SMALLEST = -690.0  # log of what a finite potential is at least worth: below FLOOR, above zero
DONE, IMPOSSIBLE, LOST = 0, 1, 2

Index = NDArray[np.uint64]

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)


@njit(cache=True, nogil=True, fastmath={"contract"})
def combine(x, x0, xs, rows, count, m, m0, ms, out, o0, width):  # type: ignore[no-untyped-def]
    """Write ``out[k] = sum over i in rows of x[i] * m[i, k]``."""
    target = out[o0 : o0 + width]
    for k in range(width):
        target[k] = 0.0
    a = np.uint64(0)
    while a + _FOUR <= count:
        i0, i1, i2, i3 = rows[a], rows[a + _ONE], rows[a + _TWO], rows[a + _THREE]
        v0, v1, v2, v3 = x[x0 + i0 * xs], x[x0 + i1 * xs], x[x0 + i2 * xs], x[x0 + i3 * xs]
        p0, p1, p2, p3 = m0 + i0 * ms, m0 + i1 * ms, m0 + i2 * ms, m0 + i3 * ms
        for k in range(width):
            target[k] += (v0 * m[p0 + k] + v1 * m[p1 + k]) + (v2 * m[p2 + k] + v3 * m[p3 + k])
        a += _FOUR
    while a < count:
        v0, p0 = x[x0 + rows[a] * xs], m0 + rows[a] * ms
        for k in range(width):
            target[k] += v0 * m[p0 + k]
        a += _ONE


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dots(m, m0, ms, rows, count, w, w0, out, o0, os, width):  # type: ignore[no-untyped-def]
    """Write ``out[i] = sum over k of m[i, k] * w[k]`` for i in rows."""
    for a in range(count):
        i = rows[a]
        p = m0 + i * ms
        total = 0.0
        for k in range(width):
            total += m[p + k] * w[w0 + k]
        out[o0 + i * os] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def spread(x, x0, xs, rows, count, w, w0, out, o0, os, width):  # type: ignore[no-untyped-def]
    """Add ``out[i, k] += x[i] * w[k]`` for i in rows."""
    for a in range(count):
        i = rows[a]
        v = x[x0 + i * xs]
        if v > 0.0:
            p = o0 + i * os
            for k in range(width):
                out[p + k] += v * w[w0 + k]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def largest(values: FloatArray) -> float:
    """Return the largest of a flat array, or 0 if all are -inf."""
    top = -np.inf
    for i in range(len(values)):
        top = max(top, values[i])
    return top if top > -np.inf else 0.0


@njit(cache=True, nogil=True)
def exponential_rows(values: FloatArray, out: FloatArray, floored: bool) -> float:
    """Exponentiate (rows, labels) into padded rows after subtracting the maximum, and return it.

    With ``floored``, finite potentials stay above zero, so that zero says forbidden.
    """
    rows, width = values.shape
    shift = largest(values.reshape(rows * width))
    for r in range(rows):
        source, target = values[r], out[r]
        if floored:
            for k in range(width):
                x = source[k] - shift
                e = exponential(max(x, SMALLEST))
                target[k] = e if x > -np.inf else 0.0
        else:
            for k in range(width):
                target[k] = exponential(source[k] - shift)
        for k in range(width, out.shape[1]):
            target[k] = 0.0
    return shift


@njit(cache=True, nogil=True)
def allowed_labels(row: FloatArray, labels: int, out: Index) -> int:
    """List the labels whose weight is not zero; return how many."""
    count = 0
    for k in range(labels):
        if row[k] > 0.0:
            out[count] = np.uint64(k)
            count += 1
    return count


@njit(cache=True, nogil=True)
def unreachable(
    state: FloatArray,
    previous: FloatArray,
    weight: FloatArray,
    word: FloatArray,
    transitions: FloatArray,
    rows: Index,
    order: int,
    t: int,
    j: int,
) -> bool:
    """Tell whether every tiny state of context j is one that the potentials forbid."""
    labels = transitions.shape[1]
    contexts = weight.shape[0]
    for k in range(labels):
        if state[k] < FLOOR and word[k] > 0.0 and weight[j, k] > 0.0:
            if t < order:
                if previous[0, j] > 0.0:
                    return False
            else:
                for i in rows:
                    before = previous[i, j] if order == 2 else previous[0, i]
                    if before > 0.0 and transitions[np.int64(i) * contexts + j, k] > -np.inf:
                        return False
            state[k] = 0.0
    return True


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def weigh(state: FloatArray, weight: FloatArray, word: FloatArray) -> tuple[float, int]:
    """Multiply in the weights of the states; return their sum and how many look too small."""
    total = 0.0
    small = 0
    for k in range(len(state)):
        u = state[k] * (weight[k] * word[k])
        state[k] = u
        total += u
        small += 1 if (u < FLOOR) & (word[k] > 0.0) & (weight[k] > 0.0) else 0
    return total, small


@njit(cache=True, nogil=True)
def forward(
    order: int,
    labels: FloatArray,
    weights: FloatArray,
    weights_vary: bool,
    transitions: FloatArray,
    transitions_vary: bool,
    start: int,
    words: int,
    keep: bool,
    word_table: FloatArray,
    weight_tables: FloatArray,
    transition_tables: FloatArray,
    allowed: Index,
    counts: Offsets,
    alpha: FloatArray,
    scales: FloatArray,
) -> tuple[float, int]:
    """Fill ``alpha`` with normalised forward probabilities; return log Z and how it went.

    Tables that vary are filled here, one for each word if ``keep``, else one that is used again.
    """
    width = np.uint64(alpha.shape[2])
    contexts = np.uint64(alpha.shape[1])
    size = width * contexts
    flat_alpha = alpha.reshape(alpha.size)
    flat_tables = transition_tables.reshape(transition_tables.size)
    table_size = np.uint64(transition_tables.shape[1]) * width
    none = np.uint64(0)
    step = width if order == 2 else _ONE  # from state (i, j) to state (i + 1, j)
    log_partition = 0.0
    product = 1.0
    for t in range(words):
        log_partition += exponential_rows(
            labels[start + t : start + t + 1], word_table[t : t + 1], True
        )
        counts[t] = allowed_labels(word_table[t], labels.shape[1], allowed[t])
        weight_slot = transition_slot = 0
        if t == 0:
            alpha[0, 0] = word_table[0]
        elif order == 2 and weights_vary:
            weight_slot = t if keep else 0
            log_partition += exponential_rows(weights[start + t], weight_tables[weight_slot], True)
        if t >= order and transitions_vary:
            transition_slot = t if keep else 0
            log_partition += exponential_rows(
                transitions[start + t], transition_tables[transition_slot], False
            )
        total = 0.0
        small = 0
        if t == 0:
            for k in range(labels.shape[1]):
                total += alpha[0, 0, k]
                small += 1 if alpha[0, 0, k] < FLOOR and alpha[0, 0, k] > 0.0 else 0
            if small:
                return 0.0, LOST
        else:
            weight = weight_tables[weight_slot]
            before = np.uint64(t - 1) * size
            now = np.uint64(t) * size
            table = np.uint64(transition_slot) * table_size
            for a in range(counts[t - 1] if order == 2 else 1):
                j = allowed[t - 1, a] if order == 2 else none
                if t < order:
                    alpha[t, j] = alpha[0, 0, j]
                else:
                    rows = allowed[t - order]
                    combine(
                        flat_alpha,
                        before + j,
                        step,
                        rows,
                        np.uint64(counts[t - order]),
                        flat_tables,
                        table + j * width,
                        size,
                        flat_alpha,
                        now + j * width,
                        width,
                    )
                added, small = weigh(alpha[t, j], weight[j], word_table[t])
                total += added
                if small and not unreachable(
                    alpha[t, j],
                    alpha[t - 1],
                    weight,
                    word_table[t],
                    transitions[start + t if transitions_vary else 0],
                    allowed[max(t - order, 0), : counts[max(t - order, 0)]],
                    order,
                    t,
                    np.int64(j),
                ):
                    return 0.0, LOST
        if total == 0.0:
            return -np.inf, IMPOSSIBLE
        scales[t] = 1.0 / total
        for a in range(counts[t - 1] if order == 2 and t > 0 else 1):
            j = allowed[t - 1, a] if order == 2 and t > 0 else none
            row = alpha[t, j]
            for k in range(len(row)):
                row[k] *= scales[t]
        product *= total
        if product < 1e-30 or product > 1e30:
            log_partition += np.log(product)
            product = 1.0
    return log_partition + np.log(product), DONE


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


@njit(cache=True, nogil=True)
def backward(
    order: int,
    start: int,
    words: int,
    word_table: FloatArray,
    weight_tables: FloatArray,
    weights_vary: bool,
    transition_tables: FloatArray,
    transitions_vary: bool,
    allowed: Index,
    counts: Offsets,
    alpha: FloatArray,
    scales: FloatArray,
    beta: FloatArray,
    flow: FloatArray,
    label_marginals: FloatArray,
    weight_marginals: FloatArray,
    weight_sums: FloatArray,
    transition_marginals: FloatArray,
    transition_sums: FloatArray,
) -> None:
    """Add up marginals from the end of a sentence whose forward probabilities are known.

    ``transition_sums`` gets the sums still to be multiplied by the (shared) transitions.
    """
    labels = label_marginals.shape[1]
    width = np.uint64(alpha.shape[2])
    contexts = np.uint64(alpha.shape[1])
    size = width * contexts
    step = width if order == 2 else _ONE
    flat_alpha, flat_beta = alpha.reshape(alpha.size), beta.reshape(beta.size)
    flat_flow = flow.reshape(flow.size)
    flat_tables = transition_tables.reshape(transition_tables.size)
    flat_sums = transition_sums.reshape(transition_sums.size)
    table_size = np.uint64(transition_tables.shape[1]) * width
    none = np.uint64(0)
    beta[:] = 1.0
    for t in range(words - 1, -1, -1):
        weight = weight_tables[t if weights_vary else 0]
        table = np.uint64(t) * table_size if transitions_vary else none
        marginal = label_marginals[start + t]
        before = np.uint64(max(t - 1, 0)) * size
        for a in range(counts[t - 1] if order == 2 and t > 0 else 1):
            j = allowed[t - 1, a] if order == 2 and t > 0 else none
            state_marginals(alpha[t, j], beta[j], weight[j], word_table[t], scales[t], flow[j])
            for k in range(labels):
                marginal[k] += beta[j, k]
            if order == 2 and t > 0:
                if weights_vary:
                    weight_marginals[start + t, j] = beta[j, :labels]
                else:
                    for k in range(labels):
                        weight_sums[j, k] += beta[j, k]
            if t >= order:
                rows, count = allowed[t - order], np.uint64(counts[t - order])
                if transitions_vary:
                    for b in range(count):
                        i = rows[b]
                        share = flat_alpha[before + j + i * step]
                        row = np.int64(i * contexts + j)
                        target = transition_marginals[start + t, row]
                        source = transition_tables[t, row]
                        for k in range(labels):
                            target[k] = share * source[k] * flow[j, k]
                else:
                    spread(
                        flat_alpha,
                        before + j,
                        step,
                        rows,
                        count,
                        flat_flow,
                        j * width,
                        flat_sums,
                        j * width,
                        size,
                        width,
                    )
        for a in range(counts[t - 1] if order == 2 and t > 0 else 1):
            j = allowed[t - 1, a] if order == 2 and t > 0 else none
            if t >= order:
                dots(
                    flat_tables,
                    table + j * width,
                    size,
                    allowed[t - order],
                    np.uint64(counts[t - order]),
                    flat_flow,
                    j * width,
                    flat_beta,
                    j,
                    step,
                    width,
                )
            elif t > 0:
                beta[0, j] = flow[j].sum()


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
    flow = np.empty((contexts, width))
    scales = np.empty(longest)
    allowed = np.empty((longest, labels.shape[1]), np.uint64)
    counts = np.empty(longest, np.int64)
    if weights_vary:
        weight_table = np.empty((slots, contexts, width))
    if transitions_vary:
        transition_table = np.empty((slots, transition_table.shape[1], width))
    if derive:
        label_marginals[offsets[first] : offsets[last]] = 0.0
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
                transition_sums,
            )


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
) -> None:
    """Fill log partitions and, with ``derive``, marginals, chunk by chunk of sentences.

    Sums over words are kept apart for each chunk, so that the caller merges them in order.
    """
    weight_shift = transition_shift = 0.0
    if not weights_vary:
        weight_shift = exponential_rows(weights[0], weight_table[0], True)
    if not transitions_vary:
        transition_shift = exponential_rows(transitions[0], transition_table[0], False)
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
