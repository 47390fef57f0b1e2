"""Projective trees: the laws of a structure, counts, traps and ties."""

from __future__ import annotations

from math import comb

import numba
import numpy as np
import pytest

from contracts import StructureContract
from naive.arcs import is_projective, is_tree, projective_trees, scored_trees
from syntagma.structures.arcs import Arcs, arc_offsets
from syntagma.structures.eisner_batch import sum_trees


def random_blocks(rng, sizes, power, scale, forbid):
    values = rng.normal(size=sum((n + 1) ** power for n in sizes)) * scale
    values[rng.random(values.size) < forbid] = -np.inf
    return values


def reorder_blocks(values, starts, order):
    return np.concatenate([values[starts[s] : starts[s + 1]] for s in order])


def starts_of(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


class ArcsContract(StructureContract):
    single_root: bool

    def build(self, rng, sizes, scale, forbid):
        scores = random_blocks(rng, sizes, 2, scale, forbid)
        return Arcs(scores, starts_of(sizes), single_root=self.single_root)

    def rebuild(self, structure, potentials):
        return Arcs(*potentials, structure.offsets, single_root=self.single_root)

    def permute(self, structure, order):
        scores = reorder_blocks(structure.scores, structure.arc_starts, order)
        sizes = np.diff(structure.offsets)[order]
        return Arcs(scores, starts_of(sizes), single_root=self.single_root)

    def outcomes(self, structure, sentence):
        starts, offsets = structure.arc_starts, structure.offsets
        block = structure.scores[starts[sentence] : starts[sentence + 1]]
        words = int(offsets[sentence + 1] - offsets[sentence])
        return scored_trees(block, None, words, self.single_root)


class TestArcsWithOneRoot(ArcsContract):
    single_root = True


class TestArcsWithManyRoots(ArcsContract):
    single_root = False


def uniform(words, single_root=True):
    return Arcs(np.zeros((words + 1) ** 2), [0, words], single_root=single_root)


@pytest.mark.parametrize("words", [1, 2, 5, 17, 60, 500])
def test_zero_scores_count_the_trees(words):
    # ternary trees count the projective forests; cutting at the root gives the trees
    forests = comb(3 * words, words) // (2 * words + 1)
    trees = comb(3 * words - 2, words - 1) // words
    np.testing.assert_allclose(
        [uniform(words, False).log_partition()[0], uniform(words).log_partition()[0]],
        [_log(forests), _log(trees)],
        rtol=1e-12,
        atol=1e-12,
    )
    if words <= 5:
        assert len(projective_trees(words, False)) == forests
        assert len(projective_trees(words, True)) == trees


def _log(integer):
    digits = len(str(integer)) - 1
    return float(np.log(integer / 10**digits) + digits * np.log(10))


@pytest.mark.parametrize("words", [7, 40, 300])
@pytest.mark.parametrize("single_root", [True, False])
def test_every_word_has_one_head(words, single_root):
    rng = np.random.default_rng(words)
    arcs = Arcs(rng.normal(size=(words + 1) ** 2) * 3, [0, words], single_root=single_root)
    block = arcs.marginals().parts[0].reshape(words + 1, words + 1)
    np.testing.assert_allclose(block.sum(axis=0)[1:], 1.0, rtol=1e-9)
    assert (block[:, 0] == 0).all()
    assert (np.diag(block) == 0).all()
    if single_root:
        np.testing.assert_allclose(block[0].sum(), 1.0, rtol=1e-9)
    for tree in arcs.sample(3, seed=1).tolist() + arcs.kbest(3).outcome.tolist():
        assert tree.count(0) == 1 or not single_root
        if words > 40:
            continue  # the obvious check takes seconds
        assert is_tree(tuple(tree))
        assert is_projective(tuple(tree))


def test_what_underflows_against_the_columns_is_found_again():
    # greedily both words prefer each other by a wide margin, which no tree allows
    scores = np.zeros((3, 3))
    scores[1, 2] = scores[2, 1] = 5_000.0
    scores[0, 2] = 1.0
    arcs = Arcs(scores.ravel(), [0, 2])
    log_partition, (block,) = arcs.marginals()
    expected = 1.0 / (1.0 + np.exp(-1.0))
    np.testing.assert_allclose(log_partition, 5_001.0 + np.log1p(np.exp(-1.0)), rtol=1e-14)
    np.testing.assert_allclose(block.reshape(3, 3)[0], [0, 1 - expected, expected], rtol=1e-12)
    drawn = arcs.sample(4_000, seed=2)
    assert abs((drawn[:, 1] == 0).mean() - expected) < 0.03


@pytest.mark.parametrize("gap", [300.0, 340.0, 350.0, 360.0, 372.5, 400.0, 745.0])
def test_sums_near_the_smallest_numbers(gap):
    # two spans each lose `gap` against their columns: their product passes through subnormals
    scores = np.full((5, 5), -np.inf)
    scores[1, 2] = scores[2, 1] = scores[3, 4] = scores[4, 3] = gap
    scores[0, 1:] = 0.0
    many = Arcs(scores.ravel(), [0, 4], single_root=False)
    # each pair: either word on the root with the other below it, or both on the root
    expected = 2 * (gap + np.log(2.0 + np.exp(-gap)))
    log_partition, (block,) = many.marginals()
    np.testing.assert_allclose(log_partition, expected, rtol=1e-13)
    np.testing.assert_allclose(block.reshape(5, 5).sum(axis=0)[1:], 1.0, rtol=1e-11)
    np.testing.assert_allclose(block.reshape(5, 5)[0, 1:], 0.5, rtol=1e-11)


def test_forbidden_everything():
    nothing = np.full(16 + 1 + 9, -np.inf)
    arcs = Arcs(nothing, [0, 3, 3, 5])
    assert arcs.log_partition().tolist() == [-np.inf, 0.0, -np.inf]
    assert (arcs.marginals().parts[0] == 0).all()
    assert (arcs.argmax().outcome == -1).all()
    assert (arcs.sample(2) == -1).all()
    assert arcs.score(arcs.argmax().outcome).tolist() == [-np.inf, 0.0, -np.inf]


def test_every_word_has_a_head_but_no_tree_exists():
    scores = np.full((4, 4), -np.inf)
    scores[1, 2] = scores[2, 1] = scores[0, 3] = 0.0
    arcs = Arcs(scores.ravel(), [0, 3])
    assert arcs.log_partition()[0] == -np.inf
    assert (arcs.marginals().parts[0] == 0).all()
    assert arcs.entropy()[0] == 0.0
    assert (arcs.sample(2) == -1).all()
    assert (arcs.kbest(2).outcome == -1).all()


@pytest.mark.parametrize("single_root", [True, False])
def test_more_trees_asked_for_than_there_are(single_root):
    arcs = uniform(4, single_root)
    trees = projective_trees(4, single_root)
    score, outcome = arcs.kbest(len(trees) + 5)
    assert (score[0] == 0.0).sum() == len(trees)
    assert {tuple(tree) for tree in outcome[: len(trees)].tolist()} == set(trees)
    assert (outcome[len(trees) :] == -1).all()
    assert arcs.argmax().outcome.tolist() == outcome[0].tolist()


def test_ties_are_broken_alike_and_lists_are_sorted():
    rng = np.random.default_rng(3)
    sizes = [12, 3, 30, 8]
    scores = rng.integers(0, 2, sum((n + 1) ** 2 for n in sizes)).astype(float)
    arcs = Arcs(scores, starts_of(sizes))
    score, outcome = arcs.kbest(200)
    assert arcs.argmax().outcome.tolist() == outcome[0].tolist()
    for s in (0, 2, 3):
        assert (np.diff(score[s]) <= 0).all()
        words = slice(arcs.offsets[s], arcs.offsets[s + 1])
        assert len(np.unique(outcome[:, words], axis=0)) == 200
    for rank in (0, 1, 100, 199):
        found = arcs.score(outcome[rank])
        np.testing.assert_allclose(found, score[:, rank], rtol=1e-12)
    assert arcs.kbest(7).outcome.tolist() == outcome[:7].tolist()


def test_long_lists_agree_with_enumeration():
    scores = np.random.default_rng(8).normal(size=49)
    arcs = Arcs(scores, [0, 6], single_root=False)
    expected = sorted((x for _, x in scored_trees(scores, None, 6, False)), reverse=True)
    score = arcs.kbest(len(expected)).score[0]
    np.testing.assert_allclose(score, expected, rtol=1e-10, atol=1e-12)


def test_one_sentence_does_not_change_another():
    rng = np.random.default_rng(4)
    sizes = [3, 70, 0, 9]
    scores = random_blocks(rng, sizes, 2, 2.0, 0.0)
    arcs = Arcs(scores, starts_of(sizes))
    starts = arc_offsets(arcs.offsets)
    alone = Arcs(scores[starts[3] : starts[4]], [0, 9])
    assert alone.log_partition()[0] == arcs.log_partition()[3]
    together = arcs.marginals().parts[0][starts[3] : starts[4]]
    np.testing.assert_array_equal(alone.marginals().parts[0], together)


def test_draws_do_not_depend_on_how_many_are_taken():
    arcs = Arcs(np.random.default_rng(5).normal(size=3 * 121), [0, 10, 20, 30])
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        few = arcs.sample(3, seed=9)
    finally:
        numba.set_num_threads(before)
    many = arcs.sample(8, seed=9)
    np.testing.assert_array_equal(few, many[:3])
    assert (many != arcs.sample(8, seed=10)).any()
    assert (many[:, :10] != many[:, 10:20]).any()


def test_unused_cells_change_nothing():
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(6, 6))
    clean = Arcs(scores.ravel(), [0, 5])
    scores[:, 0] = 1e300
    np.fill_diagonal(scores, 1e300)
    dirty = Arcs(scores.ravel(), [0, 5])
    assert clean.log_partition() == dirty.log_partition()
    np.testing.assert_array_equal(clean.marginals().parts[0], dirty.marginals().parts[0])
    np.testing.assert_array_equal(clean.kbest(5).outcome, dirty.kbest(5).outcome)


def test_frozen_and_unaligned_arrays_are_taken():
    scores = np.frombuffer(bytes(1 + 9 * 8), dtype=np.float64, offset=1)
    offsets = np.array([0, 2])
    offsets.flags.writeable = False
    np.testing.assert_allclose(Arcs(scores, offsets).log_partition(), np.log(2))
    assert len(sum_trees.signatures) <= 1, "no kernel is compiled again for them"


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="scores: expected an array of shape"):
        Arcs(np.zeros(8), [0, 2])
    with pytest.raises(ValueError, match="at least 1"):
        uniform(2).kbest(0)
    with pytest.raises(ValueError, match="expected 2 heads"):
        uniform(2).score(np.zeros(3, dtype=np.int32))
    with pytest.raises(ValueError, match="beyond the end"):
        uniform(2).score(np.array([0, 3], dtype=np.int32))


def test_empty_batch():
    arcs = Arcs(np.zeros(0), [0])
    assert len(arcs.log_partition()) == 0
    assert arcs.marginals().parts[0].shape == (0,)
    assert arcs.kbest(2).outcome.shape == (2, 0)
    assert arcs.entropy().shape == (0,)
    assert arcs.sample(2).shape == (2, 0)
