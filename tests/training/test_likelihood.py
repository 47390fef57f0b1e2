"""Maximum likelihood of trees against enumeration, and its gradient against differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from hashed import Hashes, all_parts, described, random_treebank, sentences_of, trees_of
from naive import parts as naive
from syntagma.training.arc_features import make_templates, present_fields
from syntagma.training.forests import Grammar
from syntagma.training.likelihood import SQUARES, START
from syntagma.training.tree_learning import LikelihoodLearner

ARCS = ("h.tag m.tag", "h.word m.word", "m.lower h+1.tag", "h.tag b.tag m.tag")
SIBLINGS = ("s.tag m.tag", "h.tag s.word m.word")
BITS = 12
RATE = 0.05
KINDS = [(1, True, True), (1, True, False), (1, False, True), (1, False, False), (2, True, False)]


class Problem:
    """A few random sentences, a learner with random weights, and every tree as a vector."""

    def __init__(self, seed, kind, sizes):
        rng = np.random.default_rng(seed)
        order, projective, single_root = kind
        self.treebank = random_treebank(rng, sizes, single_root)
        siblings = SIBLINGS if order == 2 else ()
        templates = make_templates(ARCS, siblings, present_fields(self.treebank))
        self.grammar = Grammar(templates, projective, single_root)
        sentences = sentences_of(self.treebank)
        self.learner = LikelihoodLearner(sentences, self.grammar, 2**BITS, RATE)
        # numbers that stay exact when they are moved a little
        self.learner.weights[:] = rng.integers(-128, 129, size=2**BITS) / 1024
        self.hashes = Hashes(ARCS, siblings, {})
        self.hashes.look_up(self.treebank)
        self.words = described(self.treebank)
        self.gold = [
            tuple(self.treebank.heads[a:b].tolist())
            for a, b in pairwise(self.treebank.offsets.tolist())
        ]

    def sums(self, s, weights):
        """Log-likelihood of the right tree, and its features minus those expected."""
        trees = trees_of(self.grammar, len(self.words[s]))
        vectors = np.array([self.hashes.tree(self.words[s], tree, BITS) for tree in trees])
        p = naive.probabilities(vectors @ weights)
        right = trees.index(self.gold[s])
        return float(np.log(p[right])), vectors[right] - p @ vectors

    def all(self, s):
        return all_parts(len(self.words[s]), bool(self.hashes.siblings))

    def log_likelihood(self, weights):
        chosen = np.arange(len(self.words))
        forest = self.grammar.forest(self.learner.sentences, chosen, weights)
        return float((forest.score(self.treebank.heads) - forest.log_partition()).sum())

    def collected(self, s):
        """The gradient of one sentence, from a learner that has learnt nothing else."""
        before = self.learner.weights.copy()
        cost = self.learner.learn(np.array([s]), 1)
        size = np.sqrt(self.learner.state[:, SQUARES])
        return -cost, np.sign(self.learner.weights - before) * size


@PROPERTY
@given(seed=SEEDS, kind=st.sampled_from(KINDS), size=st.integers(1, 5))
def test_the_gradient_is_what_is_there_minus_what_was_expected(seed, kind, size):
    problem = Problem(seed, kind, [size])
    expected, gradient = problem.sums(0, problem.learner.weights.astype(float))
    likelihood, collected = problem.collected(0)
    np.testing.assert_allclose(likelihood, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(collected, gradient, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_agrees_with_differences(kind):
    problem = Problem(3, kind, [5])
    weights = problem.learner.weights.copy()
    _, gradient = problem.collected(0)
    used = np.flatnonzero(problem.hashes.vector(problem.hashes.found, BITS))
    step = np.float32(1 / 64)
    for place in np.random.default_rng(0).choice(used, 12, replace=False):
        ends = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[place] += sign * step
            ends.append(problem.log_likelihood(moved))
        slope = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradient[place], slope, atol=2e-3)
    unused = np.setdiff1d(np.arange(2**BITS), used)
    assert (gradient[unused] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_steps_shrink_with_the_squares_of_the_gradients_so_far(kind):
    sizes = [4, 3, 5, 1, 4]
    problem = Problem(4, kind, sizes)
    weights = problem.learner.weights.astype(float)
    squares = np.zeros_like(weights)
    step, checked = 1, 0
    for portion in ([2, 0], [4], [1, 3]):
        sums = [problem.sums(s, weights) for s in portion]
        cost = problem.learner.learn(np.array(portion), step)
        np.testing.assert_allclose(-cost, sum(likelihood for likelihood, _ in sums), rtol=1e-4)
        step += len(portion)
        certain = np.ones(len(weights), bool)
        for s, (_, gradient) in zip(portion, sums, strict=True):
            squares += gradient**2
            weights += RATE * gradient / np.sqrt(START + squares)
            # the direction of a step is uncertain where nothing but rounding tells it
            features = (problem.hashes.features(problem.words[s], part) for part in problem.all(s))
            used = problem.hashes.vector((f for many in features for f in many), BITS) > 0
            certain &= ~used | (np.abs(gradient) > 0.05)
        np.testing.assert_allclose(problem.learner.weights[certain], weights[certain], atol=1e-3)
        checked += (certain & (squares > 0)).sum()
        weights = problem.learner.weights.astype(float)
        squares = problem.learner.state[:, SQUARES].astype(float)
    assert checked > 100


@pytest.mark.parametrize("kind", KINDS)
def test_the_average_is_the_mean_of_the_weights_after_each_step(kind):
    problem = Problem(6, kind, [4, 3, 4, 2, 4])
    learner = problem.learner
    learner.weights[:] = 0
    weights, step = [learner.weights.astype(float)], 1
    for epoch in range(2):
        for s in np.random.default_rng(epoch).permutation(5):
            learner.learn(np.array([s]), step)
            step += 1
            weights.append(learner.weights.astype(float))
    np.testing.assert_allclose(learner.averaged(step), np.mean(weights, axis=0), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_learning_makes_the_right_trees_likelier(kind):
    problem = Problem(8, kind, [5, 4, 5, 3])
    costs = [problem.learner.learn(np.arange(4), 1 + 4 * epoch) for epoch in range(30)]
    assert costs[-1] < 0.3 * costs[0]
    assert costs[-1] >= 0


def test_a_sentence_without_choice_or_words_teaches_nothing():
    problem = Problem(9, (1, True, True), [1, 0, 1])
    before = problem.learner.weights.copy()
    assert abs(problem.learner.learn(np.array([2, 1, 0]), 1)) < 1e-9
    np.testing.assert_array_equal(problem.learner.weights, before)


def test_what_is_learnt_is_all_there_is_to_keep():
    problem = Problem(9, (2, True, True), [4, 3])
    problem.learner.learn(np.array([0]), 1)
    again = Problem(9, (2, True, True), [4, 3])
    for name, array in again.learner.arrays().items():
        array[:] = problem.learner.arrays()[name]
    for one in (problem, again):
        one.learner.learn(np.array([1]), 2)
    for name, array in again.learner.arrays().items():
        np.testing.assert_array_equal(array, problem.learner.arrays()[name])
    np.testing.assert_array_equal(again.learner.averaged(3), problem.learner.averaged(3))
