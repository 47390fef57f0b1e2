"""Projective trees: work done, rate reached, growth with length, threads, and torch-struct beside.

Multiply-adds are counted from the recursions, exponentials and the best-tree search left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import comb
from time import perf_counter
from typing import Any

import numba
import numpy as np
from numba import njit

from syntagma.structures.arcs import Arcs
from syntagma.structures.siblings import SiblingArcs

LENGTHS = (10, 20, 40, 80, 120, 200)
BATCH = 32
SECONDS = 0.2  # for each of the repeated timings, of which the fastest counts


def run() -> Iterator[dict[str, Any]]:
    """Time the queries of first- and second-order trees: one dict a measurement."""
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        peak = peak_rate()
        yield {"benchmark": "peak multiply-add rate", "gflops": round(peak, 1), "threads": 1}
        for order in (1, 2):
            yield from _growth(order, peak)
        yield from _searches()
        yield from against_torch_struct("DependencyCRF", make_batch)
        yield from threads_compared(make_batch(1, 24, 512), threads)
    finally:
        numba.set_num_threads(threads)


def make_batch(order: int, words: int, sentences: int, single_root: bool = True) -> Arcs:
    """Random scores for sentences of one length."""
    rng = np.random.default_rng(words)
    offsets = np.arange(sentences + 1) * words
    arcs = rng.normal(size=sentences * (words + 1) ** 2)
    if order == 1:
        return Arcs(arcs, offsets, single_root)
    siblings = rng.normal(size=sentences * (words + 1) ** 3)
    return SiblingArcs(arcs, siblings, offsets, single_root)


def multiply_adds(order: int, words: int, marginals: bool) -> int:
    """Count the multiply-adds of one sentence with one root."""
    products = 3 * comb(words + 1, 3)  # one for each span, join and kind of item
    triples = 2 * comb(words, 3) if order == 2 else 0  # head, modifier and sibling
    return (3 if marginals else 1) * products + (6 if marginals else 2) * triples


def seconds_of(job: Callable[[], Any]) -> float:
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
    quarter = values.size // 4
    a, b = values[:quarter], values[quarter : 2 * quarter]
    c, d = values[2 * quarter : 3 * quarter], values[3 * quarter :]
    for i in range(quarter):
        w, x, y, z = a[i], b[i], c[i], d[i]
        for _ in range(24):  # four chains, so that none waits for the one before
            w = w * factor + addend
            x = x * factor + addend
            y = y * factor + addend
            z = z * factor + addend
        a[i], b[i], c[i], d[i] = w, x, y, z


def peak_rate() -> float:
    """Multiply-adds of one core on numbers in registers, in GFLOP/s."""
    values = np.ones(4096)
    return 2 * 24 * values.size / seconds_of(lambda: _multiply_add(values, 0.5, 0.5)) / 1e9


def _growth(order: int, peak: float) -> Iterator[dict[str, Any]]:
    lengths = [n for n in LENGTHS if order == 1 or n <= 80]
    for query in ("log_partition", "marginals"):
        times = []
        for words in lengths:
            sentences = BATCH if words <= 40 else 4
            batch = make_batch(order, words, sentences)
            seconds = seconds_of(getattr(batch, query)) / sentences
            times.append(seconds)
            operations = multiply_adds(order, words, query == "marginals")
            rate = 2e-9 * operations / seconds
            yield {
                "benchmark": query,
                "order": order,
                "words": words,
                "threads": 1,
                "microseconds_per_sentence": round(seconds * 1e6, 2),
                "multiply_adds": operations,
                "gflops": round(rate, 2),
                "share_of_peak": round(rate / peak, 3),
            }
        slope = np.polyfit(np.log(lengths), np.log(times), 1)[0]
        yield {
            "benchmark": f"growth of {query}",
            "order": order,
            "words": [lengths[0], lengths[-1]],
            "exponent": round(float(slope), 2),
        }


def _searches() -> Iterator[dict[str, Any]]:
    for order in (1, 2):
        for words in (20, 40):
            batch = make_batch(order, words, BATCH)
            for query, job in {
                "argmax": batch.argmax,
                "50 best": lambda batch=batch: batch.kbest(50),
                "100 samples": lambda batch=batch: batch.sample(100),
            }.items():
                seconds = seconds_of(job) / BATCH
                yield {
                    "benchmark": query,
                    "order": order,
                    "words": words,
                    "threads": 1,
                    "microseconds_per_sentence": round(seconds * 1e6, 1),
                    "sentences_per_second": round(1 / seconds),
                }


def threads_compared(batch: Arcs, most: int) -> Iterator[dict[str, Any]]:
    """Time marginals on one thread, on two and on all."""
    alone = 0.0
    for threads in sorted({1, min(2, most), most}):
        numba.set_num_threads(threads)
        seconds = seconds_of(batch.marginals)
        alone = alone or seconds
        yield {
            "benchmark": "marginals",
            "order": 1,
            "words": int(batch.offsets[1]),
            "threads": threads,
            "cores": os.cpu_count(),
            "microseconds_per_sentence": round(seconds / len(batch) * 1e6, 2),
            "times_one_thread": round(alone / seconds, 2),
        }


def against_torch_struct(distribution: str, make: Callable[..., Arcs]) -> Iterator[dict[str, Any]]:
    """Time a distribution of torch-struct over trees with several roots, and ours of the same."""
    try:
        import torch
        import torch_struct
    except ImportError:
        yield {"benchmark": "marginals", "system": "torch-struct", "skipped": "not installed"}
        return
    trees_of = getattr(torch_struct, distribution)
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # it only warns
    for words in (20, 40):
        ours = make(1, words, BATCH, single_root=False)
        blocks = ours.scores.reshape(BATCH, words + 1, words + 1)
        scores = blocks[:, 1:, 1:].copy()
        diagonal = np.arange(words)
        scores[:, diagonal, diagonal] = blocks[:, 0, 1:]  # where torch-struct wants the root's
        # torch-struct 0.5 fails on potentials without a gradient
        theirs = torch.tensor(scores, dtype=torch.float32, requires_grad=True)

        def log_partition(theirs: Any = theirs) -> Any:
            return trees_of(theirs, multiroot=True).partition.detach()

        def marginals(theirs: Any = theirs) -> Any:
            return trees_of(theirs, multiroot=True).marginals.detach()

        log_partitions, (parts,) = ours.marginals()
        parts = parts.reshape(blocks.shape)
        folded = parts[:, 1:, 1:].copy()
        folded[:, diagonal, diagonal] = parts[:, 0, 1:]
        np.testing.assert_allclose(log_partition().numpy(), log_partitions, rtol=1e-4)
        np.testing.assert_allclose(marginals().numpy(), folded, atol=1e-4)
        for query, their_job in {"log_partition": log_partition, "marginals": marginals}.items():
            our_seconds, their_seconds = seconds_of(getattr(ours, query)), seconds_of(their_job)
            yield {
                "benchmark": query,
                "system": "torch-struct",
                "words": words,
                "sentences": BATCH,
                "threads": 1,
                "milliseconds": round(their_seconds * 1e3, 2),
                "syntagma_milliseconds": round(our_seconds * 1e3, 3),
                "times_faster": round(their_seconds / our_seconds, 1),
            }
