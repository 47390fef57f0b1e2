"""The likelihood of a chain CRF against enumeration, and its gradient against differences."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY
from syntagma.training.crf import ChainObjective, Weights, parameter_count
from syntagma.training.emissions import choose_votes, sources, word_scores
from syntagma.training.features import FeatureMap

TEMPLATES = ["bias", "word", "word[-1]", "word|word[1]"]
LABELS = 3


def problem(seed: int, order: int, known: float):
    """A small corpus with random words, and labels of which a share is known."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=4)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    strings = ["a", "b", "c"]
    forms = rng.integers(0, 3, size=offsets[-1]).astype(np.int32)
    feature_map = FeatureMap.fit(TEMPLATES, forms, strings, offsets)
    attributes = feature_map.transform(forms, strings, offsets)
    allowed = rng.random((len(forms), LABELS)) < 0.7
    allowed[np.arange(len(forms)), rng.integers(0, LABELS, len(forms))] = True
    certain = rng.random(len(forms)) < known
    allowed[certain] = np.eye(LABELS, dtype=bool)[allowed[certain].argmax(1)]
    way_back = sources(attributes, feature_map.size)
    votes = choose_votes(attributes, way_back, allowed, feature_map.size, 1)
    objective = ChainObjective(
        attributes, votes, feature_map.size, allowed, offsets, order=order, penalty=0.3
    )
    vector = rng.normal(size=parameter_count(votes.size, LABELS, order))
    return objective, vector, (attributes, votes, allowed, offsets)


def enumerated(vector, order, attributes, votes, allowed, offsets):
    """The penalised likelihood by summing over every labelling."""
    weights = Weights.of(vector, votes.size, LABELS, order)
    scores = word_scores(attributes, votes, weights.emissions, LABELS)
    likelihood = 0.0
    for start, end in pairwise(offsets):
        agreeing, everything = [], []
        for labels in product(range(LABELS), repeat=int(end - start)):
            score = sum(scores[start + t, y] for t, y in enumerate(labels))
            score += sum(weights.pairs[a, b] for a, b in pairwise(labels))
            if order == 2:
                triples = zip(labels, labels[1:], labels[2:], strict=False)
                score += sum(weights.triples[t] for t in triples)
            everything.append(score)
            if all(allowed[start + t, y] for t, y in enumerate(labels)):
                agreeing.append(score)
        likelihood += np.logaddexp.reduce(agreeing) - np.logaddexp.reduce(everything)
    return 0.15 * vector @ vector - likelihood


@PROPERTY
@given(
    seed=st.integers(0, 10**6), order=st.sampled_from([1, 2]), known=st.sampled_from([0, 0.5, 1])
)
def test_value_agrees_with_enumeration(seed, order, known):
    objective, vector, parts = problem(seed, order, known)
    value, _ = objective(vector)
    np.testing.assert_allclose(value, enumerated(vector, order, *parts), rtol=1e-10)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("known", [0.5, 1.0])
def test_gradient_agrees_with_differences(order, known):
    objective, vector, _ = problem(7, order, known)
    _, gradient = objective(vector)
    for i in range(len(vector)):
        ends = []
        for step in (1e-5, -1e-5):
            moved = vector.copy()
            moved[i] += step
            ends.append(objective(moved)[0])
        np.testing.assert_allclose(gradient[i], (ends[0] - ends[1]) / 2e-5, atol=1e-6)


def test_sentences_without_annotation_teach_nothing():
    objective, vector, (_, _, allowed, _) = problem(3, 1, 0.0)
    free = ChainObjective(
        objective.attributes,
        objective.votes,
        len(objective.votes.starts) - 1,
        np.ones_like(allowed),
        objective.offsets,
        penalty=0.0,
    )
    value, gradient = free(vector)
    assert abs(value) < 1e-9
    assert np.abs(gradient).max() < 1e-9
