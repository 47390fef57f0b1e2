"""How sure a score is: intervals and paired comparisons by resampling sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.evaluation.counting import Ratio

FloatArray = NDArray[np.float64]
BLOCK = 1 << 21  # drawn sentences held in memory at once


class Interval(NamedTuple):
    """A score in per cent with its percentile interval."""

    value: float
    low: float
    high: float

    def summary(self) -> dict[str, float]:
        """Return the interval as a dict fit for JSON."""
        return self._asdict()


class Difference(NamedTuple):
    """First system minus second, in percentage points, with interval and two-sided p-value."""

    value: float
    low: float
    high: float
    p_value: float

    def summary(self) -> dict[str, float]:
        """Return the comparison as a dict fit for JSON."""
        return self._asdict()


def bootstrap_intervals(
    ratios: Mapping[str, Ratio], *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> dict[str, Interval]:
    """Give each score its interval, all from the same resampled sentences."""
    scored = {key: ratio for key, ratio in ratios.items() if ratio.total.sum() > 0}
    if not scored or samples < 1:
        return {}
    drawn = _resampled(list(scored.values()), samples, seed)
    return {
        key: Interval(100.0 * _mean(ratio), *_percentiles(column, level))
        for (key, ratio), column in zip(scored.items(), drawn, strict=True)
        if np.isfinite(column).any()
    }


def bootstrap_difference(
    first: Ratio, second: Ratio, *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> Difference:
    """Compare two systems on the same sentences by the paired bootstrap.

    The p-value is twice the share of resamples in which the difference vanishes or turns its sign,
    so it falls below ``1 - level`` when the interval leaves out zero.
    """
    if len(first.total) != len(second.total):
        raise ValueError("a paired comparison needs the same sentences for both systems")
    one, other = _resampled([first, second], samples, seed)
    change = (one - other)[np.isfinite(one - other)]
    extreme = min((change <= 0).sum(), (change >= 0).sum())
    p_value = min(1.0, 2.0 * (1 + int(extreme)) / (1 + len(change)))
    value = 100.0 * (_mean(first) - _mean(second))
    return Difference(value, *_percentiles(change, level), p_value)


def compare(
    first: Mapping[str, Ratio], second: Mapping[str, Ratio], **options: Any
) -> dict[str, Difference]:
    """Compare two systems on every score they share; options as in `bootstrap_difference`."""
    return {
        key: bootstrap_difference(ratio, second[key], **options)
        for key, ratio in first.items()
        if key in second and ratio.total.sum() and second[key].total.sum()
    }


def _resampled(ratios: list[Ratio], samples: int, seed: int) -> FloatArray:
    """Score ``samples`` draws of the sentences with replacement: (ratios, samples).

    Sentences without a scored word are not drawn.
    """
    counts = np.array([part for ratio in ratios for part in ratio], dtype=np.float64).T
    counts = counts[counts.any(axis=1)]
    sentences = len(counts)
    rng = np.random.default_rng(seed)
    sums = np.empty((samples, counts.shape[1]))
    rows = max(1, BLOCK // max(1, sentences))
    for start in range(0, samples, rows):
        block = min(rows, samples - start)
        drawn = rng.integers(sentences, size=(block, sentences))
        drawn += np.arange(block)[:, None] * sentences
        times = np.bincount(drawn.ravel(), minlength=block * sentences)
        sums[start : start + block] = times.reshape(block, sentences) @ counts
    right, total = sums[:, 0::2].T, sums[:, 1::2].T
    return np.divide(right, total, out=np.full_like(right, np.nan), where=total > 0)


def _percentiles(draws: FloatArray, level: float) -> tuple[float, float]:
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(100.0 * draws[np.isfinite(draws)], [tail, 100.0 - tail])
    return float(low), float(high)


def _mean(ratio: Ratio) -> float:
    return float(ratio.right.sum() / ratio.total.sum())
