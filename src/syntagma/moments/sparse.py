"""The strongest singular vectors of a large sparse matrix, the same for any number of threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Int32 = NDArray[np.int32]

DENSE = 400  # up to so many rows or columns the exact decomposition is as quick
EXTRA = 20  # directions searched beyond those that are wanted
PASSES = 6
PARTS = 64  # portions of the rows; frequent words, whose rows are long, stand together


class Singular(NamedTuple):
    """Singular vectors in columns, and their values, largest first."""

    left: FloatArray
    values: FloatArray
    right: FloatArray


def strongest(matrix: Any, rank: int, seed: int = 0, passes: int = PASSES) -> Singular:
    """Find the `rank` largest singular values of a sparse matrix, and their vectors.

    A random subspace is drawn to the strongest directions by multiplying it with the matrix and
    its transpose, `passes` times (Halko, Martinsson and Tropp, 2011), so the matrix should have
    no more rows than columns; small ones are decomposed exactly. The sign of each pair of vectors
    is such that the left one's largest entry is positive.
    """
    if min(matrix.shape) <= max(DENSE, rank + EXTRA):
        left, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
        return _signed(left[:, :rank], values[:rank], right[:rank].T)
    by_rows, by_columns = matrix.tocsr(), matrix.T.tocsr()
    rng = np.random.default_rng(seed)
    basis = _orthonormal(rng.standard_normal((matrix.shape[0], rank + EXTRA)))
    for _ in range(passes):
        basis = _orthonormal(times(by_rows, times(by_columns, basis)))
    image = times(by_columns, basis)
    values, vectors = np.linalg.eigh(image.T @ image)
    strong = np.argsort(-values)[:rank]
    values = np.sqrt(np.maximum(values[strong], 0.0))
    right = image @ (vectors[:, strong] / np.where(values > 0, values, 1.0))
    return _signed(basis @ vectors[:, strong], values, right)


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns' span, by their Gram matrix: it is small."""
    for _ in range(2):  # the second time undoes the rounding of the first
        values, vectors = np.linalg.eigh(columns.T @ columns)
        floor = values[-1] * np.finfo(np.float64).eps
        columns = columns @ (vectors / np.sqrt(np.maximum(values, max(floor, 1e-300))))
    return columns


def times(matrix: Any, dense: FloatArray) -> FloatArray:
    """Multiply a sparse matrix with a dense one, on all threads."""
    out = np.zeros((matrix.shape[0], dense.shape[1]))
    starts = matrix.indptr.astype(np.int64)
    _multiply(starts, matrix.indices, matrix.data, np.ascontiguousarray(dense), out)
    return out


def _signed(left: FloatArray, values: FloatArray, right: FloatArray) -> Singular:
    sign = np.sign(left[np.abs(left).argmax(0), np.arange(left.shape[1])])
    return Singular(left * sign, values, right * sign)


@njit(cache=True, parallel=True)
def _multiply(
    starts: NDArray[np.int64],
    columns: Int32,
    values: FloatArray,
    dense: FloatArray,
    out: FloatArray,
) -> None:
    rows, width = out.shape
    for part in prange(PARTS):
        for row in range(part, rows, PARTS):
            total = out[row]
            for at in range(starts[row], starts[row + 1]):
                value, other = values[at], dense[columns[at]]
                for i in range(width):
                    total[i] += value * other[i]
