"""What stands around words, counted and smoothed a word at a time; numbers as in the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

BOUNDARY = 0


def extended(sentence: Sequence[int]) -> list[int]:
    """A sentence with the boundaries at both ends."""
    return [BOUNDARY, *sentence, BOUNDARY]


def pairs(sentences: Sequence[Sequence[int]], distance: int) -> Counter[tuple[int, int]]:
    """How often two words, or a boundary and a word, stand so far apart in a sentence."""
    found: Counter[tuple[int, int]] = Counter()
    for sentence in map(extended, sentences):
        for i in range(len(sentence) - distance):
            found[sentence[i], sentence[i + distance]] += 1
    return found


def smoothed(sentence: Sequence[int], vectors: np.ndarray, rates: Sequence[float]) -> np.ndarray:
    """The left views of the words of one sentence, by the weight of every word before."""
    rows = []
    for t in range(len(sentence)):
        before = [BOUNDARY, *sentence[:t]][::-1]  # the nearest first
        view = []
        for rate in rates:
            total = np.zeros(vectors.shape[1])
            left = 1.0
            for word in before[:-1]:
                total += left * rate * vectors[word]
                left *= 1 - rate
            view.append(total + left * vectors[BOUNDARY])
        rows.append(np.concatenate(view))
    return np.array(rows)


def placed(sentence: Sequence[int], vectors: np.ndarray) -> np.ndarray:
    """The left views of the words of one sentence: a vector for each word and place before."""
    rows = []
    for t in range(len(sentence)):
        before = [BOUNDARY, *sentence[:t]][::-1]
        rows.append(sum(vectors[i, word] for i, word in enumerate(before[: len(vectors)])))
    return np.array(rows)


def correlations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Canonical correlations of two data matrices, one observation a row, not centred."""
    return np.linalg.svd(basis(left).T @ basis(right))[1]


def basis(data: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns' span; dependent columns add nothing."""
    vectors, values, _ = np.linalg.svd(data, full_matrices=False)
    return vectors[:, values > 1e-9 * values[0]]
