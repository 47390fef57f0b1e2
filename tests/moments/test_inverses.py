"""Inverses of moments against plain linear algebra, and the sentences for those that have none."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.errors import InputError
from syntagma.moments.inverses import inverted


def test_a_whole_inverse_is_the_inverse():
    moment = np.random.default_rng(0).normal(size=(6, 6))
    found = inverted(moment, "the moment")
    np.testing.assert_allclose(found.matrix @ moment, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(found.condition, np.linalg.cond(moment))


def test_a_truncated_inverse_is_the_pseudo_inverse_of_the_nearest_matrix_of_that_rank():
    rng = np.random.default_rng(1)
    low = rng.normal(size=(8, 3)) @ rng.normal(size=(3, 5))
    found = inverted(low + 1e-6 * rng.normal(size=(8, 5)), "the moment", rank=3)
    np.testing.assert_allclose(found.matrix, np.linalg.pinv(low), atol=1e-4)
    assert found.rank == 3
    assert len(found.singular_values) == 5


def test_a_ridge_softens_every_direction():
    moment = np.diag([4.0, 2.0, 0.0])
    found = inverted(moment, "the moment", ridge=0.25)
    np.testing.assert_allclose(found.matrix, np.diag([1 / 5, 1 / 3, 1.0]))


def test_too_many_directions_are_refused_in_a_sentence():
    low = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 0.0])
    with pytest.raises(InputError, match="bigrams supports 1 dimensions, not 3"):
        inverted(low, "the moment of bigrams")
    with pytest.raises(InputError, match="not 4"):
        inverted(low, "the moment of bigrams", rank=4)
    with pytest.raises(InputError, match="nothing was counted"):
        inverted(np.zeros((2, 2)), "the moment of bigrams", ridge=1.0)
    with pytest.raises(InputError, match="finite"):
        inverted(np.full((2, 2), np.nan), "the moment of bigrams")
