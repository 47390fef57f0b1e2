"""Statistics gathered by one worker, by two and chunk by chunk are the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.moments.passes import Statistics, gather


class Sums(Statistics[np.ndarray]):
    def __init__(self) -> None:
        self.total = 0.0
        self.seen: list[int] = []

    def zero(self) -> Sums:
        return Sums()

    def add(self, chunk: np.ndarray) -> None:
        self.total += float(np.sin(chunk).sum())
        self.seen.append(len(chunk))

    def merge(self, other: Sums) -> None:
        self.total += other.total
        self.seen += other.seen


def _chunks(count=130):
    rng = np.random.default_rng(3)
    return [rng.normal(size=size) for size in rng.integers(1, 50, size=count)]


@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_any_number_of_workers_gives_the_same(jobs):
    chunks = _chunks()
    told = []
    found = gather(Sums(), iter(chunks), jobs, told.append)
    assert found.seen == [len(chunk) for chunk in chunks]
    assert found.total == gather(Sums(), chunks).total
    assert told[-1] == len(chunks)
    assert told == sorted(told)


def test_gathering_goes_on_from_what_was_there_and_leaves_it_alone():
    chunks = _chunks(5)
    first = gather(Sums(), chunks[:2])
    whole = gather(first, chunks[2:])
    assert first.seen == [len(chunk) for chunk in chunks[:2]]
    assert whole.seen == [len(chunk) for chunk in chunks]
    np.testing.assert_allclose(whole.total, gather(Sums(), chunks).total, rtol=1e-14)


def test_no_chunk_is_nothing():
    assert gather(Sums(), []).seen == []
