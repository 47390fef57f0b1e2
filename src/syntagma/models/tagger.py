"""Tagger: a conditional random field over the tags of a sentence.

p(tags | words) is log-linear in attributes of the words (feature templates, see
`syntagma.training.features`) and in pairs, or triples, of neighbouring tags. It is trained by
penalised maximum likelihood; words without a tag are summed out, so partly annotated text counts.

This file is longer than others because the model has many parameters, each of which is explained
and checked; what it does is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from syntagma import __version__
from syntagma.corpora.treebank import Column, Treebank, check_strings, check_tag_column
from syntagma.errors import InputError
from syntagma.models.base import Estimator, portions
from syntagma.models.eigenwords import Eigenwords
from syntagma.structures.base import KBest
from syntagma.structures.chain import Chain
from syntagma.training.checkpoints import Checkpoint, fingerprint
from syntagma.training.crf import ChainObjective, Weights, normalised, parameter_count
from syntagma.training.emissions import Votes, choose_votes, sources, word_scores
from syntagma.training.features import STANDARD, FeatureMap, with_classes
from syntagma.training.lbfgs import dot
from syntagma.training.loop import Progress, Training, train
from syntagma.training.possible_tags import allowed_tags, checked_lists, tags_seen
from syntagma.training.storage import Arrays, finite_array

FloatArray = NDArray[np.float64]
UNKNOWN = "_"
PORTION = 200_000  # words scored at a time


class TagDistribution(NamedTuple):
    """Probability of every tag at every word, (words, tags), and the names of the tags."""

    probabilities: FloatArray
    labels: list[str]


class Tagger(Estimator):
    """Learn to tag from sentences with tags on all or some of their words.

    Parameters
    ----------
    order
        1: the tag depends on the tag before; 2: on the two tags before.
    l2
        Strength of the penalty on weights: ``l2 / 2`` times their sum of squares, each divided by
        the scale of its template.
    features
        Names of feature templates; the default is `syntagma.training.features.STANDARD`.
    min_count
        Attributes seen less often than this in training are dropped.
    unseen_pairs
        Attributes seen at least this often also get weights for tags they were never seen with
        (0: none do, 1: all do).
    iterations, tolerance
        Training stops after so many steps, or when the objective falls by less than this
        (relatively) over ten steps.
    decode
        "posterior" picks the likeliest tag of each word, "viterbi" the likeliest sequence.
    restrict
        Words seen at least this often in training may only get tags they were seen with
        (0: no restriction).

    Attributes
    ----------
    labels_, penalised_values_, summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import english
    >>> corpus = english(120, seed=1).treebank
    >>> tagger = Tagger(iterations=30).fit(corpus[:100])
    >>> tagger.score(corpus[100:]) > 80
    True
    """

    kind: ClassVar[str] = "tagger"

    def __init__(
        self,
        order: int = 1,
        l2: float = 0.5,
        features: Sequence[str] = STANDARD,
        min_count: int = 1,
        unseen_pairs: int = 10,
        iterations: int = 150,
        tolerance: float = 1e-4,
        decode: str = "posterior",
        restrict: int = 0,
    ) -> None:
        self.order = order
        self.l2 = l2
        self.features = features
        self.min_count = min_count
        self.unseen_pairs = unseen_pairs
        self.iterations = iterations
        self.tolerance = tolerance
        self.decode = decode
        self.restrict = restrict

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        treebank: Treebank,
        *,
        dictionary: Mapping[str, Sequence[str]] | None = None,
        embedding: Eigenwords | None = None,
        dev: Treebank | None = None,
        dev_every: int = 10,
        start_from: Tagger | None = None,
        checkpoint: str | None = None,
        checkpoint_every: float = 10.0,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the tags of a treebank; words tagged ``_`` are summed out.

        Parameters
        ----------
        treebank
            The training sentences; `treebank.tags` are learnt.
        dictionary
            Possible tags of words: where the tag of such a word is unknown, in training or later,
            only these are considered.
        embedding
            Word vectors, learnt from any text: the classes of similar words that they make are
            features too, and are kept in the model.
        dev
            Scored every `dev_every` iterations into ``summary_["learning_curve"]``; it does not
            influence the result.
        start_from
            A fitted tagger whose weights are the start wherever attribute and tag are the same
            (it may be this one: a warm start).
        checkpoint, checkpoint_every, resume
            A file to keep the state of training in, how many seconds apart, and whether to take
            it up.
        progress
            Called with iteration, number of iterations and objective after each step.
        """
        self._check_parameters()
        before = None if start_from is None else copy(start_from)
        gold = self._encode_tags(treebank, dictionary or {})
        forms, strings = treebank.forms.used()
        self.forms_ = list(strings)
        classes = None if embedding is None else embedding.classes()
        features = with_classes(self.features, classes)
        self.features_ = FeatureMap.fit(
            features, forms, strings, treebank.offsets, self.min_count, classes
        )
        attributes = self.features_.transform(forms, strings, treebank.offsets)
        allowed = allowed_tags(strings, self.labels_, self.dictionary_)[forms]
        annotated = gold >= 0
        allowed[annotated] = False
        allowed[annotated, gold[annotated]] = True
        self.restricted_ = tags_seen(forms, strings, gold, self.labels_, self.restrict)
        size = self.features_.size
        self.votes_ = choose_votes(
            attributes, sources(attributes, size), allowed, size, self.unseen_pairs
        )
        objective = ChainObjective(
            attributes, self.votes_, size, allowed, treebank.offsets, self.order
        )
        objective.penalty = self._penalty(objective.size)
        start = self._start(before, objective)
        keeper = None
        if checkpoint is not None:
            identity = fingerprint(
                __version__,
                repr(self),
                "\n".join(strings),
                forms,
                gold,
                treebank.offsets,
                repr(sorted(self.dictionary_.items())),
                start,
                str(dev_every if dev else 0),
                *([] if classes is None else classes.told()),
            )
            keeper = Checkpoint(checkpoint, identity, resume=resume, every=checkpoint_every)

        self.summary_ = {"column": treebank.tag_column}

        def accuracy(weights: FloatArray) -> float:
            self.weights_ = weights
            return self.score(dev) if dev is not None else 0.0

        training = train(
            objective,
            start,
            iterations=self.iterations,
            tolerance=self.tolerance,
            monitor=None if dev is None else accuracy,
            monitor_every=dev_every,
            checkpoint=keeper,
            progress=progress,
        )
        self.weights_ = training.state.x
        self.penalised_values_ = training.state.values
        self.summary_ = self._summarise(treebank, gold, training)
        return self

    def _check_parameters(self) -> None:
        if self.order not in (1, 2):
            raise InputError(f"order: expected 1 or 2, found {self.order!r}")
        if self.decode not in ("posterior", "viterbi"):
            raise InputError(f"decode: expected posterior or viterbi, found {self.decode!r}")
        for name in ("l2", "tolerance", "iterations", "min_count", "unseen_pairs", "restrict"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise InputError(f"{name}: expected a number that is not negative, found {value!r}")

    def _encode_tags(
        self, treebank: Treebank, dictionary: Mapping[str, Sequence[str]]
    ) -> NDArray[np.int32]:
        """Number the tags, and return that of every word; -1 where it is unknown."""
        ids, names = treebank.tags
        used = {names[i] for i in np.unique(ids)} - {UNKNOWN}
        if not used:
            raise InputError(f"expected tags in the {treebank.tag_column} column, found none")
        self.dictionary_ = {word: sorted(set(may)) for word, may in dictionary.items()}
        self.labels_ = sorted(used.union(*self.dictionary_.values()))
        number = {label: i for i, label in enumerate(self.labels_)}
        return np.array([number.get(name, -1) for name in names], np.int32)[ids]

    def _penalty(self, size: int) -> FloatArray:
        """Cost of half the square of each weight: less where a template counts more."""
        penalty = np.full(size, float(self.l2))
        votes = np.diff(self.votes_.starts)
        penalty[: self.votes_.size] /= np.repeat(self.features_.scales(), votes) ** 2
        return penalty

    def _start(self, before: Tagger | None, objective: ChainObjective) -> FloatArray:
        """Start from zero, or from another tagger's weights where attribute and tag agree."""
        start = np.zeros(objective.size)
        if before is None:
            return start
        number = {label: i for i, label in enumerate(before.labels_)}
        label = np.array([number.get(name, -1) for name in self.labels_])
        mine = Weights.of(start, self.votes_.size, len(label), self.order)
        theirs = before._weights()
        attribute = self.features_.counterparts(before.features_)
        mine.emissions[:] = self.votes_.look_up(attribute, label, before.votes_, theirs.emissions)
        shared = np.flatnonzero(label >= 0)
        mine.pairs[np.ix_(shared, shared)] = theirs.pairs[np.ix_(label[shared], label[shared])]
        if mine.triples is not None and theirs.triples is not None:
            cube = np.ix_(label[shared], label[shared], label[shared])
            mine.triples[np.ix_(shared, shared, shared)] = theirs.triples[cube]
        return start

    def _summarise(
        self, treebank: Treebank, gold: NDArray[np.int32], training: Training
    ) -> dict[str, Any]:
        state = training.state
        cost = 0.5 * dot(self._penalty(len(state.x)) * state.x, state.x)
        return {
            "column": treebank.tag_column,
            "sentences": len(treebank),
            "words": int(treebank.words),
            "annotated_words": int((gold >= 0).sum()),
            "tags": len(self.labels_),
            "attributes": self.features_.size,
            "weights": len(self.weights_),
            "iterations": state.iteration,
            "evaluations": state.evaluations,
            "stopped": state.converged or "the iterations ran out",
            "log_likelihood": cost - state.value,
            "learning_curve": [list(point) for point in training.curve],
        }

    # ---- applying -----------------------------------------------------------------------------
    def predict(self, treebank: Treebank) -> Treebank:
        """Tag every word: the treebank again, with its tag column replaced."""
        return self.with_tags(treebank, self.decide(treebank)[0])

    def decide(self, treebank: Treebank) -> tuple[NDArray[np.int32], FloatArray]:
        """Return the tag chosen for each word, as an index into `labels_`, and its probability."""
        chosen = np.empty(treebank.words, np.int32)
        confidence = np.empty(treebank.words)
        for words, chain in self._chains(treebank):
            probabilities = normalised(chain.marginals().parts[0])
            if self.decode == "viterbi":
                best = chain.argmax().outcome
            else:
                best = probabilities.argmax(1).astype(np.int32)
            chosen[words] = best
            confidence[words] = probabilities[np.arange(len(best)), best]
        return chosen, confidence

    def marginals(self, treebank: Treebank) -> TagDistribution:
        """Return the probability of every tag at every word."""
        parts = [normalised(chain.marginals().parts[0]) for _, chain in self._chains(treebank)]
        return TagDistribution(np.concatenate(parts), list(self.labels_))

    def kbest(self, treebank: Treebank, k: int) -> KBest:
        """Return the k likeliest tag sequences of each sentence, as indices into `labels_`."""
        parts = [chain.kbest(k) for _, chain in self._chains(treebank)]
        return KBest(
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.outcome for part in parts], axis=1),
        )

    def log_partition(self, treebank: Treebank) -> FloatArray:
        """Return log Z of each sentence: a sequence's score minus this is its log-probability."""
        return np.concatenate([chain.log_partition() for _, chain in self._chains(treebank)])

    def score(self, treebank: Treebank) -> float:
        """Return the percentage of the annotated words that are tagged right."""
        self._check_fitted()
        ids, names = getattr(treebank, self.summary_["column"])
        number = {label: i for i, label in enumerate(self.labels_)}
        gold = np.array([number.get(name, -1) for name in names], np.int32)[ids]
        scored = np.array([name != UNKNOWN for name in names], bool)[ids]
        right = self.decide(treebank)[0] == gold
        return 100.0 * float(right[scored].mean()) if scored.any() else float("nan")

    def with_tags(self, treebank: Treebank, tags: NDArray[np.int32]) -> Treebank:
        """Splice tags, given as indices into `labels_`, into the column this tagger learnt."""
        column = Column(np.ascontiguousarray(tags, dtype=np.int32), list(self.labels_))
        if self.summary_["column"] == "upos":
            return treebank.replace(upos=column)
        return treebank.replace(xpos=column)

    def known_forms(self) -> set[str]:
        """Return the words that occurred in training."""
        return set(self.forms_)

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt: tags, weights of tag pairs, and each tag's strongest attributes."""
        self._check_fitted()
        weights = self._weights()
        owner = np.repeat(np.arange(self.features_.size), np.diff(self.votes_.starts))
        strongest: dict[str, list[list[Any]]] = {}
        for label, name in enumerate(self.labels_):
            mine = np.flatnonzero(self.votes_.labels == label)
            order = mine[np.argsort(-weights.emissions[mine], kind="stable")[:top]]
            strongest[name] = [
                [attribute, round(float(weight), 3)]
                for attribute, weight in zip(
                    self.features_.names(owner[order]), weights.emissions[order], strict=True
                )
            ]
        return {
            "labels": list(self.labels_),
            "transitions": weights.pairs.round(3).tolist(),
            "strongest": strongest,
        }

    def _weights(self) -> Weights:
        return Weights.of(self.weights_, self.votes_.size, len(self.labels_), self.order)

    def _chains(self, treebank: Treebank) -> Iterator[tuple[slice, Chain]]:
        """Yield the distribution over tags, some sentences at a time to bound the memory."""
        self._check_fitted()
        weights = self._weights()
        for first, last in portions(treebank.offsets, PORTION):
            part = treebank if last - first == len(treebank) else treebank[first:last]
            forms, strings = part.forms.used()
            attributes = self.features_.transform(forms, strings, part.offsets)
            scores = word_scores(attributes, self.votes_, weights.emissions, len(self.labels_))
            if self.dictionary_ or self.restricted_:
                allowed = allowed_tags(strings, self.labels_, self.dictionary_, self.restricted_)
                scores[~allowed[forms]] = -np.inf
            words = slice(int(treebank.offsets[first]), int(treebank.offsets[last]))
            yield words, Chain(scores, weights.pairs, part.offsets, weights.triples)

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        features, arrays = self.features_.pack()
        vocabulary = {
            "features": features,
            "labels": self.labels_,
            "dictionary": self.dictionary_,
            "restricted": self.restricted_,
            "forms": self.forms_,
        }
        return vocabulary, arrays | {
            "weights": self.weights_,
            "votes.starts": self.votes_.starts,
            "votes.labels": self.votes_.labels,
        }

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        check_tag_column(self.summary_["column"])
        self.labels_ = [str(label) for label in vocabulary["labels"]]
        if not self.labels_ or len(set(self.labels_)) < len(self.labels_):
            raise ValueError("expected tags, each once")
        check_strings("tags", Column.of(self.labels_))
        self.forms_ = [str(form) for form in vocabulary["forms"]]
        self.dictionary_ = checked_lists(vocabulary["dictionary"], self.labels_)
        self.restricted_ = checked_lists(vocabulary["restricted"], self.labels_)
        self.features_ = FeatureMap.unpack(vocabulary["features"], arrays)
        self.votes_ = Votes.checked(
            arrays["votes.starts"], arrays["votes.labels"], self.features_.size, len(self.labels_)
        )
        size = parameter_count(self.votes_.size, len(self.labels_), self.order)
        self.weights_ = finite_array(arrays, "weights", (size,))
