"""How the relative error of a sequence's probability falls with the size of the sample.

A spectral model is estimated from 10^3 to 10^6 sequences of a known random model; the error is the
mean of |estimate - p| / p over sequences drawn from the same model, so it is the L1 distance of the
two distributions. Theory says that it falls as one over the root of the sample: slope -0.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from syntagma import HMM, hmm_sequences
from syntagma.moments.recovery import HiddenMarkov

STATES, SYMBOLS, LENGTH = 3, 10, 8
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SEEDS, HELD_OUT = 5, 5_000


def run() -> Iterator[dict[str, Any]]:
    """Yield the error at each size for both estimates, then the slope on logarithmic axes."""
    for method in ("foster", "hsu"):
        errors = np.array([_errors(method, seed) for seed in range(SEEDS)])
        for size, found in zip(SIZES, errors.T, strict=True):
            yield {
                "benchmark": "error of p",
                "method": method,
                "sequences": size,
                "relative_error": round(float(np.exp(np.log(found).mean())), 5),
                "low": round(float(found.min()), 5),
                "high": round(float(found.max()), 5),
                "seeds": SEEDS,
            }
        slopes = [np.polyfit(np.log(SIZES), np.log(row), 1)[0] for row in errors]
        yield {
            "benchmark": "slope of the error of p",
            "method": method,
            "slope": round(float(np.mean(slopes)), 3),
            "low": round(float(min(slopes)), 3),
            "high": round(float(max(slopes)), 3),
            "seeds": SEEDS,
        }


def _errors(method: str, seed: int) -> list[float]:
    """Return the error at each size for one random model."""
    drawn = hmm_sequences(STATES, SYMBOLS, SIZES[-1] + HELD_OUT, LENGTH, seed)
    train, test = drawn.symbols[:-HELD_OUT], drawn.symbols[-HELD_OUT:]
    truth = HiddenMarkov(drawn.start, drawn.transitions, drawn.emissions).operators()
    offsets = np.arange(HELD_OUT + 1) * LENGTH
    exact = truth.log_probability(test.ravel(), offsets)[0]
    found = []
    for size in SIZES:
        model = HMM(STATES, method=method, smoothing=0.0, min_count=0).fit(train[:size])
        logs, flags = model.log_likelihood(test)
        ratio = np.where(flags, -1.0, 1.0) * np.exp(logs - exact)
        found.append(float(np.abs(ratio - 1.0).mean()))
    return found
