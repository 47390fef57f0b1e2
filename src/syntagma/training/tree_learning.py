"""Learners of trees: a table of weights that is moved portion by portion, and its average."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from syntagma.structures.arcs import block_starts
from syntagma.training.arc_features import Int64, Weights
from syntagma.training.forests import Grammar, Sentences
from syntagma.training.likelihood import COLUMNS, SUMS, learn_by_likelihood
from syntagma.training.margin import learn_by_margin
from syntagma.training.storage import Arrays

COST = 1.0  # of a wrong arc, while trees to learn from are looked for


class TreeLearner(ABC):
    """Weights that learn from sentences; ``step`` counts the sentences so far, from 1."""

    def __init__(self, sentences: Sentences, grammar: Grammar, size: int) -> None:
        self.sentences = sentences
        self.grammar = grammar
        self.weights: Weights = np.zeros(size, np.float32)

    @abstractmethod
    def learn(self, chosen: Int64, step: int) -> float:
        """Learn from a portion of sentences; return what it cost, in the learner's own measure."""

    @abstractmethod
    def averaged(self, step: int) -> Weights:
        """Return the mean of the weights over all steps."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return what has been learnt so far: arrays that are changed in place."""


class MarginLearner(TreeLearner):
    """k-best MIRA; the cost is the number of sentences parsed wrong."""

    def __init__(
        self, sentences: Sentences, grammar: Grammar, size: int, k: int, aggressiveness: float
    ) -> None:
        super().__init__(sentences, grammar, size)
        self.k = k
        self.aggressiveness = aggressiveness
        self.sums = np.zeros_like(self.weights)

    def learn(self, chosen: Int64, step: int) -> float:
        """Parse a portion, then make the right trees win."""
        forest = self.grammar.forest(self.sentences, chosen, self.weights, cost=COST)
        found = forest.kbest(self.k).outcome
        wrong = learn_by_margin(
            self.sentences.codes,
            self.sentences.offsets,
            chosen,
            self.grammar.templates.arcs,
            self.grammar.templates.siblings,
            self.sentences.heads,
            found,
            self.sentences.offsets_of(chosen),
            self.weights,
            self.sums,
            step,
            self.aggressiveness,
        )
        return float(wrong)

    def averaged(self, step: int) -> Weights:
        """Return the mean of the weights over all steps."""
        return self.weights - self.sums / np.float32(step)

    def arrays(self) -> Arrays:
        """Return weights and sums of changes."""
        return {"weights": self.weights, "sums": self.sums}


class LikelihoodLearner(TreeLearner):
    """Maximum likelihood by AdaGrad; the cost is the negative log-likelihood."""

    def __init__(self, sentences: Sentences, grammar: Grammar, size: int, rate: float) -> None:
        super().__init__(sentences, grammar, size)
        self.rate = rate
        self.state = np.zeros((size, COLUMNS), np.float32)

    def learn(self, chosen: Int64, step: int) -> float:
        """Sum over the trees of a portion, then make the right ones likelier."""
        forest = self.grammar.forest(self.sentences, chosen, self.weights)
        log_partition, parts = forest.marginals()
        offsets = self.sentences.offsets_of(chosen)
        second = self.grammar.second_order
        learn_by_likelihood(
            self.sentences.codes,
            self.sentences.offsets,
            chosen,
            self.grammar.templates.arcs,
            self.grammar.templates.siblings,
            self.sentences.heads,
            block_starts(offsets, 2),
            block_starts(offsets, 3) if second else np.zeros_like(offsets),
            parts[0],
            parts[1] if second else np.empty(0),
            self.weights,
            self.state,
            step,
            self.rate,
        )
        truth = self.sentences.heads_of(chosen)
        return float((log_partition - forest.score(truth)).sum())

    def averaged(self, step: int) -> Weights:
        """Return the mean of the weights over all steps."""
        return self.weights - self.state[:, SUMS] / np.float32(step)

    def arrays(self) -> Arrays:
        """Return weights and the state that goes with them."""
        return {"weights": self.weights, "state": self.state}
