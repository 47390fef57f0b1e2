"""LatentTree: the words of a dependency tree have hidden states, learnt by spectral moments or EM.

Dhillon, Rodu, Collins, Foster and Ungar (2012). The model says how probable the words are given a
tree; with a prior over trees, counted from the same treebank, it parses by itself.

This file is longer than others because the model has many parameters, each of which is explained
and checked, and answers several questions; what it does is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.treebank import UNKNOWN, Treebank, check_strings
from syntagma.corpora.treebank import Column as TreebankColumn
from syntagma.errors import InputError
from syntagma.models.base import Estimator, portions
from syntagma.moments.passes import gather
from syntagma.moments.tree_contexts import tree_embedding
from syntagma.moments.tree_messages import score_trees, tree_messages
from syntagma.moments.tree_operators import TreeOperators, solve_matched, solve_paper
from syntagma.moments.tree_recovery import recover_states
from syntagma.moments.trees import TreeChunk, TreeMoments
from syntagma.structures.arcs import Arcs, arc_cells, block_starts
from syntagma.structures.base import IntArray
from syntagma.training.loop import Progress
from syntagma.training.storage import Arrays, finite_array
from syntagma.training.tree_inference import Sums, sum_trees
from syntagma.training.tree_material import whole_trees
from syntagma.training.tree_prior import DISTANCES, TreePrior, count_trees
from syntagma.training.tree_states import TreeStates, expect, learn_states, score_by_states

FloatArray = NDArray[np.float64]

CHUNK = 1 << 16  # words counted at once
CELLS = 4_000_000  # arc marginals held at once
FLOOR = -1e4  # a log-probability is at least this
TRIES = 10  # ways of recovering states from moments, of which the likeliest is kept
PRIOR = 1.0  # added to the counts of the tree prior
UNSEEN = "\x00"  # stands for every word that is not in the vocabulary


class Embedding(Protocol):
    """Word vectors: `Eigenwords`, or anything with words and a row for each."""

    @property
    def words_(self) -> Sequence[str]:
        """The words, one for each row."""

    @property
    def vectors_(self) -> NDArray[Any]:
        """Their vectors."""


class TreeScores(NamedTuple):
    """Log-probability of the words of each sentence given its tree.

    ``flagged`` where the estimate was not positive: there the log is that of its absolute value.
    """

    log_probability: FloatArray
    flagged: NDArray[np.bool_]


class LatentTree(Estimator):
    """Learn how probable the words of a tree are, with a hidden state on every word.

    Parameters
    ----------
    dim
        Dimensions of the embedding, and hidden states.
    moments
        "matched": all moments over the same triples of left child, head and right child, exact
        for every model; "paper": as published, exact if all words have one distribution of states.
    learner
        "spectral": one pass, no iteration; "em": from noise; "spectral+em": EM that begins with
        the states recovered from moments. Only "spectral" can give probabilities below 0.
    symbols
        What a word is: "words" (forms) or "tags".
    ridge
        Softens inverses of moments, in units of their sampling error (1 / sqrt(triples)).
    min_count
        Rarer words share a row of the vocabulary, unless an embedding knows them.
    iterations, tolerance, smoothing
        Of EM: how many steps at most, the gain per word that ends it, and what is added to
        expected counts.
    seed
        Of everything random.

    Attributes
    ----------
    words_, vectors_, operators_, prior_, singular_values_, rank_, log_likelihoods_, flagged_,
    summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import english
    >>> corpus = english(300, seed=1).treebank
    >>> model = LatentTree(dim=4, learner="em", symbols="tags").fit(corpus[:250])
    >>> bool(model.score(corpus[250:]) > -2.5)
    True
    """

    kind: ClassVar[str] = "latent-tree"

    def __init__(
        self,
        dim: int = 10,
        moments: str = "matched",
        learner: str = "spectral",
        symbols: str = "words",
        ridge: float = 1.0,
        min_count: int = 2,
        iterations: int = 50,
        tolerance: float = 1e-4,
        smoothing: float = 0.1,
        seed: int = 0,
    ) -> None:
        self.dim = dim
        self.moments = moments
        self.learner = learner
        self.symbols = symbols
        self.ridge = ridge
        self.min_count = min_count
        self.iterations = iterations
        self.tolerance = tolerance
        self.smoothing = smoothing
        self.seed = seed

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        treebank: Treebank,
        *,
        embedding: Embedding | None = None,
        jobs: int | None = None,
        progress: Progress = lambda done, total, value: None,
    ) -> Self:
        """Learn from sentences whose words all have heads; others are left out, and counted.

        Parameters
        ----------
        treebank
            The training sentences.
        embedding
            Word vectors, of which the first ``dim`` dimensions are used; without any, words are
            embedded by their neighbours in the trees.
        jobs
            Workers that count moments, as joblib understands them.
        progress
            Called with the iteration of EM, how many there are and the log-likelihood per word.
        """
        self._check_parameters()
        whole = whole_trees(treebank)
        self.tag_column_ = treebank.tag_column
        self.tags_ = sorted(set(whole.tags.used().names) - {UNKNOWN})
        self.words_, rows = self._vocabulary(whole, embedding)
        self.summary_: dict[str, Any] = {
            "column": self.tag_column_,
            "sentences": len(whole),
            "words": whole.words,
            "skipped": len(treebank) - len(whole),
            "vocabulary": len(self.words_),
            "coverage": 100.0 * float((rows > 0).mean()),
        }
        chunk = TreeChunk(rows, whole.heads, whole.offsets)
        self.prior_ = count_trees(
            self._tag_rows(whole), whole.heads, whole.offsets, len(self.tags_) + 1, PRIOR
        )
        self.log_likelihoods_: list[float] = []
        self.singular_values_: dict[str, FloatArray] = {}
        if self.learner != "em":
            self._fit_moments(chunk, self._embed(chunk, embedding), jobs)
        if self.learner != "spectral":
            self._fit_states(chunk, progress)
        scores = self._scores(rows, whole.heads[None], whole.offsets)
        self.flagged_ = float((scores[1] <= 0.0).mean())
        self.summary_ |= {
            "flagged": 100.0 * self.flagged_,
            "log_likelihood": float(scores[0].sum() / whole.words),
            "iterations": len(self.log_likelihoods_),
        }
        return self

    def _vocabulary(
        self, treebank: Treebank, embedding: Embedding | None
    ) -> tuple[list[str], IntArray]:
        """Choose the vocabulary, row 0 for all other words; return the row of every word too."""
        ids, names = self._column(treebank).used()
        if embedding is not None:
            words = [word for word in embedding.words_ if word != UNSEEN]
        else:
            counts = np.bincount(ids, minlength=len(names)).tolist()
            least = self.min_count if self.symbols == "words" else 1
            words = sorted(name for name, n in zip(names, counts, strict=True) if n >= least)
        words = [UNSEEN, *words]
        return words, _rows(ids, names, words)

    def _column(self, treebank: Treebank) -> TreebankColumn:
        return treebank.forms if self.symbols == "words" else treebank.tags

    def _tag_rows(self, treebank: Treebank) -> IntArray:
        return _rows(*treebank.tags.used(), [UNSEEN, *self.tags_])

    def _embed(self, chunk: TreeChunk, embedding: Embedding | None) -> FloatArray:
        if embedding is None:
            return tree_embedding(chunk, len(self.words_), self.dim, self.seed)
        vectors = np.asarray(embedding.vectors_, float)
        if vectors.ndim != 2 or vectors.shape[1] < self.dim:
            raise InputError(
                f"embedding: expected vectors of at least {self.dim} numbers, "
                f"found {vectors.shape[-1]}: ask for fewer dimensions (dim)"
            )
        if not np.isfinite(vectors).all():
            raise InputError("embedding: expected finite numbers, found NaN or infinity")
        known = float((chunk.rows > 0).mean())
        if known < 0.5:
            raise InputError(
                f"embedding: it has {100 * known:.0f}% of the words of the treebank: "
                "make one from text of the same language and spelling"
            )
        unknown = getattr(embedding, "unknown_", vectors.mean(0))
        return np.vstack([unknown, vectors])[:, : self.dim]

    def _fit_moments(self, chunk: TreeChunk, embedding: FloatArray, jobs: int | None) -> None:
        moments = gather(TreeMoments.of(embedding), chunks_of(chunk), jobs).whitened()
        solve = solve_matched if self.moments == "matched" else solve_paper
        ridge = self.ridge / np.sqrt(max(moments.triple_count, 1.0))
        operators, inverses = solve(moments, ridge=ridge)
        space = moments.embedding
        self.vectors_ = np.ascontiguousarray(space @ np.linalg.inv(space.T @ space))
        self.operators_ = operators
        self.singular_values_ = {name: found.singular_values for name, found in inverses.items()}
        self.rank_ = self.dim
        self.summary_ |= {
            "triples": int(moments.triple_count),
            "condition": {name: found.condition for name, found in inverses.items()},
        }

    def _fit_states(self, chunk: TreeChunk, progress: Progress) -> None:
        counts = np.bincount(chunk.rows, minlength=len(self.words_)).astype(float)
        if self.learner == "em":
            start = TreeStates.random(counts, self.dim, self.seed)
        else:
            rng = np.random.default_rng(self.seed)
            tries = [
                TreeStates(*recover_states(self.operators_, self.vectors_, rng))
                for _ in range(TRIES)
            ]
            start = max(tries, key=lambda states: float(expect(chunk, states)[0].sum()))
        states, self.log_likelihoods_ = learn_states(
            chunk, start, self.iterations, self.tolerance, self.smoothing, progress
        )
        k = self.dim
        joint = np.zeros((k, k, k))
        joint[np.arange(k), np.arange(k), np.arange(k)] = 1.0
        arcs = np.ascontiguousarray(states.transitions)
        self.operators_ = TreeOperators(states.start, np.ones(k), arcs, joint)
        self.vectors_ = states.emissions
        self.rank_ = k

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("moments", ("matched", "paper")),
            ("learner", ("spectral", "em", "spectral+em")),
            ("symbols", ("words", "tags")),
        ):
            if getattr(self, name) not in allowed:
                wanted = ", ".join(allowed)
                raise InputError(f"{name}: expected one of {wanted}, found {getattr(self, name)!r}")
        for name, least, most in (
            ("dim", 1, 1000),
            ("min_count", 1, 10**9),
            ("iterations", 1, 10**6),
            ("seed", 0, 2**32 - 1),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"{name}: expected {least} to {most}, found {value!r}")
        for name in ("ridge", "tolerance", "smoothing"):
            value = getattr(self, name)
            if not isinstance(value, float | int) or not 0 <= value < float("inf"):
                raise InputError(f"{name}: expected 0 or more, found {value!r}")

    # ---- applying -----------------------------------------------------------------------------
    def log_probability(self, treebank: Treebank) -> TreeScores:
        """Score the words of every sentence given its tree; every word needs a head."""
        self._check_fitted()
        if (treebank.heads < 0).any():
            raise InputError("expected a head for every word: the model scores words given a tree")
        logs, signs = self._scores(self._rows_of(treebank), treebank.heads[None], treebank.offsets)
        return TreeScores(logs[:, 0], signs[:, 0] <= 0.0)

    def score_trees(self, treebank: Treebank, trees: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score several trees of each sentence, as `DependencyParser.kbest` lists them.

        Returns log |p| and the sign of p, a row a sentence and a column a rank; the sign is 0
        and the log -inf where there is no such tree.
        """
        self._check_fitted()
        return self._scores(self._rows_of(treebank), trees, treebank.offsets, floor=False)

    def score(self, treebank: Treebank) -> float:
        """Return the mean log-probability of a word, given the trees."""
        return float(self.log_probability(treebank).log_probability.sum() / treebank.words)

    def messages(self, treebank: Treebank) -> tuple[FloatArray, FloatArray]:
        """Return the message of every word to its head, and the logarithm of its scale."""
        self._check_fitted()
        rows = self._rows_of(treebank)
        return tree_messages(rows, treebank.heads, treebank.offsets, self.vectors_, self.operators_)

    def predict(self, treebank: Treebank) -> Treebank:
        """Parse every sentence: the projective tree with the most arcs expected right."""
        return treebank.replace(heads=self.decide(treebank)[0])

    def decide(self, treebank: Treebank) -> tuple[IntArray, FloatArray]:
        """Return the head of every word, and how probable it is under all projective trees."""
        self._check_tags(treebank)
        heads, probability = np.empty(treebank.words, np.int32), np.empty(treebank.words)
        for words, sums in self._sums(treebank):
            part = treebank.offsets[words[0] : words[1] + 1]
            offsets = part - part[0]
            shares = np.clip(sums.marginals, 0.0, 1.0)  # estimates can leave the range
            found = Arcs(shares, offsets, True).argmax().outcome
            heads[part[0] : part[-1]] = found
            probability[part[0] : part[-1]] = shares[arc_cells(found, offsets)]
        return heads, probability

    def _check_tags(self, treebank: Treebank) -> None:
        self._check_fitted()
        if treebank.words and self.tags_ and not self._with_column(treebank).tags.known:
            raise InputError(f"expected tags in the {self.tag_column_} column, found none")

    def log_partition(self, treebank: Treebank) -> TreeScores:
        """Sum over the projective trees of every sentence: log-probability of trees and words."""
        found = [sums for _, sums in self._sums(treebank)]
        logs = np.concatenate([np.empty(0), *(sums.log_probability for sums in found)])
        signs = np.concatenate([np.empty(0), *(sums.sign for sums in found)])
        return TreeScores(np.maximum(logs, FLOOR), signs <= 0.0)

    def _sums(self, treebank: Treebank) -> Iterator[tuple[tuple[int, int], Sums]]:
        self._check_fitted()
        treebank = self._with_column(treebank)
        rows, tags = self._rows_of(treebank), self._tag_rows(treebank)
        for first, last in portions(block_starts(treebank.offsets, 2), CELLS):
            offsets = treebank.offsets[first : last + 1]
            words = slice(offsets[0], offsets[-1])
            sums = sum_trees(
                rows[words],
                tags[words],
                offsets - offsets[0],
                self.vectors_,
                self.operators_,
                self.prior_,
            )
            yield (first, last), sums

    def _with_column(self, treebank: Treebank) -> Treebank:
        return replace(treebank, tag_column=self.tag_column_)

    def _rows_of(self, treebank: Treebank) -> IntArray:
        return _rows(*self._column(self._with_column(treebank)).used(), self.words_)

    def _scores(
        self, rows: IntArray, trees: IntArray, offsets: NDArray[np.int64], floor: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        trees = np.ascontiguousarray(trees, np.int32)
        if self.learner == "spectral":
            logs, signs = score_trees(rows, trees, offsets, self.vectors_, self.operators_)
        else:
            states = TreeStates(self.operators_.start, self.operators_.arcs, self.vectors_)
            logs, signs = score_by_states(rows, trees, offsets, states)
        return (np.maximum(logs, FLOOR) if floor else logs), signs

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt: how far the moments carry, and the words that tell states apart.

        States are there after EM only; ``transitions`` has a matrix for children to the left and
        one for those to the right, a row for each state of the child.
        """
        self._check_fitted()
        told: dict[str, Any] = {
            "singular_values": {
                name: values.round(6).tolist() for name, values in self.singular_values_.items()
            },
            "log_likelihoods": [round(value, 6) for value in self.log_likelihoods_],
            "flagged": self.flagged_,
        }
        if self.learner == "spectral":
            return told
        usual = self.vectors_.mean(1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            evidence = self.vectors_ * np.log(self.vectors_ / usual)
        best = np.argsort(-np.nan_to_num(evidence[1:]), axis=0, kind="stable")[:top].T
        return told | {
            "states": [[self.words_[row + 1] for row in rows] for rows in best.tolist()],
            "start": self.operators_.start.round(6).tolist(),
            "transitions": self.operators_.arcs.round(6).tolist(),
        }

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"vectors": self.vectors_}
        arrays |= {f"operators.{k}": v for k, v in self.operators_._asdict().items()}
        arrays |= {f"prior.{k}": v for k, v in self.prior_._asdict().items()}
        arrays |= {f"singular.{k}": v for k, v in self.singular_values_.items()}
        vocabulary = {
            "words": self.words_,
            "tags": self.tags_,
            "column": self.tag_column_,
            "log_likelihoods": self.log_likelihoods_,
            "flagged": self.flagged_,
            "singular": sorted(self.singular_values_),
        }
        return vocabulary, arrays

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        self.words_ = _distinct("words", vocabulary["words"])
        self.tags_ = _distinct("tags", vocabulary["tags"])
        self.tag_column_ = str(vocabulary["column"])
        if self.tag_column_ not in ("upos", "xpos") or self.words_[:1] != [UNSEEN]:
            raise ValueError("expected a tag column and a vocabulary")
        k, tags = self.dim, len(self.tags_) + 1
        shapes = {"start": (k,), "stop": (k,), "arcs": (2, k, k), "joint": (k, k, k)}
        self.operators_ = TreeOperators(
            *(finite_array(arrays, f"operators.{n}", shapes[n]) for n in TreeOperators._fields)
        )
        shapes = {"roots": (tags,), "ends": (tags, 2, 2), "children": (tags, 2, tags, DISTANCES)}
        self.prior_ = TreePrior(
            *(finite_array(arrays, f"prior.{n}", shapes[n]) for n in TreePrior._fields)
        )
        if not all((part >= 0.0).all() and (part <= 1.0).all() for part in self.prior_):
            raise ValueError("the prior should hold probabilities")
        self.vectors_ = finite_array(arrays, "vectors", (len(self.words_), k))
        self.singular_values_ = {
            str(name): finite_array(arrays, f"singular.{name}", (k,))
            for name in vocabulary["singular"]
        }
        self.log_likelihoods_ = [float(value) for value in vocabulary["log_likelihoods"]]
        self.flagged_ = float(vocabulary["flagged"])
        self.rank_ = k


def _distinct(what: str, names: Any) -> list[str]:
    found = [str(name) for name in names]
    if len(set(found)) < len(found):
        raise ValueError(f"expected {what}, each once")
    check_strings(what, TreebankColumn.of([name for name in found if name != UNSEEN]))
    return found


def _rows(ids: IntArray, names: list[str], words: list[str]) -> IntArray:
    """Find the row of every word of a column; 0 for those that are not in the vocabulary."""
    index = {word: row for row, word in enumerate(words)}
    rows = np.array([index.get(name, 0) for name in names], np.int32)
    return rows[ids] if len(rows) else np.zeros(0, np.int32)


def chunks_of(chunk: TreeChunk) -> Iterator[TreeChunk]:
    """Cut trees into chunks of about so many words."""
    for first, last in portions(chunk.offsets, CHUNK):
        words = slice(chunk.offsets[first], chunk.offsets[last])
        offsets = chunk.offsets[first : last + 1] - chunk.offsets[first]
        yield TreeChunk(chunk.rows[words], chunk.heads[words], offsets)
