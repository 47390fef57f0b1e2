"""Spectral learning of a hidden Markov model: count, embed, estimate operators, find states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.moments.filtering import Operators, negative_mass
from syntagma.moments.observable import Embedding, Observable, embed, embed_by, foster, hsu
from syntagma.moments.passes import gather
from syntagma.moments.recovery import HiddenMarkov, recover
from syntagma.moments.trigrams import Moments
from syntagma.moments.windows import Chunk, Windows
from syntagma.training.baum_welch import expect

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

CHUNK = 1_000_000  # symbols counted at a time
SAMPLE = 200_000  # symbols that choices are made on
TRIED = 20_000  # symbols that tell tries of the recovery apart
CELLS = 20_000_000  # predictions whose negative mass is looked at
SMOOTHINGS = (0.0, 10.0, 30.0, 100.0, 200.0, 400.0, 1e3, 3e3, 1e4)
MOST_FLAGGED = 0.01  # share of sequences that may do so, if there is a choice
PENALTY = 60.0  # nats that a probability that is not positive costs when smoothing is chosen


class Solution(NamedTuple):
    """A spectral solution: operators, what supports them, and the states they imply."""

    observable: Observable
    operators: Operators
    hidden: HiddenMarkov
    singular_values: FloatArray
    smoothing: float
    negative_mass: float


def count_windows(
    symbols: Int32, offsets: Int64, size: int, jobs: int | None = None, chunk: int = CHUNK
) -> Moments:
    """Count the windows of sequences over so many symbols, on any number of workers."""
    return gather(Windows(size), _chunks(symbols, offsets, chunk), jobs).moments()


def solve(
    moments: Moments,
    symbols: Int32,
    offsets: Int64,
    states: int,
    *,
    method: str = "foster",
    ridge: float = 0.0,
    smoothing: float | None = None,
    rows: FloatArray | None = None,
    seed: int = 0,
    preview: int = 0,
) -> Solution:
    """Estimate operators from moments; the sequences only decide between alternatives.

    Parameters
    ----------
    method
        "foster" or "hsu": see `syntagma.moments.observable`.
    smoothing
        See `Observable.smoothed`; None chooses among `SMOOTHINGS` what makes the sequences
        likeliest, where one that is not positive counts as by frequencies, less `PENALTY` nats.
    rows
        An embedding of the symbols; by default it is made of the bigrams.
    preview
        Iterations of EM, on a small sample, before tries to find the states are compared.
    """
    embedding = embed(moments, states) if rows is None else embed_by(moments, rows, states)
    estimate = (foster if method == "foster" else hsu)(moments, embedding, ridge)
    sample = evenly_spaced(symbols, offsets, SAMPLE)
    if smoothing is None:
        smoothing = max(
            SMOOTHINGS, key=lambda s: _worth(estimate.smoothed(moments, s), moments, sample)
        )
    observable = estimate.smoothed(moments, smoothing)
    return Solution(
        observable,
        operators_of(observable),
        _states(estimate, embedding, evenly_spaced(symbols, offsets, TRIED), seed, preview),
        embedding.singular_values,
        smoothing,
        _negative(operators_of(observable), sample),
    )


def operators_of(observable: Observable) -> Operators:
    """Write out the operator of every symbol."""
    steps = np.ascontiguousarray(observable.steps())
    return Operators(observable.start, observable.end, steps)


def evenly_spaced(symbols: Int32, offsets: Int64, most: int) -> Chunk:
    """Take every so manieth sequence, to have about so many symbols at most."""
    step = max(1, -(-len(symbols) // most))
    chosen = np.arange(0, len(offsets) - 1, step)
    sizes = np.diff(offsets)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(starts[-1]) + np.repeat(offsets[chosen] - starts[:-1], sizes)
    return Chunk(symbols[places], starts)


def _chunks(symbols: Int32, offsets: Int64, most: int) -> Iterator[Chunk]:
    """Cut a corpus into runs of whole sequences; where, depends on their sizes only."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield Chunk(
            symbols[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
        )
        first = last


def _worth(observable: Observable, moments: Moments, sample: Chunk) -> tuple[float, float]:
    """Log-likelihood of a sample; where there is none, that by frequencies less `PENALTY`.

    Where many probabilities are negative the others are too large: few of them go before all.
    """
    logs, flags = operators_of(observable).log_probability(*sample)
    words = np.log(moments.unigrams)[sample.symbols]
    sequences = np.repeat(np.arange(len(logs)), np.diff(sample.offsets))
    instead = np.bincount(sequences, words, minlength=len(logs)) - PENALTY
    return min(0.0, MOST_FLAGGED - float(flags.mean())), float(np.where(flags, instead, logs).sum())


def _states(
    observable: Observable, embedding: Embedding, sample: Chunk, seed: int, preview: int
) -> HiddenMarkov:
    """Find the states of operators: of several tries those likeliest, some iterations of EM on."""

    def promise(hidden: HiddenMarkov) -> float:
        for _ in range(preview):
            hidden = expect(hidden, *sample).parameters()
        return expect(hidden, *sample).log_likelihood

    rng = np.random.default_rng(seed)
    return recover(observable, embedding.left, promise, rng)


def _negative(operators: Operators, sample: Chunk) -> float:
    """Negative share of what is predicted after the symbols of a sample, averaged."""
    most = max(1, CELLS // len(operators.steps))
    part = evenly_spaced(*sample, most)
    beliefs = operators.beliefs(*part)[:most]
    return negative_mass(operators.predictions(beliefs)) if len(beliefs) else 0.0
