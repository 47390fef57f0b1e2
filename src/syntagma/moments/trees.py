"""Moments of dependency trees in an embedding space: words, heads with children, and triples.

A triple is a head together with one of its left and one of its right children; every pair of them
counts. With A and B the sums of a head's left and right children and y_p the head itself, the
triples of one head are the product of A, y_p and B, so a pass costs k^3 a head, however many
children it has.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.moments.inverses import WORST
from syntagma.moments.passes import Statistics
from syntagma.structures.base import IntArray, Offsets

FloatArray = NDArray[np.float64]

HEADS = 2048  # two-sided heads whose products are held at once


class TreeChunk(NamedTuple):
    """Some trees: which row of the embedding every word has, its head, and where sentences end."""

    rows: IntArray
    heads: IntArray
    offsets: Offsets


@dataclass
class TreeMoments(Statistics[TreeChunk]):
    """Sums of products of embeddings over trees.

    ``squares`` sums a word times itself over all words, ``left_pairs[i, j]`` head i times left
    child j over all arcs to the left. ``triples[i, j, l]`` sums left child i, head j and right
    child l; ``children``, ``head_left`` and ``head_right`` sum the same triples without the head,
    the right and the left child, and ``right_child`` has the right child alone.
    """

    embedding: FloatArray
    words: float
    word: FloatArray
    squares: FloatArray
    roots: float
    root: FloatArray
    left_arcs: float
    left_pairs: FloatArray
    right_arcs: float
    right_pairs: FloatArray
    triple_count: float
    triples: FloatArray
    children: FloatArray
    head_left: FloatArray
    head_right: FloatArray
    right_child: FloatArray

    @classmethod
    def of(cls, embedding: FloatArray) -> TreeMoments:
        """Return moments in the space of an embedding, one row a word, that have seen nothing."""
        k = embedding.shape[1]
        return cls(
            embedding,
            words=0.0,
            word=np.zeros(k),
            squares=np.zeros((k, k)),
            roots=0.0,
            root=np.zeros(k),
            left_arcs=0.0,
            left_pairs=np.zeros((k, k)),
            right_arcs=0.0,
            right_pairs=np.zeros((k, k)),
            triple_count=0.0,
            triples=np.zeros((k, k, k)),
            children=np.zeros((k, k)),
            head_left=np.zeros((k, k)),
            head_right=np.zeros((k, k)),
            right_child=np.zeros(k),
        )

    def zero(self) -> TreeMoments:
        """Return moments in the same space that have seen nothing."""
        return self.of(self.embedding)

    def whitened(self) -> TreeMoments:
        """Return the same moments in the basis in which the words' squares are the identity.

        There, a singular value of a moment is a correlation, whatever the embedding's scale was.
        """
        values, vectors = np.linalg.eigh(self.squares / max(self.words, 1.0))
        if not len(values) or values[0] <= WORST * values[-1]:
            supported = int((values > WORST * values[-1:].max(initial=0.0)).sum())
            raise InputError(
                f"the words of these trees fill {supported} of {len(values)} dimensions: "
                "ask for fewer, or give an embedding with more of the words"
            )
        basis = (vectors / np.sqrt(values)) @ vectors.T
        changed = {"embedding": self.embedding @ basis}
        for field in fields(self):
            moment = getattr(self, field.name)
            if field.name == "triples":
                moment = np.einsum("ijl,ia,jb,lc->abc", moment, basis, basis, basis, optimize=True)
            elif field.name == "embedding" or not isinstance(moment, np.ndarray):
                continue
            else:
                moment = basis @ moment @ basis if moment.ndim == 2 else basis @ moment
            changed[field.name] = moment
        return replace(self, **changed)

    def merge(self, other: TreeMoments) -> None:
        """Add the sums of other trees."""
        for field in fields(self):
            if field.name != "embedding":
                total = getattr(self, field.name) + getattr(other, field.name)
                setattr(self, field.name, total)

    def add(self, chunk: TreeChunk) -> None:
        """Count some trees."""
        vectors = self.embedding[chunk.rows]
        left, right = np.zeros_like(vectors), np.zeros_like(vectors)
        counts = np.zeros((len(vectors), 2))
        sum_children(vectors, chunk.heads, chunk.offsets, left, right, counts)
        roots = vectors[chunk.heads == 0]
        self.words += len(vectors)
        self.word += vectors.sum(0)
        self.squares += vectors.T @ vectors
        self.roots += len(roots)
        self.root += roots.sum(0)
        self.left_arcs += counts[:, 0].sum()
        self.left_pairs += vectors.T @ left
        self.right_arcs += counts[:, 1].sum()
        self.right_pairs += vectors.T @ right
        both = np.flatnonzero(counts.all(axis=1))
        for first in range(0, len(both), HEADS):
            some = both[first : first + HEADS]
            self._add_triples(left[some], vectors[some], right[some], counts[some])

    def _add_triples(
        self, left: FloatArray, head: FloatArray, right: FloatArray, counts: FloatArray
    ) -> None:
        k = head.shape[1]
        lefts, rights = counts[:, :1], counts[:, 1:]
        pairs = (left[:, :, None] * head[:, None, :]).reshape(len(head), k * k)
        self.triple_count += (lefts * rights).sum()
        self.triples += (pairs.T @ right).reshape(k, k, k)
        self.children += left.T @ right
        self.head_left += (head * rights).T @ left
        self.head_right += (head * lefts).T @ right
        self.right_child += (right * lefts).sum(0)


@njit(cache=True, nogil=True)
def sum_children(
    vectors: FloatArray,
    heads: IntArray,
    offsets: Offsets,
    left: FloatArray,
    right: FloatArray,
    counts: FloatArray,
) -> None:
    """Add the vector of every child to those of its head's left or right children; count them."""
    for s in range(len(offsets) - 1):
        start = offsets[s]
        for i in range(start, offsets[s + 1]):
            if heads[i] > 0:
                head = start + heads[i] - 1
                side = 0 if i < head else 1
                sums = left if side == 0 else right
                counts[head, side] += 1.0
                for j in range(vectors.shape[1]):
                    sums[head, j] += vectors[i, j]
