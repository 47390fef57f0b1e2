"""HMM: hidden Markov models of sequences of symbols, learnt by moments, by EM, or by both.

The spectral solution is `syntagma.moments.observable`, EM `syntagma.training.baum_welch`. Either
way the model is one operator for each symbol, and every question is answered by following them.

This file is longer than others because the model has many parameters, each of which is explained
and checked; what it does is elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from syntagma import __version__
from syntagma.corpora.sequences import COLUMNS, UNKNOWN, Sequences, Symbol
from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError
from syntagma.models.base import Estimator
from syntagma.moments.filtering import Operators
from syntagma.moments.observable import METHODS, Observable, supported
from syntagma.moments.recovery import HiddenMarkov
from syntagma.structures.chain import Chain
from syntagma.training.baum_welch import expect, random_start
from syntagma.training.checkpoints import Checkpoint, fingerprint
from syntagma.training.em import maximise
from syntagma.training.loop import Progress
from syntagma.training.spectral_hmm import Solution, count_windows, operators_of, solve
from syntagma.training.storage import Arrays, finite_array

FloatArray = NDArray[np.float64]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

LEARNERS = ("spectral", "em", "spectral+em")
PREVIEW = 5  # iterations of EM that show which states are a good start
PORTION = 500_000  # words whose states are looked for at a time


class LogLikelihood(NamedTuple):
    """Log-probability of each sequence, and where it had to be floored: it was not positive."""

    logs: FloatArray
    flags: NDArray[np.bool_]


class NextSymbol(NamedTuple):
    """Probability of each symbol after each sequence, (sequences, symbols), and their names.

    What an estimate has below zero is cut off; `negative_mass` is its share.
    """

    probabilities: FloatArray
    symbols: list[Symbol]
    negative_mass: FloatArray


class HMM(Estimator):
    """Learn a hidden Markov model of sequences of symbols.

    Parameters
    ----------
    states
        How many hidden states there are.
    learner
        "spectral": moments of three neighbours, without iterations; "em": expectation maximisation
        from a random start; "spectral+em": EM from the spectral solution.
    method
        Spectral estimate: "foster" (in reduced dimension) or "hsu" (symbol by symbol).
    ridge
        Softens the inverse of the bigram matrix: this share of its largest singular value is added
        to all.
    smoothing
        Sightings added to each symbol in which it says nothing of the state; they keep
        estimated probabilities positive. None: as many as the training sequences like best.
    min_count
        Symbols seen less often than this stand together for unknown ones.
    column
        What is read of a treebank: forms, tags (its tag column), upos or xpos.
    iterations, tolerance
        EM stops after so many iterations, or when the log-likelihood of a symbol gains less.
    seed
        Of the random start, and of the search for the states of a spectral solution.

    Attributes
    ----------
    symbols_, singular_values_, rank_, negative_mass_, log_likelihoods_, initial_, transitions_,
    emissions_, summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import hmm_sequences
    >>> drawn = hmm_sequences(states=3, symbols=8, sequences=2000, length=10, seed=1)
    >>> model = HMM(states=3).fit(drawn.symbols)
    >>> model.rank_
    3
    >>> bool(HMM(states=1).fit(drawn.symbols).score(drawn.symbols) < model.score(drawn.symbols))
    True
    """

    kind: ClassVar[str] = "hmm"

    def __init__(
        self,
        states: int = 5,
        learner: str = "spectral",
        method: str = "foster",
        ridge: float = 0.0,
        smoothing: float | None = None,
        min_count: int = 2,
        column: str = "forms",
        iterations: int = 100,
        tolerance: float = 1e-6,
        seed: int = 0,
    ) -> None:
        self.states = states
        self.learner = learner
        self.method = method
        self.ridge = ridge
        self.smoothing = smoothing
        self.min_count = min_count
        self.column = column
        self.iterations = iterations
        self.tolerance = tolerance
        self.seed = seed

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        sequences: Any,
        *,
        embedding: Mapping[Symbol, Sequence[float]] | None = None,
        jobs: int | None = None,
        checkpoint: str | None = None,
        checkpoint_every: float = 10.0,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        sequences
            A treebank, lists of strings or whole numbers, a table of whole numbers with a sequence
            in each row, or a pair of arrays (whole numbers, offsets).
        embedding
            Vectors of symbols, for spectral learning; by default they are made of the bigrams.
        jobs
            Workers that count, as joblib understands them; they do not change the result.
        checkpoint, checkpoint_every, resume
            A file to keep the state of EM in, how many seconds apart, and whether to take it up.
        progress
            Called with iteration, number of iterations and log-likelihood after each step of EM.
        """
        self._check_parameters()
        corpus = Sequences.of(sequences, self.column)
        if not corpus.words:
            raise InputError("expected at least one sequence with a symbol in it, found none")
        self.symbols_ = corpus.kept(self.min_count)
        symbols, offsets = corpus.numbered(self.symbols_), corpus.offsets
        self.summary_ = {
            "sentences": len(offsets) - 1,
            "words": len(symbols),
            "symbols": len(self.symbols_),
            "unknown_symbol": UNKNOWN in self.symbols_,
        }
        self.observable_: Observable | None = None
        self.singular_values_, self.rank_ = np.zeros(0), 0
        self.log_likelihoods_, self.negative_mass_ = np.zeros(0), 0.0
        if self.learner == "em":
            frequencies = np.bincount(symbols, minlength=len(self.symbols_)) / len(symbols)
            start = random_start(self.states, frequencies, np.random.default_rng(self.seed))
        else:
            start = self._solve(symbols, offsets, embedding, jobs)
        if self.learner == "spectral":
            self._settle(start)
        else:
            keeper = None
            if checkpoint is not None:
                identity = fingerprint(__version__, repr(self), symbols, offsets, *start)
                keeper = Checkpoint(checkpoint, identity, resume=resume, every=checkpoint_every)
            self._maximise(start, symbols, offsets, keeper, progress)
        logs, flags = self.operators_.log_probability(symbols, offsets)
        self.summary_["log_likelihood"] = float(logs.sum())
        self.summary_["per_word"] = float(logs.sum() / len(symbols))
        self.summary_["flagged"] = int(flags.sum())
        return self

    def _check_parameters(self) -> None:
        chosen = (
            ("learner", LEARNERS),
            ("method", METHODS),
            ("column", COLUMNS),
        )
        for name, among in chosen:
            if getattr(self, name) not in among:
                found = f"expected one of {', '.join(among)}, found {getattr(self, name)!r}"
                raise InputError(f"{name}: {found}")
        for name, least in (("states", 1), ("min_count", 0), ("iterations", 0), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise InputError(
                    f"{name}: expected a whole number of at least {least}, found {value!r}"
                )
        for name in ("ridge", "smoothing", "tolerance"):
            value = getattr(self, name)
            if name == "smoothing" and value is None:
                continue
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise InputError(f"{name}: expected a number that is not negative, found {value!r}")

    def _solve(
        self,
        symbols: Int32,
        offsets: Int64,
        embedding: Mapping[Symbol, Sequence[float]] | None,
        jobs: int | None,
    ) -> HiddenMarkov:
        """Learn spectrally, and return the states found."""
        moments = count_windows(symbols, offsets, len(self.symbols_), jobs)
        found: Solution = solve(
            moments,
            symbols,
            offsets,
            self.states,
            method=self.method,
            ridge=self.ridge,
            smoothing=self.smoothing,
            rows=None if embedding is None else _rows(embedding, self.symbols_),
            seed=self.seed,
            preview=0 if self.learner == "spectral" else PREVIEW,
        )
        if self.learner == "spectral":
            self.observable_ = found.observable
            self.negative_mass_ = found.negative_mass
        self.singular_values_ = found.singular_values
        self.rank_ = supported(moments, found.singular_values)
        self.summary_ |= {
            "windows": moments.windows,
            "rank": self.rank_,
            "smoothing": found.smoothing,
            "negative_mass": self.negative_mass_,
        }
        return found.hidden

    def _maximise(
        self,
        start: HiddenMarkov,
        symbols: Int32,
        offsets: Int64,
        checkpoint: Checkpoint | None,
        progress: Progress | None,
    ) -> None:
        def step(parameters: Arrays) -> tuple[float, Arrays]:
            expected = expect(HiddenMarkov(**parameters), symbols, offsets)
            return expected.log_likelihood, expected.parameters()._asdict()

        found = maximise(
            step,
            start._asdict(),
            iterations=self.iterations,
            least=self.tolerance * len(symbols),
            checkpoint=checkpoint,
            progress=progress,
        )
        self.log_likelihoods_ = np.array(found.log_likelihoods)
        self.summary_["iterations"] = found.iterations
        stopped = "converged" if found.converged else "the iterations ran out"
        self.summary_["stopped"] = stopped
        self._settle(HiddenMarkov(**found.parameters))

    def _settle(self, hidden: HiddenMarkov) -> None:
        """Take up the states, and the operators that answer questions."""
        self.initial_, self.transitions_, self.emissions_ = map(np.ascontiguousarray, hidden)
        self.operators_: Operators = (
            hidden.operators() if self.observable_ is None else operators_of(self.observable_)
        )

    # ---- applying -----------------------------------------------------------------------------
    def log_likelihood(self, sequences: Any) -> LogLikelihood:
        """Return the log-probability of each sequence, and flags where it was not positive."""
        symbols, offsets = self._taken(sequences)
        return LogLikelihood(*self.operators_.log_probability(symbols, offsets))

    def score(self, sequences: Any) -> float:
        """Return the mean log-likelihood of a symbol."""
        symbols, offsets = self._taken(sequences)
        logs, _ = self.operators_.log_probability(symbols, offsets)
        return float(logs.sum() / len(symbols)) if len(symbols) else float("nan")

    def filter(self, sequences: Any) -> FloatArray:
        """Return the belief about the next state after each symbol: (symbols, states).

        Of a model learnt by EM these are probabilities of states; of a spectral one they are
        coordinates of the same belief in the basis of its operators.
        """
        symbols, offsets = self._taken(sequences)
        return self.operators_.beliefs(symbols, offsets)

    def next_symbol(self, sequences: Any) -> NextSymbol:
        """Return the probability of every symbol to follow each sequence."""
        symbols, offsets = self._taken(sequences)
        beliefs = np.tile(self.operators_.start, (len(offsets) - 1, 1))
        some = np.diff(offsets) > 0
        beliefs[some] = self.operators_.beliefs(symbols, offsets)[offsets[1:][some] - 1]
        predicted = self.operators_.predictions(beliefs)
        total = np.abs(predicted).sum(1)
        positive = np.maximum(predicted, 0.0)
        mass = positive.sum(1)
        even = np.full_like(positive, 1.0 / positive.shape[1])
        np.divide(positive, mass[:, None], out=even, where=mass[:, None] > 0)
        share = np.divide(total - mass, total, out=np.zeros_like(total), where=total > 0)
        return NextSymbol(even, list(self.symbols_), share)

    def predict(self, sequences: Any) -> Any:
        """Find the likeliest state of each symbol: a treebank tagged S1, S2, ..., or arrays."""
        symbols, offsets = self._taken(sequences)
        states = self._likeliest(symbols, offsets)
        if isinstance(sequences, Treebank):
            names = [f"S{number + 1}" for number in range(self.states)]
            return sequences.replace(tags=Column(states, names).strings())
        return np.split(states, offsets[1:-1])

    def _likeliest(self, symbols: Int32, offsets: Int64) -> Int32:
        """Find the likeliest state of each symbol, some sequences at a time to bound the memory."""
        emissions, transitions = np.log(self.emissions_.T), np.log(self.transitions_)
        first = np.log(self.initial_)
        states = np.empty(len(symbols), np.int32)
        cuts = np.searchsorted(offsets, np.arange(0, len(symbols), PORTION), side="right") - 1
        for a, b in zip(cuts, [*cuts[1:], len(offsets) - 1], strict=True):
            words = slice(int(offsets[a]), int(offsets[b]))
            own = offsets[a : b + 1] - offsets[a]
            scores = emissions[symbols[words]]
            scores[own[:-1][np.diff(own) > 0]] += first
            states[words] = Chain(scores, transitions, own).marginals().parts[0].argmax(1)
        return states

    def _taken(self, sequences: Any) -> tuple[Int32, Int64]:
        """Number sequences as in training."""
        self._check_fitted()
        corpus = Sequences.of(sequences, self.column)
        return corpus.numbered(self.symbols_), corpus.offsets

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt: the states, how they follow each other, and their symbols."""
        self._check_fitted()
        labels = [f"S{state + 1}" for state in range(self.states)]
        strongest: dict[str, list[list[Any]]] = {}
        for label, row in zip(labels, self.emissions_, strict=True):
            order = np.argsort(-row, kind="stable")[:top]
            strongest[label] = [
                [str(self.symbols_[x]), round(float(row[x]), 3)] for x in order.tolist()
            ]
        return {
            "labels": labels,
            "initial": self.initial_.round(3).tolist(),
            "transitions": self.transitions_.round(3).tolist(),
            "strongest": strongest,
            "singular_values": self.singular_values_[: self.states + 1].round(4).tolist(),
        }

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {
            "initial": self.initial_,
            "transitions": self.transitions_,
            "emissions": self.emissions_,
            "singular_values": self.singular_values_,
            "log_likelihoods": self.log_likelihoods_,
        }
        if self.observable_ is not None:
            given = self.observable_._replace(constant=None)._asdict().items()
            arrays |= {f"observable.{name}": part for name, part in given if part is not None}
        return {"symbols": self.symbols_}, arrays

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        self.symbols_ = list(vocabulary["symbols"])
        if not self.symbols_ or len(set(map(repr, self.symbols_))) < len(self.symbols_):
            raise ValueError("expected symbols, each once")
        if not all(isinstance(s, str | int) and not isinstance(s, bool) for s in self.symbols_):
            raise ValueError("expected symbols that are strings or whole numbers")
        k, n = self.states, len(self.symbols_)
        shapes = {"initial": (k,), "transitions": (k, k), "emissions": (k, n)}
        parts = {name: finite_array(arrays, name, shape) for name, shape in shapes.items()}
        if any((part <= 0).any() or (part > 1).any() for part in parts.values()):
            raise ValueError("expected probabilities")
        self.singular_values_ = _listed(arrays, "singular_values")
        self.log_likelihoods_ = _listed(arrays, "log_likelihoods")
        spectral = self.learner != "em"
        self.rank_ = int(self.summary_["rank"]) if spectral else 0
        self.negative_mass_ = float(self.summary_["negative_mass"]) if spectral else 0.0
        self.observable_ = None
        if self.learner == "spectral":
            few = k if self.method == "foster" else n
            self.observable_ = Observable(
                finite_array(arrays, "observable.start", (k,)),
                finite_array(arrays, "observable.end", (k,)),
                finite_array(arrays, "observable.tensor", (few, k, k)),
                finite_array(arrays, "observable.weights", (n, k))
                if self.method == "foster"
                else None,
            )
        self._settle(HiddenMarkov(**parts))


def _listed(arrays: Arrays, name: str) -> FloatArray:
    array = arrays[name]
    if array.ndim != 1:
        raise ValueError(f"{name} should be a list of numbers")
    return finite_array(arrays, name, array.shape)


def _rows(embedding: Mapping[Symbol, Sequence[float]], symbols: list[Symbol]) -> FloatArray:
    """Lay the vectors of an embedding out by symbol; a symbol without one gets zeros."""
    sizes = {len(vector) for vector in embedding.values()}
    if len(sizes) != 1:
        raise InputError("embedding: expected vectors of one length for at least one symbol")
    nothing = [0.0] * sizes.pop()
    return np.array([embedding.get(symbol, nothing) for symbol in symbols], np.float64)
