"""Reranker: the contract of every model, and what is its own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from contracts import ModelContract
from syntagma.corpora.generated import english
from syntagma.errors import InputError
from syntagma.models.latent_tree import LatentTree
from syntagma.models.parser import DependencyParser
from syntagma.models.reranker import Reranker
from syntagma.models.tagger import Tagger


@cache
def language():
    return english(300, seed=21).treebank


def base():
    return DependencyParser(epochs=2, bits=14)


def small(**parameters):
    return Reranker(base(), LatentTree(dim=3, learner="em", iterations=5), n=8, bits=14,
                    epochs=4, **parameters)  # fmt: skip


class TestReranker(ModelContract):
    def make(self):
        return small()

    def corpus(self):
        return language()[:60]

    def outputs(self, model, treebank):
        predicted = model.predict(treebank)
        return [predicted.heads, predicted.labels.ids]

    # a nested model is equal to its clone in all its parameters, but is another object
    def test_scikit_learn_clones_it(self, fitted):
        from sklearn.base import clone

        copied = clone(fitted)
        assert repr(copied) == repr(fitted)
        assert copied.parser.get_params() == fitted.parser.get_params()
        assert copied.latent.get_params() == fitted.latent.get_params()
        assert not copied.fitted

    def test_a_loaded_model_is_the_same_model(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        loaded = Reranker.load(tmp_path / "model")
        assert repr(loaded) == repr(fitted)
        assert loaded.summary_ == fitted.summary_
        self.same(loaded, fitted)
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


class TestRerankerWithoutLatentTrees(ModelContract):
    def make(self):
        return Reranker(None, learner="perceptron", n=5, folds=2, bits=12)

    def corpus(self):
        return language()[:12]

    outputs = TestReranker.outputs


def test_the_order_of_the_treebank_changes_nothing(tmp_path):
    corpus = language()[:50]
    shuffled = corpus.take(np.random.default_rng(0).permutation(len(corpus)))
    small().fit(corpus).save(tmp_path / "a")
    small().fit(shuffled).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_finished_folds_are_taken_up(tmp_path):
    corpus, path = language()[:50], str(tmp_path / "checkpoint")
    whole = small().fit(corpus)

    class Stopped(Exception):
        pass

    def stop(what, done, total):
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        small().fit(corpus, checkpoint=path, made=stop)
    resumed = small().fit(corpus, checkpoint=path, resume=True)
    whole.save(tmp_path / "a")
    resumed.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(InputError, match="other data"):
        small(seed=1).fit(corpus, checkpoint=path, resume=True)


def test_it_reranks_lists_of_parsers_that_have_not_seen_them():
    model = small().fit(language()[:150])
    summary = model.summary_
    assert summary["oracle"] > summary["uas_of_lists"] + 1
    assert summary["uas_of_lists"] < model.parser_.score(language()[:150])
    assert model.score(language()[150:]) > model.parser_.score(language()[150:]) - 1


def test_a_tagger_goes_with_it():
    corpus = language()[:60]
    tagger = Tagger(iterations=5).fit(corpus)
    model = small().fit(corpus, tagger=tagger)
    bare = corpus.replace(tags=["_"] * corpus.words)
    assert model.predict(bare).tags.strings() == tagger.predict(bare).tags.strings()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"learner": "magic"}, "log-linear, perceptron"),
        ({"n": 1}, "n: expected 2"),
        ({"rate": 0.0}, "rate: expected above 0"),
        ({"parser": "mst"}, "expected a DependencyParser"),
        ({"latent": LatentTree(dim=0)}, "dim: expected 1"),
        ({"folds": 200}, "at least 200 sentences"),
    ],
)
def test_bad_parameters_are_refused(parameters, said):
    with pytest.raises(InputError, match=said):
        Reranker(**parameters).fit(language()[:20])
