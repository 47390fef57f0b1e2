"""What every structure offers: the same queries over a ragged batch of sentences.

A structure is built from flat potentials and sentence offsets. Sentence ``s`` owns the words
``offsets[s]:offsets[s + 1]``; an outcome is one integer per word (a label, or a head counted from
1 with 0 for the root), and its score is the sum of the potentials of the parts it uses. The
marginals are the derivatives of the summed log partition with respect to the potentials, so they
come in arrays of the potentials' own shapes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Offsets = NDArray[np.int64]


class Marginals(NamedTuple):
    """Expected use of every part: one array for each array of potentials, of the same shape."""

    log_partition: FloatArray
    parts: tuple[FloatArray, ...]


class Best(NamedTuple):
    """The best outcome of each sentence: its score and one integer per word."""

    score: FloatArray
    outcome: IntArray


class KBest(NamedTuple):
    """The k best distinct outcomes, best first.

    ``score[s, r]`` is the score of sentence ``s`` at rank ``r`` and ``outcome[r]`` holds rank
    ``r`` of all sentences. Ranks that do not exist have score ``-inf`` and outcome ``-1``.
    """

    score: FloatArray
    outcome: IntArray


class Structure(ABC):
    """A distribution over the outcomes of every sentence of a batch, p(y) ~ exp(score(y)).

    Potentials are finite or ``-inf`` (a forbidden part). A sentence with no possible outcome has
    log partition ``-inf``, zero marginals and entropy, and outcome ``-1``.
    """

    offsets: Offsets

    @property
    @abstractmethod
    def potentials(self) -> tuple[FloatArray, ...]:
        """The arrays of potentials, in the order `marginals` returns their expectations."""

    @abstractmethod
    def score(self, outcome: IntArray) -> FloatArray:
        """Score one outcome of each sentence (unnormalised, in the log domain)."""

    @abstractmethod
    def log_partition(self) -> FloatArray:
        """Sum over all outcomes of each sentence, as a logarithm."""

    @abstractmethod
    def marginals(self) -> Marginals:
        """Expected use of every part under p(y)."""

    @abstractmethod
    def argmax(self) -> Best:
        """Find the best outcome of each sentence."""

    @abstractmethod
    def kbest(self, k: int) -> KBest:
        """Find the k best distinct outcomes of each sentence, exactly."""

    @abstractmethod
    def sample(self, count: int, seed: int = 0) -> IntArray:
        """Draw ``count`` outcomes of each sentence: an array of shape ``(count, words)``."""

    def entropy(self) -> FloatArray:
        """Entropy of each sentence's distribution in nats: log Z minus the expected score."""
        log_partition, parts = self.marginals()
        expected = self._expected_score(parts)
        return np.where(np.isfinite(log_partition), np.maximum(log_partition - expected, 0.0), 0.0)

    @abstractmethod
    def _expected_score(self, parts: tuple[FloatArray, ...]) -> FloatArray:
        """Expected score of each sentence, given the marginals of its parts."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


def check_potentials(name: str, values: Any, shape: tuple[int | None, ...]) -> FloatArray:
    """Return potentials as contiguous float64, or say which is wrong.

    ``None`` in ``shape`` leaves that axis free.
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name}: expected an array of shape {shape}, found {array.shape}")
    if array.size and not array.max() < np.inf:
        raise ValueError(f"{name}: potentials must be finite or -inf; found NaN or +inf")
    return array


def check_offsets(offsets: Any) -> Offsets:
    """Return sentence offsets as int64, or say what is wrong with them."""
    array = np.ascontiguousarray(offsets, dtype=np.int64)
    if array.ndim != 1 or not len(array) or array[0] != 0 or (np.diff(array) < 0).any():
        raise ValueError("offsets: expected a rising list of word counts that starts at 0")
    return array
