"""States from observable operators: what makes a spectral solution the start of EM.

All ``A(x) A^-1``, with A the sum over symbols, have the same eigenvectors; the eigenvalues of one
are the states' probabilities of that symbol. The eigenvectors are found from random mixtures
of the matrices. Of several tries that with the likeliest parameters is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.moments.filtering import Operators
from syntagma.moments.observable import Observable

FloatArray = NDArray[np.float64]

TRIES = 20
LEAST = 1e-3  # share of an even distribution that every outcome keeps


class HiddenMarkov(NamedTuple):
    """Parameters: p(first state), p(state | state before) by rows, p(symbol | state) by rows."""

    initial: FloatArray
    transitions: FloatArray
    emissions: FloatArray

    def operators(self) -> Operators:
        """Return the operators on distributions over the state that comes next."""
        steps = self.emissions.T[:, None, :] * self.transitions.T[None, :, :]
        return Operators(self.initial, np.ones(len(self.initial)), np.ascontiguousarray(steps))


def recover(
    observable: Observable,
    directions: FloatArray,
    likelihood: Callable[[HiddenMarkov], float],
    rng: np.random.Generator,
) -> HiddenMarkov:
    """Find the parameters whose operators these are, as nearly as there are any.

    Parameters
    ----------
    directions
        Rows for symbols; the mixtures weigh symbols by random combinations of the columns.
    likelihood
        What tells the tries apart.
    """
    whole = observable.whole()
    shared = observable.tensor @ np.linalg.pinv(whole)
    best, best_value = None, -np.inf
    for _ in range(TRIES):
        mixture = directions @ rng.standard_normal(directions.shape[1])
        if observable.weights is not None:
            mixture = mixture @ observable.weights
        _, vectors = np.linalg.eig(np.tensordot(mixture, shared, 1))
        found = _parameters(observable, whole, shared, np.ascontiguousarray(_real(vectors)))
        if found is None:
            continue
        value = likelihood(found)
        if value > best_value:
            best, best_value = found, value
    if best is None:
        raise InputError("the operators have no states: ask for fewer, or give more text")
    return best


def _real(vectors: NDArray[np.complexfloating] | FloatArray) -> FloatArray:
    """Replace a pair of conjugate eigenvectors by their real and imaginary parts."""
    real = np.array(vectors.real, np.float64)
    if np.iscomplexobj(vectors):
        second = np.abs(vectors.imag).max(0) > 0
        # of each pair, which stands side by side, the second gives the imaginary part
        second &= np.cumsum(second) % 2 == 0
        real[:, second] = vectors.imag[:, second]
    return real


def _parameters(
    observable: Observable, whole: FloatArray, shared: FloatArray, vectors: FloatArray
) -> HiddenMarkov | None:
    mass = observable.end @ vectors
    if not (np.abs(mass) > 1e-10 * np.abs(vectors).sum(0)).all():
        return None
    vectors = vectors / mass
    try:
        back = np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        return None
    emissions = np.einsum("ia,xai->ix", back, shared @ vectors)
    if observable.weights is not None:
        emissions = emissions @ observable.weights.T
    transitions = (back @ whole @ vectors).T
    initial = back @ whole @ observable.start
    found = HiddenMarkov(*(proper(part) for part in (initial, transitions, emissions)))
    return found if all(np.isfinite(part).all() for part in found) else None


def proper(rows: FloatArray) -> FloatArray:
    """Make distributions of rows that nearly are: nothing below a small floor, sums of one."""
    floored = np.maximum(rows, LEAST / rows.shape[-1])
    scaled: FloatArray = floored / floored.sum(-1, keepdims=True)
    return scaled
