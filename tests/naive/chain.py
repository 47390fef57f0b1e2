"""Linear chains by enumeration of every label sequence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np


def sequences(
    labels: np.ndarray, pairs: np.ndarray, triples: np.ndarray | None = None
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every label sequence of one sentence with its score; tables shared or one for each word."""
    words, size = labels.shape
    for sequence in itertools.product(range(size), repeat=words):
        total = 0.0
        for t, label in enumerate(sequence):
            total += labels[t, label]
            if t >= 1:
                table = pairs if pairs.ndim == 2 else pairs[t]
                total += table[sequence[t - 1], label]
            if t >= 2 and triples is not None:
                table = triples if triples.ndim == 3 else triples[t]
                total += table[sequence[t - 2], sequence[t - 1], label]
        yield sequence, float(total)


def expectations(
    labels: np.ndarray, pairs: np.ndarray, triples: np.ndarray | None = None
) -> tuple[float, list[np.ndarray]]:
    """Log partition of one sentence and the expected use of every potential."""
    tables = [labels, pairs] if triples is None else [labels, pairs, triples]
    found = [(y, score) for y, score in sequences(labels, pairs, triples) if score > -np.inf]
    parts = [np.zeros(table.shape) for table in tables]
    if not found:
        return -np.inf, parts
    scores = np.array([score for _, score in found])
    log_partition = scores.max() + np.log(np.exp(scores - scores.max()).sum())
    for sequence, score in found:
        share = np.exp(score - log_partition)
        for t, label in enumerate(sequence):
            parts[0][t, label] += share
            for order in range(1, len(tables)):
                if t >= order:
                    used = sequence[t - order : t + 1]
                    parts[order][(t, *used) if parts[order].ndim > order + 1 else used] += share
    return float(log_partition), parts


def long_expectations(labels: np.ndarray, pairs: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """The same for long sentences of first order, by forward and backward sums of logarithms."""
    words, size = labels.shape
    before, after = labels.copy(), np.zeros((words, size))
    for t in range(1, words):
        before[t] += np.logaddexp.reduce(before[t - 1][:, None] + pairs, axis=0)
    for t in range(words - 2, -1, -1):
        after[t] = np.logaddexp.reduce(pairs + labels[t + 1] + after[t + 1], axis=1)
    log_partition = np.logaddexp.reduce(before[-1])
    both = np.zeros((size, size))
    for t in range(1, words):
        both += np.exp(before[t - 1][:, None] + pairs + labels[t] + after[t] - log_partition)
    return float(log_partition), [np.exp(before + after - log_partition), both]
