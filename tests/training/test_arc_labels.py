"""Labels of arcs against a softmax over explicit vectors of features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from hashed import LARGE, described, label_hashes, random_treebank, sentences_of
from naive import parts as naive
from syntagma.errors import InputError
from syntagma.training.arc_features import present_fields
from syntagma.training.arc_labels import (
    SMALLEST,
    LabelLearner,
    label_probabilities,
    label_program,
)
from syntagma.training.arc_templates import FIELDS

TEMPLATES = ("h.tag m.tag", "m.word g.tag", "l.lower", "r.tag", "s.tag n.tag", "m-1.word m.feats")
RATE = 0.1
SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=6)


class Twin:
    """A dense table of weights, a row for every place, that learns by AdaGrad."""

    def __init__(self, labels, bits):
        self.labels, self.bits = labels, bits
        self.hashes: dict[tuple, int] = {}
        self.weights = np.zeros(2**bits + labels - 1)
        self.squares = np.zeros_like(self.weights)

    def arcs(self, treebank):
        """The places of the features of every arc."""
        label_hashes(treebank, TEMPLATES, self.hashes)
        for words, (a, b) in zip(
            described(treebank), pairwise(treebank.offsets.tolist()), strict=True
        ):
            heads = treebank.heads[a:b].tolist()
            for m in range(1, b - a + 1):
                features = naive.label_features(words, TEMPLATES, heads, m)
                yield [self.hashes[feature] >> (LARGE - self.bits) for feature in features]

    def probabilities(self, places):
        scores = np.zeros(self.labels)
        for place in places:
            scores += self.weights[place : place + self.labels]
        return naive.probabilities(scores)

    def learn(self, places, right):
        gradient = self.probabilities(places) - np.eye(self.labels)[right]
        gradient[np.abs(gradient) < SMALLEST] = 0.0
        for place in places:
            row = slice(place, place + self.labels)
            self.squares[row] += gradient**2
            self.weights[row] -= RATE * gradient / np.sqrt(np.maximum(self.squares[row], 1e-30))


def choose(treebank, weights, labels, fields=FIELDS):
    chosen, confidence = np.full(treebank.words, -9, np.int32), np.full(treebank.words, -9.0)
    program = label_program(TEMPLATES, fields)
    codes, offsets, heads = sentences_of(treebank)
    label_probabilities(codes, offsets, program, heads, labels, weights, chosen, confidence)
    return chosen, confidence


def learner_of(treebank, labels, size=2**20):
    program = label_program(TEMPLATES, present_fields(treebank))
    return LabelLearner(program, labels, size, RATE)


@PROPERTY
@given(
    seed=SEEDS,
    sizes=SIZES,
    labels=st.integers(2, 5),
    single_root=st.booleans(),
    bits=st.sampled_from([6, 14]),
)
def test_it_learns_as_the_naive_classifier_does(seed, sizes, labels, single_root, bits):
    rng = np.random.default_rng(seed)
    treebank = random_treebank(rng, sizes, single_root)
    gold = rng.integers(-1, labels, treebank.words).astype(np.int32)  # -1 is unknown
    learner, twin = learner_of(treebank, labels, 2**bits), Twin(labels, bits)
    chosen = np.tile(rng.permutation(len(treebank)), 2)
    step = learner.learn(sentences_of(treebank), chosen, gold, 1)
    assert step == 1 + 2 * (gold >= 0).sum()
    arcs = list(twin.arcs(treebank))
    assert len(set(twin.hashes.values())) == len(twin.hashes)
    for s in chosen:
        for i in range(treebank.offsets[s], treebank.offsets[s + 1]):
            if gold[i] >= 0:
                twin.learn(arcs[i], gold[i])
    np.testing.assert_allclose(learner.weights, twin.weights, atol=1e-4)


@PROPERTY
@given(seed=SEEDS, labels=st.integers(2, 5), bits=st.sampled_from([6, 14]))
def test_the_likeliest_label_and_its_probability_are_those_of_a_softmax(seed, labels, bits):
    rng = np.random.default_rng(seed)
    treebank = random_treebank(rng, [5, 3, 0, 1, 4], single_root=bool(seed % 2))
    twin = Twin(labels, bits)
    twin.weights[:] = rng.normal(size=len(twin.weights)).astype(np.float32)
    fields = present_fields(treebank)
    best, confidence = choose(treebank, twin.weights.astype(np.float32), labels, fields)
    for i, places in enumerate(twin.arcs(treebank)):
        expected = twin.probabilities(places)
        np.testing.assert_allclose(confidence[i], expected.max(), rtol=1e-4)
        np.testing.assert_allclose(expected[best[i]], expected.max(), rtol=1e-4)
        assert 1 / labels - 1e-6 <= confidence[i] <= 1.0 + 1e-6


def test_the_average_is_the_mean_of_the_weights_over_all_steps():
    rng = np.random.default_rng(2)
    treebank = random_treebank(rng, [1] * 12)
    gold = rng.integers(0, 3, 12).astype(np.int32)
    learner = learner_of(treebank, 3, 2**14)
    weights, step = [learner.weights.copy()], 1
    for s in range(12):
        step = learner.learn(sentences_of(treebank), np.array([s]), gold, step)
        weights.append(learner.weights.copy())
    expected = np.mean(np.array(weights, float), axis=0)
    np.testing.assert_allclose(learner.averaged(step), expected, atol=1e-6)


def test_unknown_labels_teach_nothing():
    treebank = random_treebank(np.random.default_rng(3), [4, 0, 2])
    learner = learner_of(treebank, 3)
    gold = np.full(treebank.words, -1, np.int32)
    assert learner.learn(sentences_of(treebank), np.arange(3), gold, 7) == 7
    assert not learner.weights.any()
    np.testing.assert_array_equal(learner.averaged(1), learner.weights)
    _, confidence = choose(treebank, learner.weights, 3)
    np.testing.assert_allclose(confidence, 1 / 3, rtol=1e-6)


def test_it_learns_labels_that_follow_from_the_tree():
    rng = np.random.default_rng(4)
    treebank, held_out = (random_treebank(rng, [5] * sentences) for sentences in (60, 40))

    def direction(some):
        position = np.concatenate([np.arange(1, n + 1) for n in some.lengths])
        away = np.where(some.heads > position, 1, 2)
        return np.where(some.heads == 0, 0, away).astype(np.int32)

    learner, step = learner_of(treebank, 3), 1
    for _ in range(4):
        step = learner.learn(sentences_of(treebank), np.arange(60), direction(treebank), step)
    best, confidence = choose(held_out, learner.averaged(step), 3)
    right = best == direction(held_out)
    assert right.mean() > 0.9
    assert confidence[right].mean() > confidence[~right].mean()


def test_extreme_weights_stay_probabilities():
    rng = np.random.default_rng(5)
    treebank = random_treebank(rng, [5, 4])
    weights = (rng.normal(size=2**12 + 3) * 1e4).astype(np.float32)
    _, confidence = choose(treebank, weights, 4)
    assert np.isfinite(confidence).all()
    assert ((confidence > 0) & (confidence <= 1)).all()


@pytest.mark.parametrize("text", ["", "x.tag", "h.nothing", "h+3.tag", "b.tag"])
def test_other_templates_are_refused(text):
    with pytest.raises(InputError):
        label_program([text], FIELDS)
