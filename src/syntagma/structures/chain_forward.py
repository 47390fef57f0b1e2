"""Forward sums over linear chains with scaled probabilities.

Both orders are one recursion. A chain of order 2 remembers one more label: its *contexts* are the
labels before the current one (`contexts = labels`), while a chain of order 1 has a single empty
context. A state (context j, label k) weighs ``weight[j, k] * label[k]``, and a transition
(i, j) -> (j, k) weighs ``transition[i, j, k]``; in order 1 the weights are 1 and the transitions
are the pairs, in order 2 the weights are the pairs and the transitions the triples.

Maxima are subtracted before exponentiating and every word is normalised, so nothing overflows. A
state that falls below `FLOOR` although the potentials allow it may matter later (another part of
the chain may die out): the sentence is then reported as `LOST`, to be done again with logarithms.
When no state does, all sums are exact to rounding: whatever underflows or is raised to the smallest
table entry is worth less than 1e-287, against at least 1e-270 in every state that is kept.

Rows of labels are padded with zeros to a multiple of `LANES`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from syntagma.structures.base import FloatArray, Offsets
from syntagma.structures.chain_lanes import LANES, combine, extremes
from syntagma.structures.exponential import exponential

FLOOR = 1e-270
SLIGHT = 1e-20  # a total below it is divided out at once
SMALLEST = -690.0  # log of what a finite potential is at least worth: below FLOOR, above zero
DONE, IMPOSSIBLE, LOST = 0, 1, 2


@njit(cache=True, nogil=True)
def exponential_rows(values: FloatArray, out: FloatArray) -> float:
    """Exponentiate a table into padded rows after subtracting its maximum, and return that.

    Finite potentials stay above zero: zero says forbidden.
    """
    rows, width = values.shape
    top, _ = spread_of(values.reshape(values.size), 0, values.size)
    shift = top if top > -np.inf else 0.0
    for r in range(rows):
        source, target = values[r], out[r]
        for k in range(width):
            e = exponential(max(source[k] - shift, SMALLEST))
            target[k] = e if source[k] > -np.inf else 0.0
        target[width:] = 0.0
    return shift


@njit(cache=True, nogil=True)
def spread_of(values: FloatArray, start: int, count: int) -> tuple[float, float]:
    """Return the largest and the smallest of some numbers of a flat array."""
    if count >= LANES:
        return extremes(values, start, count)
    top, low = -np.inf, np.inf
    for i in range(start, start + count):
        top, low = max(top, values[i]), min(low, values[i])
    return top, low


@njit(cache=True, nogil=True)
def exponential_words(
    labels: FloatArray, start: int, out: FloatArray, allowed: Offsets, counts: Offsets
) -> float:
    """Exponentiate the labels of a sentence, word by word, and list those allowed at each word.

    Returns the sum of the maxima that were subtracted.
    """
    words, size = len(counts), labels.shape[1]
    flat = labels.reshape(labels.size)
    shifts = 0.0
    for t in range(words):
        top, low = spread_of(flat, (start + t) * size, size)
        shift = top if top > -np.inf else 0.0
        shifts += shift
        source, target, listed = labels[start + t], out[t], allowed[t]
        for k in range(size):
            target[k] = source[k] - shift
        target[size:] = -np.inf
        if low > -np.inf:
            counts[t] = size
            for k in range(size):
                listed[k] = k
        else:
            count = 0
            for k in range(size):
                if source[k] > -np.inf:
                    listed[count] = k
                    count += 1
            counts[t] = count
    every = out.reshape(out.size)
    for i in range(words * out.shape[1]):  # one long loop: no scalar rest for each word
        e = exponential(max(every[i], SMALLEST))
        every[i] = e if every[i] > -np.inf else 0.0
    return shifts


@njit(cache=True, nogil=True)
def shared_tables(
    weights: FloatArray,
    weights_vary: bool,
    weight_table: FloatArray,
    transitions: FloatArray,
    transitions_vary: bool,
    transition_table: FloatArray,
    reversed_table: FloatArray,
) -> tuple[float, float]:
    """Exponentiate the tables that do not vary, once; return the maxima subtracted.

    ``reversed_table[j, k, i]`` gets transition (i, j, k), unless it has no rows.
    """
    weight_shift = transition_shift = 0.0
    if not weights_vary:
        weight_shift = exponential_rows(weights[0], weight_table[0])
    if not transitions_vary:
        transition_shift = exponential_rows(transitions[0], transition_table[0])
        contexts, size, _ = reversed_table.shape
        for i in range(size):
            for j in range(contexts):
                for k in range(size):
                    reversed_table[j, k, i] = transition_table[0, i * contexts + j, k]
    return weight_shift, transition_shift


@njit(cache=True, nogil=True)
def unreachable(
    state: FloatArray,
    previous: FloatArray,
    weight: FloatArray,
    word: FloatArray,
    transitions: FloatArray,
    rows: Offsets,
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
                    if before > 0.0 and transitions[i * contexts + j, k] > -np.inf:
                        return False
            state[k] = 0.0
    return True


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def weigh(
    state: FloatArray, weight: FloatArray, word: FloatArray, scale: float
) -> tuple[float, int]:
    """Multiply in the weights of the states; return their sum and how many look too small."""
    total = 0.0
    small = 0
    for k in range(len(state)):
        u = state[k] * (weight[k] * word[k]) * scale
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
    allowed: Offsets,
    counts: Offsets,
    alpha: FloatArray,
    scales: FloatArray,
) -> tuple[float, int]:
    """Fill ``alpha`` with forward sums; return log Z and how it went.

    ``scales[t]`` is what the sums at word t were multiplied by to keep them near 1; the entry after
    the last word is one over its total, so that the product of all is 1 / Z up to maxima.
    Tables that vary are filled here, one for each word if ``keep``, else one that is used again.
    """
    contexts, width = alpha.shape[1:]
    size, step = contexts * width, width if order == 2 else 1  # from state (i, j) to (i + 1, j)
    flat_alpha = alpha.reshape(alpha.size)
    flat_tables = transition_tables.reshape(transition_tables.size)
    log_partition = exponential_words(labels, start, word_table[:words], allowed, counts[:words])
    product = 1.0
    scales[0] = 1.0
    for t in range(words):
        weight_slot = transition_slot = 0
        if order == 2 and t > 0 and weights_vary:
            weight_slot = t if keep else 0
            log_partition += exponential_rows(weights[start + t], weight_tables[weight_slot])
        if t >= order and transitions_vary:
            transition_slot = t if keep else 0
            log_partition += exponential_rows(
                transitions[start + t], transition_tables[transition_slot]
            )
        weight, table = weight_tables[weight_slot], transition_slot * len(transitions[0]) * width
        total = 0.0
        if t == 0:
            alpha[0, 0] = word_table[0]
            for k in range(labels.shape[1]):
                total += alpha[0, 0, k]
                if 0.0 < alpha[0, 0, k] < FLOOR:
                    return 0.0, LOST
        else:
            past = max(t - order, 0)
            rows, count = allowed[past], counts[past]
            for a in range(counts[t - 1] if order == 2 else 1):
                j = allowed[t - 1, a] if order == 2 else 0
                state = alpha[t, j]
                if t < order:
                    state[:] = alpha[0, 0, j]
                else:
                    combine(
                        flat_alpha,
                        (t - 1) * size + j,
                        step,
                        rows,
                        count,
                        flat_tables,
                        table + j * width,
                        size,
                        flat_alpha,
                        t * size + j * width,
                        width // LANES,
                        False,
                    )
                added, small = weigh(state, weight[j], word_table[t], scales[t])
                total += added
                if small and not unreachable(
                    state,
                    alpha[t - 1],
                    weight,
                    word_table[t],
                    transitions[start + t if transitions_vary else 0],
                    rows[:count],
                    order,
                    t,
                    j,
                ):
                    return 0.0, LOST
        if total == 0.0:
            return -np.inf, IMPOSSIBLE
        if total < SLIGHT:  # products with the next transitions must not underflow
            for a in range(counts[t - 1] if order == 2 else 1):
                alpha[t, allowed[t - 1, a] if order == 2 else 0] /= total
            scales[t] /= total
            scales[t + 1] = 1.0
            log_partition += np.log(total)
        else:
            scales[t + 1] = 1.0 / total
            product *= total
            if product < SLIGHT or product > 1.0 / SLIGHT:
                log_partition += np.log(product)
                product = 1.0
    return log_partition + np.log(product), DONE
