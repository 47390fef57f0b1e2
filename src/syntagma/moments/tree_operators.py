"""The observable parameters of a latent tree model, solved from moments.

With G = U'O, the products of embedding and emissions, the parameters are those of the hidden model
in another basis: ``start`` = G pi, ``stop`` = 1'G^-1, ``arcs`` = G T_d G^-1 and
``joint``(y) = G diag(G'y) G^-1. Probabilities of words given a tree are products of these, and the
basis cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from syntagma.errors import InputError
from syntagma.moments.inverses import FloatArray, Inverse, inverted
from syntagma.moments.trees import TreeMoments

LEFT, RIGHT = 0, 1  # of its head stands the child


class TreeOperators(NamedTuple):
    """Parameters of a latent tree model in the space of an embedding.

    ``arcs[d]`` takes a child's message to its head, d = `LEFT` or `RIGHT`; ``joint[i, j, l]``
    multiplies messages: ``joint``(u)[i, l] sums over j.
    """

    start: FloatArray
    stop: FloatArray
    arcs: FloatArray
    joint: FloatArray


class Solved(NamedTuple):
    """Operators, and the inverses they rest on by the name of the moment."""

    operators: TreeOperators
    inverses: dict[str, Inverse]


def solve_matched(moments: TreeMoments, rank: int | None = None, ridge: float = 0.0) -> Solved:
    """Solve from moments that are all taken over the same triples: exact for every model."""
    _check_triples(moments)
    triples = moments.triple_count
    children = moments.children / triples
    head_right, head_left = moments.head_right / triples, moments.head_left / triples
    return _solve(
        moments.root / max(moments.roots, 1.0),
        moments.right_child / triples,
        children,
        (head_left, "the moment of heads and left children"),
        (head_right, "the moment of heads and right children"),
        moments.triples / triples,
        rank,
        ridge,
    )


def solve_paper(moments: TreeMoments, rank: int | None = None, ridge: float = 0.0) -> Solved:
    """Solve from moments over all words and arcs: exact if all words have one hidden marginal."""
    _check_triples(moments)
    mean = moments.word / max(moments.words, 1.0)
    return _solve(
        mean,
        mean,
        moments.children / moments.triple_count,
        (moments.left_pairs / moments.left_arcs, "the moment of heads and left children"),
        (moments.right_pairs / moments.right_arcs, "the moment of heads and right children"),
        moments.triples / moments.triple_count,
        rank,
        ridge,
    )


def _check_triples(moments: TreeMoments) -> None:
    if not moments.triple_count:
        raise InputError(
            "expected heads with children on both sides, found none: "
            "moments of such triples are what the model is learnt from"
        )


def _solve(
    start: FloatArray,
    stop: FloatArray,
    children: FloatArray,
    head_left: tuple[FloatArray, str],
    head_right: tuple[FloatArray, str],
    triples: FloatArray,
    rank: int | None,
    ridge: float,
) -> Solved:
    left = inverted(*head_left, rank=rank, ridge=ridge)
    right = inverted(*head_right, rank=rank, ridge=ridge)
    across = inverted(children, "the moment of left and right children", rank=rank, ridge=ridge)
    # the inverse of E_left = children @ right.matrix, without inverting an inverse again
    back = head_right[0] @ across.matrix
    joint = np.einsum("hi,ijl,lm->hjm", back, triples, right.matrix, optimize=True)
    arcs = np.stack([children @ right.matrix, children.T @ left.matrix])
    operators = TreeOperators(start, stop @ right.matrix, arcs, np.ascontiguousarray(joint))
    return Solved(operators, {"left": left, "right": right, "across": across})
