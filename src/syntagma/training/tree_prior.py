"""How probable trees are by the tags of their arcs: whether a side has children, which, how far.

Counted from a treebank with additive smoothing. A head tag decides for each side whether there is
a first child, and after each child whether there is another; then the child's tag and distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from syntagma.moments.inverses import FloatArray
from syntagma.moments.tree_operators import LEFT, RIGHT
from syntagma.moments.tree_sums import FIRST, LATER
from syntagma.structures.base import IntArray, Offsets

DISTANCES = 6  # 1, 2, 3, 4 to 6, 7 to 12, more


class TreePrior(NamedTuple):
    """Probabilities by tag; tag 0 is one that was never seen.

    ``roots[tag]``; ``ends[tag, side, without or with children]`` that no further child comes;
    ``children[head tag, side, child tag, distance]``.
    """

    roots: FloatArray
    ends: FloatArray
    children: FloatArray


@njit(cache=True, nogil=True, inline="always")
def distance_bucket(head: int, child: int) -> int:
    """Number for how far two words are apart."""
    far = abs(head - child)
    return far - 1 if far <= 3 else 3 if far <= 6 else 4 if far <= 12 else 5


@njit(cache=True, nogil=True)
def _count(
    tags: IntArray,
    heads: IntArray,
    offsets: Offsets,
    roots: FloatArray,
    ends: FloatArray,
    children: FloatArray,
) -> None:
    for s in range(len(offsets) - 1):
        start, words = offsets[s], offsets[s + 1] - offsets[s]
        found = np.zeros((words, 2), np.int64)
        for i in range(words):
            head = heads[start + i] - 1
            if head < 0:
                roots[tags[start + i]] += 1.0
                continue
            side = LEFT if i < head else RIGHT
            children[tags[start + head], side, tags[start + i], distance_bucket(head, i)] += 1.0
            found[head, side] += 1
        for i in range(words):
            for side in range(2):
                tag, count = tags[start + i], found[i, side]
                # ends[..., 0] counts sides that end there, ends[..., 1] all decisions
                ends[tag, side, FIRST, 1] += 1.0
                if count == 0:
                    ends[tag, side, FIRST, 0] += 1.0
                else:
                    ends[tag, side, LATER, 0] += 1.0
                    ends[tag, side, LATER, 1] += count


def count_trees(
    tags: IntArray, heads: IntArray, offsets: Offsets, size: int, smoothing: float
) -> TreePrior:
    """Estimate from trees whose words have tags below ``size``; each tag counts a bit more."""
    roots = np.zeros(size)
    ends = np.zeros((size, 2, 2, 2))
    children = np.zeros((size, 2, size, DISTANCES))
    _count(tags, heads, offsets, roots, ends, children)
    usual = children.sum((0, 2)) + smoothing  # distances on each side, whatever the tags
    usual /= usual.sum(1, keepdims=True)
    by_tag = children.sum(3) + smoothing / size
    by_tag /= by_tag.sum(2, keepdims=True)
    far = children + smoothing * usual[:, None, :]
    far /= far.sum(3, keepdims=True)
    stopped = ends[..., 0] + smoothing / 2.0
    return TreePrior(
        (roots + smoothing / size) / (roots.sum() + smoothing),
        stopped / (ends[..., 1] + smoothing),
        by_tag[..., None] * far,
    )


@njit(cache=True, nogil=True)
def prior_weights(
    tags: IntArray,
    roots: FloatArray,
    ends: FloatArray,
    children: FloatArray,
    arcs: FloatArray,
    closed: FloatArray,
) -> float:
    """Write the weights of one sentence's trees as `sum_over_trees` takes them; return their scale.

    What any tree weighs is multiplied by the exponential of the scale: the best arc to each word
    weighs 1 here, so that long sentences do not underflow.
    """
    words = len(tags)
    arcs[:] = 0.0
    scale = 0.0
    for i in range(words):
        arcs[FIRST, 0, i + 1] = arcs[LATER, 0, i + 1] = roots[tags[i]]
        for side in range(2):
            closed[i, side, FIRST] = ends[tags[i], side, FIRST]
            closed[i, side, LATER] = ends[tags[i], side, LATER]
        best = roots[tags[i]]
        for head in range(words):
            if head == i:
                continue
            side = LEFT if i < head else RIGHT
            chosen = children[tags[head], side, tags[i], distance_bucket(head, i)]
            for when in range(2):
                going_on = 1.0 - ends[tags[head], side, when]
                arcs[when, head + 1, i + 1] = chosen * going_on
                best = max(best, chosen * going_on)
        for when in range(2):
            for head in range(words + 1):
                arcs[when, head, i + 1] /= best
        scale += np.log(best)
    return scale
