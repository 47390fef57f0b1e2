"""Probabilities of sequences under observable operators, and beliefs along them.

A belief is scaled after every symbol, so that a thousand symbols neither under- nor overflow.
Estimated operators now and then give a probability that is not positive. Its absolute value, at
least `FLOOR` of what was added up to it, stands in, and the sequence is flagged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Flags = NDArray[np.bool_]

FLOOR = 1e-12


class Operators(NamedTuple):
    """What p(x1 ... xm) = end' steps[xm] ... steps[x1] start is made of."""

    start: FloatArray
    end: FloatArray
    steps: FloatArray

    def log_probability(self, symbols: Int32, offsets: Int64) -> tuple[FloatArray, Flags]:
        """Log-probability of each sequence, and whether it had to be floored."""
        logs = np.empty(len(offsets) - 1)
        flags = np.zeros(len(offsets) - 1, np.bool_)
        nothing = np.empty((0, len(self.start)))
        follow(self.start, self.end, self.steps, symbols, offsets, logs, flags, nothing)
        return logs, flags

    def beliefs(self, symbols: Int32, offsets: Int64) -> FloatArray:
        """State after each symbol, scaled to have ``end' state = 1`` where that is possible."""
        logs = np.empty(len(offsets) - 1)
        flags = np.zeros(len(offsets) - 1, np.bool_)
        states = np.empty((len(symbols), len(self.start)))
        follow(self.start, self.end, self.steps, symbols, offsets, logs, flags, states)
        return normalised(states, self.end)

    def predictions(self, states: FloatArray) -> FloatArray:
        """Estimate the probability of every symbol after each state; some may be negative."""
        return states @ np.tensordot(self.end, self.steps, (0, 1)).T


def normalised(states: FloatArray, end: FloatArray) -> FloatArray:
    """Scale states so that their probability mass is one; a state that has none stays as it is."""
    mass = states @ end
    usable = np.abs(mass) > FLOOR * (np.abs(states) @ np.abs(end))
    scaled: FloatArray = states / np.where(usable, mass, 1.0)[:, None]
    return scaled


@njit(cache=True, nogil=True, parallel=True)
def follow(
    start: FloatArray,
    end: FloatArray,
    steps: FloatArray,
    symbols: Int32,
    offsets: Int64,
    logs: FloatArray,
    flags: Flags,
    states: FloatArray,
) -> None:
    """Fill log-probabilities and flags and, if there is room for them, the states."""
    size = len(start)
    for s in prange(len(offsets) - 1):
        now, then = start.copy(), np.empty(size)
        total, product = 0.0, 1.0
        flagged = False
        for t in range(offsets[s], offsets[s + 1]):
            step = steps[symbols[t]]
            top = 0.0
            for i in range(size):
                sum_ = 0.0
                for j in range(size):
                    sum_ += step[i, j] * now[j]
                then[i] = sum_
                top = max(top, abs(sum_))
            if not 0.0 < top < np.inf:
                # nothing is left: go on from the start, as after a full stop
                flagged = True
                product *= FLOOR
                then[:] = start
                top = 1.0
            scale = 1.0 / top
            for i in range(size):
                now[i] = then[i] * scale
            # one logarithm for many symbols: they are slow
            product *= top
            if not 1e-150 < product < 1e150:
                total += np.log(product)
                product = 1.0
            if len(states):
                states[t] = now
        mass, room = 0.0, 0.0
        for i in range(size):
            mass += end[i] * now[i]
            room += abs(end[i] * now[i])
        if not mass > FLOOR * room:
            flagged = True
        logs[s] = total + np.log(product) + np.log(max(abs(mass), FLOOR * room, 1e-300))
        flags[s] = flagged


def negative_mass(predictions: FloatArray) -> float:
    """Share of the predicted mass that is negative, averaged over the rows."""
    total = np.abs(predictions).sum(1)
    negative = -np.minimum(predictions, 0.0).sum(1)
    return float(np.divide(negative, total, out=np.zeros_like(total), where=total > 0).mean())
