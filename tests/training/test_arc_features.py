"""Hashed features of dependency parts against tuples in dictionaries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from hashed import LARGE, Hashes, all_parts, described, random_treebank, sentences_of
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Column, Treebank
from syntagma.structures.siblings import SiblingArcs
from syntagma.training.arc_description import weigh_tags
from syntagma.training.arc_features import (
    BETWEEN,
    make_templates,
    present_fields,
    sentence_keys,
    word_codes,
)
from syntagma.training.arc_templates import FIELDS
from syntagma.training.forests import Grammar

ARCS = (
    "h.tag b.tag m.tag",
    "h.word m.tag",
    "m.lower",
    "h.prefix h.tag m.prefix",
    "h.suffix m.tag",
    "h.other m.other",
    "h.feats m.feats",
    "h-1.tag h.tag h+2.word m-2.tag m+1.lower",
    "h+1.prefix m-1.other m+2.feats",
    "b.tag",
    "h.tag b.other m.other",
)
SIBLINGS = ("h.tag s.tag m.tag", "s.word m.word", "s.prefix", "s-1.tag s+1.tag m.feats", "h.tag")
SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=4)


def lookup(*treebanks, arcs=ARCS, siblings=SIBLINGS):
    hashes = Hashes(arcs, siblings, {})
    for treebank in treebanks:
        hashes.look_up(treebank)
    return hashes


def forest_of(treebank, weights, arcs=ARCS, siblings=SIBLINGS, chosen=None):
    templates = make_templates(arcs, siblings, present_fields(treebank))
    chosen = np.arange(len(treebank)) if chosen is None else np.array(chosen)
    return Grammar(templates, True, True).forest(sentences_of(treebank), chosen, weights)


@PROPERTY
@given(seed=SEEDS, sizes=SIZES, other=st.booleans())
def test_parts_share_a_place_exactly_if_they_share_a_feature(seed, sizes, other):
    treebank = random_treebank(np.random.default_rng(seed), np.minimum(sizes, 5), other=other)
    hashes = lookup(treebank)  # equal features, equal hashes
    assert len(set(hashes.found.values())) == len(hashes.found)  # and no others
    assert all(0 <= place < 2**LARGE for place, _ in hashes.found.values())


@PROPERTY
@given(seed=SEEDS, sizes=SIZES, bits=st.sampled_from([8, 20]))
def test_scores_are_the_sums_of_the_weights_of_the_features(seed, sizes, bits):
    rng = np.random.default_rng(seed)
    treebank = random_treebank(rng, np.minimum(sizes, 5))
    hashes = lookup(treebank)
    weights = rng.normal(size=2**bits).astype(np.float32)
    chosen = rng.permutation(len(treebank))
    forest = forest_of(treebank, weights, chosen=chosen)
    assert isinstance(forest, SiblingArcs)
    words = described(treebank)
    arcs, siblings = np.zeros_like(forest.scores), np.zeros_like(forest.siblings)
    for place, sentence in enumerate(chosen.tolist()):
        side = len(words[sentence]) + 1
        for part in all_parts(side - 1, True):
            features = hashes.features(words[sentence], part)
            total = sum(float(weights[hashes.place(f, bits)]) for f in features)
            if len(part) == 2:
                arcs[forest.arc_starts[place] + part[0] * side + part[1]] = total
            else:
                cell = (part[0] * side + part[1]) * side + part[2]
                siblings[forest.sibling_starts[place] + cell] = total
    np.testing.assert_allclose(forest.scores, arcs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forest.siblings, siblings, rtol=1e-9, atol=1e-9)


@PROPERTY
@given(seed=SEEDS)
def test_scores_are_linear_in_the_weights(seed):
    rng = np.random.default_rng(seed)
    treebank = random_treebank(rng, rng.integers(1, 9, size=2).clip(max=5))
    one, other = rng.integers(-64, 64, size=(2, 2**12)).astype(np.float32)
    forests = [forest_of(treebank, weights) for weights in (one, other, 2 * one - 3 * other)]
    for name in ("scores", "siblings"):
        first, second, mixed = (getattr(forest, name) for forest in forests)
        np.testing.assert_array_equal(mixed, 2 * first - 3 * second)


def test_the_order_of_templates_changes_nothing():
    rng = np.random.default_rng(1)
    treebank = random_treebank(rng, [4, 5])
    weights = rng.integers(-64, 64, size=2**14).astype(np.float32)
    one = forest_of(treebank, weights)
    other = forest_of(treebank, weights, ARCS[::-1], SIBLINGS[::-1])
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.siblings, other.siblings)


def sentence(forms, tags, feats=None):
    treebank = Treebank.from_sentences([forms], upos=[tags])
    return treebank if feats is None else treebank.replace(feats=feats)


def test_each_different_tag_between_counts_once():
    tags = ["N", "A", "B", "A", "A", "B", "N"]
    treebank = sentence(list("abcdefg"), tags)
    hashes = lookup(treebank, arcs=("h.tag b.tag m.tag",), siblings=())
    (words,) = described(treebank)
    assert len(hashes.features(words, (1, 7))) == 4
    assert len(hashes.features(words, (0, 1))) == 0
    bits = 16
    weights = np.zeros(2**bits, np.float32)
    through_a = next(f for f in hashes.features(words, (1, 7)) if f[1][1] == ("=", "A"))
    weights[hashes.place(through_a, bits)] = 1.0
    forest = forest_of(treebank, weights, ("h.tag b.tag m.tag",), ())
    scores = forest.scores.reshape(8, 8)
    expected = np.zeros((8, 8))
    expected[1, 7] = expected[7, 1] = 1.0  # from N to N, once although three As are between
    np.testing.assert_array_equal(scores, expected)


def test_a_bounded_number_of_tags_between_is_looked_at():
    tags = [f"T{i}" for i in range(BETWEEN + 9)]
    treebank = sentence(["w"] * len(tags), tags)
    hashes = lookup(treebank, arcs=("h.tag b.tag",), siblings=())
    (words,) = described(treebank)
    assert len(hashes.features(words, (0, len(tags)))) == 2 * BETWEEN
    weights = np.random.default_rng(0).normal(size=2**14).astype(np.float32)
    forest = forest_of(treebank, weights, ("h.tag b.tag",), ())
    scores = forest.scores.reshape(len(tags) + 1, -1)
    for head, modifier in ((0, len(tags)), (len(tags), 1), (1, len(tags)), (3, 7)):
        vector = hashes.vector(hashes.features(words, (head, modifier)), 14)
        np.testing.assert_allclose(scores[head, modifier], vector @ weights, rtol=1e-9)


def test_what_lies_outside_the_sentence_is_there_and_has_its_own_values():
    treebank = sentence(["w"], ["T"])
    arcs = ("h-2.word", "h-1.word", "h.word", "m.word", "m+1.word", "m+2.word")
    hashes = lookup(treebank, arcs=arcs, siblings=())
    (words,) = described(treebank)
    assert len(hashes.features(words, (0, 1))) == 2 * len(arcs)
    # the same question asked of one anchor: six positions, six answers
    longer = sentence(["w", "w"], ["T", "T"])
    asked = lookup(longer, arcs=tuple(f"m{step}.word" for step in ("-2", "-1", "+1", "+2")))
    answers = {f[1] for f in asked.found if f[0].startswith("m") and len(f) == 2}
    kinds = {("before", 1), ("root",), ("=", "w"), ("after", 1), ("after", 2)}
    assert {value for (value,) in answers} == kinds


def test_what_is_not_there_does_not_count():
    treebank = sentence(["a", "walking"], ["N", "V"], ["_", "F=1"])
    hashes = lookup(treebank, arcs=("m.prefix", "m.suffix h.tag", "h.feats"), siblings=())
    (words,) = described(treebank)
    assert [f[0] for f in hashes.features(words, (2, 1))] == ["h.feats"] * 2
    assert [f[0] for f in hashes.features(words, (1, 2))] == ["m.prefix"] * 2 + [
        "m.suffix h.tag"
    ] * 2


def test_equal_strings_of_different_fields_are_different_features():
    treebank = sentence(["x", "x"], ["x", "x"])
    hashes = lookup(treebank, arcs=("m.word", "m.lower", "m.tag", "h.word", "h.tag"), siblings=())
    assert len(set(hashes.found.values())) == len(hashes.found)


def test_direction_and_distance_are_told_apart():
    treebank = sentence(["w"] * 14, ["T"] * 14)
    hashes = lookup(treebank, arcs=("h.tag m.tag",), siblings=())
    both = (("=", "T"), ("=", "T"))
    placed = {f[2] for f in hashes.found if f[1] == both and len(f) == 3}
    sizes = ("1", "2", "3", "4", "5", "6-10", "more")
    assert placed == {(way, size) for way in ("left", "right") for size in sizes}


def test_no_sibling_is_a_sibling_of_its_own_kind():
    treebank = sentence(["w"] * 4, ["T"] * 4)
    hashes = lookup(treebank, arcs=(), siblings=("h.tag s.tag m.tag", "h.tag m.tag"))
    (words,) = described(treebank)
    none, some = (hashes.features(words, part) for part in ((1, 4, 1), (1, 4, 2)))
    # where a template does not look at the sibling, only direction and distance tell
    assert Counter(none) & Counter(some) == {("h.tag m.tag", (("=", "T"),) * 2): 1}


def test_pairs_of_tags_are_weighed_as_arcs_between_them_are():
    tags = ["N", "V", "A", "N", "V", "A", "V", "V", "A", "N", "N", "V", "A", "V"]
    weights = np.random.default_rng(0).normal(size=2**12).astype(np.float32)
    arcs = ("h.tag m.tag", "m.tag h.tag")
    forest = forest_of(sentence(["w"] * 14, tags), weights, arcs, ())
    scores = forest.scores.reshape(15, 15)
    others = ("h.tag", "h.word m.tag", "h-1.tag m.tag", "h.tag b.tag m.tag")
    names = sorted(set(tags))
    weighed = weigh_tags((*others, *arcs), names, weights)
    assert weighed.shape == (2, 4, 3, 7)
    for head in range(15):
        for modifier in range(1, 15):
            if head != modifier:
                distance = abs(head - modifier)
                far = distance - 1 if distance <= 5 else 5 if distance <= 10 else 6
                row = 1 + names.index(tags[head - 1]) if head else 0
                column = names.index(tags[modifier - 1])
                found = weighed[int(modifier > head), row, column, far]
                np.testing.assert_allclose(found, scores[head, modifier], rtol=1e-9)


@pytest.mark.parametrize("bits", [9, 12])
def test_collisions_are_as_rare_as_chance_makes_them(bits):
    corpus = english(8, seed=3, max_length=9).treebank
    hashes = lookup(corpus)
    hashed = np.array([hashes.place(feature, bits) for feature in hashes.found])
    size = 2**bits
    assert len(hashed) > 4 * size or bits == 12
    empty = size * (1 - 1 / size) ** len(hashed)
    used = np.bincount(hashed, minlength=size)
    assert abs((used == 0).sum() - empty) < 0.1 * empty + 6
    # no place draws many more than a Poisson variable would
    mean = len(hashed) / size
    assert used.max() < mean + 6 * np.sqrt(mean) + 4


def test_fields_are_present_if_any_word_has_a_value():
    treebank = random_treebank(np.random.default_rng(0), [5, 4])
    assert present_fields(treebank) == list(FIELDS)
    assert set(FIELDS) - set(present_fields(treebank, True)) == {"feats", "other"}
    bare = Treebank.from_sentences([["a"]])
    assert set(FIELDS) - set(present_fields(bare)) == {"feats", "other"}
    fine = replace(treebank, tag_column="xpos")
    assert word_codes(fine)[:, FIELDS.index("other")].tolist() != [0] * 9
    lonely = fine.replace(upos=Column.blank(9))
    assert "other" not in present_fields(lonely)


def test_codes_do_not_depend_on_how_columns_are_numbered():
    treebank = random_treebank(np.random.default_rng(4), [5, 5, 3])
    rebuilt = treebank.take([2, 1, 0]).replace(feats=treebank.take([2, 1, 0]).feats.strings())
    fields = present_fields(treebank)
    again = word_codes(rebuilt, fields)
    order = np.r_[10:13, 5:10, 0:5]
    np.testing.assert_array_equal(again, word_codes(treebank, fields)[order])
    # fields that are not asked for are not there; the other tag then comes from the tag
    few = word_codes(treebank, ["word", "tag"])
    assert {FIELDS[i] for i in np.flatnonzero(few.any(axis=0))} == {"word", "tag", "other"}


def test_equal_sentences_have_equal_keys_and_others_do_not():
    forms = [["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"], ["b", "a"], ["a"]]
    heads = [[0, 1], [0, 1], [2, 0], [0, 1], [0, 1], [0]]
    treebank = Treebank.from_sentences(forms, heads=heads)
    labels = np.array([0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0], np.int32)
    keys = sentence_keys(word_codes(treebank), treebank.heads, labels, treebank.offsets).tolist()
    assert keys[0] == keys[1]
    assert len(set(keys)) == 5
