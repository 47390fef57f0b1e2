"""Canonical correlation and sparse decompositions against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random_array

from naive import contexts as naive
from syntagma.corpora.tokens import spilled
from syntagma.moments import eigenwords, sparse
from syntagma.moments.canonical import canonical, word_and_state
from syntagma.moments.cooccurrence import PairCounts
from syntagma.moments.passes import gather


def decaying(rows, columns, seed=0):
    """A sparse matrix whose singular values fall."""
    rng = np.random.default_rng(seed)
    found = random_array((rows, columns), density=0.05, rng=rng, format="csr")
    scale = 0.98 ** np.arange(rows)
    found.data *= np.repeat(scale, np.diff(found.indptr))
    return found


@pytest.mark.parametrize("exact", [True, False])
def test_the_strongest_singular_vectors(monkeypatch, exact):
    if not exact:
        monkeypatch.setattr(sparse, "DENSE", 10)
    matrix = decaying(200, 350)
    left, values, right = sparse.strongest(matrix, 5, passes=30)
    u, s, v = np.linalg.svd(matrix.toarray())
    np.testing.assert_allclose(values, s[:5], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(left * u[:, :5], 0)), 1, atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(right * v[:5].T, 0)), 1, atol=1e-8)
    assert (left[np.abs(left).argmax(0), np.arange(5)] > 0).all()
    again = sparse.strongest(matrix, 5, passes=30)
    np.testing.assert_array_equal(left, again.left)


def test_multiplication():
    matrix = decaying(90, 70)
    dense = np.random.default_rng(1).normal(size=(70, 11))
    np.testing.assert_allclose(sparse.times(matrix, dense), matrix @ dense, atol=1e-12)


def test_correlations_of_two_views():
    rng = np.random.default_rng(2)
    left = rng.normal(size=(500, 6))
    right = np.hstack([left[:, :3] + rng.normal(size=(500, 3)), rng.normal(size=(500, 2))])
    found = canonical(left.T @ left, right.T @ right, left.T @ right, 4, ridge=0.0)
    expected = naive.correlations(left, right)
    np.testing.assert_allclose(found.correlations, expected[:4], atol=1e-10)
    a, b = left @ found.left, right @ found.right
    np.testing.assert_allclose(a.T @ a, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(a.T @ b, np.diag(expected[:4]), atol=1e-10)


def test_a_word_and_its_state():
    rng = np.random.default_rng(3)
    words = rng.integers(1, 12, size=800)
    indicators = np.eye(12)[words]
    state = rng.normal(size=(12, 4))[words] + rng.normal(size=(800, 4))
    sums, moment = indicators.T @ state, state.T @ state
    directions, values = word_and_state(indicators.sum(0), sums, moment, 3, ridge=0.0)
    expected = naive.correlations(indicators[:, 1:], state)
    np.testing.assert_allclose(values, expected[:3], atol=1e-10)
    np.testing.assert_allclose(directions[1:].T @ directions[1:], np.eye(3), atol=1e-10)


def text(seed=5, sentences=300):
    """Sentences of an alphabet in which each letter calls for some others."""
    rng = np.random.default_rng(seed)
    next_letter = rng.dirichlet(np.full(12, 0.3), size=12)
    out = []
    for size in rng.integers(2, 15, size=sentences):
        letter, sentence = 0, []
        for _ in range(size):
            letter = int(rng.choice(12, p=next_letter[letter]))
            sentence.append("abcdefghijkl"[letter])
        out.append(sentence)
    return out


def observations(tokens):
    """Indicators of every word and of its two neighbours, boundaries included, a row each."""
    ids, unit = np.asarray(tokens.ids), np.eye(tokens.size)
    at = np.flatnonzero(ids > 0)
    return unit[ids[at]][:, 2:], unit[ids[at - 1]], unit[ids[at + 1]]


def test_two_steps_are_exact_with_one_neighbour_on_each_side():
    with spilled(text()) as tokens:
        counts = gather(PairCounts(tokens.size, (1, 2)), tokens.chunks())
        found = eigenwords.two_step(tokens, counts, 1, 4, 0, root=False)
        words, left, right = observations(tokens)
    keep = [i for i in range(left.shape[1]) if left[:, i].any() and right[:, i].any()]
    a, _, b = np.linalg.svd(
        (left[:, keep] / np.sqrt(left[:, keep].sum(0))).T
        @ (right[:, keep] / np.sqrt(right[:, keep].sum(0)))
    )
    state = np.hstack(
        [
            left[:, keep] / np.sqrt(left[:, keep].sum(0)) @ a[:, :4],
            right[:, keep] / np.sqrt(right[:, keep].sum(0)) @ b[:4].T,
        ]
    )
    np.testing.assert_allclose(found.values, naive.correlations(words, state)[:4], atol=1e-5)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("window", [1, 2])
def test_one_step_is_the_dense_decomposition(root, window):
    sentences = text()
    with spilled(sentences) as tokens:
        frequencies, size = tokens.frequencies(), tokens.size
        counts = gather(PairCounts(size, range(1, window + 1)), tokens.chunks())
        found = eigenwords.one_step(counts, frequencies, window, 5, 0, root)
        numbers = {word: i + 2 for i, word in enumerate(tokens.vocabulary.words)}
    places = []
    for distance in range(1, window + 1):
        after = np.zeros((size, size))
        coded = [[numbers[w] for w in s] for s in sentences]
        for (i, j), count in naive.pairs(coded, distance).items():
            after[i, j] = count
        places += [after.T, after]
    table = np.hstack(places)
    rows, columns = np.maximum(frequencies, 1), np.maximum(table.sum(0), 1)
    if root:
        table, rows, columns = np.sqrt(table), np.sqrt(rows), np.sqrt(columns)
    white = table / np.sqrt(rows)[:, None] / np.sqrt(columns)
    left, values, _ = np.linalg.svd(white)
    np.testing.assert_allclose(found.values, values[:5], atol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(left[:, :5] * found.directions, 0)), 1, atol=1e-8)


def test_bigram_is_the_dense_decomposition():
    with spilled(text()) as tokens:
        counts = gather(PairCounts(tokens.size, (1,)), tokens.chunks())
        table = counts.matrix(1).toarray()
        found = eigenwords.bigram(counts, 4, 0)
    left, values, _ = np.linalg.svd(table / table.sum())
    np.testing.assert_allclose(found.values, values[:4], atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(left[:, :4] * found.directions, 0)), 1, atol=1e-8)


def test_an_iteration_of_the_multi_view_method():
    rates = (1.0, 0.3)
    with spilled(text()) as tokens:
        counts = gather(PairCounts(tokens.size, (1,)), tokens.chunks())
        start = eigenwords.one_step(counts, tokens.frequencies(), 1, 3, 0, root=True)
        found = eigenwords.multi_view(tokens, start, rates)
        ids = np.asarray(tokens.ids)
        words = observations(tokens)[0]
        vectors = eigenwords.vectors_of(start, tokens.frequencies())
    sentences = [part[part > 0].tolist() for part in np.split(ids, np.flatnonzero(ids == 0)[1:-1])]
    left = np.concatenate([naive.smoothed(s, vectors, rates) for s in sentences])
    right = np.concatenate([naive.smoothed(s[::-1], vectors, rates)[::-1] for s in sentences])
    pair = canonical(left.T @ left, right.T @ right, left.T @ right, 3)
    state = np.hstack([left @ pair.left, right @ pair.right])
    expected = naive.correlations(words, state)[:3]
    np.testing.assert_allclose(found.spectrum.values, expected, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1)[[0, *range(2, 14)]], 1)
    assert 0 <= found.change <= 1


def test_rare_words_are_drawn_to_the_mean():
    rng = np.random.default_rng(6)
    values = np.array([1.0, 0.9, 0.3])
    averaged = eigenwords.Spectrum(rng.normal(size=(3, 3)), values, averaged=True)
    rows = eigenwords.vectors_of(averaged, np.array([1, 20, 10**9]))
    plain = eigenwords.vectors_of(averaged._replace(averaged=False), np.array([1, 20, 10**9]))
    np.testing.assert_allclose(rows[2], plain[2], atol=1e-6)
    noise = (1 - values**2) / 20
    expected = plain[1] * values**2 / (values**2 + noise)
    np.testing.assert_allclose(rows[1], expected / np.linalg.norm(expected))
    assert abs(rows[0, 0]) > abs(plain[0, 0])
