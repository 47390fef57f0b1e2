"""From observable operators back to hidden states: transitions and emissions as probabilities.

All matrices joint(u) have the columns of G = U'O as eigenvectors, so one of them with well
separated eigenvalues gives G up to the scale of each column; emissions that sum to 1 fix the scale.
Estimates leave the simplex, and are put back on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from syntagma.moments.inverses import FloatArray
from syntagma.moments.tree_operators import TreeOperators

LEAST = 1e-4  # share of a distribution that is spread over everything


class Recovered(NamedTuple):
    """Columns of ``transitions[side]`` and of ``emissions`` are distributions."""

    start: FloatArray
    transitions: FloatArray
    emissions: FloatArray


def recover_states(
    operators: TreeOperators, vectors: FloatArray, rng: np.random.Generator
) -> Recovered:
    """Recover hidden states, in any order, by the eigenvectors of a random joint(u).

    ``vectors`` has the vector u of every word of the vocabulary, with G'u its emissions by state.
    """
    mixture = vectors.T @ rng.gamma(0.5, size=len(vectors))
    mixed = np.einsum("ijl,j->il", operators.joint, mixture)
    basis = np.real(np.linalg.eig(mixed)[1])
    emissions = vectors @ basis
    scale = emissions.sum(0)
    scale[scale == 0.0] = 1.0
    basis = basis / scale
    back = np.linalg.pinv(basis)
    return Recovered(
        _distribution(back @ operators.start),
        np.stack([_distribution(back @ matrix @ basis) for matrix in operators.arcs]),
        _distribution(emissions / scale),
    )


def _distribution(estimate: FloatArray) -> FloatArray:
    """Put the columns of an estimate on the simplex."""
    positive = np.maximum(estimate, 0.0)
    total = positive.sum(0)
    positive = np.where(total > 0.0, positive, 1.0)
    positive /= positive.sum(0)
    return np.ascontiguousarray((1.0 - LEAST) * positive + LEAST / len(positive))
