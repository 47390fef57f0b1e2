"""Vectors of words from their neighbours: the methods of Eigenwords.

Each returns orthonormal directions over the numbers of words (boundary, unknown word, words), and
their singular values or correlations. Divided by the root of the frequencies, the directions are
the projections of canonical correlation analysis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.tokens import UNKNOWN, Tokens
from syntagma.moments.canonical import canonical, sparse_canonical, word_and_state
from syntagma.moments.contexts import Context, ContextSums
from syntagma.moments.cooccurrence import PairCounts
from syntagma.moments.passes import Counted, gather
from syntagma.moments.sparse import strongest
from syntagma.moments.views import Placed, Smoothed

FloatArray = NDArray[np.float64]


def unheard(chunks: int) -> None:
    """Hear how many chunks were counted, and do nothing about it."""


class Spectrum(NamedTuple):
    """Directions over word numbers, in columns, and how strong each is.

    ``averaged`` says that the values are correlations of a word with one state of its context, so
    that a word's row is an average over its occurrences.
    """

    directions: FloatArray
    values: FloatArray
    averaged: bool = False


def bigram(counts: PairCounts, rank: int, seed: int) -> Spectrum:
    """Decompose the matrix of bigram probabilities, in which the boundary is a word too."""
    pairs = counts.matrix(1)
    found = strongest(pairs / max(pairs.sum(), 1), rank, seed)
    return Spectrum(found.left, found.values)


def one_step(
    counts: PairCounts,
    frequencies: NDArray[np.int64],
    window: int,
    rank: int,
    seed: int,
    root: bool,
) -> Spectrum:
    """Correlate a word with its neighbours at each place up to `window` words away."""
    from scipy.sparse import hstack

    places = []
    for distance in range(1, window + 1):
        after = counts.matrix(distance)
        places += [after.T, after]
    contexts = hstack(places, format="csr")
    whole = frequencies.astype(np.float64)
    found = sparse_canonical(contexts, whole, contexts.sum(0), rank, seed, root)
    return Spectrum(found.left, found.values)


def two_step(
    tokens: Tokens,
    counts: PairCounts,
    window: int,
    rank: int,
    seed: int,
    root: bool,
    jobs: int | None = None,
    counted: Counted = unheard,
) -> Spectrum:
    """Correlate left with right contexts first, then the word with both of their projections.

    A left context and a right one at distances i and j of a word are i + j words apart.
    """
    from scipy.sparse import block_array

    near = range(1, window + 1)
    after = {distance: counts.matrix(distance) for distance in range(2, 2 * window + 1)}
    both = block_array([[after[i + j] for j in near] for i in near], format="csr")
    # every word has a neighbour on each side, so these count every word's contexts once
    left = np.concatenate([after[i + 1].sum(1) for i in near])
    right = np.concatenate([after[1 + j].sum(0) for j in near])
    found = sparse_canonical(both, left, right, rank, seed, root)
    shape = (window, tokens.size, rank)
    views = Placed(
        *(
            (directions / np.sqrt(np.maximum(seen, 1))[:, None]).reshape(shape).astype(np.float32)
            for directions, seen in ((found.left, left), (found.right, right))
        )
    )
    sums, moment = context_of(tokens, views, jobs, counted)
    whole = tokens.frequencies().astype(np.float64)
    return Spectrum(*word_and_state(whole, sums, moment, rank), averaged=True)


def context_of(
    tokens: Tokens, views: Placed | Smoothed, jobs: int | None, counted: Counted
) -> Context:
    """Sum the views of every word over a corpus."""
    from joblib import effective_n_jobs

    start, held = ContextSums(views, tokens.size), effective_n_jobs(jobs)
    return gather(start, tokens.chunks(), jobs, counted, threads=True, held=held).found()


class Iteration(NamedTuple):
    """One step of the multi-view method: the directions found, and how far they turned."""

    spectrum: Spectrum
    change: float


def multi_view(
    tokens: Tokens,
    start: Spectrum,
    rates: tuple[float, ...],
    jobs: int | None = None,
    counted: Counted = unheard,
) -> Iteration:
    """Correlate smoothed left with right views of each word, then the word with both projected.

    The views are those of the words' vectors so far, `start`. The change is the share of the
    directions' length that lies outside the old ones.
    """
    rank = len(start.values)
    views = Smoothed(vectors_of(start, tokens.frequencies()).astype(np.float32), rates)
    sums, moment = context_of(tokens, views, jobs, counted)
    left, right = slice(0, len(moment) // 2), slice(len(moment) // 2, None)
    correlates = canonical(moment[left, left], moment[right, right], moment[left, right], rank)
    blank = np.zeros_like(correlates.left)
    projection = np.block([[correlates.left, blank], [blank, correlates.right]])
    found = Spectrum(
        *word_and_state(
            tokens.frequencies().astype(np.float64),
            sums @ projection,
            projection.T @ moment @ projection,
            rank,
        ),
        averaged=True,
    )
    before, after = start.directions[UNKNOWN:], found.directions[UNKNOWN:]
    kept = np.linalg.norm(before.T @ after) ** 2 / rank
    return Iteration(found, max(0.0, 1.0 - float(kept)))


def vectors_of(spectrum: Spectrum, frequencies: NDArray[np.int64]) -> FloatArray:
    """Return one vector of length 1 for each number: its row of the directions, weighted.

    An average of n occurrences has noise. Where the correlation is c, words differ with variance
    c² and the occurrences of one word with 1 - c², so the row is drawn to the mean of all words as
    best separates the two: multiplied by c² / (c² + (1 - c²) / n).
    """
    directions, values, averaged = spectrum
    rows = directions * values
    if averaged:
        between = np.minimum(values, 1.0) ** 2
        within = (1.0 - between) / np.maximum(frequencies, 1)[:, None]
        rows *= between / np.maximum(between + within, 1e-300)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    out: FloatArray = rows / np.where(length > 0, length, 1.0)
    return out
