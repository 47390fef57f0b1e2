"""The penalised likelihood of a conditional random field, and its gradient.

Words whose label is unknown are summed out: the likelihood of a sentence is that of its known
labels, log Z of the outcomes that agree with them minus log Z of all outcomes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.structures import chain
from syntagma.training.emissions import Sources, Votes, sources, weight_gradient, word_scores
from syntagma.training.features import Attributes
from syntagma.training.lbfgs import dot

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]


class Weights(NamedTuple):
    """The parameters of a chain model: views of one vector."""

    emissions: FloatArray
    pairs: FloatArray
    triples: FloatArray | None

    @classmethod
    def of(cls, vector: FloatArray, votes: int, labels: int, order: int) -> Weights:
        """Cut a vector into its parts."""
        pairs = votes + labels * labels
        triples = vector[pairs:].reshape(labels, labels, labels) if order == 2 else None
        return cls(vector[:votes], vector[votes:pairs].reshape(labels, labels), triples)


def parameter_count(votes: int, labels: int, order: int) -> int:
    """Length of the parameter vector."""
    return votes + labels**2 + (labels**3 if order == 2 else 0)


class ChainObjective:
    """Minus the penalised log-likelihood of a labelled corpus, as a function of the weights.

    Parameters
    ----------
    attributes, votes
        What fires on each word, and which labels it votes for.
    allowed
        (words, labels): the labels each word may have. One per word where it is annotated.
    offsets
        Sentence offsets.
    order
        1: pairs of neighbouring labels have weights; 2: triples as well.
    penalty
        What half the square of each weight costs.
    """

    def __init__(
        self,
        attributes: Attributes,
        votes: Votes,
        size: int,
        allowed: NDArray[np.bool_],
        offsets: Int64,
        order: int = 1,
        penalty: FloatArray | float = 1.0,
    ) -> None:
        self.attributes = attributes
        self.votes = votes
        self.way_back: Sources = sources(attributes, size)
        self.offsets = offsets
        self.order = order
        self.labels = allowed.shape[1]
        self.size = parameter_count(votes.size, self.labels, order)
        self.penalty = np.broadcast_to(penalty, self.size)
        # arrays that every evaluation writes over
        self._scores: FloatArray | None = None
        self._parts: tuple[FloatArray, ...] | None = None
        self._split(allowed)

    def _split(self, allowed: NDArray[np.bool_]) -> None:
        """Keep counts of the fully labelled sentences, and the masks of the others."""
        lengths = np.diff(self.offsets)
        free = allowed.sum(1) > 1
        open_sentences = np.zeros(len(lengths), bool)
        sentence_of = np.repeat(np.arange(len(lengths)), lengths)
        open_sentences[sentence_of[free]] = True
        open_words = open_sentences[sentence_of]
        self.open_words = np.flatnonzero(open_words)
        self.open_offsets = np.concatenate([[0], np.cumsum(lengths[open_sentences])])
        self.forbidden = ~allowed[self.open_words]
        closed = np.flatnonzero(~open_words)
        gold = allowed[closed].argmax(1)
        position = np.arange(len(allowed)) - np.repeat(self.offsets[:-1], lengths)
        place = position[closed]
        labels = self.labels
        self.counts = np.zeros((len(allowed), labels))
        self.counts[closed, gold] = 1.0
        second = np.flatnonzero(place >= 1)
        self.pair_counts = (
            np.bincount(gold[second - 1] * labels + gold[second], minlength=labels**2)
            .reshape(labels, labels)
            .astype(np.float64)
        )
        if self.order == 2:
            third = np.flatnonzero(place >= 2)
            key = (gold[third - 2] * labels + gold[third - 1]) * labels + gold[third]
            self.triple_counts = (
                np.bincount(key, minlength=labels**3)
                .reshape(labels, labels, labels)
                .astype(np.float64)
            )

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient."""
        weights = Weights.of(vector, self.votes.size, self.labels, self.order)
        self._scores = word_scores(
            self.attributes, self.votes, weights.emissions, self.labels, out=self._scores
        )
        scores = self._scores
        log_partition, self._parts = chain.expectations(
            scores, weights.pairs, self.offsets, weights.triples, out=self._parts
        )
        by_word, by_pair, *by_triple = self._parts
        likelihood = dot(self.counts, scores) + dot(self.pair_counts, weights.pairs)
        likelihood -= float(log_partition.sum())
        by_word -= self.counts
        by_pair -= self.pair_counts
        if weights.triples is not None:
            likelihood += dot(self.triple_counts, weights.triples)
            by_triple[0] -= self.triple_counts
        if len(self.open_words):
            clamped = scores[self.open_words]
            clamped[self.forbidden] = -np.inf
            agreeing, parts = chain.expectations(
                clamped, weights.pairs, self.open_offsets, weights.triples
            )
            likelihood += float(agreeing.sum())
            by_word[self.open_words] -= parts[0]
            for total, part in zip([by_pair, *by_triple], parts[1:], strict=True):
                total -= part
        gradient = self.penalty * vector
        cost = 0.5 * dot(gradient, vector)
        shares = Weights.of(gradient, self.votes.size, self.labels, self.order)
        shares.emissions[:] += weight_gradient(self.way_back, self.votes, by_word)
        shares.pairs[:] += by_pair
        if shares.triples is not None:
            shares.triples[:] += by_triple[0]
        return cost - likelihood, gradient


def normalised(marginals: FloatArray) -> FloatArray:
    """Undo rounding, and give words that no sequence reaches the same share of every tag."""
    total = marginals.sum(1, keepdims=True)
    out: FloatArray = np.where(
        total > 0, marginals / np.where(total > 0, total, 1.0), 1.0 / marginals.shape[1]
    )
    return out
