"""Compiled features and emissions against strings in dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY
from naive import features as naive
from syntagma.errors import InputError
from syntagma.training.emissions import (
    Votes,
    choose_votes,
    sources,
    weight_gradient,
    word_scores,
)
from syntagma.training.features import STANDARD, FeatureMap, Template

TEMPLATES = [
    "bias",
    "word",
    "lower",
    "suffix2",
    "prefix1",
    "digit",
    "lower[-1]",
    "suffix1[2]",
    "word[-1]|word",
    "lower|suffix2[1]",
    "word[-1]|prefix1|word[1]",
]
WORDS = st.lists(
    st.sampled_from(["a", "A", "ab", "cab", "Cab", "x1", "1", "ba", "Straße"]),
    min_size=0,
    max_size=7,
)
CORPORA = st.lists(WORDS, min_size=1, max_size=6).filter(any)


def columns(sentences):
    words = [w for s in sentences for w in s]
    strings = list(dict.fromkeys(words))
    forms = np.array([strings.index(w) for w in words], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64)
    return forms, strings, offsets


def fired_by_word(attributes):
    """Attributes of each word: those of its form rows and its own."""
    first = attributes.rows - attributes.words
    out = []
    for t in range(attributes.words):
        rows = [*attributes.forms[t].tolist(), first + t]
        out.append(
            sorted(
                a
                for r in rows
                for a in attributes.attributes[
                    attributes.starts[r] : attributes.starts[r + 1]
                ].tolist()
            )
        )
    return out


@PROPERTY
@given(train=CORPORA, other=CORPORA, min_count=st.integers(1, 3))
def test_the_same_attributes_fire_as_with_strings(train, other, min_count):
    forms, strings, offsets = columns(train)
    feature_map = FeatureMap.fit(TEMPLATES, forms, strings, offsets, min_count)
    expected = [fired for s in train for fired in naive.attributes(TEMPLATES, s)]
    kept = naive.frequent(expected, min_count)
    assert feature_map.size == len(kept)
    names: dict[int, set[str]] = {}
    for corpus in (train, other):
        forms, strings, offsets = columns(corpus)
        fired = fired_by_word(feature_map.transform(forms, strings, offsets))
        expected = [f for s in corpus for f in naive.attributes(TEMPLATES, s)]
        for ours, theirs in zip(fired, expected, strict=True):
            theirs = [name for name in theirs if name in kept]
            assert len(ours) == len(theirs) == len(set(ours))
            for number in ours:  # an attribute's meaning is what all its words have in common
                names[number] = names.get(number, set(theirs)) & set(theirs)
    assert all(names.values())


@PROPERTY
@given(train=CORPORA, seed=st.integers(0, 1000), all_from=st.integers(0, 3))
def test_scores_and_gradients_are_sums_over_attributes(train, seed, all_from):
    rng = np.random.default_rng(seed)
    labels = 3
    forms, strings, offsets = columns(train)
    feature_map = FeatureMap.fit(TEMPLATES, forms, strings, offsets)
    attributes = feature_map.transform(forms, strings, offsets)
    way_back = sources(attributes, feature_map.size)
    allowed = rng.random((len(forms), labels)) < 0.4
    fired = fired_by_word(attributes)
    votes = choose_votes(attributes, way_back, allowed, feature_map.size, all_from)
    times = Counter(a for on in fired for a in on)
    expected = {
        (a, k)
        for t, on in enumerate(fired)
        for a in on
        for k in range(labels)
        if allowed[t, k] or 0 < all_from <= times[a]
    }
    owner = np.repeat(np.arange(feature_map.size), np.diff(votes.starts)).tolist()
    position = {pair: i for i, pair in enumerate(zip(owner, votes.labels.tolist(), strict=True))}
    assert set(position) == expected
    weights = rng.normal(size=votes.size)
    by_word = rng.normal(size=(len(forms), labels))
    scores = np.zeros((len(forms), labels))
    gradient = np.zeros(votes.size)
    for t, on in enumerate(fired):
        for a in on:
            for k in range(labels):
                if (a, k) in position:
                    scores[t, k] += weights[position[a, k]]
                    gradient[position[a, k]] += by_word[t, k]
    np.testing.assert_allclose(word_scores(attributes, votes, weights, labels), scores, atol=1e-12)
    np.testing.assert_allclose(weight_gradient(way_back, votes, by_word), gradient, atol=1e-12)


@PROPERTY
@given(train=CORPORA, other=CORPORA)
def test_counterparts_mean_the_same(train, other):
    maps = [FeatureMap.fit(TEMPLATES, *columns(corpus)) for corpus in (train, other)]
    both = columns(train + other)
    fired = [fired_by_word(feature_map.transform(*both)) for feature_map in maps]
    found = maps[0].counterparts(maps[1])
    assert found.shape == (maps[0].size,)
    for mine, theirs in zip(*fired, strict=True):
        assert sorted(found[a] for a in mine if found[a] >= 0) == [
            a for a in theirs if a in set(found.tolist())
        ]
    assert (maps[0].counterparts(maps[0]) == np.arange(maps[0].size)).all()


@PROPERTY
@given(train=CORPORA)
def test_packing_keeps_everything(train):
    forms, strings, offsets = columns(train)
    feature_map = FeatureMap.fit(TEMPLATES, forms, strings, offsets, 2)
    again = FeatureMap.unpack(*feature_map.pack())
    for a, b in zip(
        feature_map.transform(forms, strings, offsets),
        again.transform(forms, strings, offsets),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("damage", ["order", "length", "range", "twice"])
def test_a_damaged_map_is_refused(damage):
    header, arrays = FeatureMap.fit(TEMPLATES, *columns([["a", "ab", "a"], ["ba"]])).pack()
    if damage == "order":
        arrays["keys.word[-1]|word"] = arrays["keys.word[-1]|word"][::-1].copy()
    elif damage == "length":
        arrays["single.word"] = arrays["single.word"][:-1]
    elif damage == "range":
        arrays["single.word"] = arrays["single.word"] + 10_000
    else:
        header["values"]["word"].append("a")
    with pytest.raises((ValueError, KeyError)):
        FeatureMap.unpack(header, arrays)


@pytest.mark.parametrize(
    "name",
    ["", "nonsense", "suffix0", "lower[x]", "lower[", "word||word", "word*", "word*0", "word*-1"],
)
def test_a_bad_template_is_one_clear_error(name):
    with pytest.raises(InputError, match=r"template|word function"):
        Template.parse(name)


def test_votes_are_carried_over_by_meaning():
    mine = Votes(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    theirs = Votes(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32))
    # attribute 0 is the other's 1, attribute 1 is new; labels are swapped
    found = mine.look_up(np.array([1, -1]), np.array([1, 0]), theirs, np.array([5.0, 7.0, 9.0]))
    assert found.tolist() == [9.0, 7.0, 0.0]


def test_the_standard_templates_parse():
    assert len({Template.parse(name) for name in STANDARD}) == len(STANDARD)


def test_scales_belong_to_the_template():
    names = ["word*2", "suffix1", "word[-1]|word*0.5"]
    feature_map = FeatureMap.fit(names, *columns([["a", "ab"], ["b"]]))
    scales = feature_map.scales()
    assert len(scales) == feature_map.size
    told = dict(zip(feature_map.names(np.arange(feature_map.size)), scales.tolist(), strict=True))
    assert told["word=ab"] == 2
    assert told["suffix1=b"] == 1
    assert told["word[-1]|word=a&ab"] == 0.5
    header, _ = feature_map.pack()
    assert header["templates"] == names
    with pytest.raises(InputError, match="twice"):
        FeatureMap.fit(["word", "word*2"], *columns([["a"]]))
