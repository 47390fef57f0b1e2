"""Linear chains against enumeration, and where scaled probabilities would go wrong."""

from __future__ import annotations

import numpy as np
import pytest

from contracts import StructureContract
from naive.chain import expectations as naive_expectations
from naive.chain import sequences
from syntagma.structures.chain import Chain, expectations


class ChainLaws(StructureContract):
    """What the four ways to give a chain's potentials have in common."""

    size = 3
    triples: int | None = None  # axes of the triples, if there are any
    pairs = 2
    largest = 4

    def build(self, rng, sizes, scale, forbid):
        words, size = sum(sizes), self.size

        def potentials(shape):
            values = rng.normal(size=shape) * scale
            values[rng.random(shape) < forbid] = -np.inf
            return values

        def table(axes, order):
            return potentials(((words,) if axes > order + 1 else ()) + (size,) * (order + 1))

        triples = None if self.triples is None else table(self.triples, 2)
        return Chain(
            potentials((words, size)),
            table(self.pairs, 1),
            np.cumsum([0, *sizes]),
            triples,
        )

    def rebuild(self, structure, potentials):
        labels, pairs, *triples = potentials
        return Chain(labels, pairs, structure.offsets, *triples)

    def permute(self, structure, order):
        offsets = structure.offsets
        words = np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in order]).astype(int)
        tables = [
            table[words] if table.ndim > n + 1 or n == 0 else table
            for n, table in enumerate(structure.potentials)
        ]
        sizes = np.diff(offsets)[order]
        return Chain(tables[0], tables[1], np.cumsum([0, *sizes]), *tables[2:])

    def outcomes(self, structure, sentence):
        for sequence, score in sequences(*sentence_tables(structure, sentence)):
            if score > -np.inf:
                yield sequence, score


def sentence_tables(chain: Chain, sentence: int) -> list[np.ndarray]:
    words = slice(chain.offsets[sentence], chain.offsets[sentence + 1])
    return [
        table[words] if table.ndim > n + 1 or n == 0 else table
        for n, table in enumerate(chain.potentials)
    ]


class TestFirstOrderShared(ChainLaws):
    largest = 5


class TestFirstOrderByWord(ChainLaws):
    pairs = 3


class TestSecondOrderShared(ChainLaws):
    triples = 3


class TestSecondOrderByWord(ChainLaws):
    pairs = 3
    triples = 4
