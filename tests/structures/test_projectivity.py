"""Crossing arcs are found, and lifting leaves trees without them."""

from __future__ import annotations

import numpy as np
import pytest

from naive.arcs import all_trees, is_projective, is_tree
from syntagma.structures.projectivity import crossing_trees, lift_crossings


def batch_of(trees):
    offsets = np.concatenate(([0], np.cumsum([len(tree) for tree in trees]))).astype(np.int64)
    heads = np.array([head for tree in trees for head in tree], dtype=np.int32)
    return heads, offsets


def lifted(trees):
    heads, offsets = batch_of(trees)
    out = lift_crossings(heads, offsets)
    return [tuple(out[offsets[s] : offsets[s + 1]].tolist()) for s in range(len(trees))]


def crossings(heads):
    """Modifiers whose arc runs over a word that does not descend from the head."""
    found = []
    for modifier, head in enumerate(heads, start=1):
        low, high = sorted((modifier, head))
        for between in range(low + 1, high):
            above = between
            while above not in (0, head):
                above = heads[above - 1]
            if above != head:
                found.append(modifier)
                break
    return found


def naive_lift(heads):
    """Lift the shortest crossing arc, the first of several, until none is left."""
    tree = list(heads)
    while found := crossings(tree):
        modifier = min(found, key=lambda m: (abs(m - tree[m - 1]), m))
        tree[modifier - 1] = tree[tree[modifier - 1] - 1]
    return tuple(tree)


def random_trees(count, words):
    rng = np.random.default_rng(words)
    trees = []
    for _ in range(count):
        order = rng.permutation(words) + 1
        heads = [0] * words
        for rank in range(1, words):
            heads[order[rank] - 1] = int(order[rng.integers(rank)])
        trees.append(tuple(heads))
    return trees


def all_small_trees():
    return [tree for words in range(6) for tree in all_trees(words, False)]


def test_crossing_arcs_are_found_in_every_small_tree():
    trees = all_small_trees()
    found = crossing_trees(*batch_of(trees))
    assert found.tolist() == [not is_projective(tree) for tree in trees]
    assert 0 < found.sum() < len(found)


@pytest.mark.parametrize("words", [6, 12, 30])
def test_crossing_arcs_are_found_in_long_trees(words):
    trees = random_trees(60, words)
    found = crossing_trees(*batch_of(trees))
    assert found.tolist() == [not is_projective(tree) for tree in trees]


@pytest.mark.parametrize("words", [0, 6, 12, 30])
def test_lifting_leaves_projective_trees(words):
    trees = random_trees(60, words) if words else all_small_trees()
    results = lifted(trees)
    for tree, result in zip(trees, results, strict=True):
        assert is_tree(result)
        assert is_projective(result)
        assert result == naive_lift(tree)
        if is_projective(tree):
            assert result == tree


def test_a_single_root_stays_single():
    # over an arc of the only root there is nothing that is not below it
    trees = [tree for tree in all_small_trees() + random_trees(60, 20) if tree.count(0) == 1]
    assert all(result.count(0) == 1 for result in lifted(trees))


def test_lifting_to_the_root_where_there_are_several():
    assert lifted([(0, 0, 1)]) == [(0, 0, 0)]
    trees = all_small_trees()
    for tree, result in zip(trees, lifted(trees), strict=True):
        assert {m for m, head in enumerate(tree) if head == 0} <= {
            m for m, head in enumerate(result) if head == 0
        }


def test_the_input_is_left_alone():
    heads, offsets = batch_of([(3, 4, 0, 3)])
    before = heads.copy()
    lift_crossings(heads, offsets)
    np.testing.assert_array_equal(heads, before)


def test_sentences_without_a_tree_are_left_alone():
    heads, offsets = np.full(4, -1, np.int32), np.array([0, 2, 4])
    assert crossing_trees(heads, offsets).tolist() == [False, False]
    assert lift_crossings(heads, offsets).tolist() == [-1] * 4
