"""Whether stated probabilities can be believed: reliability, calibration error, abstention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column

FloatArray = NDArray[np.float64]
ABSTAINED = (0, 1, 2, 5, 10, 20, 30, 50)  # per cent of words left undecided


class Bins(NamedTuple):
    """Words grouped by stated probability; means are NaN in an empty bin.

    ``error`` is the expected calibration error: the gap between mean probability and share right,
    averaged over words.
    """

    low: FloatArray
    high: FloatArray
    words: NDArray[np.int64]
    probability: FloatArray
    right: FloatArray

    @property
    def error(self) -> float:
        """Expected calibration error, between 0 and 1."""
        kept = self.words > 0
        gaps = np.abs(self.probability[kept] - self.right[kept])
        return float(gaps @ self.words[kept] / self.words.sum())

    def summary(self) -> list[dict[str, float | int]]:
        """Return the bins that hold words."""
        return [
            {
                "low": float(self.low[i]),
                "high": float(self.high[i]),
                "words": int(self.words[i]),
                "probability": float(self.probability[i]),
                "right": float(self.right[i]),
            }
            for i in np.flatnonzero(self.words)
        ]


class Calibration(NamedTuple):
    """Stated probability of each decision against whether it was right (all in 0..1).

    ``abstained[i]`` per cent of the decisions, the least certain, are left out in ``accuracy[i]``.
    """

    words: int
    mean_probability: float
    brier: float
    equal_width: Bins
    equal_mass: Bins
    abstained: tuple[int, ...]
    accuracy: FloatArray

    def summary(self) -> dict[str, Any]:
        """Return the figures as a dict fit for JSON."""
        return {
            "words": self.words,
            "mean_probability": self.mean_probability,
            "brier": self.brier,
            "ece": self.equal_width.error,
            "ece_equal_mass": self.equal_mass.error,
            "equal_width": self.equal_width.summary(),
            "equal_mass": self.equal_mass.summary(),
            "abstention": [
                {"abstained": abstained, "accuracy": 100.0 * float(accuracy)}
                for abstained, accuracy in zip(self.abstained, self.accuracy, strict=True)
            ],
        }


def calibrate(probability: ArrayLike, right: ArrayLike, *, bins: int = 10) -> Calibration:
    """Compare the probability each decision was given with whether it was right.

    Decisions of equal probability are exchangeable: their order changes nothing.
    """
    stated = np.asarray(probability, dtype=np.float64)
    truth = np.asarray(right, dtype=np.float64)
    if stated.shape != truth.shape or stated.ndim != 1 or not len(stated):
        raise ValueError("expected one probability and one outcome for each decision")
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("probabilities must lie between 0 and 1")
    values, group, sizes = np.unique(stated, return_inverse=True, return_counts=True)
    shares = np.bincount(group, weights=truth) / sizes
    return Calibration(
        len(stated),
        float(stated.mean()),
        float(np.mean((stated - truth) ** 2)),
        _equal_width(stated, truth, bins),
        _equal_mass(values, shares, sizes, bins),
        ABSTAINED,
        _accuracy_without(shares, sizes),
    )


def misc_numbers(column: Column, key: str) -> FloatArray:
    """Read a number per word from MISC (``HeadProb=0.93``); NaN where it is not given."""
    pattern = re.compile(rf"(?:^|\|){re.escape(key)}=([0-9.eE+-]+)(?:\||$)")
    return np.array([_number(pattern.search(name)) for name in column.names])[column.ids]


def _number(match: re.Match[str] | None) -> float:
    try:
        return float(match[1]) if match else np.nan
    except ValueError:
        return np.nan


def _equal_width(stated: FloatArray, truth: FloatArray, bins: int) -> Bins:
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.minimum((stated * bins).astype(np.int64), bins - 1)
    words = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, weights=stated, minlength=bins) / words
        rights = np.bincount(place, weights=truth, minlength=bins) / words
    return Bins(edges[:-1], edges[1:], words, means, rights)


def _equal_mass(
    values: FloatArray, shares: FloatArray, sizes: NDArray[np.int64], bins: int
) -> Bins:
    """Make bins of nearly equal size; words of one probability stay together."""
    middle = np.cumsum(sizes) - sizes / 2
    place = np.minimum((middle * bins / sizes.sum()).astype(np.int64), bins - 1)
    _, place = np.unique(place, return_inverse=True)
    words = np.bincount(place, weights=sizes).astype(np.int64)
    means = np.bincount(place, weights=values * sizes) / words
    rights = np.bincount(place, weights=shares * sizes) / words
    first = np.searchsorted(place, np.arange(len(words)))
    last = np.searchsorted(place, np.arange(len(words)), side="right") - 1
    return Bins(values[first], values[last], words, means, rights)


def _accuracy_without(shares: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
    """Accuracy of the decisions that are kept, the most certain first."""
    certain_first = np.concatenate(([0], np.cumsum(sizes[::-1])))
    right = np.concatenate(([0.0], np.cumsum((shares * sizes)[::-1])))
    total = certain_first[-1]
    kept = np.maximum(1, np.round(total * (1 - np.array(ABSTAINED) / 100)))
    return np.interp(kept, certain_first, right) / kept
