"""The hidden Markov model: the contract of every model, and what is its own."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, ModelContract
from naive.hmm import next_states, probability
from syntagma.corpora.generated import english, hmm_sequences
from syntagma.corpora.sequences import UNKNOWN
from syntagma.errors import InputError, ModelFileError, NotFittedError
from syntagma.models.hmm import HMM
from syntagma.moments.recovery import HiddenMarkov
from syntagma.training.storage import read_arrays, write_arrays

STATES = 3
CHANCE = [list(sequence) for sequence in product(range(3), repeat=3)]  # no state at all


@cache
def drawn():
    """Sequences from a known model, and some that are held out."""
    return hmm_sequences(STATES, 8, 6000, 8, seed=3)


def training():
    return drawn().symbols[:5000]


def held_out():
    return drawn().symbols[5000:]


def truth():
    """The score of the model that the sequences come from."""
    model = HiddenMarkov(drawn().start, drawn().transitions, drawn().emissions)
    logs, _ = model.operators().log_probability(held_out().ravel(), np.arange(1001) * 8)
    return logs.sum() / held_out().size


class TestSpectralHMM(ModelContract):
    def make(self):
        return HMM(states=STATES, column="tags")

    def corpus(self):
        return english(80, seed=7).treebank

    def outputs(self, model, treebank):
        following = model.next_symbol(treebank)
        return [
            *model.log_likelihood(treebank),
            model.filter(treebank),
            following.probabilities,
            following.negative_mass,
            model.predict(treebank).tags.ids,
        ]


class TestHsuHMM(TestSpectralHMM):
    def make(self):
        return HMM(states=STATES, method="hsu", column="tags")


class TestEMHMM(TestSpectralHMM):
    def make(self):
        return HMM(states=STATES, learner="em", iterations=6)


class TestSpectralEMHMM(TestSpectralHMM):
    def make(self):
        return HMM(states=STATES, learner="spectral+em", iterations=4)


@pytest.fixture(scope="module")
def learnt():
    """A model by each learner."""
    return {
        "foster": HMM(states=STATES).fit(training()),
        "hsu": HMM(states=STATES, method="hsu").fit(training()),
        "em": HMM(states=STATES, learner="em", iterations=5, tolerance=0.0).fit(training()),
        "spectral+em": HMM(states=STATES, learner="spectral+em", iterations=10).fit(training()),
    }


@pytest.mark.parametrize(("learner", "least"), [("foster", 0.02), ("hsu", 0.02)])
def test_spectral_learning_comes_near_the_truth(learnt, learner, least):
    model = learnt[learner]
    assert abs(model.score(held_out()) - truth()) < least
    assert model.rank_ == STATES
    assert len(model.log_likelihoods_) == 0
    assert model.log_likelihood(held_out()).flags.mean() < 0.01
    assert 0.0 <= model.negative_mass_ < 0.01
    assert (np.diff(model.singular_values_) <= 0).all()


def test_em_goes_on_from_the_spectral_solution(learnt):
    model = learnt["spectral+em"]
    assert abs(model.score(held_out()) - truth()) < 0.005
    assert (np.diff(model.log_likelihoods_) > -1e-6).all()
    cold = learnt["em"]
    assert len(cold.log_likelihoods_) == 6
    assert model.log_likelihoods_[0] > cold.log_likelihoods_[-1]
    assert model.negative_mass_ == 0.0
    assert model.summary_["stopped"] in ("converged", "the iterations ran out")
    # the states are those of the truth, in some order
    order = [int(np.abs(model.emissions_ - row).sum(1).argmin()) for row in drawn().emissions]
    assert sorted(order) == list(range(STATES))
    np.testing.assert_allclose(model.emissions_[order], drawn().emissions, atol=0.06)
    np.testing.assert_allclose(
        model.transitions_[np.ix_(order, order)], drawn().transitions, atol=0.1
    )


def test_questions_to_a_model_learnt_by_em_agree_with_enumeration(learnt):
    model = learnt["em"]
    known = (model.initial_, model.transitions_, model.emissions_)
    from naive.hmm import Model

    known = Model(*known)
    sequences = [[0, 3, 1], [5], [], [2, 2, 7, 0]]
    logs, flags = model.log_likelihood(sequences)
    np.testing.assert_allclose(np.exp(logs), [probability(known, s) for s in sequences])
    assert not flags.any()
    assert model.score(sequences) == pytest.approx(logs.sum() / 8)
    beliefs = model.filter(sequences)
    assert beliefs.shape == (8, STATES)
    np.testing.assert_allclose(beliefs[2], next_states(known, [0, 3, 1]))
    np.testing.assert_allclose(beliefs[5], next_states(known, [2, 2]))
    following = model.next_symbol(sequences)
    for row, sequence in zip(following.probabilities, sequences, strict=True):
        np.testing.assert_allclose(row, next_states(known, sequence) @ known.emissions)
    assert following.symbols == list(range(8))
    np.testing.assert_array_equal(following.negative_mass, 0.0)


@pytest.mark.parametrize("learner", ["foster", "hsu", "spectral+em"])
def test_the_next_symbol_is_what_lengthens_a_sequence(learnt, learner):
    model = learnt[learner]
    following = model.next_symbol([[1, 2], []])
    np.testing.assert_allclose(following.probabilities.sum(1), 1.0)
    assert (following.negative_mass < 0.05).all()
    longer = np.exp(model.log_likelihood([[1, 2, x] for x in range(8)]).logs)
    np.testing.assert_allclose(longer / longer.sum(), following.probabilities[0], rtol=1e-9)
    alone = np.exp(model.log_likelihood([[x] for x in range(8)]).logs)
    np.testing.assert_allclose(alone.sum(), 1.0)
    np.testing.assert_allclose(alone, following.probabilities[1], rtol=1e-9)


def test_states_are_the_likeliest_of_each_symbol(learnt, monkeypatch):
    from naive.hmm import Model, paths

    model = learnt["spectral+em"]
    known = Model(model.initial_, model.transitions_, model.emissions_)
    sequences = [[0, 3, 1, 5], [], [2, 7], [4]]
    found = model.predict(sequences)
    assert [len(states) for states in found] == [4, 0, 2, 1]
    for states, sequence in zip(found, sequences, strict=True):
        share = np.zeros((len(sequence), STATES))
        for path, p in paths(known, sequence):
            share[np.arange(len(sequence)), list(path)] += p
        assert states.tolist() == share.argmax(1).tolist()
    monkeypatch.setattr("syntagma.models.hmm.PORTION", 3)
    for a, b in zip(model.predict(sequences), found, strict=True):
        np.testing.assert_array_equal(a, b)
    treebank = english(20, seed=1).treebank
    tagged = HMM(states=2, learner="em", iterations=1).fit(treebank).predict(treebank)
    assert set(tagged.tags.strings()) <= {"S1", "S2"}
    assert tagged.forms.strings() == treebank.forms.strings()


def test_the_same_sequences_in_any_form_and_order_give_the_same_model(learnt):
    lists = training().tolist()
    model = learnt["hsu"]
    for given_ in (lists, (training().ravel(), np.arange(5001) * 8)):
        again = HMM(states=STATES, method="hsu").fit(given_)
        np.testing.assert_array_equal(again.operators_.steps, model.operators_.steps)
    names = [[f"s{symbol}" for symbol in sequence] for sequence in lists]
    named = HMM(states=STATES, method="hsu").fit(names)
    np.testing.assert_array_equal(named.operators_.steps, model.operators_.steps)
    assert named.symbols_ == [f"s{symbol}" for symbol in range(8)]
    fixed = HMM(states=STATES, method="hsu", smoothing=100.0)
    one = fixed.fit(lists, jobs=1).operators_
    for a, b in zip(fixed.fit(lists[::-1], jobs=2).operators_, one, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_embedding_may_be_given():
    rng = np.random.default_rng(0)
    vectors = {symbol: rng.normal(size=8).tolist() for symbol in range(8)}
    model = HMM(states=STATES).fit(training(), embedding=vectors)
    assert abs(model.score(held_out()) - truth()) < 0.02
    with pytest.raises(InputError, match="vectors of one length"):
        HMM(states=STATES).fit(training(), embedding={1: [1.0], 2: [1.0, 2.0]})
    with pytest.raises(InputError, match="expected 8 rows of at least 3 numbers"):
        HMM(states=STATES).fit(training(), embedding={1: [1.0]})


def test_unknown_symbols_have_the_row_of_rare_ones():
    sequences = [*training()[:500].tolist(), [0, 99, 1, 2], [3, 98, 1]]
    model = HMM(states=2).fit(sequences)
    assert model.symbols_[-1] == UNKNOWN
    assert model.summary_["unknown_symbol"]
    (unseen, known), _flags = model.log_likelihood([[0, 12345, 1], [0, 99, 1]])
    assert unseen == known
    assert np.isfinite(unseen)
    with pytest.raises(InputError, match="symbol 12345 is not among the 8"):
        HMM(states=2).fit(training()).score([[12345]])


def test_symbols_that_only_end_sequences_can_be_scored():
    sequences = [[*row, 8] for row in training()[:2000].tolist()]
    for method in ("foster", "hsu"):
        model = HMM(states=STATES, method=method).fit(sequences)
        logs, flags = model.log_likelihood(sequences[:100])
        assert np.isfinite(logs).all()
        assert flags.mean() < 0.05


def test_training_can_be_stopped_and_resumed(tmp_path):
    class Stopped(Exception):
        pass

    def stop(iteration, total, value):
        if iteration == 4:
            raise Stopped

    keep = {"checkpoint": str(tmp_path / "c"), "checkpoint_every": 0.0}

    def make():
        return HMM(states=STATES, learner="spectral+em", iterations=8, tolerance=0.0)

    data = training()[:300]
    whole = make().fit(data)
    with pytest.raises(Stopped):
        make().fit(data, progress=stop, **keep)
    resumed = make().fit(data, resume=True, **keep)
    np.testing.assert_array_equal(resumed.emissions_, whole.emissions_)
    np.testing.assert_array_equal(resumed.log_likelihoods_, whole.log_likelihoods_)
    with pytest.raises(InputError, match="other data"):
        make().fit(training()[:301], resume=True, **keep)


@PROPERTY
@given(
    sequences=st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=8),
    learner=st.sampled_from(["spectral", "em", "spectral+em"]),
    method=st.sampled_from(["hsu", "foster"]),
    states=st.integers(1, 3),
)
def test_anything_is_learnt_or_refused_in_a_sentence(sequences, learner, method, states):
    model = HMM(states=states, learner=learner, method=method, iterations=2, min_count=1)
    try:
        model.fit(sequences)
    except InputError as error:
        assert "\n" not in str(error)
        return
    logs, _ = model.log_likelihood(sequences)
    assert np.isfinite(logs).all()
    assert np.isfinite(model.filter(sequences)).all()
    np.testing.assert_allclose(model.next_symbol(sequences).probabilities.sum(-1), 1.0)
    for part in (model.initial_, model.transitions_, model.emissions_):
        np.testing.assert_allclose(part.sum(-1), 1.0)


@pytest.mark.parametrize(
    ("params", "sequences", "message"),
    [
        ({"states": 5}, [[0, 1, 2, 0]] * 9, "5 states need at least as many different symbols"),
        ({"states": 2}, [[0, 1], [1]], "three symbols or more, found none"),
        ({"states": 2}, [], "expected at least one sequence with a symbol"),
        ({"states": 2}, [[], []], "expected at least one sequence with a symbol"),
        ({"states": 2}, [["a", 1]], "all strings or all whole numbers"),
        ({"states": 0}, [[0, 1]], "states: expected a whole number of at least 1, found 0"),
        ({"states": 2.5}, [[0, 1]], "states: expected a whole number"),
        ({"learner": "luck"}, [[0, 1]], "learner: expected one of spectral, em"),
        ({"method": "luck"}, [[0, 1]], "method: expected one of foster, hsu"),
        ({"column": "heads"}, [[0, 1]], "column: expected one of forms"),
        ({"ridge": -1.0}, [[0, 1]], "ridge: expected a number that is not negative"),
        ({"smoothing": float("nan")}, [[0, 1]], "smoothing: expected a number"),
        ({"states": 2}, CHANCE, "the bigram matrix supports 1 dimensions, not 2"),
    ],
)
def test_bad_input_is_named(params, sequences, message):
    with pytest.raises(InputError, match=message):
        HMM(**params).fit(sequences)


def test_files_whose_parts_do_not_fit_are_refused(tmp_path, learnt):
    for name in ("foster", "hsu", "em"):
        path = tmp_path / name
        learnt[name].save(path)
        header, texts, arrays = read_arrays(path)
        del header["format"], header["version"]
        damages = [
            (texts, arrays | {"emissions": arrays["emissions"][:, 1:]}),
            (texts, arrays | {"initial": -arrays["initial"]}),
            (texts, arrays | {"singular_values": np.zeros((2, 2))}),
            ({"symbols": texts["symbols"][:-1]}, arrays),
            ({"symbols": [*texts["symbols"][:-1], 0]}, arrays),
            ({"symbols": [*texts["symbols"][:-1], [1]]}, arrays),
        ]
        if name != "em":
            damages.append((texts, {k: v for k, v in arrays.items() if k != "observable.end"}))
        for vocabulary, parts in damages:
            write_arrays(path, header, vocabulary, parts)
            with pytest.raises(ModelFileError, match="the hmm model is damaged"):
                HMM.load(path)


def test_unfitted_models_answer_nothing():
    for question in ("score", "filter", "next_symbol", "log_likelihood", "describe"):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(HMM(), question)(*([[[1]]] if question != "describe" else []))


def test_it_says_what_it_has_learnt(learnt):
    told = learnt["spectral+em"].describe(2)
    assert told["labels"] == ["S1", "S2", "S3"]
    assert np.shape(told["transitions"]) == (3, 3)
    assert all(len(found) == 2 for found in told["strongest"].values())
    assert told["strongest"]["S1"][0][1] == round(learnt["spectral+em"].emissions_[0].max(), 3)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["foster", "hsu"])
def test_the_error_falls_with_the_root_of_the_sample(method):
    sizes = np.array([2_000, 8_000, 32_000, 128_000])
    errors = np.zeros(len(sizes))
    for seed in range(4):
        data = hmm_sequences(3, 8, int(sizes[-1]), 8, seed=seed)
        test = hmm_sequences(3, 8, 500, 8, seed=seed).symbols
        known = HiddenMarkov(data.start, data.transitions, data.emissions)
        exact = np.exp(known.operators().log_probability(test.ravel(), np.arange(501) * 8)[0])
        for i, size in enumerate(sizes):
            model = HMM(states=3, method=method, smoothing=0.0).fit(data.symbols[:size])
            logs, flags = model.log_likelihood(test)
            found = np.where(flags, -1.0, 1.0) * np.exp(logs)
            errors[i] += np.abs(found - exact).sum() / exact.sum()
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.6 < slope < -0.4
