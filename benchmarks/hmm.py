"""Learn hidden Markov models from generated sequences beside hmmlearn, with the truth known.

Scores are held-out log-likelihoods of a symbol, and gaps their distances from the truth's. hmmlearn
runs EM from its own random start until it scores as well as the spectral model, one iteration at a
time; only its fitting is timed. From one common start both run the same iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numba
import numpy as np

from syntagma import HMM, hmm_sequences
from syntagma.corpora.generated import HiddenMarkovSequences
from syntagma.moments.recovery import HiddenMarkov
from syntagma.training.baum_welch import expect

STATES, SYMBOLS, SEQUENCES, HELD_OUT, LENGTH = 5, 50, 50_000, 20_000, 10
SEEDS = range(100, 110)  # no choice in the library was made on these models
PEER_SEEDS, PEER_ITERATIONS, COMMON_ITERATIONS = 3, 50, 10


def run() -> Iterator[dict[str, Any]]:
    """Yield one line for each model and learner, then the largest gaps, then the peer's."""
    HMM(STATES, learner="spectral+em", iterations=1).fit(_drawn(99).symbols[:500])  # compiles
    lines = [line for seed in SEEDS for line in _ours(seed)]
    yield from lines
    for learner in dict.fromkeys(line["learner"] for line in lines):
        mine = [line for line in lines if line["learner"] == learner]
        yield {
            "benchmark": "hmm, all models",
            "system": "syntagma",
            "learner": learner,
            "models": len(mine),
            "largest_gap": max(line["gap"] for line in mine),
            "mean_gap": round(float(np.mean([line["gap"] for line in mine])), 4),
            "mean_flagged_percent": round(
                float(np.mean([line["flagged_percent"] for line in mine])), 3
            ),
            "largest_flagged_percent": max(line["flagged_percent"] for line in mine),
            "median_seconds": round(float(np.median([line["seconds"] for line in mine])), 3),
        }
    if find_spec("hmmlearn") is None:
        yield {"benchmark": "hmm", "system": "hmmlearn", "skipped": "not installed"}
        return
    for seed in SEEDS[:PEER_SEEDS]:
        spectral = next(line for line in lines if line["seed"] == seed)
        yield _until_as_good(seed, spectral)
    yield _from_a_common_start()


def _drawn(seed: int) -> HiddenMarkovSequences:
    return hmm_sequences(STATES, SYMBOLS, SEQUENCES + HELD_OUT, LENGTH, seed)


def _ours(seed: int) -> Iterator[dict[str, Any]]:
    drawn = _drawn(seed)
    train, test = drawn.symbols[:SEQUENCES], drawn.symbols[SEQUENCES:]
    truth = _truth(drawn)
    counts = np.bincount(train.ravel(), minlength=SYMBOLS)
    unigram = float(np.log(counts / counts.sum())[test].mean())
    learners: dict[str, dict[str, Any]] = {
        "spectral, foster": {},
        "spectral, hsu": {"method": "hsu"},
        "spectral + 10 EM": {"learner": "spectral+em", "iterations": 10},
    }
    for name, options in learners.items():
        start = perf_counter()
        model = HMM(STATES, **options).fit(train)
        seconds = perf_counter() - start
        score = model.score(test)
        yield {
            "benchmark": "hmm",
            "system": "syntagma",
            "seed": seed,
            "learner": name,
            "score": round(score, 4),
            "truth": round(truth, 4),
            "unigram": round(unigram, 4),
            "gap": round(truth - score, 4),
            "flagged_percent": round(100 * float(model.log_likelihood(test).flags.mean()), 3),
            "seconds": round(seconds, 3),
            "threads": numba.get_num_threads(),
        }


def _truth(drawn: HiddenMarkovSequences) -> float:
    """Score the held-out sequences by the model that they come from."""
    model = HiddenMarkov(drawn.start, drawn.transitions, drawn.emissions)
    symbols = drawn.symbols[SEQUENCES:].ravel()
    logs, _ = model.operators().log_probability(symbols, np.arange(HELD_OUT + 1) * LENGTH)
    return float(logs.sum() / len(symbols))


def _peer(**options: Any) -> Any:
    from hmmlearn.hmm import CategoricalHMM

    return CategoricalHMM(STATES, implementation="scaling", n_iter=1, tol=0.0, **options)


def _until_as_good(seed: int, spectral: dict[str, Any]) -> dict[str, Any]:
    """Let hmmlearn iterate until it scores as the spectral model does, or long enough."""
    drawn = _drawn(seed)
    train, test = drawn.symbols[:SEQUENCES], drawn.symbols[SEQUENCES:]
    model = _peer(random_state=seed, n_features=SYMBOLS)
    seconds, done, score = 0.0, 0, -np.inf
    while score < spectral["score"] and done < PEER_ITERATIONS:
        start = perf_counter()
        model.fit(train.reshape(-1, 1), [LENGTH] * SEQUENCES)
        seconds += perf_counter() - start
        model.init_params = ""
        done += 1
        score = model.score(test.reshape(-1, 1), [LENGTH] * HELD_OUT) / test.size
    return {
        "benchmark": "hmm",
        "system": "hmmlearn",
        "seed": seed,
        "learner": "EM until as good as spectral, foster",
        "score": round(score, 4),
        "gap": round(spectral["truth"] - score, 4),
        "reached": bool(score >= spectral["score"]),
        "iterations": done,
        "seconds": round(seconds, 2),
        "syntagma_seconds": spectral["seconds"],
        "times_faster_at_least": round(seconds / spectral["seconds"], 1),
    }


def _from_a_common_start() -> dict[str, Any]:
    """Run the same iterations of EM from the same parameters in both."""
    drawn = _drawn(SEEDS[0])
    train = drawn.symbols[:SEQUENCES]
    symbols, offsets = train.ravel(), np.arange(SEQUENCES + 1) * LENGTH
    first = HMM(STATES, learner="em", iterations=0).fit(train)
    ours = HiddenMarkov(first.initial_, first.transitions_, first.emissions_)
    theirs = _peer(init_params="", n_features=SYMBOLS)
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = ours
    start = perf_counter()
    for _ in range(COMMON_ITERATIONS):
        ours = expect(ours, symbols, offsets).parameters()
    our_seconds = (perf_counter() - start) / COMMON_ITERATIONS
    start = perf_counter()
    for _ in range(COMMON_ITERATIONS):
        theirs.fit(train.reshape(-1, 1), [LENGTH] * SEQUENCES)
    their_seconds = (perf_counter() - start) / COMMON_ITERATIONS
    differences = [
        np.abs(ours.emissions - theirs.emissionprob_).max(),
        np.abs(ours.transitions - theirs.transmat_).max(),
    ]
    return {
        "benchmark": "hmm, one iteration of EM",
        "iterations": COMMON_ITERATIONS,
        "syntagma_seconds": round(our_seconds, 4),
        "hmmlearn_seconds": round(their_seconds, 3),
        "times_faster": round(their_seconds / our_seconds, 1),
        "largest_difference_of_parameters": float(f"{max(differences):.1e}"),
        "threads": numba.get_num_threads(),
    }
