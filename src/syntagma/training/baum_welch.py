"""Expected use of the states of a hidden Markov model, and the parameters they ask for.

The E-step of Baum and Welch in scaled probabilities: forward sums are scaled to one at every
symbol. Sequences are cut into portions that depend on their sizes only; each portion is added up by
itself and the sums are added in order, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.moments.recovery import HiddenMarkov

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

SMALLEST = 1e-10  # probability that everything keeps
MOST_PORTIONS, CELLS = 16, 8_000_000  # numbers held at once in sums kept apart


class Expectations(NamedTuple):
    """Log-likelihood, and expected counts of first states, of transitions, of symbols by state."""

    log_likelihood: float
    initial: FloatArray
    transitions: FloatArray
    emissions: FloatArray

    def parameters(self) -> HiddenMarkov:
        """Return the parameters that these counts make likeliest, up to `SMALLEST`."""
        return HiddenMarkov(*(_shares(part) for part in self[1:]))


def expect(model: HiddenMarkov, symbols: Int32, offsets: Int64) -> Expectations:
    """Count what a model expects of its states in some sequences."""
    states, size = model.emissions.shape
    most = max(1, min(MOST_PORTIONS, CELLS // (states * (size + states))))
    cuts = np.searchsorted(offsets, np.linspace(0, len(symbols), most + 1)[1:-1])
    bounds = np.concatenate([[0], cuts, [len(offsets) - 1]]).astype(np.int64)
    logs = np.zeros(most)
    initial = np.zeros((most, states))
    transitions = np.zeros((most, states, states))
    emissions = np.zeros((most, size, states))
    columns = np.ascontiguousarray(model.emissions.T)
    add_expectations(
        model.initial,
        np.ascontiguousarray(model.transitions),
        np.ascontiguousarray(model.transitions.T),
        columns,
        symbols,
        offsets,
        bounds,
        logs,
        initial,
        transitions,
        emissions,
    )
    return Expectations(
        float(logs.sum()),
        initial.sum(0),
        transitions.sum(0) * model.transitions,
        emissions.sum(0).T,
    )


def random_start(states: int, frequencies: FloatArray, rng: np.random.Generator) -> HiddenMarkov:
    """Make parameters near the frequencies of the symbols, random enough to come apart."""
    emissions = frequencies * (0.5 + rng.random((states, len(frequencies))))
    return HiddenMarkov(
        _shares(0.5 + rng.random(states)),
        _shares(0.5 + rng.random((states, states))),
        _shares(emissions),
    )


def _shares(counts: FloatArray) -> FloatArray:
    """Turn counts into distributions along the last axis; where there are none, into even ones."""
    total = counts.sum(-1, keepdims=True)
    even = np.full_like(counts, 1.0 / counts.shape[-1])
    shares = np.maximum(np.divide(counts, total, out=even, where=total > 0), SMALLEST)
    scaled: FloatArray = shares / shares.sum(-1, keepdims=True)
    return scaled


@njit(cache=True, nogil=True, parallel=True)
def add_expectations(
    first: FloatArray,
    onward: FloatArray,
    backward: FloatArray,
    columns: FloatArray,
    symbols: Int32,
    offsets: Int64,
    bounds: Int64,
    logs: FloatArray,
    initial: FloatArray,
    transitions: FloatArray,
    emissions: FloatArray,
) -> None:
    """Add up one portion of sequences in each row of the sums.

    Transitions are still to be multiplied by their probabilities. ``backward`` is ``onward``
    transposed, and ``columns`` holds the emissions of each symbol.
    """
    for c in prange(len(bounds) - 1):
        longest = 0
        for s in range(bounds[c], bounds[c + 1]):
            longest = max(longest, offsets[s + 1] - offsets[s])
        forward = np.empty((longest, len(first)))
        scales = np.empty(longest)
        after, pulled = np.empty(len(first)), np.empty(len(first))
        for s in range(bounds[c], bounds[c + 1]):
            if offsets[s + 1] > offsets[s]:
                add_sequence(
                    first,
                    onward,
                    backward,
                    columns,
                    symbols[offsets[s] : offsets[s + 1]],
                    forward,
                    scales,
                    after,
                    pulled,
                    logs[c : c + 1],
                    initial[c],
                    transitions[c],
                    emissions[c],
                )


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def add_sequence(
    first: FloatArray,
    onward: FloatArray,
    backward: FloatArray,
    columns: FloatArray,
    symbols: Int32,
    forward: FloatArray,
    scales: FloatArray,
    after: FloatArray,
    pulled: FloatArray,
    logs: FloatArray,
    initial: FloatArray,
    transitions: FloatArray,
    emissions: FloatArray,
) -> None:
    """Add the log-likelihood and the expected counts of one sequence."""
    words, size = len(symbols), len(first)
    product = 1.0
    for t in range(words):
        now, column = forward[t], columns[symbols[t]]
        if t == 0:
            now[:] = first
        else:
            before = forward[t - 1]
            now[:] = 0.0
            for i in range(size):
                share, row = before[i], onward[i]
                for j in range(size):
                    now[j] += share * row[j]
        total = 0.0
        for j in range(size):
            now[j] *= column[j]
            total += now[j]
        scale = 1.0 / total
        for j in range(size):
            now[j] *= scale
        scales[t] = scale
        # one logarithm for many symbols: they are slow
        product *= total
        if product < 1e-200:
            logs[0] += np.log(product)
            product = 1.0
    logs[0] += np.log(product)
    after[:] = 1.0
    for t in range(words - 1, -1, -1):
        now, column = forward[t], columns[symbols[t]]
        counted = emissions[symbols[t]]
        for j in range(size):
            counted[j] += now[j] * after[j]
        if t == 0:
            for j in range(size):
                initial[j] += now[j] * after[j]
            break
        before = forward[t - 1]
        for j in range(size):
            pulled[j] = column[j] * after[j] * scales[t]
        after[:] = 0.0
        for j in range(size):
            share, row = pulled[j], backward[j]
            for i in range(size):
                after[i] += share * row[i]
        for i in range(size):
            share, row = before[i], transitions[i]
            for j in range(size):
                row[j] += share * pulled[j]
