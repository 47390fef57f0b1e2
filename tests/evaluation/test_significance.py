"""The bootstrap: intervals contain the point, shrink with data, and tell systems apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.evaluation.counting import Ratio
from syntagma.evaluation.significance import bootstrap_difference, bootstrap_intervals


def system(rng, share, total):
    return Ratio(rng.binomial(total, share), total)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.05, 0.95))
def test_an_interval_contains_the_point(seed, share):
    rng = np.random.default_rng(seed)
    ratio = system(rng, share, rng.integers(0, 30, size=40))
    interval = bootstrap_intervals({"x": ratio}, samples=300)["x"]
    assert interval.value == pytest.approx(ratio.percent)
    assert interval.low <= interval.value <= interval.high


def test_width_agrees_with_the_normal_approximation():
    rng = np.random.default_rng(0)
    ratio = system(rng, 0.8, np.ones(5000, dtype=np.int64))
    interval = bootstrap_intervals({"x": ratio}, samples=4000)["x"]
    expected = 2 * 1.96 * 100 * np.sqrt(0.16 / 5000)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.06)


def test_the_seed_decides_and_blocks_do_not(monkeypatch):
    ratio = system(np.random.default_rng(1), 0.6, np.full(50, 10))
    first = bootstrap_intervals({"x": ratio}, seed=3)
    assert bootstrap_intervals({"x": ratio}, seed=3) == first
    assert bootstrap_intervals({"x": ratio}, seed=4) != first
    monkeypatch.setattr("syntagma.evaluation.significance.BLOCK", 700)
    assert bootstrap_intervals({"x": ratio}, seed=3) == first


def test_a_paired_comparison_sees_a_small_constant_gain():
    rng = np.random.default_rng(2)
    total = np.full(400, 20)
    worse = system(rng, 0.7, total)
    better = Ratio(np.minimum(worse.right + (rng.random(400) < 0.3), 20), total)
    change = bootstrap_difference(better, worse)
    assert change.value == pytest.approx(better.percent - worse.percent)
    assert 0 < change.low < change.value < change.high
    assert change.p_value < 0.01
    assert bootstrap_difference(worse, better).value == pytest.approx(-change.value)


def test_equal_systems_do_not_differ():
    ratio = system(np.random.default_rng(3), 0.7, np.full(100, 10))
    change = bootstrap_difference(ratio, ratio)
    assert change == (0.0, 0.0, 0.0, 1.0)


def test_p_values_of_equally_good_systems_are_spread_evenly():
    rng = np.random.default_rng(4)
    total = np.full(60, 8)
    drawn = [
        bootstrap_difference(system(rng, 0.7, total), system(rng, 0.7, total), samples=200).p_value
        for _ in range(200)
    ]
    assert 0.01 <= np.mean(np.array(drawn) < 0.05) <= 0.12
    assert 0.4 <= np.mean(drawn) <= 0.6


def test_other_sentences_are_refused():
    with pytest.raises(ValueError, match="same sentences"):
        bootstrap_difference(Ratio(np.ones(3), np.ones(3)), Ratio(np.ones(2), np.ones(2)))


def test_nothing_scored_has_no_interval():
    assert bootstrap_intervals({"x": Ratio(np.zeros(3), np.zeros(3))}) == {}
    assert bootstrap_intervals({"x": Ratio(np.ones(3), np.ones(3))}, samples=0) == {}
