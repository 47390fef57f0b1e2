"""Reranker: the best of a parser's n best trees, by features of whole trees.

The lists that it learns from come from parsers that have not seen the sentences, and so do the
probabilities of latent trees: otherwise both would look better than they will be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError, ModelFileError
from syntagma.models.base import Estimator
from syntagma.models.latent_tree import Embedding, LatentTree
from syntagma.models.parser import DependencyParser
from syntagma.models.tagger import Tagger
from syntagma.structures.base import IntArray
from syntagma.training.arc_features import hashes, sentence_keys, word_codes
from syntagma.training.checkpoints import Checkpoint, fingerprint
from syntagma.training.reranking import Choice, Lists, learn_to_choose, rerank
from syntagma.training.storage import Arrays, finite_array
from syntagma.training.tree_material import whole_trees

FloatArray = NDArray[np.float64]

FLOOR = -1e3  # log-probability of a tree below the best ranked one's that is still told apart
Made = Callable[[str, int, int], None]


class Fold(NamedTuple):
    """Sentences of one fold with the n best trees of a parser that has not seen them."""

    sentences: NDArray[np.int64]
    trees: IntArray
    scores: FloatArray


class Reranker(Estimator):
    """Learn to choose among the n best trees of a dependency parser.

    Parameters
    ----------
    parser
        The base parser's parameters; it is not fitted itself. None: `DependencyParser()`.
    latent
        The same of the latent tree model whose log-probability is a feature; None: without it.
    n
        Trees in a list.
    folds
        Parts of the training sentences that are parsed by what the other parts teach.
    learner
        "log-linear" (maximum likelihood of the best trees) or "perceptron" (averaged).
    epochs, rate
        Times through the lists, and the first step of the log-linear learner.
    bits
        The table of hashed features holds 2 to this power weights.
    seed
        Of the order in which lists are visited.

    Attributes
    ----------
    parser_, latent_, reals_, weights_, summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import english
    >>> corpus = english(150, seed=1).treebank
    >>> base = DependencyParser(epochs=3, bits=16)
    >>> model = Reranker(base, LatentTree(dim=4, learner="em"), n=10).fit(corpus[:120])
    >>> model.score(corpus[120:]) > 70
    True
    """

    kind: ClassVar[str] = "reranker"

    def __init__(
        self,
        parser: DependencyParser | None = None,
        latent: LatentTree | None = None,
        n: int = 50,
        folds: int = 3,
        learner: str = "log-linear",
        epochs: int = 10,
        rate: float = 0.02,
        bits: int = 20,
        seed: int = 0,
    ) -> None:
        self.parser = parser
        self.latent = latent
        self.n = n
        self.folds = folds
        self.learner = learner
        self.epochs = epochs
        self.rate = rate
        self.bits = bits
        self.seed = seed

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        treebank: Treebank,
        *,
        embedding: Embedding | None = None,
        tagger: Tagger | None = None,
        checkpoint: str | None = None,
        resume: bool = False,
        made: Made = lambda what, done, total: None,
    ) -> Self:
        """Learn a parser, a latent tree model and how to choose.

        Parameters
        ----------
        treebank
            The training sentences; those with a word without head are left out.
        embedding
            Word vectors for the latent tree model.
        tagger
            A fitted tagger to keep with the parser, see `DependencyParser.fit`.
        checkpoint, resume
            A file to keep finished folds in, and whether to take them up.
        made
            Told what has been made, how many of them and of how many.
        """
        self._check_parameters()
        treebank = in_own_order(treebank)
        if len(treebank) < self.folds:
            raise InputError(
                f"expected at least {self.folds} sentences with heads, found {len(treebank)}"
            )
        base = self.parser or DependencyParser()
        kept = None
        if checkpoint is not None:
            mark = fingerprint(repr(self), *_content(treebank), repr(tagger))
            kept = Checkpoint(checkpoint, mark, resume=resume, every=0.0)
        lists = list(list_folds(treebank, base, self.folds, self.n, tagger, kept, made))
        dense = [self._dense(treebank, fold, embedding) for fold in lists]
        training = joined_lists(treebank, lists, dense)
        choice = learn_to_choose(
            *training,
            learner=self.learner,
            epochs=self.epochs,
            rate=self.rate,
            size=2**self.bits,
            seed=self.seed,
        )
        self.reals_, self.weights_ = choice
        self.parser_ = DependencyParser(**base.get_params()).fit(treebank, tagger=tagger)
        made("parsers", self.folds + 1, self.folds + 1)
        self.latent_ = None
        if self.latent is not None:
            self.latent_ = LatentTree(**self.latent.get_params()).fit(treebank, embedding=embedding)
        right = training[1]
        self.summary_: dict[str, Any] = {
            "sentences": len(treebank),
            "words": treebank.words,
            "trees": int((training[0].trees[:, treebank.offsets[:-1]] >= 0).sum()),
            "uas_of_lists": 100.0 * float(right[:, 0].sum()) / treebank.words,
            "oracle": 100.0 * float(right.max(1).sum()) / treebank.words,
            "parser": self.parser_.summary_,
            "latent": None if self.latent_ is None else self.latent_.summary_,
        }
        return self

    def _dense(self, treebank: Treebank, fold: Fold, embedding: Embedding | None) -> FloatArray:
        """Real features of the trees of a fold: latent trees learn from the other folds."""
        features = [fold.scores]
        if self.latent is not None:
            others = np.setdiff1d(np.arange(len(treebank)), fold.sentences)
            latent = LatentTree(**self.latent.get_params())
            latent.fit(treebank.take(others), embedding=embedding)
            features.append(latent.score_trees(treebank.take(fold.sentences), fold.trees)[0])
        return real_features(features)

    def _check_parameters(self) -> None:
        if self.learner not in ("log-linear", "perceptron"):
            raise InputError(
                f"learner: expected one of log-linear, perceptron, found {self.learner!r}"
            )
        for name, kind in (("parser", DependencyParser), ("latent", LatentTree)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name}: expected a {kind.__name__}, found {value!r}")
            if value is not None:
                value._check_parameters()
        for name, least, most in (
            ("n", 2, 1000),
            ("folds", 2, 1000),
            ("epochs", 1, 10_000),
            ("bits", 8, 28),
            ("seed", 0, 2**63),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"{name}: expected {least} to {most}, found {value!r}")
        if not isinstance(self.rate, float | int) or not 0 < self.rate < float("inf"):
            raise InputError(f"rate: expected above 0, found {self.rate!r}")

    # ---- applying -----------------------------------------------------------------------------
    def predict(self, treebank: Treebank) -> Treebank:
        """Parse every sentence: the treebank again, with its heads and labels replaced."""
        self._check_fitted()
        tagged = self.parser_.tagged(treebank)
        return self.parser_.with_heads(tagged, self._heads(tagged))

    def score(self, treebank: Treebank) -> float:
        """Return the percentage of words that get the right head (UAS, punctuation included)."""
        known = treebank.heads >= 0
        return 100.0 * float((self.predict(treebank).heads == treebank.heads)[known].mean())

    def _heads(self, tagged: Treebank) -> IntArray:
        parser = self.parser_.without_tagger()
        ranked = parser.kbest(tagged, self.n)
        features = [ranked.score]
        if self.latent_ is not None:
            features.append(self.latent_.score_trees(tagged, ranked.outcome)[0])
        return choose(
            Lists(ranked.outcome, real_features(features), tag_codes(tagged), tagged.offsets),
            Choice(self.reals_, self.weights_),
        )

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say how much the parser's score and the latent tree's log-probability weigh."""
        self._check_fitted()
        names = ["parser's score", "log-probability of latent tree"]
        return {
            "reals": dict(zip(names, self.reals_.round(6).tolist(), strict=False)),
            "used_weights": int(np.count_nonzero(self.weights_)),
            "parser": self.parser_.describe(top),
            "latent": None if self.latent_ is None else self.latent_.describe(top),
        }

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        places = np.flatnonzero(self.weights_)
        arrays: Arrays = {
            "reals": self.reals_,
            "places": places.astype(np.uint32),
            "values": self.weights_[places],
        }
        vocabulary: dict[str, Any] = {}
        for name, model in (("parser", self.parser_), ("latent", self.latent_)):
            vocabulary[name] = None
            if model is not None:
                words, inner = model._pack()
                vocabulary[name] = {"summary": model.summary_, "vocabulary": words}
                vocabulary[name]["parameters"] = model.get_params()
                arrays |= {f"{name}.{key}": array for key, array in inner.items()}
        return vocabulary, arrays

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        self.reals_ = finite_array(arrays, "reals", (1 if vocabulary["latent"] is None else 2,))
        places = arrays["places"]
        values = finite_array(arrays, "values", places.shape)
        if places.dtype != np.uint32 or places.ndim != 1 or (places >= 2**self.bits).any():
            raise ValueError("places should be those of weights")
        self.weights_ = np.zeros(2**self.bits)
        self.weights_[places] = values
        self.parser_ = _inner(DependencyParser, "parser", vocabulary, arrays)
        self.latent_ = None
        if vocabulary["latent"] is not None:
            self.latent_ = _inner(LatentTree, "latent", vocabulary, arrays)


def _inner(kind: Any, name: str, vocabulary: dict[str, Any], arrays: Arrays) -> Any:
    kept = vocabulary[name]
    inner = {k.removeprefix(f"{name}."): v for k, v in arrays.items() if k.startswith(f"{name}.")}
    return kind._restored(kept["parameters"], kept["summary"], kept["vocabulary"], inner)


def list_folds(
    treebank: Treebank,
    parser: DependencyParser,
    folds: int,
    n: int,
    tagger: Tagger | None = None,
    checkpoint: Checkpoint | None = None,
    made: Made = lambda what, done, total: None,
) -> Iterator[Fold]:
    """List the n best trees of every sentence by parsers that learnt from the other folds.

    Finished folds are kept in the checkpoint. With a tagger the parsers look only at what it could
    supply, as the final one will; the tags are those of the treebank.
    """
    turn = np.arange(len(treebank)) % folds
    kept: Arrays = (checkpoint.restore() if checkpoint else None) or {}
    for fold in range(folds):
        held_out = np.flatnonzero(turn == fold)
        part = treebank.take(held_out)
        if f"trees.{fold}" not in kept:
            learnt = DependencyParser(**parser.get_params())
            learnt.fit(treebank.take(np.flatnonzero(turn != fold)), tagger=tagger)
            ranked = learnt.without_tagger().kbest(part, n)
            kept |= {f"trees.{fold}": ranked.outcome, f"scores.{fold}": ranked.score}
            if checkpoint:
                checkpoint.save(kept)
        trees, scores = kept[f"trees.{fold}"], kept[f"scores.{fold}"]
        if trees.shape != (n, part.words) or scores.shape != (len(part), n):
            path = checkpoint.path if checkpoint else None
            raise ModelFileError("the checkpoint is damaged: lists of another size", path=path)
        made("parsers", fold + 1, folds + 1)
        yield Fold(held_out, trees, scores)


def real_features(columns: list[FloatArray]) -> FloatArray:
    """Put real features of trees side by side, each less that of the best ranked tree."""
    shown = [np.where(np.isfinite(column), column, FLOOR) for column in columns]
    exists = np.isfinite(columns[0])
    return np.stack(
        [np.where(exists, np.maximum(part - part[:, :1], FLOOR), 0.0) for part in shown], axis=2
    )


def joined_lists(
    treebank: Treebank, folds: list[Fold], dense: list[FloatArray]
) -> tuple[Lists, IntArray]:
    """Put the lists of all folds in the treebank's order, and count each tree's right heads."""
    n, features = dense[0].shape[1:]
    trees = np.full((n, treebank.words), -1, np.int32)
    whole = np.zeros((len(treebank), n, features))
    for fold, part in zip(folds, dense, strict=True):
        whole[fold.sentences] = part
        places = [np.arange(*treebank.offsets[s : s + 2]) for s in fold.sentences.tolist()]
        trees[:, np.concatenate(places)] = fold.trees
    right = np.add.reduceat(trees == treebank.heads, treebank.offsets[:-1], axis=1).T
    lists = Lists(trees, whole, tag_codes(treebank), treebank.offsets)
    return lists, np.ascontiguousarray(right, np.int32)


def choose(lists: Lists, choice: Choice) -> IntArray:
    """Return the heads of the best tree of every list."""
    sentences = len(lists.offsets) - 1
    chosen = np.empty(sentences, np.int32)
    rerank(*lists, *choice, chosen, np.empty((sentences, len(lists.trees))))
    sizes = np.diff(lists.offsets)
    heads: IntArray = lists.trees[np.repeat(chosen, sizes), np.arange(lists.offsets[-1])]
    return heads


def tag_codes(treebank: Treebank) -> NDArray[np.uint64]:
    """Hash the tag of every word."""
    ids, names = treebank.tags.used()
    return hashes(names, "tag")[ids] if len(ids) else np.zeros(0, np.uint64)


def in_own_order(treebank: Treebank) -> Treebank:
    """Keep the sentences whose words all have heads, in an order that is their own."""
    whole = whole_trees(treebank)
    keys = sentence_keys(
        word_codes(whole), whole.heads, np.zeros(whole.words, np.int32), whole.offsets
    )
    return whole.take(np.argsort(keys, kind="stable"))


def _content(treebank: Treebank) -> tuple[NDArray[Any], ...]:
    return word_codes(treebank), treebank.heads, treebank.offsets
