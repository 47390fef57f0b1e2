"""Projective dependency trees that also score neighbouring modifiers of one head."""

from __future__ import annotations

from typing import Any

from syntagma.structures.arcs import Arcs, block_starts, kernel_ready
from syntagma.structures.base import FloatArray, Offsets, check_offsets, check_potentials
from syntagma.structures.eisner import Batch


def sibling_offsets(offsets: Any) -> Offsets:
    """Start of each sentence's block of sibling scores: (words + 1) cubed numbers each.

    >>> sibling_offsets([0, 2, 3]).tolist()
    [0, 27, 35]
    """
    return block_starts(check_offsets(offsets), 3)


class SiblingArcs(Arcs):
    """A batch of sentences with scores for arcs and for adjacent siblings on one side of a head.

    Parameters
    ----------
    scores
        Arc scores, as `Arcs` takes them.
    siblings
        One block a sentence, as `sibling_offsets` places them, indexed by head, modifier and
        sibling: the nearest other modifier of the head between the two, or the head itself if
        there is none. Every modifier uses one such part; all other cells are ignored.
    offsets
        Start of each sentence's words, and their number at the end.
    single_root
        Whether the root has exactly one child, or any number.
    """

    def __init__(self, scores: Any, siblings: Any, offsets: Any, single_root: bool = True) -> None:
        super().__init__(scores, offsets, single_root)
        self.sibling_starts = block_starts(self.offsets, 3)
        self.siblings = kernel_ready(
            check_potentials("siblings", siblings, (int(self.sibling_starts[-1]),))
        )

    @property
    def potentials(self) -> tuple[FloatArray, ...]:
        """Scores of the arcs and of the siblings, each as one flat array."""
        return (self.scores, self.siblings)

    def _batch(self) -> Batch:
        return Batch(
            self.scores,
            self.siblings,
            self.offsets,
            self.arc_starts,
            self.sibling_starts,
            self.single_root,
            True,
        )
