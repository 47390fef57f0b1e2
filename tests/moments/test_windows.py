"""Counts of windows are right, and do not depend on order, chunks, workers or how they are kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY, SEEDS
from naive.hmm import windows
from syntagma.errors import InputError
from syntagma.moments import windows as module
from syntagma.moments.windows import Chunk, Tally, Windows
from syntagma.training.spectral_hmm import count_windows


def drawn(seed, sequences=20, symbols=4):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, symbols, rng.integers(0, 7)) for _ in range(sequences)]


def flat(sequences):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(np.int64)
    return np.concatenate([[], *sequences]).astype(np.int32), offsets


@PROPERTY
@given(seed=SEEDS, sparse=st.booleans())
def test_counts_are_those_made_by_hand(seed, sparse):
    with pytest.MonkeyPatch.context() as patch:
        if sparse:
            patch.setattr(module, "DENSE", 0)
        sequences = [*drawn(seed), np.array([0, 1, 2])]
        moments = count_windows(*flat(sequences), 4)
    expected = windows(sequences)
    total = sum(expected.values())
    assert moments.windows == total
    found = {
        (b, m, a): w
        for b, m, a, w in zip(
            moments.before.tolist(),
            moments.middle.tolist(),
            moments.last.tolist(),
            moments.weights.tolist(),
            strict=True,
        )
    }
    assert found == {key: count / total for key, count in expected.items()}
    firsts = [int(s[0]) for s in sequences if len(s)]
    np.testing.assert_allclose(moments.first, np.bincount(firsts, minlength=4) / len(firsts))
    pairs = [(int(b), int(a)) for s in sequences for a, b in itertools.pairwise(s)]
    later, earlier, weights = moments.neighbours()
    dense = np.zeros((4, 4))
    np.add.at(dense, (later, earlier), weights)
    expected_pairs = np.zeros((4, 4))
    np.add.at(expected_pairs, tuple(np.array(pairs).T), 1 / len(pairs))
    np.testing.assert_allclose(dense, expected_pairs)


@pytest.mark.parametrize("jobs", [None, 2])
def test_order_chunks_and_workers_change_nothing(jobs):
    sequences = drawn(3, 60)
    once = count_windows(*flat(sequences), 4)
    other = count_windows(*flat(sequences[::-1]), 4, jobs, chunk=10)
    for a, b in zip(once, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_merging_tallies_adds_them_up():
    dense, sorted_ = Tally(50), Tally(10**12)
    for keys in ([3, 3, 7], [7, 0], []):
        for tally in (dense, sorted_):
            tally.add(np.array(keys, np.int64))
    for tally in (dense, sorted_):
        assert tally.keys.tolist() == [0, 3, 7]
        assert tally.counts.tolist() == [1, 2, 2]
    again = Tally(50)
    again.add(sorted_.keys, sorted_.counts)
    again.add(dense.keys, dense.counts)
    assert again.counts.tolist() == [2, 4, 4]


def test_sequences_without_a_window_are_refused():
    counts = Windows(2)
    counts.add(Chunk(np.array([0, 1, 0], np.int32), np.array([0, 2, 3])))
    with pytest.raises(InputError, match="three symbols or more, found none"):
        counts.moments()
    with pytest.raises(InputError, match="at most 2,000,000 symbols"):
        Windows(3_000_000)
