"""Moments of trees and the operators solved from them, against exact models and plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from naive import latent_trees
from naive.arcs import projective_trees
from syntagma.errors import InputError
from syntagma.moments.passes import gather
from syntagma.moments.tree_messages import score_trees, tree_messages
from syntagma.moments.tree_operators import solve_matched, solve_paper
from syntagma.moments.tree_recovery import recover_states
from syntagma.moments.trees import TreeChunk, TreeMoments

WORDS = 9


def exact_moments(model, embedding, rng) -> TreeMoments:
    """The population's moments of all trees of four words, unequally likely."""
    trees = [(heads, rng.random()) for heads in projective_trees(4, True)]
    found = latent_trees.population(model, embedding, trees)
    floats = {name: float(sum_) if not sum_.ndim else sum_ for name, sum_ in found.items()}
    return replace(TreeMoments.of(embedding), **floats)


def embedding_of(model, rng):
    """An embedding whose columns span those of the emissions."""
    k = len(model.start)
    return np.linalg.qr(model.emissions)[0] @ rng.normal(size=(k, k))


def log_probabilities(solved, embedding, rows, trees):
    """log |p| and sign of each tree of one sentence."""
    vectors = np.ascontiguousarray(embedding @ np.linalg.inv(embedding.T @ embedding))
    logs, signs = score_trees(
        np.asarray(rows, np.int32), np.asarray(trees, np.int32), np.array([0, len(rows)]),
        vectors, solved.operators,
    )  # fmt: skip
    return logs[0], signs[0]


def worst_error(solve, model, embedding, rng, longest):
    """Largest error of log p over all topologies of up to so many words."""
    moments = exact_moments(model, embedding, rng).whitened()
    solved = solve(moments)
    worst = 0.0
    for words in range(1, longest + 1):
        trees = projective_trees(words, True)
        rows = rng.integers(WORDS, size=words)
        logs, signs = log_probabilities(solved, moments.embedding, rows, trees)
        for log, sign, heads in zip(logs, signs, trees, strict=True):
            exact = latent_trees.recursive_probability(model, heads, rows)
            worst = max(worst, abs(log - np.log(exact)) if sign > 0 else np.inf)
    return worst


@pytest.mark.parametrize("states", [2, 3, 4, 5])
def test_population_moments_give_exact_probabilities_of_all_trees_of_seven_words(states):
    rng = np.random.default_rng(10 + states)
    model = latent_trees.random_model(rng, states, WORDS)
    assert worst_error(solve_matched, model, embedding_of(model, rng), rng, 7) < 1e-9


@pytest.mark.parametrize("states", [2, 4])
def test_the_papers_moments_are_exact_only_if_all_words_have_one_marginal(states):
    rng = np.random.default_rng(20 + states)
    stationary = latent_trees.random_model(rng, states, WORDS, stationary=True)
    embedding = embedding_of(stationary, rng)
    for solve in (solve_paper, solve_matched):
        assert worst_error(solve, stationary, embedding, rng, 5) < 1e-9
    drifting = latent_trees.random_model(rng, states, WORDS)
    embedding = embedding_of(drifting, rng)
    assert worst_error(solve_paper, drifting, embedding, rng, 5) > 0.1
    assert worst_error(solve_matched, drifting, embedding, rng, 5) < 1e-9


def test_the_naive_twin_agrees_with_enumeration_of_states():
    rng = np.random.default_rng(1)
    model = latent_trees.random_model(rng, 3, WORDS)
    for heads in projective_trees(4, True)[::3]:
        words = rng.integers(WORDS, size=4)
        np.testing.assert_allclose(
            latent_trees.recursive_probability(model, heads, words),
            latent_trees.probability(model, heads, words),
        )


def test_crossing_arcs_and_several_roots_are_scored_too():
    rng = np.random.default_rng(2)
    model = latent_trees.random_model(rng, 3, WORDS)
    embedding = embedding_of(model, rng)
    solved = solve_matched(exact_moments(model, embedding, rng))
    words = rng.integers(WORDS, size=5)
    for heads in [(3, 4, 0, 3, 2), (0, 1, 0, 3, 1)]:
        logs, signs = log_probabilities(solved, embedding, words, [heads])
        exact = latent_trees.recursive_probability(model, heads, words)
        np.testing.assert_allclose(logs[0], np.log(exact), atol=1e-9)
        assert signs[0] == 1.0


def test_what_is_no_tree_has_no_probability():
    rng = np.random.default_rng(3)
    model = latent_trees.random_model(rng, 2, WORDS)
    embedding = embedding_of(model, rng)
    solved = solve_matched(exact_moments(model, embedding, rng))
    logs, signs = log_probabilities(solved, embedding, [1, 2], [(2, 1), (-1, -1), (0, 1)])
    assert logs[:2].tolist() == [-np.inf, -np.inf]
    assert signs.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("size", [1, 2, 300])
def test_long_sentences_neither_under_nor_overflow(size):
    rng = np.random.default_rng(size)
    model = latent_trees.random_model(rng, 3, WORDS)
    embedding = embedding_of(model, rng) * 1e-3
    solved = solve_matched(exact_moments(model, embedding, rng))
    rows = rng.integers(WORDS, size=size)
    chain, star = list(range(size)), [0] + [1] * (size - 1)
    logs, signs = log_probabilities(solved, embedding, rows, [chain, star])
    assert np.isfinite(logs).all()
    assert (signs == 1.0).all()
    assert (logs < 0.0).all()


def sampled_chunk(rng, sentences, embedding):
    """Random projective trees of random words."""
    rows, trees = [], []
    for _ in range(sentences):
        words = int(rng.integers(1, 6))
        every = projective_trees(words, True)
        trees.append(every[rng.integers(len(every))])
        rows.append(rng.integers(len(embedding), size=words))
    offsets = np.concatenate([[0], np.cumsum([len(tree) for tree in trees])])
    chunk = TreeChunk(
        np.concatenate(rows).astype(np.int32), np.concatenate(trees).astype(np.int32), offsets
    )
    return chunk, rows, trees


def test_a_pass_counts_what_loops_count():
    rng = np.random.default_rng(4)
    embedding = rng.normal(size=(WORDS, 4))
    chunk, rows, trees = sampled_chunk(rng, 60, embedding)
    found = TreeMoments.of(embedding)
    found.add(chunk)
    for name, value in latent_trees.counted(embedding, rows, trees).items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-10, err_msg=name)
    assert found.words == len(chunk.rows)
    assert found.roots == 60
    assert found.left_arcs + found.right_arcs == len(chunk.rows) - 60


@pytest.mark.parametrize("jobs", [1, 2])
def test_chunks_and_workers_change_nothing(jobs):
    rng = np.random.default_rng(5)
    embedding = rng.normal(size=(WORDS, 3))
    chunks = [sampled_chunk(rng, 20, embedding)[0] for _ in range(5)]
    one = gather(TreeMoments.of(embedding), chunks)
    other = gather(TreeMoments.of(embedding), chunks, jobs)
    apart = [gather(TreeMoments.of(embedding), [chunk]) for chunk in chunks]
    for name in ("words", "word", "triples", "children", "head_left", "right_pairs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        total = sum(getattr(part, name) for part in apart)
        np.testing.assert_allclose(getattr(one, name), total, rtol=1e-12, atol=1e-12)


def test_whitening_changes_the_basis_and_nothing_else():
    rng = np.random.default_rng(6)
    model = latent_trees.random_model(rng, 3, WORDS)
    moments = exact_moments(model, embedding_of(model, rng), rng)
    white = moments.whitened()
    np.testing.assert_allclose(white.squares / white.words, np.eye(3), atol=1e-9)
    heads, words = (2, 0, 2, 3), [4, 1, 7, 2]
    exact = np.log(latent_trees.recursive_probability(model, heads, words))
    for some in (moments, white):
        logs, _ = log_probabilities(solve_matched(some), some.embedding, words, [heads])
        np.testing.assert_allclose(logs, exact, atol=1e-9)


def test_states_are_recovered_from_population_moments():
    rng = np.random.default_rng(7)
    model = latent_trees.random_model(rng, 3, WORDS)
    embedding = embedding_of(model, rng)
    operators = solve_matched(exact_moments(model, embedding, rng)).operators
    vectors = embedding @ np.linalg.inv(embedding.T @ embedding)
    found = recover_states(operators, vectors, rng)
    distances = abs(found.emissions[:, :, None] - model.emissions[:, None, :]).sum(0)
    order = distances.argmin(0)
    assert sorted(order.tolist()) == [0, 1, 2]
    np.testing.assert_allclose(found.emissions[:, order], model.emissions, atol=1e-3)
    np.testing.assert_allclose(found.start[order], model.start, atol=1e-3)
    for side in range(2):
        table = found.transitions[side][np.ix_(order, order)]
        np.testing.assert_allclose(table, model.transitions[side], atol=1e-3)


def test_messages_of_words_make_up_the_probability():
    rng = np.random.default_rng(8)
    model = latent_trees.random_model(rng, 3, WORDS)
    embedding = embedding_of(model, rng)
    operators = solve_matched(exact_moments(model, embedding, rng)).operators
    vectors = np.ascontiguousarray(embedding @ np.linalg.inv(embedding.T @ embedding))
    rows, heads = np.array([3, 1, 4, 1], np.int32), np.array([2, 0, 2, 3], np.int32)
    messages, scales = tree_messages(rows, heads, np.array([0, 4]), vectors, operators)
    exact = latent_trees.recursive_probability(model, heads.tolist(), rows)
    np.testing.assert_allclose(messages[1] @ operators.start * np.exp(scales[1]), exact)
    broken, _ = tree_messages(
        rows[:2], np.array([2, 1], np.int32), np.array([0, 2]), vectors, operators,
    )  # fmt: skip
    assert np.isnan(broken).all()


def test_trees_without_two_sided_heads_are_refused_in_a_sentence():
    embedding = np.eye(3)
    moments = TreeMoments.of(embedding)
    rows, heads = np.array([0, 1, 2], np.int32), np.array([0, 1, 2], np.int32)
    moments.add(TreeChunk(rows, heads, np.array([0, 3])))
    for solve in (solve_matched, solve_paper):
        with pytest.raises(InputError, match="both sides"):
            solve(moments)


def test_dimensions_that_no_word_fills_are_refused_in_a_sentence():
    embedding = np.array([[1.0, 0.0], [2.0, 0.0]])
    moments = TreeMoments.of(embedding)
    moments.add(
        TreeChunk(np.array([0, 1, 0], np.int32), np.array([2, 0, 2], np.int32), np.array([0, 3]))
    )
    with pytest.raises(InputError, match="fill 1 of 2 dimensions"):
        moments.whitened()
