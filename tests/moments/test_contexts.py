"""Counts and sums of contexts: as the naive twins, in any chunks, with any number of workers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from naive import contexts as naive
from syntagma.moments import contexts
from syntagma.moments.contexts import ContextSums
from syntagma.moments.cooccurrence import PairCounts
from syntagma.moments.passes import gather
from syntagma.moments.views import Placed, Smoothed

SIZE, WIDTH = 9, 3


def corpus(seed=0, count=60):
    rng = np.random.default_rng(seed)
    sentences = [rng.integers(1, SIZE, size=n).tolist() for n in rng.integers(1, 12, size=count)]
    flat = [0]
    for sentence in sentences:
        flat += [*sentence, 0]
    return sentences, np.array(flat, np.int32)


def chunks(ids, parts, seed=0):
    """Cut at some boundaries; each chunk has both of its ends."""
    ends = np.flatnonzero(ids == 0)[1:-1]
    chosen = np.random.default_rng(seed).choice(ends, min(parts - 1, len(ends)), replace=False)
    cuts = [0, *sorted(chosen.tolist()), len(ids) - 1]
    return [ids[a : b + 1] for a, b in pairwise(cuts)]


def all_views():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(SIZE, WIDTH)).astype(np.float32)
    places = rng.normal(size=(2, 2, SIZE, WIDTH)).astype(np.float32)
    smoothed, placed = Smoothed(vectors, (1.0, 0.4)), Placed(*places)
    return {
        "smoothed": (smoothed, lambda s: naive.smoothed(s, vectors, (1.0, 0.4)), None),
        "placed": (
            placed,
            lambda s: naive.placed(s, places[0]),
            lambda s: naive.placed(s, places[1]),
        ),
    }


@pytest.mark.parametrize("parts", [1, 2, 17, 100])
def test_pairs_are_those_of_the_twin(parts):
    sentences, ids = corpus()
    found = gather(PairCounts(SIZE, (1, 2, 3)), chunks(ids, parts))
    for distance in (3, 1, 2):
        matrix = found.matrix(distance).toarray()
        expected = naive.pairs(sentences, distance)
        told = {(i, j): matrix[i, j] for i, j in zip(*np.nonzero(matrix), strict=True)}
        assert told == dict(expected)
    assert PairCounts(SIZE, (1,)).matrix(1).nnz == 0


@pytest.mark.parametrize("kind", ["smoothed", "placed"])
def test_views_are_those_of_the_twin(kind):
    views, left, right = all_views()[kind]
    right = right or left
    sentences, ids = corpus()
    found = views.of(ids)[ids > 0]
    before = np.concatenate([left(s) for s in sentences])
    behind = np.concatenate([right(s[::-1])[::-1] for s in sentences])
    np.testing.assert_allclose(found, np.hstack([before, behind]), atol=1e-5)


@pytest.mark.parametrize("kind", ["smoothed", "placed"])
@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("block", [3, 2048])
def test_sums_are_those_of_the_twin(monkeypatch, kind, parts, block):
    monkeypatch.setattr(contexts, "BLOCK", block)
    views, left, right = all_views()[kind]
    right = right or left
    sentences, ids = corpus()
    data = np.hstack(
        [
            np.concatenate([left(s) for s in sentences]),
            np.concatenate([right(s[::-1])[::-1] for s in sentences]),
        ]
    )
    words = np.concatenate(sentences)
    sums, moment = gather(ContextSums(views, SIZE), chunks(ids, parts)).found()
    np.testing.assert_allclose(moment, data.T @ data, rtol=1e-4, atol=1e-3)
    for word in range(1, SIZE):
        np.testing.assert_allclose(sums[word], data[words == word].sum(0), rtol=1e-4, atol=1e-3)
    # the boundary sees the end of a sentence on its left, the beginning of the next on its right
    ends = sum(left([*s, 1])[-1] for s in sentences)
    np.testing.assert_allclose(sums[0, : len(ends)], ends, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kind", ["pairs", "smoothed", "placed"])
def test_one_worker_and_two_give_the_same_bits(kind):
    _, ids = corpus(1, 300)
    if kind == "pairs":
        start = PairCounts(SIZE, (1, 2))
        found = [
            gather(start, chunks(ids, 20), jobs, threads=True, held=3).matrix(2).toarray()
            for jobs in (1, 2)
        ]
    else:
        start = ContextSums(all_views()[kind][0], SIZE)
        results = [gather(start, chunks(ids, 20), jobs, threads=True).found() for jobs in (1, 2)]
        found = [np.concatenate([part.ravel() for part in result]) for result in results]
    np.testing.assert_array_equal(*found)
