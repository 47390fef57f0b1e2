"""What a dependency parser learns from: order, choice and count of the sentences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from naive.arcs import all_trees, is_projective, is_tree
from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError
from syntagma.training.arc_templates import FIELDS
from syntagma.training.tree_material import make_material

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=9)


def treebank_of(seed, sizes, blank=0.0, single_root=False):
    """Random sentences, some of them without heads, as lists."""
    rng = np.random.default_rng(seed)
    sentences = []
    for size in sizes:
        trees = all_trees(size, single_root)
        heads = trees[int(rng.integers(len(trees)))]
        sentences.append(
            {
                "forms": rng.choice(["a", "b", "C"], size).tolist(),
                "upos": rng.choice(["N", "V"], size).tolist(),
                "xpos": rng.choice(["P", "_"], size).tolist(),
                "labels": rng.choice(["x", "y", "_"], size).tolist(),
                "heads": [-1] * size if rng.random() < blank else list(heads),
            }
        )
    return sentences


def make(sentences):
    columns = {name: [s[name] for s in sentences] for name in sentences[0]}
    return Treebank.from_sentences(columns.pop("forms"), **columns)


def trees(material):
    offsets = material.sentences.offsets.tolist()
    return [tuple(material.sentences.heads[a:b].tolist()) for a, b in pairwise(offsets)]


def same(one, other):
    for a, b in zip(one.sentences, other.sentences, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.gold_labels, other.gold_labels)
    for name in ("labels", "fields", "skipped", "crossing", "single_root"):
        assert getattr(one, name) == getattr(other, name), name


@PROPERTY
@given(seed=SEEDS, sizes=SIZES, only_tags=st.booleans(), data=st.data())
def test_the_order_of_the_sentences_changes_nothing(seed, sizes, only_tags, data):
    sentences = treebank_of(seed, [*sizes, 3])
    order = data.draw(st.permutations(range(len(sentences))))
    one = make_material(make(sentences), only_tags)
    same(one, make_material(make([sentences[i] for i in order]), only_tags))
    same(one, make_material(make(sentences).take(order), only_tags))


@PROPERTY
@given(seed=SEEDS, sizes=SIZES)
def test_sentences_without_heads_are_skipped_and_counted(seed, sizes):
    sentences = [*treebank_of(seed, sizes, blank=0.5), *treebank_of(seed, [2])]
    material = make_material(make(sentences), False)
    whole = [s for s in sentences if s["heads"][0] >= 0]
    assert material.skipped == len(sentences) - len(whole)
    same(material._replace(skipped=0), make_material(make(whole), False))
    assert sorted(trees(material)) == sorted(tuple(s["heads"]) for s in whole)


@PROPERTY
@given(seed=SEEDS, sizes=st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_crossing_trees_are_counted_and_lifted(seed, sizes):
    sentences = treebank_of(seed, sizes)
    material = make_material(make(sentences), False)
    crossing = [not is_projective(tuple(s["heads"])) for s in sentences]
    assert material.crossing == sum(crossing)
    lifted = material.lifted()
    for before, after in zip(trees(material), trees(lifted), strict=True):
        assert is_tree(after)
        assert is_projective(after)
        if is_projective(before):
            assert after == before
    same(lifted._replace(sentences=material.sentences), material)


@PROPERTY
@given(seed=SEEDS, sizes=SIZES, single_root=st.booleans())
def test_one_root_is_expected_where_there_was_never_another(seed, sizes, single_root):
    sentences = treebank_of(seed, sizes, single_root=single_root)
    many = any(s["heads"].count(0) > 1 for s in sentences)
    assert make_material(make(sentences), False).single_root == (not many)


def test_labels_are_numbered_by_name_and_blank_ones_are_none():
    treebank = Treebank.from_sentences(
        [["a", "b", "c"]], heads=[[0, 1, 1]], labels=[["root", "_", "det"]]
    )
    material = make_material(treebank, False)
    assert material.labels == ["det", "root"]
    assert material.gold_labels.tolist() == [1, -1, 0]
    blank = make_material(treebank.replace(labels=["_"] * 3), False)
    assert blank.labels == ["_"]
    assert blank.gold_labels.tolist() == [-1, -1, -1]


def test_labels_of_skipped_sentences_are_not_learnt():
    treebank = Treebank.from_sentences(
        [["a"], ["b"]], heads=[[0], [-1]], labels=[["root"], ["strange"]]
    )
    assert make_material(treebank, False).labels == ["root"]


def test_fields_are_those_that_hold_anything():
    sentences = treebank_of(0, [3, 2])
    treebank = make(sentences).replace(xpos=["P"] * 5)
    assert set(FIELDS) - set(make_material(treebank, False).fields) == {"feats"}
    assert set(FIELDS) - set(make_material(treebank, True).fields) == {"feats", "other"}
    full = treebank.replace(feats=["F=1"] * 5)
    assert make_material(full, False).fields == list(FIELDS)
    codes = make_material(full, True).sentences.codes
    assert not codes[:, FIELDS.index("feats")].any()


def test_nothing_to_learn_from_is_one_clear_error():
    bare = Treebank.from_sentences([["a", "b"], ["c"]])
    with pytest.raises(InputError, match="expected heads in the treebank"):
        make_material(bare, False)
    with pytest.raises(InputError, match="expected training sentences, found none"):
        make_material(bare[:0], False)


@pytest.mark.parametrize("sizes", [[0, 2], [2, 0], [1, 0, 0, 1], [0]])
def test_sentences_without_words_do_no_harm(sizes):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    total = int(offsets[-1])
    columns = {"forms": Column.of(["w"] * total)}
    heads = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    treebank = Treebank.from_columns(offsets, columns, heads)
    if not total:
        with pytest.raises(InputError, match="expected heads"):
            make_material(treebank, False)
        return
    material = make_material(treebank, False)
    assert sorted(trees(material)) == sorted(tuple(range(size)) for size in sizes if size)
    assert material.skipped == sizes.count(0)
