"""Second-order trees: the laws of a structure, and what ties them to first order."""

from __future__ import annotations

import numpy as np
import pytest

from contracts import StructureContract
from naive.arcs import projective_trees, scored_trees
from syntagma.structures.arcs import Arcs
from syntagma.structures.eisner import RIGHT, item_at, sentence_of
from syntagma.structures.eisner_log import log_inside, log_outside
from syntagma.structures.eisner_weights import smallest_sum, word_shifts
from syntagma.structures.siblings import SiblingArcs, sibling_offsets


def random_scores(rng, count, scale, forbid):
    values = rng.normal(size=count) * scale
    values[rng.random(count) < forbid] = -np.inf
    return values


def starts_of(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


class SiblingContract(StructureContract):
    single_root: bool

    def build(self, rng, sizes, scale, forbid):
        arcs = random_scores(rng, sum((n + 1) ** 2 for n in sizes), scale, forbid / 2)
        siblings = random_scores(rng, sum((n + 1) ** 3 for n in sizes), scale, forbid / 2)
        return SiblingArcs(arcs, siblings, starts_of(sizes), single_root=self.single_root)

    def rebuild(self, structure, potentials):
        return SiblingArcs(*potentials, structure.offsets, single_root=self.single_root)

    def permute(self, structure, order):
        parts = [
            np.concatenate([values[starts[s] : starts[s + 1]] for s in order])
            for values, starts in (
                (structure.scores, structure.arc_starts),
                (structure.siblings, structure.sibling_starts),
            )
        ]
        sizes = np.diff(structure.offsets)[order]
        return SiblingArcs(*parts, starts_of(sizes), single_root=self.single_root)

    def outcomes(self, structure, sentence):
        arcs, siblings = (
            values[starts[sentence] : starts[sentence + 1]]
            for values, starts in (
                (structure.scores, structure.arc_starts),
                (structure.siblings, structure.sibling_starts),
            )
        )
        words = int(structure.offsets[sentence + 1] - structure.offsets[sentence])
        return scored_trees(arcs, siblings, words, self.single_root)


class TestSiblingsWithOneRoot(SiblingContract):
    single_root = True


class TestSiblingsWithManyRoots(SiblingContract):
    single_root = False


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("scale", [1.0, 2_000.0])
def test_without_sibling_scores_it_is_first_order(single_root, scale):
    rng = np.random.default_rng(1)
    sizes = [1, 7, 0, 25, 4]
    offsets = starts_of(sizes)
    scores = rng.normal(size=sum((n + 1) ** 2 for n in sizes)) * scale
    first = Arcs(scores, offsets, single_root)
    second = SiblingArcs(scores, np.zeros(sibling_offsets(offsets)[-1]), offsets, single_root)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(second.log_partition(), first.log_partition(), rtol=1e-12)
    np.testing.assert_allclose(second.marginals().parts[0], first.marginals().parts[0], **close)
    np.testing.assert_allclose(second.kbest(5).score, first.kbest(5).score, rtol=1e-12)
    np.testing.assert_allclose(second.entropy(), first.entropy(), atol=1e-7 * scale)


@pytest.mark.parametrize("words", [6, 30])
@pytest.mark.parametrize("single_root", [True, False])
def test_siblings_of_an_arc_add_up_to_the_arc(words, single_root):
    rng = np.random.default_rng(words)
    structure = SiblingArcs(
        rng.normal(size=(words + 1) ** 2),
        rng.normal(size=(words + 1) ** 3) * 2,
        [0, words],
        single_root,
    )
    arcs, siblings = structure.marginals().parts
    summed = siblings.reshape(-1, words + 1).sum(axis=1)
    np.testing.assert_allclose(summed, arcs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(arcs.reshape(words + 1, -1).sum(axis=0)[1:], 1.0, rtol=1e-10)


def test_what_underflows_against_the_columns_is_found_again():
    # only a chain without siblings is likely, yet every word's best part is a sibling part
    words = 5
    siblings = np.full((words + 1,) * 3, 3_000.0)
    for head in range(words + 1):
        siblings[head, :, head] = 0.0
    siblings[0] = 0.0
    arcs = np.full((words + 1, words + 1), -10_000.0)
    for head in range(words):
        arcs[head, head + 1] = 0.0
    structure = SiblingArcs(arcs.ravel(), siblings.ravel(), [0, words])
    trees = scored_trees(arcs.ravel(), siblings.ravel(), words, True)
    best = max(score for _, score in trees)
    log_partition, parts = structure.marginals()
    np.testing.assert_allclose(log_partition, best, atol=1e-9)
    assert structure.argmax().score[0] == best
    np.testing.assert_allclose(parts[0].reshape(6, 6).sum(axis=0)[1:], 1.0, rtol=1e-12)
    assert structure.sample(3).tolist() == [structure.argmax().outcome.tolist()] * 3


@pytest.mark.parametrize("order", [1, 2])
def test_scaled_and_log_domain_agree_up_to_the_limit(order):
    rng = np.random.default_rng(order)
    scaled = 0
    for case in range(40):
        words = int(rng.integers(2, 25))
        scale = 10 ** rng.uniform(0, 2.5)
        scores = [rng.normal(size=(words + 1) ** (2 + n)) * scale / (1 + n) for n in range(order)]
        structure = (Arcs, SiblingArcs)[order - 1](*scores, [0, words], single_root=case % 2 == 0)
        sentence = sentence_of(structure._batch(), 0)
        chart = log_inside(sentence)
        expected = [np.zeros(part.size) for part in scores] + [np.zeros(0)] * (2 - order)
        log_outside(chart, sentence, *expected)
        log_partition, parts = structure.marginals()
        total = chart[item_at(RIGHT, 0, words, words, words + 1)]
        np.testing.assert_allclose(log_partition, total, rtol=1e-12)
        for part, other in zip(parts, expected[:order], strict=True):
            np.testing.assert_allclose(part, other, atol=1e-10)
        shift = word_shifts(sentence, np.empty(words + 1))
        scaled += total - shift > np.log(smallest_sum(words))
    assert 10 <= scaled < 40, "both ways were taken"


def test_forbidden_siblings_leave_chains():
    words = 4
    siblings = np.zeros((words + 1,) * 3)
    for head in range(words + 1):
        for other in range(words + 1):
            if other != head:
                siblings[head, :, other] = -np.inf
    structure = SiblingArcs(np.zeros((words + 1) ** 2), siblings.ravel(), [0, words])
    allowed = [
        tree
        for tree in projective_trees(words, True)
        if all(
            sum(h == head and (m > head) == right for m, h in enumerate(tree, start=1)) <= 1
            for head in range(words + 1)
            for right in (True, False)
        )
    ]
    np.testing.assert_allclose(structure.log_partition(), np.log(len(allowed)), rtol=1e-12)
    found = structure.kbest(len(allowed) + 1)
    assert {tuple(tree) for tree in found.outcome[:-1].tolist()} == set(allowed)
    assert found.score[0, -1] == -np.inf


def test_unused_cells_change_nothing():
    words = 5
    rng = np.random.default_rng(6)
    arcs, cube = rng.normal(size=(words + 1) ** 2), rng.normal(size=(words + 1,) * 3)
    clean = SiblingArcs(arcs, cube.ravel(), [0, words])
    for h, m, s in np.ndindex(cube.shape):
        if m in (0, h) or not (s == h or min(h, m) < s < max(h, m)) or (h == 0 and s > 0):
            cube[h, m, s] = 1e300
    dirty = SiblingArcs(arcs, cube.ravel(), [0, words])
    assert clean.log_partition() == dirty.log_partition()
    for a, b in zip(clean.marginals().parts, dirty.marginals().parts, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(clean.kbest(9).outcome, dirty.kbest(9).outcome)
    np.testing.assert_array_equal(clean.sample(9), dirty.sample(9))


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="siblings: expected an array of shape"):
        SiblingArcs(np.zeros(9), np.zeros(9), [0, 2])
