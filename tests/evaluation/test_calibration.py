"""Calibration by hand, on calibrated data and against a plain loop."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.evaluation import calibrate


def test_by_hand():
    result = calibrate([0.95, 0.85, 0.85, 0.15], [1, 1, 0, 0])
    assert result.brier == pytest.approx((0.0025 + 0.0225 + 0.7225 + 0.0225) / 4)
    assert result.equal_width.words.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 2, 1]
    assert result.equal_width.error == pytest.approx((0.05 + 2 * 0.35 + 0.15) / 4)
    summary = result.summary()
    json.dumps(summary, allow_nan=False)
    assert [b["right"] for b in summary["equal_width"]] == [0.0, 0.5, 1.0]
    assert summary["abstention"][0] == {"abstained": 0, "accuracy": 50.0}
    assert summary["abstention"][-1] == {"abstained": 50, "accuracy": 75.0}  # 1 + half of a tie


def test_calibrated_probabilities_have_little_error():
    rng = np.random.default_rng(0)
    stated = rng.beta(4, 1, 50_000)
    result = calibrate(stated, rng.random(50_000) < stated)
    assert result.equal_width.error < 0.01
    assert result.equal_mass.error < 0.01
    assert (np.diff(result.accuracy) > 0).all()
    assert result.equal_mass.words.tolist() == [5000] * 10


def test_overconfidence_shows():
    rng = np.random.default_rng(1)
    result = calibrate(np.full(10_000, 0.99), rng.random(10_000) < 0.7)
    assert result.equal_width.error == pytest.approx(0.29, abs=0.02)
    assert len(result.equal_mass.words) == 1


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 12),
)
def test_agrees_with_a_plain_loop_and_ignores_order(decisions, bins):
    stated = [p / 20 for p, _ in decisions]
    right = [r for _, r in decisions]
    result = calibrate(stated, right, bins=bins)
    error = 0.0
    for b in range(bins):
        inside = [
            (p, r) for p, r in zip(stated, right, strict=True) if min(int(p * bins), bins - 1) == b
        ]
        if inside:
            gap = sum(p for p, _ in inside) - sum(r for _, r in inside)
            error += abs(gap) / len(decisions)
    assert result.equal_width.error == pytest.approx(error)
    assert result.equal_mass.words.sum() == result.equal_width.words.sum() == len(decisions)
    assert (result.equal_mass.low <= result.equal_mass.probability + 1e-12).all()
    assert (result.equal_mass.probability <= result.equal_mass.high + 1e-12).all()
    again = calibrate(stated[::-1], right[::-1], bins=bins)
    np.testing.assert_allclose(again.accuracy, result.accuracy)
    assert result.accuracy[0] == pytest.approx(np.mean(right))


@pytest.mark.parametrize("bad", [([], []), ([0.5], [1, 0]), ([1.5], [1]), ([np.nan], [1])])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="probabilit"):
        calibrate(*bad)
