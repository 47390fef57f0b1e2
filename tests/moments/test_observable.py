"""Observable operators of exact moments are exact; those of samples fail in known ways."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from naive.hmm import population, probability, random_model
from syntagma.corpora.generated import hmm_sequences
from syntagma.errors import InputError
from syntagma.moments import observable as module
from syntagma.moments.filtering import Operators, negative_mass
from syntagma.moments.observable import embed, embed_by, foster, hsu, supported
from syntagma.moments.recovery import HiddenMarkov, proper, recover
from syntagma.training.spectral_hmm import count_windows, operators_of

ESTIMATES = {"hsu": hsu, "foster": foster}


def usable(model, length):
    """Whether the exact moments have as many directions as there are states."""
    embedding = embed(population(model, length), len(model.initial))
    return embedding.singular_values[len(model.initial) - 1] > 1e-4


def probabilities(operators, sequences):
    symbols = np.array(list(itertools.chain(*sequences)), np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(np.int64)
    logs, flags = operators.log_probability(symbols, offsets)
    assert not flags.any()
    return np.exp(logs)


@PROPERTY
@given(
    seed=SEEDS,
    states=st.integers(1, 4),
    extra=st.integers(0, 2),
    length=st.integers(3, 6),
)
@pytest.mark.parametrize("method", ESTIMATES)
def test_exact_moments_give_exact_probabilities(method, seed, states, extra, length):
    rng = np.random.default_rng(seed)
    model = random_model(rng, states, states + extra)
    if not usable(model, length):
        return
    moments = population(model, length)
    estimate = ESTIMATES[method](moments, embed(moments, states))
    sequences = [rng.integers(0, states + extra, size).tolist() for size in (1, 2, 3, 4, 5)]
    expected = [probability(model, sequence) for sequence in sequences]
    for found in (estimate, estimate.smoothed(moments, 0.0)):
        np.testing.assert_allclose(
            probabilities(operators_of(found), sequences), expected, rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("method", ESTIMATES)
def test_exact_moments_are_exact_to_rounding(method):
    model = random_model(np.random.default_rng(5), 3, 6)
    moments = population(model, 4)
    found = operators_of(ESTIMATES[method](moments, embed(moments, 3)))
    sequences = list(itertools.product(range(6), repeat=3))
    expected = [probability(model, sequence) for sequence in sequences]
    np.testing.assert_allclose(probabilities(found, sequences), expected, rtol=0, atol=1e-12)
    assert sum(expected) == pytest.approx(1.0)


def test_an_embedding_from_elsewhere_will_do():
    rng = np.random.default_rng(2)
    model = random_model(rng, 2, 5)
    moments = population(model, 5)
    sequences = list(itertools.product(range(5), repeat=3))
    expected = [probability(model, sequence) for sequence in sequences]
    # any invertible mixture of all symbols spans what the states emit
    embedding = embed_by(moments, rng.normal(size=(5, 5)), 2)
    for estimate in ESTIMATES.values():
        found = probabilities(operators_of(estimate(moments, embedding)), sequences)
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    for rows, message in [
        (np.zeros((5, 3)), "expected 2 directions, found 0"),
        (np.zeros((4, 3)), "expected 5 rows of at least 2 numbers, found 4 by 3"),
        (np.full((5, 3), np.nan), "finite"),
    ]:
        with pytest.raises(InputError, match=message):
            embed_by(moments, rows, 2)


def test_many_symbols_are_embedded_alike(monkeypatch):
    drawn = hmm_sequences(3, 40, 3000, 8, seed=1)
    moments = count_windows(drawn.symbols.ravel(), drawn.offsets, 40)
    whole = embed(moments, 3)
    monkeypatch.setattr(module, "DENSE", 0)
    few = embed(moments, 3)
    np.testing.assert_allclose(few.singular_values, whole.singular_values[:8], rtol=1e-8)
    np.testing.assert_allclose(np.abs(few.left), np.abs(whole.left[:, :3]), atol=1e-7)


@pytest.mark.parametrize("method", ESTIMATES)
def test_balanced_operators_share_out_one_whatever_the_sample(method):
    drawn = hmm_sequences(3, 5, 200, 6, seed=4)
    moments = count_windows(drawn.symbols.ravel(), drawn.offsets, 5)
    for smoothing in (0.0, 50.0):
        estimate = ESTIMATES[method](moments, embed(moments, 3)).smoothed(moments, smoothing)
        start, end, steps = operators_of(estimate)
        total = start
        for _ in range(30):
            total = steps.sum(0) @ total
            assert end @ total == pytest.approx(1.0)


def test_smoothing_takes_what_symbols_say_of_the_state():
    drawn = hmm_sequences(3, 6, 500, 6, seed=4)
    moments = count_windows(drawn.symbols.ravel(), drawn.offsets, 6)
    for estimate in ESTIMATES.values():
        silent = operators_of(estimate(moments, embed(moments, 3)).smoothed(moments, 1e15))
        logs, _ = silent.log_probability(np.array([2, 4], np.int32), np.array([0, 2]))
        assert logs[0] == pytest.approx(np.log(moments.unigrams[[2, 4]]).sum())


def test_the_rank_is_what_stands_out_of_chance():
    drawn = hmm_sequences(4, 30, 5000, 10, seed=2)
    moments = count_windows(drawn.symbols.ravel(), drawn.offsets, 30)
    assert supported(moments, embed(moments, 4).singular_values) == 4
    chance = np.random.default_rng(0).integers(0, 30, 50_000).astype(np.int32)
    moments = count_windows(chance, np.arange(0, 50_001, 10), 30)
    assert supported(moments, embed(moments, 4).singular_values) == 1


@pytest.mark.parametrize("method", ESTIMATES)
def test_more_states_than_the_moments_have_are_refused(method):
    model = random_model(np.random.default_rng(3), 2, 5)
    moments = population(model, 4)
    with pytest.raises(InputError, match="supports 2 dimensions, not 3"):
        ESTIMATES[method](moments, embed(moments, 3))
    assert ESTIMATES[method](moments, embed(moments, 3), ridge=1e-3).start.shape == (3,)
    with pytest.raises(InputError, match="6 states need at least as many different symbols"):
        embed(moments, 6)


@PROPERTY
@given(seed=SEEDS, states=st.integers(1, 3))
def test_states_come_out_of_exact_operators(seed, states):
    rng = np.random.default_rng(seed)
    model = random_model(rng, states, states + 2)
    if embed(population(model, 4), states).singular_values[states - 1] < 1e-2:
        return
    # what is below the floor of recovered parameters cannot come back
    model = HiddenMarkov(*(proper(part + 0.01) for part in model))
    moments = population(model, 4)
    embedding = embed(moments, states)
    sequences = rng.integers(0, states + 2, (30, 5)).astype(np.int32)
    offsets = np.arange(31) * 5

    def likelihood(hidden):
        return hidden.operators().log_probability(sequences.ravel(), offsets)[0].sum()

    found = recover(hsu(moments, embedding), embedding.left, likelihood, rng)
    assert likelihood(found) == pytest.approx(likelihood(model), abs=1e-4)
    order = [int(np.abs(found.emissions - row).sum(1).argmin()) for row in model.emissions]
    assert sorted(order) == list(range(states))
    np.testing.assert_allclose(found.emissions[order], model.emissions, atol=1e-4)
    np.testing.assert_allclose(
        found.transitions[np.ix_(order, order)], model.transitions, atol=1e-3
    )


def test_probabilities_below_zero_are_floored_and_flagged():
    steps = np.array([[[0.5]], [[-0.25]], [[0.0]], [[np.inf]]])
    operators = Operators(np.ones(1), np.ones(1), steps)
    symbols = np.array([0, 0, 1, 1, 1, 2, 0, 3], np.int32)
    logs, flags = operators.log_probability(symbols, np.array([0, 1, 3, 5, 5, 6, 8]))
    np.testing.assert_allclose(logs[:2], np.log([0.5, 0.125]))
    assert logs[2] == pytest.approx(np.log(0.0625))
    assert logs[3] == 0.0
    assert flags.tolist() == [False, True, False, False, True, True]
    assert np.isfinite(logs).all()
    assert negative_mass(np.array([[0.5, -0.5], [1.0, 0.0], [0.0, 0.0]])) == pytest.approx(1 / 6)


def test_long_sequences_neither_underflow_nor_overflow():
    model = HiddenMarkov(*random_model(np.random.default_rng(1), 3, 4))
    symbols = np.random.default_rng(2).integers(0, 4, 1000).astype(np.int32)
    (log,), (flag,) = model.operators().log_probability(symbols, np.array([0, 1000]))
    forward, total = model.initial, 0.0
    for symbol in symbols:
        forward = forward * model.emissions[:, symbol]
        total += np.log(forward.sum())
        forward = forward / forward.sum() @ model.transitions
    assert log == pytest.approx(total, rel=1e-12)
    assert not flag
    for scale in (1e-300, 1e300):
        tiny = model.operators()._replace(steps=model.operators().steps * scale)
        (log,), (flag,) = tiny.log_probability(symbols, np.array([0, 1000]))
        assert log == pytest.approx(total + 1000 * np.log(scale), rel=1e-12)
        assert not flag
