"""k-best MIRA against a quadratic program over explicit vectors of features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from hashed import Hashes, described, random_treebank, sentences_of, trees_of
from naive import parts as naive
from syntagma.training.arc_features import make_templates, present_fields
from syntagma.training.forests import Grammar
from syntagma.training.tree_learning import MarginLearner

ARCS = ("h.tag m.tag", "h.word m.word", "m.lower h+1.tag", "h.tag b.tag m.tag")
SIBLINGS = ("s.tag m.tag", "h.tag s.word m.word")
BITS = 12
KINDS = [(1, True, True), (1, True, False), (1, False, True), (1, False, False), (2, True, True)]


class Problem:
    """A few random sentences, a learner with random weights, and every tree as a vector."""

    def __init__(self, seed, kind, sizes, k, aggressiveness):
        rng = np.random.default_rng(seed)
        order, projective, single_root = kind
        self.treebank = random_treebank(rng, sizes, single_root)
        siblings = SIBLINGS if order == 2 else ()
        templates = make_templates(ARCS, siblings, present_fields(self.treebank))
        self.grammar = Grammar(templates, projective, single_root)
        sentences = sentences_of(self.treebank)
        self.learner = MarginLearner(sentences, self.grammar, 2**BITS, k, aggressiveness)
        # the trees found are only certain where no two score alike
        self.learner.weights[:] = rng.normal(size=2**BITS) * 0.3
        self.hashes = Hashes(ARCS, siblings, {})
        self.hashes.look_up(self.treebank)
        self.words = described(self.treebank)
        self.gold = [
            tuple(self.treebank.heads[a:b].tolist())
            for a, b in pairwise(self.treebank.offsets.tolist())
        ]

    def vectors(self, s):
        trees = trees_of(self.grammar, len(self.words[s]))
        return {tree: self.hashes.tree(self.words[s], tree, BITS) for tree in trees}

    def constraints(self, s, weights, k):
        """What separates the right tree from each of the k that score best with their loss."""
        vectors = self.vectors(s)
        loss = {
            tree: sum(a != b for a, b in zip(tree, self.gold[s], strict=True)) for tree in vectors
        }
        found = sorted(vectors, key=lambda tree: -(weights @ vectors[tree] + loss[tree]))[:k]
        wrong = [tree for tree in found if loss[tree]]
        differences = [vectors[self.gold[s]] - vectors[tree] for tree in wrong]
        return differences, [loss[tree] for tree in wrong], loss[found[0]] > 0

    def steps(self, chosen, k, most):
        """The weights before the portion and after each of its sentences, and how many erred."""
        before = self.learner.weights.astype(float)
        problems = [self.constraints(s, before, k) for s in chosen]
        steps = [before]
        for differences, losses, _ in problems:
            now = steps[-1]
            if differences:
                now = naive.smallest_change(now, differences, losses, most)
            steps.append(now)
        return steps, sum(erred for _, _, erred in problems)


@PROPERTY
@given(
    seed=SEEDS,
    kind=st.sampled_from(KINDS),
    k=st.sampled_from([1, 3, 6]),
    most=st.sampled_from([0.01, 0.1, 1000.0]),
)
def test_an_update_is_the_smallest_change_that_keeps_the_margins(seed, kind, k, most):
    problem = Problem(seed, kind, [4], k, most)
    steps, erred = problem.steps([0], k, most)
    assert problem.learner.learn(np.array([0]), 1) == erred
    np.testing.assert_allclose(problem.learner.weights, steps[-1], atol=2e-4)


@PROPERTY
@given(seed=SEEDS, kind=st.sampled_from(KINDS), k=st.sampled_from([1, 4]))
def test_with_large_steps_allowed_the_right_tree_wins_by_the_loss(seed, kind, k):
    problem = Problem(seed, kind, [4], k, 1e6)
    before = problem.learner.weights.astype(float)
    differences, losses, _ = problem.constraints(0, before, k)
    problem.learner.learn(np.array([0]), 1)
    after = problem.learner.weights.astype(float)
    for difference, loss in zip(differences, losses, strict=True):
        if difference.any():
            assert difference @ after > loss - 1e-2
    violated = any(d @ before < loss - 1e-9 for d, loss in zip(differences, losses, strict=True))
    assert violated == (np.abs(after - before).max() > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_portion_is_parsed_at_once_and_updated_in_turn(kind):
    problem = Problem(5, kind, [3, 4, 2, 1, 4, 3], 3, 0.05)
    chosen = [4, 1, 5, 0, 3, 2]
    steps, erred = problem.steps(chosen, 3, 0.05)
    assert problem.learner.learn(np.array(chosen), 1) == erred
    assert 0 < erred < 6
    np.testing.assert_allclose(problem.learner.weights, steps[-1], atol=2e-4)


@pytest.mark.parametrize("kind", KINDS[:1] + KINDS[-1:])
def test_the_average_is_the_mean_of_the_weights_after_each_step(kind):
    problem = Problem(6, kind, [4, 3, 4, 2, 4], 2, 0.05)
    learner = problem.learner
    learner.weights[:] = 0  # they are part of the mean
    weights, step = [learner.weights.astype(float)], 1
    for epoch in range(3):
        for s in np.random.default_rng(epoch).permutation(5):
            learner.learn(np.array([s]), step)
            step += 1
            weights.append(learner.weights.astype(float))
    assert (weights[-1] != weights[-2]).any() or (weights[-2] != weights[-3]).any()
    np.testing.assert_allclose(learner.averaged(step), np.mean(weights, axis=0), atol=1e-6)
    # the same in larger portions, whose weights in between the twin works out
    again = Problem(6, kind, [4, 3, 4, 2, 4], 2, 0.05)
    start = again.learner.weights.astype(float)
    steps = [*again.steps([0, 1, 2], 2, 0.05)[0]]
    again.learner.learn(np.array([0, 1, 2]), 1)
    steps += again.steps([3, 4], 2, 0.05)[0][1:]
    again.learner.learn(np.array([3, 4]), 4)
    assert len(steps) == 6
    np.testing.assert_allclose(again.learner.averaged(6), np.mean(steps, axis=0), atol=2e-4)
    assert (steps[0] == start).all()


def test_a_sentence_that_wins_by_its_loss_moves_nothing():
    problem = Problem(7, (1, True, True), [4], 4, 100.0)
    step, before = 0, None
    while before is None or (problem.learner.weights != before).any():
        before = problem.learner.weights.copy()
        step += 1
        assert step < 200
        problem.learner.learn(np.array([0]), step)
    assert step > 1
    # every other tree keeps its distance, for the worst of them were seen
    differences, losses, _ = problem.constraints(0, before.astype(float), 1000)
    assert len(losses) == len(trees_of(problem.grammar, 4)) - 1
    for difference, loss in zip(differences, losses, strict=True):
        assert difference @ before > loss - 1e-2


def test_a_sentence_without_choice_or_words_teaches_nothing():
    problem = Problem(8, (1, True, True), [1, 0, 1], 3, 1.0)
    before = problem.learner.weights.copy()
    assert problem.learner.learn(np.array([2, 1, 0]), 1) == 0
    np.testing.assert_array_equal(problem.learner.weights, before)


def test_what_is_learnt_is_all_there_is_to_keep():
    problem = Problem(9, (1, True, True), [4, 3], 3, 0.1)
    problem.learner.learn(np.array([0]), 1)
    again = Problem(9, (1, True, True), [4, 3], 3, 0.1)
    for name, array in again.learner.arrays().items():
        array[:] = problem.learner.arrays()[name]
    for one in (problem, again):
        one.learner.learn(np.array([1]), 2)
    for name, array in again.learner.arrays().items():
        np.testing.assert_array_equal(array, problem.learner.arrays()[name])
    np.testing.assert_array_equal(again.learner.averaged(3), problem.learner.averaged(3))
