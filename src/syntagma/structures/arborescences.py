"""Dependency trees, projective or not, whose score is the sum of their arcs' scores."""

from __future__ import annotations

import numpy as np

from syntagma.structures.arborescences_batch import (
    draw_arborescences,
    find_best_arborescences,
    sum_arborescences,
)
from syntagma.structures.arcs import Arcs
from syntagma.structures.base import Best, FloatArray, IntArray, KBest, Marginals
from syntagma.structures.eisner_batch import chunks_of


class Arborescences(Arcs):
    """A batch of sentences with a score for every arc; an outcome is any tree, arcs may cross.

    Parameters
    ----------
    scores
        Arc scores, as `Arcs` takes them.
    offsets
        Start of each sentence's words, and their number at the end.
    single_root
        Whether the root has exactly one child, or any number.

    >>> scores = np.zeros((5, 5))
    >>> scores[0, 3] = scores[3, 1] = scores[1, 4] = scores[4, 2] = 1.0
    >>> trees = Arborescences(scores.ravel(), [0, 4])
    >>> trees.argmax().outcome.tolist()
    [3, 4, 0, 1]
    """

    def log_partition(self) -> FloatArray:
        """Sum over all trees of each sentence, as a logarithm (matrix-tree theorem)."""
        log_partition = np.empty(len(self))
        sum_arborescences(self._batch(), chunks_of(self.offsets), False, log_partition, np.empty(0))
        return log_partition

    def marginals(self) -> Marginals:
        """Probability of every arc, in the blocks of the scores; 0 in cells that are ignored."""
        arcs = np.zeros(self.scores.size)
        log_partition = np.empty(len(self))
        sum_arborescences(self._batch(), chunks_of(self.offsets), True, log_partition, arcs)
        return Marginals(log_partition, (arcs,))

    def argmax(self) -> Best:
        """Find the best tree of each sentence (Chu and Liu 1965, Edmonds 1967)."""
        return super().argmax()

    def kbest(self, k: int) -> KBest:
        """Find the k best distinct trees of each sentence, exactly; ties always fall alike."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, found {k}")
        scores = np.full((len(self), k), -np.inf)
        heads = np.full((k, int(self.offsets[-1])), -1, dtype=np.int32)
        find_best_arborescences(self._batch(), chunks_of(self.offsets), scores, heads)
        return KBest(scores, heads)

    def sample(self, count: int, seed: int = 0) -> IntArray:
        """Draw trees: the same seed, sentence number and draw give the same one."""
        heads = np.full((count, int(self.offsets[-1])), -1, dtype=np.int32)
        batch, chunks = self._batch(), chunks_of(self.offsets)
        draw_arborescences(batch, chunks, np.uint64(seed % 2**64), heads)
        return heads
