"""Linear chains: work done, rate reached, growth, threads, and torch-struct beside.

Multiply-adds are counted from the recursions; exponentials and normalising are left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numba
import numpy as np
from numba import njit

from syntagma.structures.chain import Chain, expectations
from syntagma.structures.exponential import exponentiate

LENGTHS = (5, 20, 80, 300)
LABELS = (5, 12, 17, 26, 50)
BATCH, WORDS = 32, 30
SECONDS = 0.2  # for each of the repeated timings, of which the fastest counts


def run() -> Iterator[dict[str, Any]]:
    """Time the queries of first- and second-order chains: one dict a measurement."""
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        peak = _peak_rate()
        yield {"benchmark": "peak multiply-add rate", "gflops": round(peak, 1), "threads": 1}
        yield _exponential()
        for order in (1, 2):
            yield from _growth(order, peak)
        yield from _searches()
        yield from _against_torch_struct()
        yield from _threads(threads)
    finally:
        numba.set_num_threads(threads)


def make_batch(order: int, labels: int, words: int, sentences: int, kept: int = 0) -> Chain:
    """Random scores with shared tables; with ``kept``, that many labels allowed at each word."""
    rng = np.random.default_rng(words)
    scores = rng.normal(size=(sentences * words, labels))
    if kept:
        scores[scores.argsort(axis=1).argsort(axis=1) >= kept] = -np.inf
    pairs = rng.normal(size=(labels, labels))
    triples = rng.normal(size=(labels,) * 3) if order == 2 else None
    return Chain(scores, pairs, np.arange(sentences + 1) * words, triples)


def multiply_adds(order: int, labels: int, marginals: bool) -> int:
    """Count the multiply-adds of one word: forward, and backward with the expected counts."""
    return (3 if marginals else 1) * labels ** (order + 1)


def _seconds(job: Callable[[], Any]) -> float:
    job()
    best = np.inf
    end = perf_counter() + SECONDS
    while perf_counter() < end:
        start = perf_counter()
        job()
        best = min(best, perf_counter() - start)
    return best


@njit(fastmath={"contract"})
def _multiply_add(values: np.ndarray, factor: float, addend: float) -> None:
    rows = values.reshape(4, -1)  # four chains at a time: one alone waits for its last result
    for i in range(rows.shape[1]):
        a, b, c, d = rows[0, i], rows[1, i], rows[2, i], rows[3, i]
        for _ in range(24):
            a, b = a * factor + addend, b * factor + addend
            c, d = c * factor + addend, d * factor + addend
        rows[0, i], rows[1, i], rows[2, i], rows[3, i] = a, b, c, d


def _peak_rate() -> float:
    """Multiply-adds of one core on numbers in registers, in GFLOP/s."""
    values = np.ones(4096)
    return 2 * 24 * values.size / _seconds(lambda: _multiply_add(values, 0.5, 0.5)) / 1e9


def _exponential() -> dict[str, Any]:
    values = np.linspace(-700.0, 0.0, 4096)
    out = np.empty_like(values)
    ours = _seconds(lambda: exponentiate(values, out))
    theirs = _seconds(lambda: np.exp(values, out=out))
    return {
        "benchmark": "exponential",
        "nanoseconds": round(ours / len(values) * 1e9, 2),
        "numpy_nanoseconds": round(theirs / len(values) * 1e9, 2),
    }


def _expect(batch: Chain) -> Callable[[], Any]:
    """The query of a learner: everything again, into the same arrays."""
    first = batch.marginals().parts
    labels, pairs, *triples = batch.potentials
    return lambda: expectations(labels, pairs, batch.offsets, *triples, out=first)


def _growth(order: int, peak: float) -> Iterator[dict[str, Any]]:
    shapes = [(size, WORDS) for size in LABELS if order == 1 or size <= 26]
    shapes += [(12, words) for words in LENGTHS]
    for size, words in shapes:
        sentences = 6000 // words
        batch = make_batch(order, size, words, sentences)
        for query, job in {
            "log_partition": batch.log_partition,
            "expectations": _expect(batch),
        }.items():
            nanoseconds = _seconds(job) / (words * sentences) * 1e9
            operations = multiply_adds(order, size, query == "expectations")
            rate = 2 * operations / nanoseconds
            yield {
                "benchmark": query,
                "order": order,
                "labels": size,
                "words": words,
                "threads": 1,
                "nanoseconds_per_word": round(nanoseconds, 1),
                "multiply_adds_per_word": operations,
                "gflops": round(rate, 2),
                "share_of_peak": round(rate / peak, 3),
            }


def _searches() -> Iterator[dict[str, Any]]:
    for order, size, kept in ((1, 17, 0), (1, 45, 0), (2, 12, 0), (2, 26, 0), (2, 26, 3)):
        batch = make_batch(order, size, WORDS, BATCH, kept)
        jobs = {
            "argmax": batch.argmax,
            "10 best": lambda batch=batch: batch.kbest(10),
            "100 samples": lambda batch=batch: batch.sample(100),
        }
        if kept:
            jobs["expectations"] = _expect(batch)
        for query, job in jobs.items():
            yield {
                "benchmark": query,
                "order": order,
                "labels": size,
                "labels_allowed": kept or size,
                "words": WORDS,
                "threads": 1,
                "microseconds_per_sentence": round(_seconds(job) / BATCH * 1e6, 1),
            }


def _threads(most: int) -> Iterator[dict[str, Any]]:
    for order, size in ((1, 17), (2, 12)):
        job = _expect(make_batch(order, size, WORDS, 512))
        alone = 0.0
        for threads in sorted({1, min(2, most), most}):
            numba.set_num_threads(threads)
            seconds = _seconds(job)
            alone = alone or seconds
            yield {
                "benchmark": "expectations",
                "order": order,
                "labels": size,
                "words": WORDS,
                "threads": threads,
                "cores": os.cpu_count(),
                "nanoseconds_per_word": round(seconds / 512 / WORDS * 1e9, 1),
                "times_one_thread": round(alone / seconds, 2),
            }


def _against_torch_struct() -> Iterator[dict[str, Any]]:
    try:
        import torch
        from torch_struct import LinearChainCRF
    except ImportError:
        yield {"benchmark": "marginals", "system": "torch-struct", "skipped": "not installed"}
        return
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    for size in (12, 45):
        pairs = rng.normal(size=(BATCH, WORDS, size, size))
        ours = Chain(
            np.zeros((BATCH * WORDS, size)),
            pairs.reshape(-1, size, size),
            np.arange(BATCH + 1) * WORDS,
        )
        # torch-struct has one matrix between two words, and the later label first
        theirs = torch.tensor(pairs[:, 1:].swapaxes(2, 3).copy(), dtype=torch.float32)

        def log_partition(theirs: Any = theirs) -> Any:
            return LinearChainCRF(theirs).partition

        def marginals(theirs: Any = theirs) -> Any:
            return LinearChainCRF(theirs).marginals

        found = ours.marginals()
        parts = found.parts[1].reshape(pairs.shape)[:, 1:].swapaxes(2, 3)
        their_sums, their_parts = log_partition().detach().numpy(), marginals().detach().numpy()
        np.testing.assert_allclose(their_sums, found.log_partition, rtol=1e-4)
        np.testing.assert_allclose(their_parts, parts, atol=1e-4)
        for query, their_job in {"log_partition": log_partition, "marginals": marginals}.items():
            our_seconds, their_seconds = _seconds(getattr(ours, query)), _seconds(their_job)
            yield {
                "benchmark": query,
                "system": "torch-struct",
                "labels": size,
                "words": WORDS,
                "sentences": BATCH,
                "threads": 1,
                "milliseconds": round(their_seconds * 1e3, 2),
                "syntagma_milliseconds": round(our_seconds * 1e3, 3),
                "times_faster": round(their_seconds / our_seconds, 1),
            }
