"""Trees whose arcs may cross: work done, rate reached, growth with length, and torch-struct beside.

Multiply-adds are counted from the recursions, exponentials and divisions left out. The sums are run
backwards in any case, to see whether an underflow could matter. Searches have no arithmetic to
speak of: their operations are comparisons of arcs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numba
import numpy as np

from benchmarks.structures_arcs import (
    BATCH,
    LENGTHS,
    against_torch_struct,
    make_batch,
    peak_rate,
    seconds_of,
    threads_compared,
)
from syntagma.structures.arborescences import Arborescences

BEST = 10


def run() -> Iterator[dict[str, Any]]:
    """Time the queries of trees whose arcs may cross: one dict a measurement."""
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        peak = peak_rate()
        yield {"benchmark": "peak multiply-add rate", "gflops": round(peak, 1), "threads": 1}
        yield from _growth(peak)
        yield from against_torch_struct("NonProjectiveDependencyCRF", make_crossing_batch)
        yield from threads_compared(make_crossing_batch(1, 24, 512), threads)
    finally:
        numba.set_num_threads(threads)


def make_crossing_batch(
    order: int, words: int, sentences: int, single_root: bool = True
) -> Arborescences:
    """The random scores of `make_batch`, of first order, for trees whose arcs may cross."""
    projective = make_batch(order, words, sentences)
    return Arborescences(projective.scores, projective.offsets, single_root)


def multiply_adds(words: int) -> int:
    """Count the multiply-adds of one sentence: n^3 / 3 to eliminate its words, twice that to undo.

    While word v is eliminated, v - 1 rows of v weights change.
    """
    return 3 * sum(v * (v - 1) for v in range(1, words + 1))


def comparisons(words: int, trees: int) -> int:
    """Count the arcs that the searches look at, at the most: 2n nodes have n + 1 each.

    They are looked at once to choose one and once to merge; each further tree takes two searches.
    """
    searches = 1 if trees == 1 else 2 * trees
    return searches * 2 * 2 * words * (words + 1)


def _growth(peak: float) -> Iterator[dict[str, Any]]:
    for query in ("log_partition", "marginals", "argmax", "kbest"):
        arguments = [BEST] if query == "kbest" else []
        name = f"{BEST} best" if query == "kbest" else query
        times = []
        for words in LENGTHS:
            sentences = BATCH if words <= 40 else 4
            job = partial(getattr(make_crossing_batch(1, words, sentences), query), *arguments)
            seconds = seconds_of(job) / sentences
            times.append(seconds)
            yield {
                "benchmark": name,
                "words": words,
                "threads": 1,
                "microseconds_per_sentence": round(seconds * 1e6, 2),
                "sentences_per_second": round(1 / seconds),
                **_rate(query, words, seconds, peak),
            }
        logarithms = np.log(LENGTHS), np.log(times)
        yield {
            "benchmark": f"growth of {name}",
            "words": [LENGTHS[0], LENGTHS[-1]],
            "exponent": round(float(np.polyfit(*logarithms, 1)[0]), 2),
            "exponent_of_the_longest_three": round(
                float(np.polyfit(*(values[-3:] for values in logarithms), 1)[0]), 2
            ),
        }


def _rate(query: str, words: int, seconds: float, peak: float) -> dict[str, Any]:
    if query in ("argmax", "kbest"):
        count = comparisons(words, 1 if query == "argmax" else BEST)
        return {
            "comparisons_at_most": count,
            "nanoseconds_per_comparison": round(1e9 * seconds / count, 2),
        }
    operations = multiply_adds(words)
    rate = 2e-9 * operations / seconds
    return {
        "multiply_adds": operations,
        "gflops": round(rate, 2),
        "share_of_peak": round(rate / peak, 3),
    }
