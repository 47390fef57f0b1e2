"""Observable operators of a hidden Markov model: its probabilities without its states.

p(x1 ... xm) = end' A(xm) ... A(x1) start, with one k by k matrix A(x) for each symbol. All moments
come from the same windows of three, so the operators are exact for any start and any mixture of
positions: with G = left' O, T and O transposed as columns, A(x) = G T diag(O_x) G^-1.

Hsu, Kakade and Zhang (2009) estimate every A(x) from the windows around x; Foster, Rodu and Ungar
(2012) estimate only A on the k directions of an embedding of x, which pools rare symbols.
Symbols are embedded by the singular vectors of the bigram matrix, each row and column divided by
the root of its symbol's frequency (plus a little): counts of rare and frequent symbols are then
equally noisy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.moments.inverses import inverted
from syntagma.moments.trigrams import Moments

FloatArray = NDArray[np.float64]

DENSE = 500  # symbols up to which all singular values are found
SPARE = 5  # singular values found beyond those used
RARE = 30.0  # sightings added to each symbol: two rare neighbours are not to look like a state
METHODS = ("foster", "hsu")


class Embedding(NamedTuple):
    """Rows that stand for symbols: later ones, and earlier ones; and what supports them."""

    left: FloatArray
    right: FloatArray
    singular_values: FloatArray


class Observable(NamedTuple):
    """Operators of a hidden Markov model, whole or as combinations of a few.

    ``tensor`` holds one matrix for each symbol, or, with ``weights`` (symbols, matrices), matrices
    that each symbol weighs and adds up. ``constant`` are the coordinates of what is the same for
    all symbols.
    """

    start: FloatArray
    end: FloatArray
    tensor: FloatArray
    weights: FloatArray | None = None
    constant: FloatArray | None = None

    def steps(self) -> FloatArray:
        """Return the matrix of each symbol: (symbols, k, k)."""
        if self.weights is None:
            return self.tensor
        return np.tensordot(self.weights, self.tensor, 1)

    def whole(self) -> FloatArray:
        """Add up the matrices of all symbols."""
        many = np.ones(len(self.tensor)) if self.weights is None else self.weights.sum(0)
        total: FloatArray = np.tensordot(many, self.tensor, 1)
        return total

    def balanced(self) -> Observable:
        """Make the probabilities of all sequences of a length add up to one.

        The end of exact operators is the left eigenvector of their sum, of eigenvalue one; that of
        estimated ones nearly is, and their mass would shrink or grow with every symbol. Among noise
        the eigenvector is known by its direction, which is that of the constant.
        """
        if self.constant is None:
            return self
        values, vectors = np.linalg.eig(self.whole().T)
        alike = np.where(values.imag == 0.0, np.abs(self.constant @ vectors), -1.0)
        chosen = int(np.argmax(alike))
        value, end = float(values[chosen].real), vectors[:, chosen].real
        mass = float(end @ self.start)
        if value <= 0.0 or abs(mass) <= 1e-10 * float(np.abs(end) @ np.abs(self.start)):
            return self
        return self._replace(end=end / mass, tensor=self.tensor / value)

    def smoothed(self, moments: Moments, count: float) -> Observable:
        """Add so many sightings of each symbol in which it said nothing of the state."""
        seen = moments.middles() * moments.windows
        total = seen + count
        share = np.divide(count, total, out=np.ones_like(total), where=total > 0)
        # what never had a follower says nothing of what follows
        share[seen == 0.0] = 1.0
        table = self.tensor if self.weights is None else self.weights
        column = (-1,) + (1,) * (table.ndim - 1)
        said = share.reshape(column)
        table = (1.0 - said) * table + (said * moments.unigrams.reshape(column)) * table.sum(0)
        if self.weights is None:
            return self._replace(tensor=table).balanced()
        return self._replace(weights=table).balanced()


def embed(moments: Moments, states: int) -> Embedding:
    """Embed symbols by the strongest directions of the bigram matrix."""
    if states > moments.symbols:
        raise InputError(
            f"{states} states need at least as many different symbols, found {moments.symbols}: "
            "ask for fewer states"
        )
    scale = 1.0 / np.sqrt(_metric(moments))
    left, values, right = _singular(moments, scale, states)
    kept = slice(0, states)
    return Embedding(scale[:, None] * left[:, kept], scale[:, None] * right[:, kept], values)


def embed_by(moments: Moments, rows: FloatArray, states: int) -> Embedding:
    """Turn an embedding from elsewhere to the directions that the bigram matrix supports."""
    if rows.ndim != 2 or rows.shape[0] != moments.symbols or rows.shape[1] < states:
        raise InputError(
            f"embedding: expected {moments.symbols} rows of at least {states} numbers, "
            f"found {' by '.join(map(str, rows.shape))}"
        )
    if not np.isfinite(rows).all():
        raise InputError("embedding: expected finite numbers, found NaN or infinity")
    scale = 1.0 / np.sqrt(_metric(moments))
    basis, values, _ = np.linalg.svd(rows / scale[:, None], full_matrices=False)
    supported = int((values > 1e-10 * values[:1].max(initial=0.0)).sum())
    if supported < states:
        raise InputError(f"embedding: expected {states} directions, found {supported}")
    left = scale[:, None] * basis[:, :supported]
    later, earlier, weights = moments.neighbours()
    pairs = np.zeros((moments.symbols, supported))
    np.add.at(pairs, earlier, left[later] * weights[:, None])
    turn, found, right = np.linalg.svd((scale[:, None] * pairs).T, full_matrices=False)
    return Embedding(left @ turn[:, :states], scale[:, None] * right[:states].T, found)


def hsu(moments: Moments, embedding: Embedding, ridge: float = 0.0) -> Observable:
    """Estimate the operator of every symbol from the windows around it."""
    inverse = _inverse_pairs(moments, embedding, ridge)
    tensor = moments.project(embedding.left, embedding.right) @ inverse
    constant = moments.unigrams @ embedding.left
    return Observable(*_ends(moments, embedding, inverse), tensor, constant=constant)


def foster(moments: Moments, embedding: Embedding, ridge: float = 0.0) -> Observable:
    """Estimate the operator of every direction of the embedding; symbols combine them.

    In the metric f of `_metric` the embedding is orthonormal, so that ``f(x) y(x)`` are the weights
    of symbol x.
    """
    left = embedding.left
    inverse = _inverse_pairs(moments, embedding, ridge)
    windows = moments.project(left, embedding.right)
    tensor = np.tensordot(left.T, windows, 1) @ inverse
    weights = left * _metric(moments)[:, None]
    constant = moments.unigrams @ embedding.left
    return Observable(*_ends(moments, embedding, inverse), tensor, weights, constant)


def supported(moments: Moments, singular_values: FloatArray) -> int:
    """Tell how many directions stand out of what chance alone would give the bigram matrix.

    The noise of such a matrix has singular values of up to 2 sqrt(symbols / pairs), give or take a
    share of symbols^(-2/3); symbols that `RARE` outweighs count in part.
    """
    pairs = moments.windows * (1.0 + float(moments.last_weights.sum()))
    used = float((moments.unigrams / _metric(moments)).sum())
    edge = 2.0 * np.sqrt(used / pairs) * (1.0 + used ** (-2 / 3))
    return int((singular_values > edge).sum())


def _metric(moments: Moments) -> FloatArray:
    """Frequency of each symbol, as if each had been seen `RARE` times more."""
    metric: FloatArray = moments.unigrams + RARE / moments.windows
    return metric


def _singular(
    moments: Moments, scale: FloatArray, states: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular vectors of the scaled bigram matrix as columns, strongest first."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import svds

    later, earlier, weights = moments.neighbours()
    size = moments.symbols
    scaled = weights * scale[later] * scale[earlier]
    matrix = coo_array((scaled, (later, earlier)), shape=(size, size))
    if size <= max(DENSE, 2 * (states + SPARE)):
        left, values, right = np.linalg.svd(matrix.toarray())
        return left, values, right.T
    left, values, right = svds(matrix.tocsr(), k=states + SPARE, v0=np.sqrt(moments.unigrams))
    order = np.argsort(-values, kind="stable")
    return left[:, order], values[order], right[order].T


def _inverse_pairs(moments: Moments, embedding: Embedding, ridge: float) -> FloatArray:
    pairs = moments.project_pairs(embedding.left, embedding.right)
    return inverted(pairs, "the bigram matrix", ridge=ridge).matrix


def _ends(
    moments: Moments, embedding: Embedding, inverse: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Start and end: the mean of first symbols, and what turns a state into its probability."""
    start = moments.first @ embedding.left
    return start, moments.project_before(embedding.right) @ inverse
