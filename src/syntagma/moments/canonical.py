"""Canonical correlation analysis: directions in which two views of a word tell the same.

Views are not centred, as in the papers: the first pair of directions of word and context is the
constant one, with correlation 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.tokens import UNKNOWN
from syntagma.moments.sparse import Singular, strongest

FloatArray = NDArray[np.float64]

# of the mean variance, added to each variance: views may be dependent, and sums in single
# precision leave noise in directions that they do not reach
RIDGE = 1e-6


class Canonical(NamedTuple):
    """Projections of two views in columns, and their correlations, largest first."""

    left: FloatArray
    right: FloatArray
    correlations: FloatArray


def canonical(
    left: FloatArray, right: FloatArray, cross: FloatArray, rank: int, ridge: float = RIDGE
) -> Canonical:
    """Correlate two views, given the second moments of each and between them."""
    whiten, whiten_other = _whitener(left, ridge), _whitener(right, ridge)
    a, values, b = np.linalg.svd(whiten.T @ cross @ whiten_other)
    return Canonical(whiten @ a[:, :rank], whiten_other @ b[:rank].T, values[:rank])


def word_and_state(
    frequencies: FloatArray, sums: FloatArray, moment: FloatArray, rank: int, ridge: float = RIDGE
) -> tuple[FloatArray, FloatArray]:
    """Correlate words with a dense view of their contexts.

    Parameters
    ----------
    frequencies
        How often each word occurs.
    sums
        The sum of the view over the occurrences of each word.
    moment
        The second moment of the view: its sum over all occurrences.

    Returns
    -------
    Orthonormal directions over words (whitened: divided by the root of the frequency they are
    projections), and their correlations. The boundary, row 0, is no word: its row is projected.
    """
    root = np.sqrt(np.maximum(frequencies, 1))
    white = (sums @ _whitener(moment, ridge)) / root[:, None]
    # the small side is decomposed: words are many
    values, vectors = np.linalg.eigh(white[UNKNOWN:].T @ white[UNKNOWN:])
    order = np.argsort(-values)[:rank]
    values = np.sqrt(np.maximum(values[order], 0.0))
    directions = white @ vectors[:, order] / np.where(values > 0, values, 1.0)
    sign = np.sign(directions[np.abs(directions).argmax(0), np.arange(len(order))])
    return directions * sign, values


def sparse_canonical(
    counts: Any, left: FloatArray, right: FloatArray, rank: int, seed: int, root: bool
) -> Singular:
    """Correlate two views made of indicators, from their co-occurrence counts.

    The second moment of each view is taken for diagonal, `left` and `right`. With `root` the
    square roots of all counts stand for the counts: the variance of a count grows with it, that
    of its root does not.
    """
    scaled = counts.copy()
    if root:
        scaled.data = np.sqrt(scaled.data)
        left, right = np.sqrt(left), np.sqrt(right)
    rows = np.repeat(np.sqrt(np.maximum(left, 1)), np.diff(scaled.indptr))
    scaled.data = scaled.data / (rows * np.sqrt(np.maximum(right, 1))[scaled.indices])
    return strongest(scaled, rank, seed)


def _whitener(moment: FloatArray, ridge: float) -> FloatArray:
    """Return w such that w' moment w is the identity."""
    values, vectors = np.linalg.eigh(moment)
    softened = np.maximum(values, 0.0) + ridge * max(float(values.mean()), 1e-300)
    out: FloatArray = vectors / np.sqrt(softened)
    return out
