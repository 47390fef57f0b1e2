"""The tagger: the contract of every model, and what is its own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from contracts import ModelContract
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError
from syntagma.models.eigenwords import Eigenwords
from syntagma.models.tagger import Tagger


@cache
def language():
    """Sentences of the generated language, enough to learn something."""
    return english(400, seed=7).treebank


class TestTagger(ModelContract):
    def make(self):
        return Tagger(iterations=15)

    def corpus(self):
        return language()[:60]

    def outputs(self, model, treebank):
        chosen, confidence = model.decide(treebank)
        best = model.kbest(treebank, 3)
        return [chosen, confidence, model.marginals(treebank).probabilities, *best]


class TestSecondOrderTagger(TestTagger):
    def make(self):
        return Tagger(order=2, iterations=8, features=("word", "suffix2"), unseen_pairs=3)


class TestTaggerWithRestrictions(TestTagger):
    def make(self):
        return Tagger(iterations=8, restrict=2, min_count=2, decode="viterbi")


def blanked(treebank, share, seed=0):
    """The same treebank with a share of its tags removed."""
    hidden = np.random.default_rng(seed).random(treebank.words) < share
    tags = ["_" if gone else tag for gone, tag in zip(hidden, treebank.tags.strings(), strict=True)]
    return treebank.replace(tags=tags)


@pytest.fixture(scope="module")
def tagger():
    return Tagger().fit(language()[:300])


def test_it_learns(tagger):
    held_out = language()[300:]
    common = max(np.bincount(held_out.tags.ids)) / held_out.words
    assert tagger.score(held_out) > 90 > 100 * common
    assert tagger.score(language()[:300]) > 98


def test_predictions_fill_only_the_tag_column(tagger):
    held_out = language()[300:]
    predicted = tagger.predict(blanked(held_out, 1.0))
    assert predicted.upos.strings() == tagger.predict(held_out).upos.strings()
    for column in ("forms", "xpos", "labels", "misc"):
        assert getattr(predicted, column).strings() == getattr(held_out, column).strings()
    right = np.mean(
        [a == b for a, b in zip(predicted.tags.strings(), held_out.tags.strings(), strict=True)]
    )
    np.testing.assert_allclose(tagger.score(held_out), 100 * right)


def test_probabilities_are_probabilities(tagger):
    held_out = language()[300:]
    probabilities, labels = tagger.marginals(held_out)
    np.testing.assert_allclose(probabilities.sum(1), 1.0)
    chosen, confidence = tagger.decide(held_out)
    np.testing.assert_array_equal(chosen, probabilities.argmax(1))
    np.testing.assert_array_equal(confidence, probabilities.max(1))
    assert labels == sorted(set(language()[:300].tags.strings()))
    # a tagger that is right nine times in ten should not believe itself always right
    assert abs(confidence.mean() * 100 - tagger.score(held_out)) < 5


def test_the_best_sequence_is_viterbis(tagger):
    held_out = language()[300:]
    best = tagger.kbest(held_out, 2)
    viterbi = Tagger(decode="viterbi")
    viterbi.__dict__.update({k: v for k, v in tagger.__dict__.items() if k.endswith("_")})
    np.testing.assert_array_equal(viterbi.decide(held_out)[0], best.outcome[0])
    assert (best.score[:, 0] >= best.score[:, 1]).all()


def test_partly_annotated_text_teaches():
    train, held_out = language()[:300], language()[300:]
    half = Tagger().fit(blanked(train, 0.5)).score(held_out)
    tenth = Tagger().fit(blanked(train, 0.9)).score(held_out)
    assert half > tenth > 60
    assert half > 88


def test_a_dictionary_replaces_annotation():
    train, held_out = language()[:300], language()[300:]
    may: dict[str, list[str]] = {}
    for word, tag in zip(train.forms.strings(), train.tags.strings(), strict=True):
        may.setdefault(word, [])
        if tag not in may[word]:
            may[word].append(tag)
    sparse = blanked(train, 0.97)
    without = Tagger().fit(sparse).score(held_out)
    with_it = Tagger().fit(sparse, dictionary=may)
    assert with_it.score(held_out) > without + 2
    predicted = with_it.predict(held_out)
    for word, tag in zip(predicted.forms.strings(), predicted.tags.strings(), strict=True):
        assert tag in may.get(word, [tag])


def test_restricted_words_keep_their_tags():
    train, held_out = language()[:300], language()[300:]
    seen: dict[str, set[str]] = {}
    for word, tag in zip(train.forms.strings(), train.tags.strings(), strict=True):
        seen.setdefault(word, set()).add(tag)
    counts = dict(zip(*np.unique(train.forms.strings(), return_counts=True), strict=True))
    predicted = Tagger(restrict=3, iterations=3).fit(train).predict(held_out)
    for word, tag in zip(predicted.forms.strings(), predicted.tags.strings(), strict=True):
        if counts.get(word, 0) >= 3:
            assert tag in seen[word]


def test_a_warm_start_begins_where_the_other_ended(tagger):
    again = Tagger(iterations=0).fit(language()[:300], start_from=tagger)
    np.testing.assert_array_equal(again.weights_, tagger.weights_)
    more = Tagger(iterations=5).fit(language()[:320], start_from=tagger)
    cold = Tagger(iterations=5).fit(language()[:320])
    assert more.summary_["log_likelihood"] > cold.summary_["log_likelihood"]


def test_other_columns_can_be_learnt():
    treebank = language()[:60]
    assert treebank.xpos.known
    from dataclasses import replace

    fine = replace(treebank, tag_column="xpos")
    model = Tagger(iterations=10).fit(fine)
    assert set(model.labels_) <= set(treebank.xpos.names)
    assert model.predict(treebank).upos.strings() == treebank.upos.strings()
    assert model.predict(treebank).xpos.strings() != treebank.upos.strings()


def test_dev_scores_make_a_learning_curve_and_change_nothing():
    train, dev = language()[:60], language()[300:320]
    plain = Tagger(iterations=20, tolerance=0).fit(train)
    watched = Tagger(iterations=20, tolerance=0).fit(train, dev=dev, dev_every=5)
    np.testing.assert_array_equal(plain.weights_, watched.weights_)
    curve = watched.summary_["learning_curve"]
    assert [at for at, _ in curve] == [5, 10, 15, 20]
    assert curve[-1][1] == watched.score(dev)


def test_training_can_be_stopped_and_resumed(tmp_path):
    class Stopped(Exception):
        pass

    def stop(iteration, total, value):
        if iteration == 7:
            raise Stopped

    train = language()[:60]
    keep = {"checkpoint": str(tmp_path / "c"), "checkpoint_every": 0.0}
    whole = Tagger(iterations=12).fit(train)
    with pytest.raises(Stopped):
        Tagger(iterations=12).fit(train, progress=stop, **keep)
    resumed = Tagger(iterations=12).fit(train, resume=True, **keep)
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)
    with pytest.raises(InputError, match="other data"):
        Tagger(iterations=12).fit(language()[:61], resume=True, **keep)


def test_words_without_any_attribute_are_tagged_all_the_same():
    train = Treebank.from_sentences([["a", "b"], ["b", "a"]], upos=[["X", "Y"], ["Y", "X"]])
    model = Tagger(features=["word"], iterations=5).fit(train)
    unknown = Treebank.from_sentences([["zzz"], ["q", "a", "q"]])
    assert len(model.predict(unknown).tags.strings()) == 4
    assert model.score(train) == 100.0
    assert np.isnan(model.score(unknown))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": 3}, "order: expected 1 or 2"),
        ({"decode": "luck"}, "posterior or viterbi"),
        ({"l2": -1.0}, "l2: expected a number"),
        ({"features": ["nope"]}, "word function"),
        ({"features": []}, "at least one feature"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InputError, match=message):
        Tagger(**params).fit(language()[:5])


def test_text_without_tags_cannot_be_learnt_from():
    with pytest.raises(InputError, match="found none"):
        Tagger().fit(Treebank.from_sentences([["a"], ["b"]]))


def test_it_says_what_it_has_learnt(tagger):
    told = tagger.describe(3)
    assert told["labels"] == tagger.labels_
    assert np.shape(told["transitions"]) == (len(tagger.labels_),) * 2
    names = [name for rows in told["strongest"].values() for name, _ in rows]
    assert all("=" in name for name in names)
    assert any(name.startswith(("word=", "lower=", "suffix")) for name in names)


@pytest.fixture(scope="module")
def embedding():
    """Word vectors from other sentences of the language, whose tags nobody looks at."""
    return Eigenwords("cca", dim=15, min_count=2).fit(english(2000, seed=8).treebank)


def test_classes_of_words_help_where_there_is_little_annotation(embedding, tmp_path):
    train, held_out = language()[:40], language()[300:]
    plain = Tagger().fit(train)
    helped = Tagger().fit(train, embedding=embedding)
    assert helped.score(held_out) > plain.score(held_out) + 2
    assert {"class1", "class2"} <= set(helped.features_.values)
    helped.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    for one, other in zip(loaded.decide(held_out), helped.decide(held_out), strict=True):
        np.testing.assert_array_equal(one, other)
    again = Tagger().fit(train, embedding=embedding, start_from=loaded)
    assert again.score(held_out) > plain.score(held_out)


def test_templates_may_name_classes(embedding):
    train, held_out = language()[:40], language()[300:]
    features = ("word", "class1", "class2[-1]|suffix2")
    model = Tagger(features=features).fit(train, embedding=embedding)
    assert list(model.features_.bases) == list(features)
    assert model.score(held_out) > 60
    with pytest.raises(InputError, match="class1 needs an embedding"):
        Tagger(features=features).fit(train)
    with pytest.raises(InputError, match="the embedding has no class7: there are class1"):
        Tagger(features=("class7",)).fit(train, embedding=embedding)


def test_resuming_needs_the_same_embedding(embedding, tmp_path):
    checkpoint, train = str(tmp_path / "checkpoint"), language()[:30]

    def stop(iteration, total, value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tagger().fit(
            train, embedding=embedding, checkpoint=checkpoint, checkpoint_every=0, progress=stop
        )
    with pytest.raises(InputError, match="other data"):
        Tagger().fit(train, checkpoint=checkpoint, resume=True)
    Tagger().fit(train, embedding=embedding, checkpoint=checkpoint, resume=True)
