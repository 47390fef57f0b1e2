"""All trees of some sentences, scored by hashed features: what a dependency parser chooses from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from syntagma.structures.arborescences import Arborescences
from syntagma.structures.arcs import Arcs, arc_cells, block_starts
from syntagma.structures.siblings import SiblingArcs
from syntagma.training.arc_features import Codes, Heads, Int64, Templates, Weights, score_parts


class Sentences(NamedTuple):
    """What learning looks at: hashed words (see `word_codes`), sentence offsets and true heads."""

    codes: Codes
    offsets: Int64
    heads: Heads

    def offsets_of(self, chosen: Int64) -> Int64:
        """Offsets of some sentences when they stand one after another."""
        sizes = self.offsets[chosen + 1] - self.offsets[chosen]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def heads_of(self, chosen: Int64) -> Heads:
        """True heads of some sentences, one after another."""
        offsets = self.offsets_of(chosen)
        shifts = np.repeat(self.offsets[chosen] - offsets[:-1], np.diff(offsets))
        return self.heads[np.arange(offsets[-1]) + shifts]


class Grammar(NamedTuple):
    """Which trees there are, and which templates score them."""

    templates: Templates
    projective: bool
    single_root: bool

    @property
    def second_order(self) -> bool:
        """Whether neighbouring modifiers are scored too."""
        return self.templates.siblings.seeds.shape[1] > 0

    @property
    def power(self) -> int:
        """The scores of a sentence are as many as its words and the root, to this power."""
        return 3 if self.second_order else 2

    def forest(
        self, sentences: Sentences, chosen: Int64, weights: Weights, cost: float = 0.0
    ) -> Arcs:
        """Score the trees of some sentences, with an extra ``cost`` for every wrong arc."""
        offsets = sentences.offsets_of(chosen)
        arc_starts = block_starts(offsets, 2)
        sibling_starts = block_starts(offsets, 3) if self.second_order else np.zeros_like(offsets)
        arcs = np.zeros(int(arc_starts[-1]))
        siblings = np.zeros(int(sibling_starts[-1]))
        score_parts(
            sentences.codes,
            sentences.offsets,
            chosen,
            self.templates.arcs,
            self.templates.siblings,
            weights,
            arc_starts,
            sibling_starts,
            arcs,
            siblings,
        )
        if cost:
            arcs += cost
            arcs[arc_cells(sentences.heads_of(chosen), offsets)] -= cost
        if self.second_order:
            return SiblingArcs(arcs, siblings, offsets, self.single_root)
        if self.projective:
            return Arcs(arcs, offsets, self.single_root)
        return Arborescences(arcs, offsets, self.single_root)
