"""Projective dependency trees whose score is the sum of their arcs' scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from syntagma.structures.base import (
    Best,
    FloatArray,
    IntArray,
    KBest,
    Marginals,
    Offsets,
    Structure,
    check_offsets,
    check_potentials,
)
from syntagma.structures.eisner import Batch, score_trees
from syntagma.structures.eisner_batch import chunks_of, draw_trees, find_best, sum_trees


def kernel_ready(array: Any) -> Any:
    """Copy an array that is read-only or unaligned: kernels would be compiled again for it."""
    return np.require(array, requirements=["C", "A", "W"])


def arc_offsets(offsets: Any) -> Offsets:
    """Start of each sentence's block of arc scores: (words + 1) squared numbers each.

    >>> arc_offsets([0, 2, 3]).tolist()
    [0, 9, 13]
    """
    return block_starts(check_offsets(offsets), 2)


def block_starts(offsets: Offsets, power: int) -> Offsets:
    """Start of each sentence's block of ``(words + 1) ** power`` numbers, and the end."""
    return np.concatenate(([0], np.cumsum((np.diff(offsets) + 1) ** power))).astype(np.int64)


def arc_cells(heads: IntArray, offsets: Offsets) -> Offsets:
    """Find where every word's arc stands in the blocks of scores, one block after another.

    >>> arc_cells(np.array([2, 0]), np.array([0, 2])).tolist()
    [7, 2]
    """
    sizes = np.diff(offsets)
    starts = np.repeat(block_starts(offsets, 2)[:-1], sizes)
    words = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes) + 1
    return starts + heads * np.repeat(sizes + 1, sizes) + words


class Arcs(Structure):
    """A batch of sentences with a score for every arc; an outcome is the head of every word.

    Parameters
    ----------
    scores
        One block a sentence, as `arc_offsets` places them; a row for each head (0 is the root),
        a column for each modifier. Column 0 and the diagonal are ignored.
    offsets
        Start of each sentence's words, and their number at the end.
    single_root
        Whether the root has exactly one child, or any number.

    >>> scores = np.zeros((3, 3))
    >>> scores[0, 2] = scores[2, 1] = 1.0
    >>> Arcs(scores.ravel(), [0, 2]).argmax().outcome.tolist()
    [2, 0]
    """

    def __init__(self, scores: Any, offsets: Any, single_root: bool = True) -> None:
        self.offsets = kernel_ready(check_offsets(offsets))
        self.single_root = bool(single_root)
        self.arc_starts = block_starts(self.offsets, 2)
        self.scores = kernel_ready(check_potentials("scores", scores, (int(self.arc_starts[-1]),)))

    @property
    def potentials(self) -> tuple[FloatArray, ...]:
        """Scores of the arcs, as one flat array."""
        return (self.scores,)

    def _batch(self) -> Batch:
        none = np.zeros(len(self.offsets), dtype=np.int64)
        return Batch(
            self.scores,
            np.empty(0),
            self.offsets,
            self.arc_starts,
            none,
            self.single_root,
            False,
        )

    def score(self, outcome: IntArray) -> FloatArray:
        """Score one tree for each sentence; a head of -1 makes it impossible."""
        heads = kernel_ready(np.asarray(outcome, dtype=np.int32))
        if heads.shape != (self.offsets[-1],):
            raise ValueError(f"outcome: expected {self.offsets[-1]} heads, found {heads.shape}")
        if (heads > np.repeat(np.diff(self.offsets), np.diff(self.offsets))).any():
            raise ValueError("outcome: a head lies beyond the end of its sentence")
        return score_trees(self._batch(), heads)

    def log_partition(self) -> FloatArray:
        """Sum over all projective trees of each sentence, as a logarithm."""
        log_partition = np.empty(len(self))
        nothing = np.empty(0)
        sum_trees(self._batch(), chunks_of(self.offsets), False, log_partition, nothing, nothing)
        return log_partition

    def marginals(self) -> Marginals:
        """Probability of every part, in the blocks of the scores; 0 in cells that are ignored."""
        parts = tuple(np.zeros(potential.size) for potential in self.potentials)
        log_partition = np.empty(len(self))
        sum_trees(
            self._batch(),
            chunks_of(self.offsets),
            True,
            log_partition,
            parts[0],
            parts[1] if len(parts) > 1 else np.empty(0),
        )
        return Marginals(log_partition, parts)

    def argmax(self) -> Best:
        """Find the best projective tree of each sentence (Eisner 1996)."""
        score, outcome = self.kbest(1)
        return Best(score[:, 0], outcome[0])

    def kbest(self, k: int) -> KBest:
        """Find the k best distinct trees of each sentence, exactly; ties always fall alike."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, found {k}")
        scores = np.full((len(self), k), -np.inf)
        heads = np.full((k, int(self.offsets[-1])), -1, dtype=np.int32)
        find_best(self._batch(), chunks_of(self.offsets), scores, heads)
        return KBest(scores, heads)

    def sample(self, count: int, seed: int = 0) -> IntArray:
        """Draw trees: the same seed, sentence number and draw give the same one."""
        heads = np.full((count, int(self.offsets[-1])), -1, dtype=np.int32)
        draw_trees(self._batch(), chunks_of(self.offsets), np.uint64(seed % 2**64), heads)
        return heads

    def _expected_score(self, parts: tuple[FloatArray, ...]) -> FloatArray:
        expected = np.zeros(len(self))
        batch = self._batch()
        for part, potential, starts in zip(
            parts, self.potentials, (batch.arc_starts, batch.sibling_starts), strict=False
        ):
            # a part that is never used adds nothing, though its score be -inf
            used = np.multiply(part, potential, out=np.zeros(part.size), where=part > 0)
            if len(self):
                expected += np.add.reduceat(used, starts[:-1])
        return expected
