"""Baum-Welch agrees with enumeration and with the chain, and climbs."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from naive.hmm import expectations, random_model
from syntagma.errors import InputError, ModelFileError
from syntagma.moments.recovery import HiddenMarkov
from syntagma.structures.chain import Chain
from syntagma.training.baum_welch import SMALLEST, expect, random_start
from syntagma.training.checkpoints import Checkpoint
from syntagma.training.em import maximise


def flat(sequences):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(np.int64)
    return np.concatenate([[], *sequences]).astype(np.int32), offsets


@PROPERTY
@given(
    seed=SEEDS,
    states=st.integers(1, 3),
    symbols=st.integers(1, 5),
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=5),
)
def test_it_expects_what_enumeration_does(seed, states, symbols, sizes):
    rng = np.random.default_rng(seed)
    model = HiddenMarkov(*random_model(rng, states, symbols))
    sequences = [rng.integers(0, symbols, size) for size in sizes]
    found = expect(model, *flat(sequences))
    for ours, theirs in zip(found, expectations(model, sequences), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_it_expects_what_the_chain_does():
    rng = np.random.default_rng(0)
    model = HiddenMarkov(*random_model(rng, 4, 7))
    symbols, offsets = flat([rng.integers(0, 7, size) for size in rng.integers(1, 60, 40)])
    scores = np.log(model.emissions.T)[symbols]
    scores[offsets[:-1]] += np.log(model.initial)
    log_partition, (words, pairs) = Chain(scores, np.log(model.transitions), offsets).marginals()
    found = expect(model, symbols, offsets)
    assert found.log_likelihood == pytest.approx(log_partition.sum(), rel=1e-12)
    np.testing.assert_allclose(found.transitions, pairs, rtol=1e-9)
    np.testing.assert_allclose(found.initial, words[offsets[:-1]].sum(0), rtol=1e-9)
    counted = np.stack([np.bincount(symbols, words[:, state], 7) for state in range(4)])
    np.testing.assert_allclose(found.emissions, counted, rtol=1e-9)


@PROPERTY
@given(seed=SEEDS)
def test_every_iteration_is_likelier_than_the_one_before(seed):
    rng = np.random.default_rng(seed)
    symbols, offsets = flat([rng.integers(0, 5, size) for size in rng.integers(1, 20, 10)])
    model = random_start(3, np.bincount(symbols, minlength=5) / len(symbols), rng)
    last = -np.inf
    for _ in range(15):
        found = expect(model, symbols, offsets)
        assert found.log_likelihood >= last - 1e-6
        last, model = found.log_likelihood, found.parameters()
        for part in model:
            np.testing.assert_allclose(part.sum(-1), 1.0)
            assert (part >= 0.5 * SMALLEST).all()


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    model = HiddenMarkov(*random_model(rng, 3, 6))
    data = flat([rng.integers(0, 6, size) for size in rng.integers(0, 40, 200)])
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = expect(model, *data)
    finally:
        numba.set_num_threads(before)
    for a, b in zip(one, expect(model, *data), strict=True):
        np.testing.assert_array_equal(a, b)


def test_long_sequences_stay_finite():
    model = HiddenMarkov(*random_model(np.random.default_rng(1), 3, 50))
    symbols = np.random.default_rng(2).integers(0, 50, 3000).astype(np.int32)
    found = expect(model, symbols, np.array([0, 3000]))
    log, _ = model.operators().log_probability(symbols, np.array([0, 3000]))
    assert found.log_likelihood == pytest.approx(log[0], rel=1e-12)
    assert found.emissions.sum() == pytest.approx(3000)


def climb(parameters):
    """Go half of the way to two."""
    x = parameters["x"]
    return float(-((x - 2.0) ** 2).sum()), {"x": (x + 2.0) / 2}


def test_the_loop_stops_where_it_gains_little():
    found = maximise(climb, {"x": np.zeros(1)}, iterations=50, least=0.01)
    assert found.converged
    assert found.log_likelihoods[:3] == [-4.0, -1.0, -0.25]
    assert found.log_likelihoods[-1] - found.log_likelihoods[-2] < 0.01
    short = maximise(climb, {"x": np.zeros(1)}, iterations=2, least=0.0)
    assert (short.iterations, short.converged, short.parameters["x"][0]) == (2, False, 1.5)
    none = maximise(climb, {"x": np.zeros(1)}, iterations=0, least=0.0)
    assert (none.iterations, none.log_likelihoods) == (0, [-4.0])


def test_the_loop_goes_on_from_a_checkpoint(tmp_path):
    class Stopped(Exception):
        pass

    def stop(done, total, value):
        if done == 3:
            raise Stopped

    path, start = tmp_path / "c", {"x": np.zeros(2)}
    options = {"iterations": 7, "least": 0.0}
    with pytest.raises(Stopped):
        maximise(
            climb, start, checkpoint=Checkpoint(path, "f", every=0.0), progress=stop, **options
        )
    going_on = Checkpoint(path, "f", resume=True)
    resumed = maximise(climb, start, checkpoint=going_on, **options)
    whole = maximise(climb, start, **options)
    assert resumed.log_likelihoods == whole.log_likelihoods
    np.testing.assert_array_equal(resumed.parameters["x"], whole.parameters["x"])
    with pytest.raises(ModelFileError, match="checkpoint is damaged"):
        maximise(climb, {"x": np.zeros(3)}, checkpoint=going_on, **options)
    with pytest.raises(InputError, match="other data"):
        maximise(climb, start, checkpoint=Checkpoint(path, "g", resume=True), **options)
