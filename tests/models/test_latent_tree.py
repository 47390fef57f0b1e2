"""LatentTree: the contract of every model, and what is its own."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from contracts import ModelContract
from naive import latent_trees
from naive.arcs import projective_trees
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError
from syntagma.models.latent_tree import FLOOR, LatentTree


@cache
def language():
    return english(500, seed=11).treebank


class TestLatentTree(ModelContract):
    def make(self):
        return LatentTree(dim=3)

    def corpus(self):
        return language()[:80]

    def outputs(self, model, treebank):
        scores = model.log_probability(treebank)
        sums = model.log_partition(treebank)
        return [*scores, *sums, model.predict(treebank).heads, *model.messages(treebank)]


class TestLatentTreeByEM(TestLatentTree):
    def make(self):
        return LatentTree(dim=4, learner="em", iterations=10)


class TestLatentTreeFromMomentsByEM(TestLatentTree):
    def make(self):
        return LatentTree(
            dim=3, moments="paper", learner="spectral+em", symbols="tags", iterations=5
        )


def test_probabilities_given_the_tree_sum_to_one():
    model = LatentTree(dim=3, learner="em", symbols="tags").fit(language()[:100])
    tags = [*model.words_[1:], "none such"]
    heads = (2, 0)
    total = 0.0
    for one in tags:
        for two in tags:
            treebank = Treebank.from_columns(
                np.array([0, 2]),
                {"forms": Column.of(["a", "b"]), "upos": Column.of([one, two])},
                tags="upos",
            ).replace(heads=heads)
            total += np.exp(model.log_probability(treebank).log_probability[0])
    assert total == pytest.approx(1.0, abs=1e-9)


def test_several_trees_of_a_sentence_are_scored_at_once():
    model = LatentTree(dim=3, learner="em").fit(language()[:100])
    some = language()[100:110]
    trees = np.stack([some.heads, np.full(some.words, -1, np.int32)])
    logs, signs = model.score_trees(some, trees)
    np.testing.assert_array_equal(logs[:, 0], model.log_probability(some).log_probability)
    assert (logs[:, 1] == -np.inf).all()
    assert (signs[:, 1] == 0.0).all()


def test_the_sum_over_trees_is_that_of_each_tree_with_its_prior():
    model = LatentTree(dim=3, learner="em").fit(language()[:200])
    for s in range(len(language()[200:260])):
        sentence = language()[200 + s : 201 + s]
        if sentence.words > 5:
            continue
        trees = projective_trees(sentence.words, True)
        # with one state the words say nothing about the tree: that is the prior alone
        plain = LatentTree(dim=1, learner="em").fit(language()[:200])
        assert plain.prior_.roots.tolist() == model.prior_.roots.tolist()
        priors = _priors(plain, sentence, trees)
        given = np.concatenate(
            [model.score_trees(sentence, np.array([heads], np.int32))[0].ravel() for heads in trees]
        )
        whole = model.log_partition(sentence)
        np.testing.assert_allclose(
            whole.log_probability[0], np.logaddexp.reduce(priors + given), rtol=1e-9
        )
        return
    pytest.fail("no short sentence")


def _priors(model, sentence, trees):
    from syntagma.training.tree_prior import prior_weights

    words = sentence.words
    arcs, ends = np.empty((2, words + 1, words + 1)), np.empty((words, 2, 2))
    scale = prior_weights(model._tag_rows(sentence), *model.prior_, arcs, ends)
    one = np.ones
    return np.array(
        [
            scale
            + np.log(
                latent_trees.sum_over(
                    [heads], one((words, 1, 1)), one(1), one(1), one((2, 1, 1)),
                    one((1, 1, 1)), arcs, ends,
                )[0]
            )
            for heads in trees
        ]
    )  # fmt: skip


def test_it_parses():
    train, held_out = language()[:400], language()[400:]
    model = LatentTree(dim=8, learner="em").fit(train)
    parsed = model.predict(held_out)
    assert (parsed.heads == held_out.heads).mean() > 0.7
    assert (np.add.reduceat(parsed.heads == 0, parsed.offsets[:-1]) == 1).all()


def test_states_explain_more_than_words_alone():
    train, held_out = language()[:400], language()[400:]
    scores = [LatentTree(dim=dim, learner="em").fit(train).score(held_out) for dim in (1, 8)]
    assert scores[1] > scores[0] + 0.3


def test_words_outside_an_embedding_share_its_row():
    rng = np.random.default_rng(0)
    names = sorted(set(language().forms.names))[::2]
    common = SimpleNamespace(
        words_=names, vectors_=rng.normal(size=(len(names), 6)), unknown_=np.ones(6)
    )
    with pytest.raises(InputError, match="% of the words"):
        LatentTree(dim=3).fit(language()[:50], embedding=common)
    names = sorted(set(language().forms.names))[:-3]
    known = SimpleNamespace(words_=names, vectors_=rng.normal(size=(len(names), 6)))
    model = LatentTree(dim=3).fit(language()[:50], embedding=known)
    assert len(model.words_) == len(names) + 1
    assert model.summary_["coverage"] > 90


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (np.ones((1, 2)), "at least 3 numbers, found 2"),
        (np.full((1, 3), np.nan), "finite"),
    ],
)
def test_unfit_embeddings_are_refused(vectors, said):
    names = sorted(set(language().forms.names))
    embedding = SimpleNamespace(words_=names, vectors_=np.repeat(vectors, len(names), axis=0))
    with pytest.raises(InputError, match=said):
        LatentTree(dim=3).fit(language()[:50], embedding=embedding)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"dim": 0}, "dim: expected 1"),
        ({"moments": "some"}, "matched, paper"),
        ({"learner": "magic"}, "spectral, em"),
        ({"symbols": "letters"}, "words, tags"),
        ({"ridge": -1.0}, "ridge: expected 0"),
        ({"dim": 200}, "at least 200 different words"),
    ],
)
def test_bad_parameters_are_refused(parameters, said):
    with pytest.raises(InputError, match=said):
        LatentTree(**parameters).fit(language()[:30])


def test_trees_that_cannot_be_learnt_from_are_refused():
    headless = language()[:5].replace(heads=[-1] * language()[:5].words)
    with pytest.raises(InputError, match="no sentence with all"):
        LatentTree().fit(headless)
    model = LatentTree(dim=2, learner="em").fit(language()[:50])
    with pytest.raises(InputError, match="head for every word"):
        model.log_probability(headless)
    chains = language()[:40]
    heads = np.concatenate([np.arange(n) for n in np.diff(chains.offsets)])
    with pytest.raises(InputError, match="both sides"):
        LatentTree(dim=2).fit(chains.replace(heads=heads.tolist()))


def test_logs_are_floored_and_flags_counted():
    model = LatentTree(dim=5, ridge=0.0).fit(language()[:60])
    scores = model.log_probability(language())
    assert np.isfinite(scores.log_probability).all()
    assert (scores.log_probability >= FLOOR).all()
    assert 0.0 <= model.flagged_ <= 1.0
    assert model.summary_["flagged"] == 100 * model.flagged_
