"""The minimiser against scipy's, and its state against interruption."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.optimize import minimize

from syntagma.training.lbfgs import LBFGS


def logistic(seed: int, features: int = 30, rows: int = 200):
    """A smooth convex problem: regularised logistic regression on random data."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features)) * rng.uniform(0.1, 3.0, size=features)
    y = np.sign(x @ rng.normal(size=features) + rng.normal(size=rows))

    def objective(w):
        margin = y * (x @ w)
        value = np.logaddexp(0, -margin).sum() + 0.05 * w @ w
        return value, -(x.T @ (y / (1 + np.exp(margin)))) + 0.1 * w

    return objective, features


def rosenbrock(w):
    value = (100 * (w[1:] - w[:-1] ** 2) ** 2 + (1 - w[:-1]) ** 2).sum()
    gradient = np.zeros_like(w)
    gradient[:-1] = -400 * w[:-1] * (w[1:] - w[:-1] ** 2) - 2 * (1 - w[:-1])
    gradient[1:] += 200 * (w[1:] - w[:-1] ** 2)
    return value, gradient


def run(objective, x, steps=1000, **options):
    state = LBFGS.start(objective, x)
    while state.iteration < steps and state.step(objective, **options):
        pass
    return state


@pytest.mark.parametrize("seed", range(5))
def test_reaches_the_minimum_that_scipy_reaches(seed):
    objective, size = logistic(seed)
    state = run(objective, np.zeros(size), tolerance=1e-12)
    reference = minimize(
        objective,
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9},
    )
    assert state.value <= reference.fun + 1e-7 * abs(reference.fun)
    assert state.converged


def test_needs_about_as_many_evaluations_as_scipy():
    ours = theirs = 0
    for seed in range(5):
        objective, size = logistic(seed, 200, 400)
        reference = minimize(
            objective,
            np.zeros(size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 5000, "ftol": 1e-12, "maxcor": 8},
        )
        state = LBFGS.start(objective, np.zeros(size))
        while state.value > reference.fun * (1 + 1e-9) and state.step(objective, 1e-14):
            pass
        assert state.value <= reference.fun * (1 + 1e-9)
        ours, theirs = ours + state.evaluations, theirs + reference.nfev
    assert ours <= 1.5 * theirs


def test_curved_valley():
    state = run(rosenbrock, np.full(10, -1.2), tolerance=1e-14)
    np.testing.assert_allclose(state.x, 1.0, atol=1e-5)
    assert (np.diff(state.values) <= 0).all()


@pytest.mark.parametrize("stop", [0, 1, 7, 15])
def test_a_resumed_run_is_the_same_run(stop):
    objective, size = logistic(3, 40)
    whole = run(objective, np.zeros(size), steps=25, tolerance=0)
    first = run(objective, np.zeros(size), steps=stop, tolerance=0)
    saved = {name: array.copy() for name, array in first.arrays().items()}
    second = LBFGS.from_arrays(saved, len(saved["x"]))
    while second.iteration < 25 and second.step(objective, tolerance=0):
        pass
    assert second.values == whole.values
    assert second.x.tobytes() == whole.x.tobytes()


def test_the_number_of_threads_changes_nothing():
    objective, size = logistic(4, 5000, 50)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = run(objective, np.zeros(size), steps=12)
    finally:
        numba.set_num_threads(before)
    many = run(objective, np.zeros(size), steps=12)
    assert one.x.tobytes() == many.x.tobytes()


def test_a_start_at_the_minimum_stops_at_once():
    state = LBFGS.start(lambda w: (float(w @ w), 2 * w), np.zeros(4))
    assert not state.step(lambda w: (float(w @ w), 2 * w))
    assert state.iteration == 0
    assert state.converged == "the gradient vanished"


def test_infinite_values_are_stepped_back_from():
    def barrier(w):
        if w[0] <= 0:
            return np.inf, np.zeros(1)
        return float(w[0] - np.log(w[0])), np.array([1 - 1 / w[0]])

    state = run(barrier, np.array([1e-3]), tolerance=1e-13)
    np.testing.assert_allclose(state.x, 1.0, atol=1e-5)
