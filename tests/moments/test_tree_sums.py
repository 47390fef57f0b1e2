"""Sums over projective trees with messages, against every tree one by one."""

from __future__ import annotations

import numpy as np
import pytest

from naive import latent_trees
from naive.arcs import projective_trees
from syntagma.moments.tree_sums import sum_over_trees


def random_problem(rng, words, k):
    signed = (
        rng.normal(size=(words, k, k)), rng.normal(size=k), rng.normal(size=k),
        rng.normal(size=(2, k, k)), rng.normal(size=(k, k, k)),
    )  # fmt: skip
    return *signed, rng.random((2, words + 1, words + 1)), rng.random((words, 2, 2))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6])
def test_sums_and_shares_are_those_of_enumeration(words, k):
    rng = np.random.default_rng(10 * words + k)
    problem = random_problem(rng, words, k)
    shares = np.empty((words + 1, words + 1))
    total = sum_over_trees(*problem, shares)
    trees = projective_trees(words, True)
    expected, expected_shares = latent_trees.sum_over(trees, *problem)
    np.testing.assert_allclose(total, expected, rtol=1e-9)
    np.testing.assert_allclose(shares, expected_shares, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(shares[:, 1:].sum(0), 1.0, atol=1e-9)
    np.testing.assert_allclose(shares[0].sum(), 1.0, atol=1e-9)


def test_shares_are_the_slopes_of_the_logarithm():
    rng = np.random.default_rng(3)
    words, k, step = 5, 2, 1e-6
    problem = random_problem(rng, words, k)
    shares = np.empty((words + 1, words + 1))
    total = sum_over_trees(*problem, shares)
    for head, child in [(0, 2), (3, 1), (2, 5)]:
        arcs = problem[5].copy()
        arcs[:, head, child] *= 1.0 + step
        moved = sum_over_trees(*problem[:5], arcs, problem[6], np.empty_like(shares))
        np.testing.assert_allclose((moved / total - 1.0) / step, shares[head, child], atol=1e-4)
