"""Sums over all projective trees whose words carry messages: parsing with a latent tree model.

The probability of the words given a tree is linear in the message of every subtree, so the sum
over trees passes through it. A half of a head (its children on one side so far) carries a vector v,
at first stop; taking a child with halves l and r and word matrix W gives v' joint(E' c), where
c' = l' joint(r) W. Open arcs carry the product of v and one half of the child, a matrix that is
summed over split points (k^2 each); a matrix product for each head, child and end closes them.
With n words that is n^3 / 3 products of k x k matrices, and twice as many on the way back.

Children are taken from the inside out, and the left half comes before the right one; the model's
matrices commute, their estimates do not.

Trees have weights of their own too: of an arc to a first or a later child on a side, of a side
that ends without or with children, and of a root.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from syntagma.moments.inverses import FloatArray
from syntagma.moments.tree_operators import LEFT, RIGHT

FIRST, LATER = 0, 1  # child on its side; a side that ends without or with children


@njit(cache=True, nogil=True)
def _second(joint: FloatArray, vector: FloatArray) -> FloatArray:
    """Joint(vector): sum over the middle index."""
    k = len(vector)
    out = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[i, m] += joint[i, j, m] * vector[j]
    return out


@njit(cache=True, nogil=True)
def _first(joint: FloatArray, vector: FloatArray) -> FloatArray:
    """vector' joint, a matrix of what the other message will be and the result."""
    k = len(vector)
    out = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[j, m] += joint[i, j, m] * vector[i]
    return out


@njit(cache=True, nogil=True)
def _both(joint: FloatArray, pairs: FloatArray, out: FloatArray) -> None:
    """Sum joint over its first two indices, weighted by a matrix."""
    k = len(pairs)
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[m] += joint[i, j, m] * pairs[i, j]


@njit(cache=True, nogil=True)
def _third(joint: FloatArray, vector: FloatArray) -> FloatArray:
    """Sum joint over its last index."""
    k = len(vector)
    out = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[i, j] += joint[i, j, m] * vector[m]
    return out


@njit(cache=True, nogil=True)
def _add_outer(
    table: FloatArray, child: int, weight: float, left: FloatArray, right: FloatArray
) -> None:
    """Add weight left right' to a child's matrix."""
    k = len(left)
    for i in range(k):
        scaled = weight * left[i]
        for j in range(k):
            table[i, child * k + j] += scaled * right[j]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _add_product(out: FloatArray, left: FloatArray, right: FloatArray) -> None:
    """out += left @ right."""
    k = len(out)
    for i in range(k):
        for j in range(k):
            value = left[i, j]
            for m in range(k):
                out[i, m] += value * right[j, m]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dots(left: FloatArray, right: FloatArray, first: int, last: int) -> FloatArray:
    """Inner products of rows over some places: long runs, so that they fly."""
    k = len(left)
    out = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            one, other, total = left[i], right[j], 0.0
            for place in range(first, last):
                total += one[place] * other[place]
            out[i, j] = total
    return out


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _add_rows(
    out: FloatArray, weights: FloatArray, rows: FloatArray, first: int, last: int
) -> None:
    """out[i] += sum over j of weights[i, j] rows[j], over some places."""
    k = len(out)
    for i in range(k):
        for j in range(k):
            weight, to, row = weights[i, j], out[i], rows[j]
            for place in range(first, last):
                to[place] += weight * row[place]


@njit(cache=True, nogil=True)
def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """left @ right, without the cost of calling BLAS for small matrices."""
    out = np.zeros((len(left), len(left)))
    _add_product(out, left, right)
    return out


@njit(cache=True, nogil=True)
def _applied(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """matrix @ vector."""
    out = np.zeros(len(matrix))
    for i in range(len(matrix)):
        for j in range(len(vector)):
            out[i] += matrix[i, j] * vector[j]
    return out


@njit(cache=True, nogil=True)
def _scaled(weight: float, vector: FloatArray) -> FloatArray:
    out = np.empty(len(vector))
    for i in range(len(vector)):
        out[i] = weight * vector[i]
    return out


@njit(cache=True, nogil=True)
def _put_transposed(table: FloatArray, child: int, matrix: FloatArray) -> None:
    """Write a matrix where a child's stands, rows as columns."""
    k = len(matrix)
    for i in range(k):
        for j in range(k):
            table[j, child * k + i] = matrix[i, j]


@njit(cache=True, nogil=True)
def _taken(table: FloatArray, child: int) -> FloatArray:
    """Copy the matrix of a child."""
    k = len(table)
    out = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            out[i, j] = table[i, child * k + j]
    return out


@njit(cache=True, nogil=True)
def _flipped(matrix: FloatArray) -> FloatArray:
    k = len(matrix)
    out = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            out[i, j] = matrix[j, i]
    return out


@njit(cache=True, nogil=True)
def _overlap(one: FloatArray, other: FloatArray, child: int) -> float:
    """Sum of the products of a child's two matrices."""
    k = len(one)
    total = 0.0
    for i in range(k):
        for j in range(child * k, (child + 1) * k):
            total += one[i, j] * other[i, j]
    return total


@njit(cache=True, nogil=True)
def _inside(
    up: FloatArray,
    joint: FloatArray,
    stop: FloatArray,
    arcs: FloatArray,
    ends: FloatArray,
    halves: FloatArray,
    opened: FloatArray,
    closing: FloatArray,
) -> None:
    """Fill the chart; the side is told by which of two words comes first.

    ``halves[head, end]`` are the vectors of halves. ``opened[head]`` holds, side by side, the
    matrices of arcs to children whose outer half is still to come, ``closing[side, end]`` what
    those outer halves make of such a matrix, transposed. ``up[side, word]`` is the word's matrix
    times that of its arc.
    """
    words, k = len(halves), len(stop)
    for i in range(words):
        halves[i, i, :] = stop
        # the inner half is what is still to come: to the right of a child on the left, and so on
        outer = _product(_second(joint, _scaled(ends[i, RIGHT, FIRST], stop)), up[RIGHT, i])
        _put_transposed(closing[RIGHT, i], i, outer)
        outer = _product(_first(joint, _scaled(ends[i, LEFT, FIRST], stop)), up[LEFT, i])
        _put_transposed(closing[LEFT, i], i, outer)
    for length in range(1, words):
        for i in range(words - length):
            j = i + length
            for split in range(i, j):
                to_right = FIRST if split == i else LATER
                to_left = FIRST if split + 1 == j else LATER
                here, there = halves[i, split], halves[j, split + 1]
                weight = arcs[to_right, i + 1, j + 1] * ends[j, LEFT, to_left]
                _add_outer(opened[i], j, weight, here, there)
                weight = arcs[to_left, j + 1, i + 1] * ends[i, RIGHT, to_right]
                _add_outer(opened[j], i, weight, there, here)
            right = _dots(opened[i], closing[RIGHT, j], (i + 1) * k, (j + 1) * k)
            left = _dots(opened[j], closing[LEFT, i], i * k, j * k)
            _both(joint, right, halves[i, j])
            _both(joint, left, halves[j, i])
            outer = _product(
                _second(joint, _scaled(ends[i, RIGHT, LATER], halves[i, j])), up[RIGHT, i]
            )
            _put_transposed(closing[RIGHT, j], i, outer)
            outer = _product(
                _first(joint, _scaled(ends[j, LEFT, LATER], halves[j, i])), up[LEFT, j]
            )
            _put_transposed(closing[LEFT, i], j, outer)


@njit(cache=True, nogil=True)
def _outside(
    up: FloatArray,
    joint: FloatArray,
    arcs: FloatArray,
    ends: FloatArray,
    halves: FloatArray,
    opened: FloatArray,
    closing: FloatArray,
    slopes: FloatArray,
    marginals: FloatArray,
) -> None:
    """Go back over the chart; ``slopes`` holds how the sum depends on the halves of roots."""
    words, k = len(halves), len(joint)
    open_slopes, close_slopes = np.zeros_like(opened), np.zeros_like(closing)
    for length in range(words - 1, 0, -1):
        for i in range(words - length):
            j = i + length
            back = _product(_flipped(_taken(close_slopes[RIGHT, j], i)), _flipped(up[RIGHT, i]))
            _add_second(joint, back, ends[i, RIGHT, LATER], slopes[i, j])
            back = _product(_flipped(_taken(close_slopes[LEFT, i], j)), _flipped(up[LEFT, j]))
            _add_first(joint, back, ends[j, LEFT, LATER], slopes[j, i])
            right, left = _third(joint, slopes[i, j]), _third(joint, slopes[j, i])
            first, last = (i + 1) * k, (j + 1) * k
            _add_rows(open_slopes[i], right, closing[RIGHT, j], first, last)
            _add_rows(close_slopes[RIGHT, j], _flipped(right), opened[i], first, last)
            first, last = i * k, j * k
            _add_rows(open_slopes[j], left, closing[LEFT, i], first, last)
            _add_rows(close_slopes[LEFT, i], _flipped(left), opened[j], first, last)
            marginals[i + 1, j + 1] = _overlap(open_slopes[i], opened[i], j)
            marginals[j + 1, i + 1] = _overlap(open_slopes[j], opened[j], i)
            for split in range(i, j):
                to_right = FIRST if split == i else LATER
                to_left = FIRST if split + 1 == j else LATER
                weight = arcs[to_right, i + 1, j + 1] * ends[j, LEFT, to_left]
                _add_back(open_slopes[i], weight, i, split, j, split + 1, halves, slopes)
                weight = arcs[to_left, j + 1, i + 1] * ends[i, RIGHT, to_right]
                _add_back(open_slopes[j], weight, j, split + 1, i, split, halves, slopes)


@njit(cache=True, nogil=True)
def _add_second(joint: FloatArray, slope: FloatArray, weight: float, out: FloatArray) -> None:
    k = len(out)
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[j] += weight * joint[i, j, m] * slope[i, m]


@njit(cache=True, nogil=True)
def _add_first(joint: FloatArray, slope: FloatArray, weight: float, out: FloatArray) -> None:
    k = len(out)
    for i in range(k):
        for j in range(k):
            for m in range(k):
                out[i] += weight * joint[i, j, m] * slope[j, m]


@njit(cache=True, nogil=True)
def _add_back(
    slope: FloatArray,
    weight: float,
    head: int,
    head_end: int,
    child: int,
    child_end: int,
    halves: FloatArray,
    slopes: FloatArray,
) -> None:
    """Pass the slope of an opened arc on to the two halves it was made of."""
    k = len(slope)
    above, below = halves[head, head_end], halves[child, child_end]
    to_above, to_below = slopes[head, head_end], slopes[child, child_end]
    for i in range(k):
        for j in range(k):
            scaled = weight * slope[i, child * k + j]
            to_above[i] += scaled * below[j]
            to_below[j] += scaled * above[i]


@njit(cache=True, nogil=True)
def sum_over_trees(
    matrices: FloatArray,
    start: FloatArray,
    stop: FloatArray,
    operators: FloatArray,
    joint: FloatArray,
    arcs: FloatArray,
    ends: FloatArray,
    marginals: FloatArray,
) -> float:
    """Sum over the trees of one sentence; write the share of the sum that uses each arc.

    ``matrices`` has a matrix for each word, ``arcs[first or later, head, child]`` counts words
    from 1 and has the root at 0, ``ends[word, side, without or with children]``. The sum can be
    negative if the operators are estimates; shares are then of that negative sum.
    """
    words, k = len(matrices), len(start)
    up = np.empty((2, words, k, k))
    for side in range(2):
        for i in range(words):
            up[side, i] = _product(matrices[i], operators[side])
    halves = np.zeros((words, words, k))
    opened = np.zeros((words, k, words * k))
    closing = np.zeros((2, words, k, words * k))
    _inside(up, joint, stop, arcs, ends, halves, opened, closing)
    for head in range(words + 1):
        for child in range(words + 1):
            marginals[head, child] = 0.0
    total = 0.0
    slopes = np.zeros((words, words, k))
    last = words - 1
    for root in range(words):
        left = ends[root, LEFT, FIRST if root == 0 else LATER]
        right = ends[root, RIGHT, FIRST if root == last else LATER]
        after = _third(
            joint, _scaled(arcs[FIRST, 0, root + 1] * left * right, _applied(matrices[root], start))
        )
        of_left = _applied(after, halves[root, last])
        of_right = _applied(_flipped(after), halves[root, 0])
        share = 0.0
        for i in range(k):
            share += halves[root, 0, i] * of_left[i]
        marginals[0, root + 1] = share
        total += share
        for i in range(k):
            slopes[root, 0, i] += of_left[i]
            slopes[root, last, i] += of_right[i]
    _outside(up, joint, arcs, ends, halves, opened, closing, slopes, marginals)
    if total != 0.0:
        for head in range(words + 1):
            for child in range(words + 1):
                marginals[head, child] /= total
    return total
