"""EM for hidden states on trees, and the tree prior: against enumeration and plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from naive import latent_trees
from naive.arcs import all_trees, projective_trees
from syntagma.moments.tree_messages import score_trees
from syntagma.moments.tree_operators import TreeOperators
from syntagma.moments.trees import TreeChunk
from syntagma.training.tree_prior import DISTANCES, count_trees, distance_bucket, prior_weights
from syntagma.training.tree_states import TreeStates, expect, learn_states, score_by_states

WORDS = 7


def some_trees(rng, count, longest=5):
    """Trees of any kind, several roots included."""
    trees, rows = [], []
    for _ in range(count):
        words = int(rng.integers(1, longest + 1))
        every = all_trees(words, False)
        trees.append(every[rng.integers(len(every))])
        rows.append(rng.integers(WORDS, size=words))
    offsets = np.concatenate([[0], np.cumsum([len(tree) for tree in trees])])
    joined = np.concatenate(rows).astype(np.int32), np.concatenate(trees).astype(np.int32)
    return TreeChunk(*joined, offsets), rows, trees


@pytest.mark.parametrize("states", [1, 2, 3])
def test_expectations_are_those_of_enumeration(states):
    rng = np.random.default_rng(states)
    model = latent_trees.random_model(rng, states, WORDS)
    chunk, rows, trees = some_trees(rng, 70)
    logs, posterior, starts, pairs = expect(chunk, TreeStates(*model))
    total = latent_trees.Hidden(*(np.zeros_like(part) for part in model))
    for s, (words, heads) in enumerate(zip(rows, trees, strict=True)):
        exact = latent_trees.probability(model, heads, words)
        np.testing.assert_allclose(logs[s], np.log(exact), rtol=1e-10)
        for sum_, part in zip(
            total, latent_trees.expected_counts(model, heads, words), strict=True
        ):
            sum_ += part
    np.testing.assert_allclose(starts, total.start, rtol=1e-9)
    np.testing.assert_allclose(pairs, total.transitions, rtol=1e-9, atol=1e-12)
    emissions = np.zeros_like(total.emissions)
    np.add.at(emissions, chunk.rows, posterior)
    np.testing.assert_allclose(emissions, total.emissions, rtol=1e-9, atol=1e-12)


def test_scores_of_several_trees_agree_with_the_operators():
    rng = np.random.default_rng(4)
    model = latent_trees.random_model(rng, 3, WORDS)
    chunk, _, _ = some_trees(rng, 40)
    trees = np.stack([chunk.heads, np.full_like(chunk.heads, -1), chunk.heads])
    states = TreeStates(*map(np.ascontiguousarray, model))
    joint = np.zeros((3, 3, 3))
    joint[range(3), range(3), range(3)] = 1.0
    operators = TreeOperators(states.start, np.ones(3), states.transitions, joint)
    logs, signs = score_by_states(chunk.rows, trees, chunk.offsets, states)
    others, other_signs = score_trees(chunk.rows, trees, chunk.offsets, states.emissions, operators)
    np.testing.assert_allclose(logs, others, rtol=1e-12)
    np.testing.assert_array_equal(signs, other_signs)


def test_every_step_gains_and_ends_when_little_is_gained():
    rng = np.random.default_rng(5)
    chunk, _, _ = some_trees(rng, 300)
    counts = np.bincount(chunk.rows, minlength=WORDS).astype(float)
    start = TreeStates.random(counts, 3, seed=1)
    _, curve = learn_states(chunk, start, 40, 0.0, 0.0)
    assert (np.diff(curve) >= -1e-8).all()
    assert curve[-1] > curve[0]
    _, short = learn_states(chunk, start, 40, 0.01, 0.0)
    assert len(short) < len(curve)


def test_em_finds_the_model_that_made_the_trees():
    rng = np.random.default_rng(6)
    truth = latent_trees.Hidden(
        np.array([0.9, 0.1]),
        np.array([[[0.1, 0.8], [0.9, 0.2]], [[0.7, 0.05], [0.3, 0.95]]]),
        np.array([[0.6, 0.0], [0.4, 0.05], [0.0, 0.5], [0.0, 0.45]]),
    )
    trees = [projective_trees(5, True)[i] for i in rng.integers(100, size=1500)]
    rows = []
    for heads in trees:
        states = [0] * 5
        order = sorted(range(5), key=lambda i: len(_path(heads, i)))
        for i in order:
            head = heads[i] - 1
            column = truth.start if head < 0 else truth.transitions[int(i > head)][:, states[head]]
            states[i] = rng.choice(2, p=column)
        rows += [rng.choice(4, p=truth.emissions[:, state]) for state in states]
    chunk = TreeChunk(
        np.array(rows, np.int32), np.concatenate(trees).astype(np.int32), np.arange(0, 7501, 5)
    )
    start = TreeStates.random(np.bincount(rows, minlength=4).astype(float), 2, seed=0)
    found, curve = learn_states(chunk, start, 200, 1e-7, 0.0)
    assert curve[-1] >= expect(chunk, TreeStates(*truth))[0].sum() - 1e-6
    order = [0, 1] if found.emissions[0, 0] > 0.3 else [1, 0]
    np.testing.assert_allclose(found.emissions[:, order], truth.emissions, atol=0.05)
    table = found.transitions[:, order][:, :, order]
    np.testing.assert_allclose(table, truth.transitions, atol=0.1)


def _path(heads, i):
    path = []
    while heads[i]:
        i = heads[i] - 1
        path.append(i)
    return path


def test_the_prior_is_made_of_distributions():
    rng = np.random.default_rng(7)
    chunk, _, _ = some_trees(rng, 200)
    prior = count_trees(chunk.rows, chunk.heads, chunk.offsets, WORDS, 0.5)
    np.testing.assert_allclose(prior.roots.sum(), 1.0)
    np.testing.assert_allclose(prior.children.sum((2, 3)), 1.0)
    assert ((prior.ends > 0) & (prior.ends < 1)).all()


def test_unsmoothed_counts_are_relative_frequencies():
    # two sentences of tags 1 2 1 and 2: 2 heads a 1 on each side, then a 2 alone
    tags, heads = np.array([1, 2, 1, 2], np.int32), np.array([2, 0, 2, 0], np.int32)
    prior = count_trees(tags, heads, np.array([0, 3, 4]), 3, 1e-12)
    np.testing.assert_allclose(prior.roots, [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(prior.children[2, :, 1, 0], 1.0, atol=1e-9)
    np.testing.assert_allclose(prior.ends[2], [[0.5, 1.0], [0.5, 1.0]], atol=1e-9)
    np.testing.assert_allclose(prior.ends[1], [[1.0, 0.5], [1.0, 0.5]], atol=1e-9)


def test_a_trees_weight_is_the_product_of_its_parts():
    rng = np.random.default_rng(8)
    chunk, _, _ = some_trees(rng, 200)
    prior = count_trees(chunk.rows, chunk.heads, chunk.offsets, WORDS, 0.5)
    tags = np.array([3, 1, 4, 1, 5], np.int32)
    arcs, ends = np.empty((2, 6, 6)), np.empty((5, 2, 2))
    scale = prior_weights(tags, *prior, arcs, ends)
    for heads in projective_trees(5, True)[::17]:
        log, exact = scale, 0.0
        for i in range(5):
            for side, inner in enumerate((range(i - 1, -1, -1), range(i + 1, 5))):
                children = [j for j in inner if heads[j] == i + 1]
                for place, j in enumerate(children):
                    bucket = distance_bucket(i, j)
                    assert 0 <= bucket < DISTANCES
                    going_on = 1.0 - prior.ends[tags[i], side, min(place, 1)]
                    exact += np.log(going_on * prior.children[tags[i], side, tags[j], bucket])
                    log += np.log(arcs[min(place, 1), i + 1, j + 1])
                last = min(len(children), 1)
                exact += np.log(prior.ends[tags[i], side, last])
                log += np.log(ends[i, side, last])
            if heads[i] == 0:
                exact += np.log(prior.roots[tags[i]])
                log += np.log(arcs[0, 0, i + 1])
        np.testing.assert_allclose(log, exact)
    assert arcs.max() <= 1.0 + 1e-12
