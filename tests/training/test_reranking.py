"""Features of whole trees against a list in words, and learners on lists with known winners."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from naive.arcs import all_trees
from naive.reranking import tree_features
from syntagma.training.arc_features import hashes, table_shift
from syntagma.training.reranking import Choice, Lists, learn_to_choose, rerank, tree_places

TAGS = ("DET", "NOUN", "VERB")
SIZE = 2**20


def places_of(heads, tags) -> Counter:
    codes = hashes(list(TAGS), "tag")[[TAGS.index(tag) for tag in tags]]
    out = np.empty(2 * len(heads), np.int32)
    count = tree_places(np.array(heads, np.int32), codes, table_shift(SIZE), out)
    return Counter(out[:count].tolist())


def test_places_stand_for_the_features_one_to_one():
    rng = np.random.default_rng(0)
    meaning: dict[tuple, int] = {}
    for words in (1, 2, 3, 4):
        trees = all_trees(words, False)
        for _ in range(40):
            heads = trees[rng.integers(len(trees))]
            tags = [TAGS[i] for i in rng.integers(3, size=words)]
            places, features = places_of(heads, tags), tree_features(heads, tags)
            assert places.total() == features.total()
            assert sorted(places.values()) == sorted(features.values())
            for feature in features:
                meaning.setdefault(feature, 0)
    assert len(meaning) > 50


def test_different_features_have_different_places():
    """A tree that differs in one arc differs in the places of the features that change."""
    tags = ["DET", "NOUN", "VERB", "NOUN"]
    trees = all_trees(4, True)
    for one in trees[::7]:
        for two in trees[::11]:
            words = tree_features(one, tags) - tree_features(two, tags)
            places = places_of(one, tags) - places_of(two, tags)
            assert words.total() == places.total()


def lists_with_a_rule(rng, sentences=200, n=6):
    """Random trees, of which those are right whose words hang on a verb."""
    words = 4
    trees = np.array([rng.permutation(len(all_trees(words, True)))[:n] for _ in range(sentences)])
    heads = np.array(all_trees(words, True), np.int32)[trees]  # sentence, rank, word
    tags = np.array([rng.permutation(["VERB", "NOUN", "DET", "NOUN"]) for _ in range(sentences)])
    verb = np.argmax(tags == "VERB", axis=1) + 1
    right = (heads == verb[:, None, None]).sum(2).astype(np.int32)
    codes = hashes(list(TAGS), "tag")[[TAGS.index(tag) for tag in tags.ravel().tolist()]]
    flat = heads.transpose(1, 0, 2).reshape(n, -1)
    dense = rng.normal(size=(sentences, n, 1))
    offsets = np.arange(0, words * sentences + 1, words)
    return Lists(np.ascontiguousarray(flat), dense, codes, offsets), right


def chosen(lists, choice):
    out = np.empty(len(lists.offsets) - 1, np.int32)
    rerank(*lists, *choice, out, np.empty((len(out), len(lists.trees))))
    return out


@pytest.mark.parametrize("learner", ["log-linear", "perceptron"])
def test_learners_find_a_rule_that_the_base_score_does_not_know(learner):
    rng = np.random.default_rng(1)
    train, right = lists_with_a_rule(rng)
    options = {"learner": learner, "epochs": 40, "rate": 0.3, "size": SIZE, "seed": 0}
    choice = learn_to_choose(train, right, **options)
    test, truth = lists_with_a_rule(rng)
    rows = np.arange(len(truth))
    found = truth[rows, chosen(test, choice)].mean()
    base = truth[rows, test.dense[:, :, 0].argmax(1)].mean()
    assert found > base + 0.5 * (truth.max(1).mean() - base)
    again = learn_to_choose(train, right, **options)
    np.testing.assert_array_equal(choice.weights, again.weights)


def test_a_real_feature_that_tells_all_is_believed():
    rng = np.random.default_rng(2)
    lists, right = lists_with_a_rule(rng)
    told = np.stack([rng.normal(size=right.shape), right + 0.0], axis=2)
    lists = lists._replace(dense=told)
    choice = learn_to_choose(
        lists, right, learner="log-linear", epochs=60, rate=1e-9, size=SIZE, seed=0
    )
    assert choice.reals[1] > abs(choice.reals[0])
    best = right[np.arange(len(right)), chosen(lists, choice)]
    assert (best == right.max(1)).mean() > 0.9


def test_ranks_that_do_not_exist_are_never_chosen():
    rng = np.random.default_rng(3)
    lists, right = lists_with_a_rule(rng, 5)
    trees = lists.trees.copy()
    trees[2:, 4:8] = -1  # the second sentence has two trees
    trees[:, :4] = -1  # the first has none
    lists = lists._replace(trees=trees)
    out = np.empty(5, np.int32)
    scores = np.empty((5, len(trees)))
    rerank(*lists, Choice(np.ones(1), np.zeros(SIZE)).reals, np.zeros(SIZE), out, scores)
    assert out[0] == -1
    assert out[1] in (0, 1)
    assert (scores[1, 2:] == -np.inf).all()
    right[0] = 0
    learn_to_choose(lists, right, learner="log-linear", epochs=1, rate=0.1, size=SIZE, seed=0)
