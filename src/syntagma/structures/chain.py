"""Linear chains of first and second order: labels that depend on the one or two before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from syntagma.structures import chain_best, chain_kbest, chain_kernels, chain_log, chain_sample
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
from syntagma.structures.chain_forward import LOST
from syntagma.structures.chain_lanes import LANES

_CELLS = 4_000_000  # numbers held at once in sums that are kept apart


class Chain(Structure):
    """Sequences of labels scored by single labels, neighbouring pairs and, if given, triples.

    Parameters
    ----------
    labels : (words, L)
        Score of each label at each word.
    pairs : (L, L) or (words, L, L)
        Score of (label before, label), the same everywhere or one matrix for each word; used from
        the second word of a sentence on (the rows of first words are not looked at).
    offsets : (sentences + 1,)
        Where sentences start; the last entry is the number of words.
    triples : (L, L, L) or (words, L, L, L), optional
        Score of (label two before, label before, label), used from the third word on.

    The marginals of pairs and triples that are the same everywhere are summed over the batch.

    >>> chain = Chain([[0.0, 1.0], [2.0, 0.0]], [[0.0, 0.0], [-np.inf, 0.0]], [0, 2])
    >>> chain.argmax().outcome
    array([0, 0], dtype=int32)
    """

    def __init__(self, labels: Any, pairs: Any, offsets: Any, triples: Any = None) -> None:
        self.offsets = check_offsets(offsets)
        words = int(self.offsets[-1])
        self.labels = check_potentials("labels", labels, (words, None))
        size = self.labels.shape[1]
        if not size:
            raise ValueError("labels: expected at least one label")
        self.pairs = _check_table("pairs", pairs, words, 2, size)
        self.triples = None if triples is None else _check_table("triples", triples, words, 3, size)

    @property
    def potentials(self) -> tuple[FloatArray, ...]:
        """Labels, pairs and, in second order, triples."""
        if self.triples is None:
            return self.labels, self.pairs
        return self.labels, self.pairs, self.triples

    def score(self, outcome: IntArray) -> FloatArray:
        """Score one label sequence for each sentence."""
        chosen = np.asarray(outcome, dtype=np.int64)
        words = np.arange(len(chosen))
        sentences = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        place = words - self.offsets[sentences]
        values = self.labels[words, chosen]
        for order, table in enumerate(self.potentials[1:], start=1):
            used = words[place >= order]
            index = tuple(chosen[used - back] for back in range(order, -1, -1))
            values[used] += table[(used, *index) if table.ndim > order + 1 else index]
        values[chosen < 0] = -np.inf
        return np.bincount(sentences, weights=values, minlength=len(self)).astype(np.float64)

    def log_partition(self) -> FloatArray:
        """Sum over all label sequences of each sentence, as a logarithm."""
        return self._sum_product(self._chunks(), derive=False)[0]

    def marginals(self, out: tuple[FloatArray, ...] | None = None) -> Marginals:
        """Expected use of every label, pair and triple; written into ``out`` if given."""
        labels = None if out is None else out[0]
        log_partition, parts = self._sum_product(self._chunks(), derive=True, labels=labels)
        if out is None:
            return Marginals(log_partition, parts)
        for target, part in zip(out[1:], parts[1:], strict=True):
            target[:] = part
        return Marginals(log_partition, out)

    def argmax(self) -> Best:
        """Find the best label sequence of each sentence (Viterbi)."""
        score = np.empty(len(self))
        outcome = np.empty(len(self.labels), dtype=np.int32)
        chain_best.viterbi(*self._states(), self._chunks(), score, outcome)
        return Best(score, outcome)

    def kbest(self, k: int) -> KBest:
        """Find the k best distinct label sequences of each sentence, exactly."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, found {k}")
        score = np.empty((len(self), k))
        outcome = np.empty((k, len(self.labels)), dtype=np.int32)
        chain_kbest.kbest_chain(*self._states(), score, outcome)
        return KBest(score, outcome)

    def sample(self, count: int, seed: int = 0) -> IntArray:
        """Draw label sequences: the same seed, sentence number and draw give the same one."""
        outcome = np.full((count, len(self.labels)), -1, dtype=np.int32)
        status = np.empty(len(self), dtype=np.int64)
        key = np.uint64(seed & (2**64 - 1))
        chain_sample.sample_chain(*self._states(), key, status, outcome, *self._tables())
        lost = np.flatnonzero(status == LOST)
        if len(lost):
            chain_sample.log_sample_chain(*self._states(), lost, key, outcome)
        return outcome

    def entropy(self) -> FloatArray:
        """Entropy of each sentence's distribution in nats."""
        # parts are held for each word, or for each sentence: a few sentences at a time
        cells = self.labels.shape[1] ** len(self.potentials)
        if any(self._varies(order) for order in range(1, len(self.potentials))):
            cells *= int(np.diff(self.offsets).max(initial=1))
        step = max(1, _CELLS // cells)
        pieces = [self._entropy(a, min(a + step, len(self))) for a in range(0, len(self), step)]
        return np.concatenate([np.empty(0), *pieces])

    def _entropy(self, first: int, last: int) -> FloatArray:
        """Entropy of the sentences ``first`` to ``last - 1``."""
        start, end = self.offsets[first], self.offsets[last]
        tables = [
            table[start:end] if self._varies(order) else table
            for order, table in enumerate(self.potentials)
        ]
        piece = Chain(tables[0], tables[1], self.offsets[first : last + 1] - start, *tables[2:])
        bounds = np.arange(last - first + 1)
        log_partition, parts = piece._sum_product(bounds, derive=True, merge=False)
        entropy = log_partition - piece._expected_score(parts)
        return np.where(np.isfinite(log_partition), np.maximum(entropy, 0.0), 0.0)

    def _expected_score(self, parts: tuple[FloatArray, ...]) -> FloatArray:
        """Expected score of each sentence; parts of shared tables come one for each sentence."""
        expected = np.zeros(len(self))
        sentences = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        for order, (part, potential) in enumerate(zip(parts, self.potentials, strict=True)):
            used = np.where(part > 0, potential, 0.0)
            value = (part * used).sum(axis=tuple(range(1, part.ndim)))
            if self._varies(order):
                value = np.bincount(sentences, weights=value, minlength=len(self))
            expected += value
        return expected

    # ---- what the kernels are given -----------------------------------------------------------
    def _varies(self, order: int) -> bool:
        """Tell whether the potentials of labels (0), pairs (1), triples (2) differ by word."""
        return self.potentials[order].ndim > order + 1 or order == 0

    def _states(self) -> tuple[int, FloatArray, FloatArray, bool, FloatArray, bool, Offsets]:
        """Order, labels, weights, transitions and offsets, as `chain_forward` defines them."""
        size = self.labels.shape[1]
        if self.triples is None:
            weights, weights_vary = np.zeros((1, 1, size)), False
            transitions = self.pairs.reshape(-1, size, size)
        else:
            weights, weights_vary = self.pairs.reshape(-1, size, size), self._varies(1)
            transitions = self.triples.reshape(-1, size * size, size)
        order = len(self.potentials) - 1
        vary = self._varies(order)
        return order, self.labels, weights, weights_vary, transitions, vary, self.offsets

    def _chunks(self) -> Offsets:
        """Bounds of chunks of sentences: a matter of shapes, never of the number of threads."""
        words, cells = len(self.labels), self.labels.shape[1] ** len(self.potentials)
        # many words for each chunk where its sums are large: clearing and adding them costs too
        count = max(1, min(64, words // (64 + cells // 64), _CELLS // cells, len(self)))
        bounds = np.searchsorted(self.offsets, np.linspace(0, words, count + 1)[1:-1])
        return np.array([0, *bounds, len(self)], dtype=np.int64)

    def _tables(self) -> tuple[FloatArray, FloatArray]:
        """Make room for the weights and transitions that do not vary, exponentiated and padded."""
        _, _, weights, _, transitions, _, _ = self._states()
        width = -(-self.labels.shape[1] // LANES) * LANES
        return np.empty((1, weights.shape[1], width)), np.empty((1, transitions.shape[1], width))

    def _sum_product(
        self,
        bounds: Offsets,
        *,
        derive: bool,
        merge: bool = True,
        labels: FloatArray | None = None,
    ) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Log partitions and, with ``derive``, parts: of shared tables summed, or by chunk."""
        states = self._states()
        words, size = self.labels.shape
        chunks = len(bounds) - 1
        _, _, weights, weights_vary, transitions, transitions_vary, _ = states
        vary = (weights_vary, transitions_vary)
        heights = (weights.shape[1], transitions.shape[1])
        log_partition = np.empty(len(self))
        status = np.empty(len(self), dtype=np.int64)
        if labels is None:
            labels = np.empty((words if derive else 0, size))
        tables = self._tables()
        width = tables[0].shape[2]
        by_word = [
            np.zeros((words if derive and varies else 0, height, size))
            for height, varies in zip(heights, vary, strict=True)
        ]
        held = [
            height if derive and not varies else 0
            for height, varies in zip(heights, vary, strict=True)
        ]
        sums = [np.zeros((chunks, height, width)) for height in held]
        reversed_table = np.zeros((heights[0], size if held[1] else 0, width))
        chain_kernels.sum_product(
            *states, bounds, derive, log_partition, status, labels,
            by_word[0], sums[0], by_word[1], sums[1], *tables, reversed_table,
        )  # fmt: skip
        if merge:
            sums = [part.sum(axis=0, keepdims=True) for part in sums]
        if held[1]:
            sums[1] *= tables[1]
        sums = [part[:, :, :size] for part in sums]
        lost = np.flatnonzero(status == LOST)
        if len(lost):
            extra = [np.zeros((chunks, height, size)) for height in held]
            chain_log.log_sum_product(
                *states, lost, np.searchsorted(lost, bounds), derive, log_partition, labels,
                by_word[0], extra[0], by_word[1], extra[1],
            )  # fmt: skip
            if merge:
                extra = [part.sum(axis=0, keepdims=True) for part in extra]
            sums = [part + more for part, more in zip(sums, extra, strict=True)]
        if not derive:
            return log_partition, ()
        parts = [labels]
        for n, table in enumerate(self.potentials[1:], start=2 - len(self.potentials[1:])):
            if vary[n]:
                parts.append(by_word[n].reshape(-1, *table.shape[1:]))
            else:
                parts.append(sums[n].reshape(*(() if merge else (chunks,)), *table.shape))
        return log_partition, tuple(parts)


def expectations(
    labels: Any,
    pairs: Any,
    offsets: Any,
    triples: Any = None,
    out: tuple[FloatArray, ...] | None = None,
) -> Marginals:
    """Log partitions and marginals of a chain in one call, for learners that ask many times.

    ``out`` takes the parts of an earlier call on the same shapes and is written over. Parts of
    pairs and triples that are the same everywhere are summed over the batch.
    """
    return Chain(labels, pairs, offsets, triples).marginals(out)


def _check_table(name: str, values: Any, words: int, axes: int, size: int) -> FloatArray:
    """Check potentials that are the same everywhere or given for each word."""
    per_word = np.ndim(values) > axes
    return check_potentials(name, values, ((words,) if per_word else ()) + (size,) * axes)
