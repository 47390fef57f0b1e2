"""Trees whose arcs may cross: the laws of a structure, determinants, traps and ties."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from contracts import StructureContract
from naive.arcs import all_trees, is_projective, is_tree, scored_trees
from syntagma.structures.arborescences import Arborescences
from syntagma.structures.arcs import Arcs


def random_blocks(rng, sizes, scale, forbid):
    values = rng.normal(size=sum((n + 1) ** 2 for n in sizes)) * scale
    values[rng.random(values.size) < forbid] = -np.inf
    return values


def starts_of(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


class ArborescencesContract(StructureContract):
    single_root: bool

    def build(self, rng, sizes, scale, forbid):
        scores = random_blocks(rng, sizes, scale, forbid)
        return Arborescences(scores, starts_of(sizes), single_root=self.single_root)

    def rebuild(self, structure, potentials):
        return Arborescences(*potentials, structure.offsets, single_root=self.single_root)

    def permute(self, structure, order):
        starts = structure.arc_starts
        scores = np.concatenate([structure.scores[starts[s] : starts[s + 1]] for s in order])
        sizes = np.diff(structure.offsets)[order]
        return Arborescences(scores, starts_of(sizes), single_root=self.single_root)

    def outcomes(self, structure, sentence):
        starts, offsets = structure.arc_starts, structure.offsets
        block = structure.scores[starts[sentence] : starts[sentence + 1]]
        words = int(offsets[sentence + 1] - offsets[sentence])
        return scored_trees(block, None, words, self.single_root, projective=False)


class TestArborescencesWithOneRoot(ArborescencesContract):
    single_root = True


class TestArborescencesWithManyRoots(ArborescencesContract):
    single_root = False


both = pytest.mark.parametrize("single_root", [True, False])


def one(block, single_root=True):
    words = len(block) - 1
    return Arborescences(block.ravel(), [0, words], single_root=single_root)


def enumerated(block, single_root):
    """Log partition, marginals and the scores of all trees, best first."""
    words = len(block) - 1
    pairs = scored_trees(block.ravel(), None, words, single_root, projective=False)
    scores = np.array([score for _, score in pairs])
    top = scores.max()
    log_partition = top + np.log(np.exp(scores - top).sum())
    marginals = np.zeros_like(block)
    for heads, score in pairs:
        for modifier, head in enumerate(heads, start=1):
            marginals[head, modifier] += np.exp(score - log_partition)
    return log_partition, marginals, -np.sort(-scores)


def frequencies(structure, count, seed=0):
    words = int(structure.offsets[-1])
    found = np.zeros((words + 1, words + 1))
    for tree in structure.sample(count, seed=seed):
        found[tree, np.arange(1, words + 1)] += 1.0 / count
    return found


@pytest.mark.parametrize("words", [1, 2, 5, 17, 60, 300])
def test_zero_scores_count_the_trees(words):
    block = np.zeros((words + 1, words + 1))
    found = [one(block, False).log_partition()[0], one(block).log_partition()[0]]
    expected = [(words - 1) * math.log(words + 1), (words - 1) * math.log(words)]  # Cayley
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    if words <= 5:
        assert len(all_trees(words, False)) == (words + 1) ** (words - 1)
        assert len(all_trees(words, True)) == words ** (words - 1)


@both
def test_determinant_and_inverse_of_the_laplacian(single_root):
    words = 30
    block = np.random.default_rng(1).normal(size=(words + 1, words + 1))
    weights = np.exp(block)
    np.fill_diagonal(weights, 0.0)
    inner = weights[1:, 1:]
    laplacian = np.diag(inner.sum(axis=0)) - inner
    expected = np.zeros_like(block)
    if single_root:
        laplacian[0] = weights[0, 1:]  # Koo et al. 2007
    else:
        laplacian += np.diag(weights[0, 1:])
    inverse = np.linalg.inv(laplacian)
    others = np.arange(words) > 0 if single_root else np.full(words, True)
    own = np.where(others, np.diag(inverse), 0.0)
    expected[1:, 1:] = inner * (own - np.where(others[:, None], inverse.T, 0.0))
    expected[0, 1:] = weights[0, 1:] * (inverse[:, 0] if single_root else np.diag(inverse))
    log_partition, (marginals,) = one(block, single_root).marginals()
    np.testing.assert_allclose(log_partition[0], np.linalg.slogdet(laplacian)[1], rtol=1e-12)
    np.testing.assert_allclose(marginals.reshape(block.shape), expected, atol=1e-12)


@pytest.mark.parametrize("words", [7, 40, 300])
@pytest.mark.parametrize("scale", [3.0, 1e4])
@both
def test_every_word_has_one_head(words, scale, single_root):
    rng = np.random.default_rng(words)
    structure = one(rng.normal(size=(words + 1, words + 1)) * scale, single_root)
    block = structure.marginals().parts[0].reshape(words + 1, words + 1)
    np.testing.assert_allclose(block.sum(axis=0)[1:], 1.0, rtol=1e-9)
    assert (block[:, 0] == 0).all()
    assert (np.diag(block) == 0).all()
    if single_root:
        np.testing.assert_allclose(block[0].sum(), 1.0, rtol=1e-9)
    for tree in structure.sample(3, seed=1).tolist() + structure.kbest(3).outcome.tolist():
        assert tree.count(0) == 1 or not single_root
        assert is_tree(tuple(tree))


@both
def test_where_no_arcs_can_cross_projective_trees_are_all(single_root):
    rng = np.random.default_rng(2)
    sizes = [2, 1, 2, 0]
    scores = random_blocks(rng, sizes, 2.0, 0.0)
    structures = [
        kind(scores, starts_of(sizes), single_root=single_root) for kind in (Arcs, Arborescences)
    ]
    if single_root:  # arcs between neighbours do not cross, whatever word hangs on the root
        block = rng.normal(size=(41, 41))
        block[1:, 1:][abs(np.subtract.outer(range(40), range(40))) > 1] = -np.inf
        structures = [*structures, Arcs(block.ravel(), [0, 40]), one(block)]
    for few, all_of_them in zip(structures[::2], structures[1::2], strict=True):
        for a, b in zip(few.marginals(), all_of_them.marginals(), strict=True):
            np.testing.assert_allclose(np.ravel(a), np.ravel(b), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(few.kbest(9).score, all_of_them.kbest(9).score, rtol=1e-12)


def test_more_trees_than_the_projective_ones():
    scores = np.random.default_rng(3).normal(size=31**2) * 2
    few, all_of_them = Arcs(scores, [0, 30]), Arborescences(scores, [0, 30])
    assert few.log_partition()[0] < all_of_them.log_partition()[0]
    assert few.argmax().score[0] < all_of_them.argmax().score[0]
    assert not is_projective(tuple(all_of_them.argmax().outcome.tolist()))


def test_one_root_though_several_would_be_better():
    block = np.zeros((5, 5))
    block[0, 1:] = [9.0, 8.0, 7.0, 9.0]
    block[2, 1] = block[1, 4] = 1.0
    many = one(block, False).argmax()
    assert many.outcome.tolist() == [0, 0, 0, 0]
    assert many.score[0] == 33.0
    best = one(block).argmax()
    assert best.outcome.tolist().count(0) == 1
    assert best.score[0] == max(
        score for _, score in scored_trees(block.ravel(), None, 4, True, projective=False)
    )


@both
def test_words_that_prefer_each_other(single_root):
    # greedily both words take each other by a wide margin, which no tree allows
    block = np.zeros((4, 4))
    block[1, 2] = block[2, 1] = 5_000.0
    block[0, 2], block[3, 1] = 1.0, 2.0
    log_partition, marginals, scores = enumerated(block, single_root)
    structure = one(block, single_root)
    found, (parts,) = structure.marginals()
    np.testing.assert_allclose(found[0], log_partition, rtol=1e-14)
    np.testing.assert_allclose(parts.reshape(4, 4), marginals, atol=1e-11)
    np.testing.assert_allclose(structure.kbest(50).score[0, : len(scores)], scores, rtol=1e-14)
    np.testing.assert_allclose(frequencies(structure, 20_000), marginals, atol=0.02)


@pytest.mark.parametrize("gap", [300.0, 340.0, 350.0, 360.0, 372.5, 400.0, 640.0, 745.0])
@both
def test_sums_near_the_smallest_numbers(gap, single_root):
    # two pairs each lose `gap` against their columns: their product passes through subnormals
    block = np.full((5, 5), -np.inf)
    block[1, 2] = block[2, 1] = block[3, 4] = block[4, 3] = gap
    block[1, 3] = block[4, 1] = -0.5
    block[0, 1:] = [0.0, 1.0, -1.0, 0.5]
    log_partition, marginals, _ = enumerated(block, single_root)
    found, (parts,) = one(block, single_root).marginals()
    np.testing.assert_allclose(found[0], log_partition, rtol=1e-13)
    np.testing.assert_allclose(parts.reshape(5, 5), marginals, atol=1e-12)


@pytest.mark.parametrize("top", [1, 3, 5])
@both
def test_a_word_that_only_the_root_can_have(top, single_root):
    block = np.random.default_rng(top).normal(size=(6, 6))
    block[1:, top] = -np.inf
    log_partition, marginals, scores = enumerated(block, single_root)
    structure = one(block, single_root)
    found, (parts,) = structure.marginals()
    np.testing.assert_allclose(found[0], log_partition, rtol=1e-13)
    np.testing.assert_allclose(parts.reshape(6, 6), marginals, atol=1e-12)
    np.testing.assert_allclose(structure.kbest(len(scores)).score[0], scores, rtol=1e-12)
    np.testing.assert_allclose(frequencies(structure, 20_000), marginals, atol=0.02)
    block[1:, 2] = -np.inf  # and another
    assert np.isfinite(one(block, single_root).log_partition()[0]) != single_root
    assert (one(block, single_root).kbest(2).outcome[0] >= 0).all() != single_root
    assert (one(block, single_root).sample(2) >= 0).all() != single_root


@pytest.mark.parametrize("scale", [1.0, 2_000.0])
@both
def test_draws_of_long_sentences_follow_the_marginals(scale, single_root):
    # the larger scale makes pairs that prefer each other, and logarithms necessary
    rng = np.random.default_rng(7)
    block = rng.normal(size=(25, 25))
    for first in range(1, 24, 2):
        block[first, first + 1] += scale
        block[first + 1, first] += scale
    structure = one(block, single_root)
    expected = structure.marginals().parts[0].reshape(25, 25)
    np.testing.assert_allclose(frequencies(structure, 10_000, seed=4), expected, atol=0.03)


def test_forbidden_everything():
    structure = Arborescences(np.full(16 + 1 + 9, -np.inf), [0, 3, 3, 5])
    assert structure.log_partition().tolist() == [-np.inf, 0.0, -np.inf]
    assert (structure.marginals().parts[0] == 0).all()
    assert (structure.argmax().outcome == -1).all()
    assert (structure.sample(2) == -1).all()
    assert structure.score(structure.argmax().outcome).tolist() == [-np.inf, 0.0, -np.inf]


@both
def test_every_word_has_a_head_but_no_tree_exists(single_root):
    block = np.full((4, 4), -np.inf)
    block[1, 2] = block[2, 1] = block[0, 3] = 0.0
    structure = one(block, single_root)
    assert structure.log_partition()[0] == -np.inf
    assert (structure.marginals().parts[0] == 0).all()
    assert structure.entropy()[0] == 0.0
    assert (structure.sample(2) == -1).all()
    assert (structure.kbest(2).outcome == -1).all()


@both
def test_more_trees_asked_for_than_there_are(single_root):
    trees = all_trees(4, single_root)
    structure = one(np.zeros((5, 5)), single_root)
    score, outcome = structure.kbest(len(trees) + 5)
    assert (score[0] == 0.0).sum() == len(trees)
    assert {tuple(tree) for tree in outcome[: len(trees)].tolist()} == set(trees)
    assert (outcome[len(trees) :] == -1).all()


@both
def test_ties_are_broken_alike_and_lists_are_sorted(single_root):
    rng = np.random.default_rng(3)
    sizes = [12, 3, 30, 8]
    scores = rng.integers(0, 2, sum((n + 1) ** 2 for n in sizes)).astype(float)
    structure = Arborescences(scores, starts_of(sizes), single_root)
    score, outcome = structure.kbest(200)
    assert structure.argmax().outcome.tolist() == outcome[0].tolist()
    for s in (0, 2, 3):
        assert (np.diff(score[s]) <= 0).all()
        words = slice(structure.offsets[s], structure.offsets[s + 1])
        assert len(np.unique(outcome[:, words], axis=0)) == 200
    for rank in (0, 1, 100, 199):
        found = structure.score(outcome[rank])
        np.testing.assert_allclose(found, score[:, rank], rtol=1e-12)
    assert structure.kbest(7).outcome.tolist() == outcome[:7].tolist()


@pytest.mark.parametrize("levels", [0, 3])
@both
def test_long_lists_agree_with_enumeration(levels, single_root):
    rng = np.random.default_rng(8)
    block = rng.normal(size=(6, 6)) if not levels else rng.integers(0, levels, (6, 6)) * 1.0
    expected = enumerated(block, single_root)[2]
    score, outcome = one(block, single_root).kbest(len(expected))
    np.testing.assert_allclose(score[0], expected, rtol=1e-10, atol=1e-12)
    assert {tuple(tree) for tree in outcome.tolist()} == set(all_trees(5, single_root))


def test_one_sentence_does_not_change_another():
    sizes = [3, 70, 0, 9]
    scores = random_blocks(np.random.default_rng(4), sizes, 2.0, 0.0)
    together = Arborescences(scores, starts_of(sizes))
    block = slice(together.arc_starts[3], together.arc_starts[4])
    alone = Arborescences(scores[block], [0, 9])
    assert alone.log_partition()[0] == together.log_partition()[3]
    np.testing.assert_array_equal(alone.marginals().parts[0], together.marginals().parts[0][block])
    np.testing.assert_array_equal(alone.kbest(5).outcome, together.kbest(5).outcome[:, -9:])


def test_draws_do_not_depend_on_how_many_are_taken():
    structure = Arborescences(np.random.default_rng(5).normal(size=3 * 121), [0, 10, 20, 30])
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        few = structure.sample(3, seed=9)
    finally:
        numba.set_num_threads(before)
    many = structure.sample(8, seed=9)
    np.testing.assert_array_equal(few, many[:3])
    assert (many != structure.sample(8, seed=10)).any()
    assert (many[:, :10] != many[:, 10:20]).any()


@both
def test_unused_cells_change_nothing(single_root):
    block = np.random.default_rng(6).normal(size=(6, 6))
    clean = one(block.copy(), single_root)
    block[:, 0] = 1e300
    np.fill_diagonal(block, 1e300)
    dirty = one(block, single_root)
    assert clean.log_partition() == dirty.log_partition()
    np.testing.assert_array_equal(clean.marginals().parts[0], dirty.marginals().parts[0])
    np.testing.assert_array_equal(clean.kbest(5).outcome, dirty.kbest(5).outcome)
    np.testing.assert_array_equal(clean.sample(5), dirty.sample(5))


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="scores: expected an array of shape"):
        Arborescences(np.zeros(8), [0, 2])
    with pytest.raises(ValueError, match="at least 1"):
        one(np.zeros((3, 3))).kbest(0)


def test_empty_batch():
    structure = Arborescences(np.zeros(0), [0])
    assert len(structure.log_partition()) == 0
    assert structure.marginals().parts[0].shape == (0,)
    assert structure.kbest(2).outcome.shape == (2, 0)
    assert structure.entropy().shape == (0,)
    assert structure.sample(2).shape == (2, 0)
