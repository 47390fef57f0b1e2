"""Limited-memory BFGS whose whole state is data: it can be saved, resumed and repeated exactly.

scipy's L-BFGS-B keeps its history inside one call, so a run that is stopped cannot go on as if
nothing had happened. Here the state is a handful of arrays. The two-loop recursion runs on inner
products alone (its vectors are combinations of the history and the gradient), so one step reads
the history twice, in cache-sized blocks on all cores; block sums are merged in order, so the result
does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.training.storage import finite_array

FloatArray = NDArray[np.float64]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

BLOCK = 1024
ARMIJO, CURVATURE = 1e-4, 0.9
LONGEST_SEARCH = 20
# why a minimisation ended; the first means that it has not
REASONS = ("", "the gradient vanished", "no step lowers the value further", "the value settled")


@dataclass
class LBFGS:
    """A minimisation under way: `step` takes it one iteration further.

    Parameters
    ----------
    x, value, gradient
        Where it stands.
    memory
        How many past steps shape the next one.
    """

    x: FloatArray
    value: float
    gradient: FloatArray
    memory: int = 8
    iteration: int = 0
    evaluations: int = 1
    values: list[float] = field(default_factory=list)
    converged: str = ""
    _history: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    _products: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    _used: int = 0
    _written: int = 0

    @classmethod
    def start(cls, objective: Objective, x: FloatArray, memory: int = 8) -> LBFGS:
        """Begin at `x`."""
        x = np.ascontiguousarray(x, dtype=np.float64).copy()
        value, gradient = objective(x)
        # rows 0..m-1 hold the steps, m..2m-1 the changes of gradient, 2m the gradient
        history = np.zeros((2 * memory + 1, len(x)))
        history[2 * memory] = gradient
        state = cls(x, float(value), history[2 * memory], memory, values=[float(value)])
        state._history = history
        state._products = np.zeros((2 * memory + 1, 2 * memory + 1))
        state._products[-1, -1] = dot(state.gradient, state.gradient)
        return state

    def step(self, objective: Objective, tolerance: float = 1e-5, patience: int = 10) -> bool:
        """Take one step; return False, and say why in `converged`, when there is none to take.

        It has converged when the gradient is small beside the parameters, or when the value fell
        by less than `tolerance`, relatively, over the last `patience` steps.
        """
        if self.converged:
            return False
        norm = float(np.sqrt(self._products[-1, -1]))
        if norm <= tolerance * max(1.0, float(np.sqrt(dot(self.x, self.x)))) * 1e-2:
            self.converged = REASONS[1]
            return False
        coefficients = self._direction()
        slope = float(coefficients @ self._products[-1])
        if not slope < 0:  # rounding has spoilt the history: fall back to steepest descent
            self._forget()
            coefficients = self._direction()
            slope = float(coefficients @ self._products[-1])
        direction = _combine(self._history, coefficients)
        first = 1.0 if self._used else min(1.0, 1.0 / norm)
        found = _search(objective, self.x, self.value, slope, direction, first)
        self.evaluations += found.evaluations
        if found.length == 0.0:
            self.converged = REASONS[2]
            return False
        self._remember(found, direction)
        self.iteration += 1
        self.values.append(self.value)
        if len(self.values) > patience:
            before = self.values[-1 - patience]
            if before - self.value <= tolerance * max(1.0, abs(self.value)):
                self.converged = REASONS[3]
        return True

    def _forget(self) -> None:
        self._used = 0

    def _direction(self) -> FloatArray:
        """Coefficients of the quasi-Newton direction over the history and the gradient."""
        m, products = self.memory, self._products
        recent = [(self._newest() - age) % m for age in range(self._used)]
        coefficients = np.zeros(2 * m + 1)
        coefficients[-1] = -1.0
        alphas = np.zeros(m)
        for i in recent:
            alphas[i] = (coefficients @ products[i]) / products[i, m + i]
            coefficients[m + i] -= alphas[i]
        if recent:
            i = recent[0]
            coefficients *= products[i, m + i] / products[m + i, m + i]
        for i in reversed(recent):
            beta = (coefficients @ products[m + i]) / products[i, m + i]
            coefficients[i] += alphas[i] - beta
        return coefficients

    def _newest(self) -> int:
        return (self._written - 1) % self.memory

    def _remember(self, found: _Found, direction: FloatArray) -> None:
        m = self.memory
        change = found.gradient - self.gradient
        curvature = found.length * dot(direction, change)
        slot = self._written % m
        self.x = found.x
        self.value = found.value
        self._history[2 * m] = found.gradient
        self.gradient = self._history[2 * m]
        if curvature > 1e-12 * dot(change, change):
            self._history[slot] = found.length * direction
            self._history[m + slot] = change
            self._written += 1
            self._used = min(self._used + 1, m)
            fresh = np.array([slot, m + slot, 2 * m])
        else:
            fresh = np.array([2 * m])
        rows = _products(self._history, fresh)
        self._products[fresh] = rows
        self._products[:, fresh] = rows.T

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to go on later, as arrays."""
        return {
            "x": self.x,
            "history": self._history,
            "products": self._products,
            "values": np.array(self.values),
            "counters": np.array(
                [
                    self.memory,
                    self.iteration,
                    self.evaluations,
                    self._used,
                    self._written,
                    REASONS.index(self.converged),
                ],
                dtype=np.int64,
            ),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], size: int) -> LBFGS:
        """Take up a minimisation of `size` parameters where `arrays` left it.

        KeyError or ValueError where they are not what `arrays` gives.
        """
        memory, iteration, evaluations, used, written, reason = map(
            int, arrays["counters"].tolist()
        )
        if not (0 <= used <= memory and memory > 0 <= written and 0 <= reason < len(REASONS)):
            raise ValueError("the counters are out of range")
        history = finite_array(arrays, "history", (2 * memory + 1, size))
        values = finite_array(arrays, "values", (iteration + 1,)).tolist()
        state = cls(
            finite_array(arrays, "x", (size,)),
            values[-1],
            history[2 * memory],
            memory,
            iteration,
            evaluations,
            values,
        )
        state._history = history
        state._products = finite_array(arrays, "products", (2 * memory + 1, 2 * memory + 1))
        state._used, state._written = used, written
        state.converged = REASONS[reason]
        return state


@dataclass
class _Found:
    length: float
    x: FloatArray
    value: float
    gradient: FloatArray
    evaluations: int


def _search(
    objective: Objective,
    x: FloatArray,
    value: float,
    slope: float,
    direction: FloatArray,
    length: float,
) -> _Found:
    """Find a step that meets the strong Wolfe conditions: bracket, then narrow by cubics."""
    low, low_value, low_slope = 0.0, value, slope
    high, high_value, high_slope = np.inf, np.inf, np.inf
    best: _Found | None = None
    for count in range(1, LONGEST_SEARCH + 1):
        point = x + length * direction
        new_value, gradient = objective(point)
        new_value = float(new_value)
        new_slope = dot(gradient, direction) if np.isfinite(new_value) else np.inf
        enough = new_value <= value + ARMIJO * length * slope
        if enough and (best is None or new_value < best.value):
            best = _Found(length, point, new_value, gradient.copy(), count)
        if enough and abs(new_slope) <= -CURVATURE * slope:
            return _Found(length, point, new_value, gradient, count)
        if not enough or new_value >= low_value:
            high, high_value, high_slope = length, new_value, new_slope
        else:
            if new_slope * ((high if np.isfinite(high) else length + 1.0) - low) >= 0:
                high, high_value, high_slope = low, low_value, low_slope
            low, low_value, low_slope = length, new_value, new_slope
        if np.isinf(high):
            length *= 2.0
            continue
        width = high - low
        if abs(width) <= 1e-12 * max(1.0, abs(low)):
            break
        length = _cubic(low, low_value, low_slope, high, high_value, high_slope)
        # keep away from the ends, where the bracket would hardly shrink
        edge = 0.1 * width
        inside = sorted((low + edge, high - edge))
        length = min(max(length, inside[0]), inside[1])
    if best is None:
        return _Found(0.0, x, value, direction, LONGEST_SEARCH)
    best.evaluations = count
    return best


def _cubic(a: float, fa: float, ga: float, b: float, fb: float, gb: float) -> float:
    """Minimiser of the cubic through two values and slopes, or the middle if there is none."""
    if not (np.isfinite(fb) and np.isfinite(gb)):
        return 0.5 * (a + b)
    d1 = ga + gb - 3 * (fa - fb) / (a - b)
    square = d1 * d1 - ga * gb
    if not square >= 0:
        return 0.5 * (a + b)
    d2 = np.sign(b - a) * np.sqrt(square)
    bottom = gb - ga + 2 * d2
    return float(b - (b - a) * (gb + d2 - d1) / bottom) if bottom else 0.5 * (a + b)


@njit(cache=True, nogil=True, parallel=True)
def _products(history: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
    """Inner products of some rows of the history with all of them."""
    total, size = history.shape
    blocks = (size + BLOCK - 1) // BLOCK
    # a fixed number of slices, so that sums are the same whatever the number of threads
    slices = min(blocks, 64)
    partial = np.zeros((max(slices, 1), len(rows), total))
    for part in prange(slices):
        for block in range(part * blocks // slices, (part + 1) * blocks // slices):
            start, end = block * BLOCK, min((block + 1) * BLOCK, size)
            for other in range(total):
                piece = history[other, start:end]
                for r in range(len(rows)):
                    partial[part, r, other] += _sum_of_products(history[rows[r], start:end], piece)
    out = np.zeros((len(rows), total))
    for part in range(slices):
        out += partial[part]
    return out


@njit(cache=True, nogil=True, parallel=True)
def _combine(history: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Sum the rows of the history, each by its coefficient."""
    total, size = history.shape
    out = np.zeros(size)
    for block in prange((size + BLOCK - 1) // BLOCK):
        start, end = block * BLOCK, min((block + 1) * BLOCK, size)
        for row in range(total):
            if coefficients[row] != 0.0:
                _add_multiple(out[start:end], history[row, start:end], coefficients[row])
    return out


def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product, summed in an order that does not depend on threads or libraries."""
    return float(_sum_of_products(a.ravel(), b.ravel()))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sum_of_products(a: FloatArray, b: FloatArray) -> float:
    acc = 0.0
    for i in range(len(a)):
        acc += a[i] * b[i]
    return acc


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_multiple(out: FloatArray, values: FloatArray, factor: float) -> None:
    for i in range(len(out)):
        out[i] += factor * values[i]
