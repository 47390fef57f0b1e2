"""DependencyParser: trees scored part by part, learnt from a treebank.

The score of a tree is the sum of the scores of its arcs and, in second order, of its pairs of
neighbouring modifiers; each is linear in hashed features of the words and their surroundings
(McDonald, Crammer and Pereira 2005; McDonald and Pereira 2006). Weights are learnt by k-best MIRA
or by maximum likelihood, and averaged; labels are chosen afterwards, arc by arc.

This file is longer than others because the model has many parameters, each of which is explained
and checked; what it does is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from syntagma import __version__
from syntagma.corpora.treebank import UNKNOWN, Column, Treebank, check_strings, check_tag_column
from syntagma.errors import InputError
from syntagma.evaluation.counting import same
from syntagma.models.base import Estimator, portions
from syntagma.models.tagger import Tagger
from syntagma.structures.arborescences import Arborescences
from syntagma.structures.arcs import Arcs, arc_cells, block_starts
from syntagma.structures.base import KBest
from syntagma.training.arc_description import describe_tags
from syntagma.training.arc_features import Weights, make_templates, word_codes
from syntagma.training.arc_labels import LabelLearner, label_probabilities, label_program
from syntagma.training.arc_templates import ARCS, FIELDS, LABELS, SIBLINGS
from syntagma.training.checkpoints import Checkpoint, fingerprint
from syntagma.training.forests import Grammar, Sentences
from syntagma.training.loop import Progress
from syntagma.training.storage import Arrays, pack_table, unpack_table
from syntagma.training.tree_learning import LikelihoodLearner, MarginLearner, TreeLearner
from syntagma.training.tree_loop import Plan, TreeTraining, train_trees
from syntagma.training.tree_material import Material, make_material

FloatArray = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
CELLS = 4_000_000  # scores of parts held at once
LABEL_RATE = 0.1  # first step of the labels' learner
TAGS = 60  # the most frequent tags, which the parser remembers to describe itself by
CROSSING = 0.2  # share of trees with crossing arcs from which on trees need not be projective


class ParsedHeads(NamedTuple):
    """The head and the label of every word, and how probable the parser holds each."""

    heads: Int32
    labels: Column
    head_probability: FloatArray
    label_probability: FloatArray


class DependencyParser(Estimator):
    """Learn to parse from sentences with heads and, if there are any, labels.

    Parameters
    ----------
    order
        1: trees are scored by their arcs; 2: also by pairs of neighbouring modifiers.
    learner
        "mira" (k-best MIRA) or "log-linear" (maximum likelihood, whose probabilities can be
        believed).
    projective
        Whether arcs may not cross; "auto": they may if enough of the training trees have any.
        Second order is projective.
    crossings
        What becomes of training trees with crossing arcs when trees are projective: "keep" learns
        from them all the same, "lift" moves arcs up until none cross.
    epochs
        How often the training sentences are gone through, at most.
    k, aggressiveness
        Of MIRA: trees that each update holds the right one against, and bound on its step.
    rate
        Of the log-linear learner: its first step.
    portion
        Sentences parsed with the same weights before their updates are made.
    bits
        The tables hold 2 to this power weights.
    patience
        So many epochs without a better score on held-out text end the training (0: none do).
    decode
        "best" finds the best tree, "mbr" the tree with the most arcs expected right.
    arc_templates, sibling_templates, label_templates
        Feature templates; see `syntagma.training.arc_templates`.
    seed
        Of the order in which sentences are visited.

    Attributes
    ----------
    labels_, tags_, projective_, single_root_, tagger_, summary_

    Examples
    --------
    >>> from syntagma.corpora.generated import english
    >>> corpus = english(120, seed=1).treebank
    >>> parser = DependencyParser(epochs=3, bits=18).fit(corpus[:100])
    >>> parser.score(corpus[100:]) > 70
    True
    """

    kind: ClassVar[str] = "mst"

    def __init__(
        self,
        order: int = 1,
        learner: str = "mira",
        projective: bool | str = "auto",
        crossings: str = "keep",
        epochs: int = 10,
        k: int = 1,
        aggressiveness: float = 0.03,
        rate: float = 0.05,
        portion: int = 8,
        bits: int = 22,
        patience: int = 0,
        decode: str = "best",
        arc_templates: Sequence[str] = ARCS,
        sibling_templates: Sequence[str] = SIBLINGS,
        label_templates: Sequence[str] = LABELS,
        seed: int = 0,
    ) -> None:
        self.order = order
        self.learner = learner
        self.projective = projective
        self.crossings = crossings
        self.epochs = epochs
        self.k = k
        self.aggressiveness = aggressiveness
        self.rate = rate
        self.portion = portion
        self.bits = bits
        self.patience = patience
        self.decode = decode
        self.arc_templates = arc_templates
        self.sibling_templates = sibling_templates
        self.label_templates = label_templates
        self.seed = seed

    # ---- fitting ------------------------------------------------------------------------------
    def fit(
        self,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        tagger: Tagger | None = None,
        checkpoint: str | None = None,
        checkpoint_every: float = 10.0,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the heads and labels of a treebank; its sentences' order does not matter.

        Parameters
        ----------
        treebank
            The training sentences; those with a word without head are left out, and counted.
        dev
            Scored after every epoch; it steers only the early stop.
        tagger
            A fitted tagger to keep with the parser: it will tag what is to be parsed. The tags of
            the training sentences should be as good as its own, see `jackknife`.
        checkpoint, checkpoint_every, resume
            A file to keep the state of training in, how many seconds apart, and whether to take
            it up.
        progress
            Called with epoch, number of epochs and what the epoch cost.
        """
        self._check_parameters()
        self.tagger_ = tagger
        self.tag_column_ = treebank.tag_column if tagger is None else tagger.summary_["column"]
        treebank = replace(treebank, tag_column=self.tag_column_)
        material = make_material(treebank, bool(tagger))
        self.fields_, self.labels_ = material.fields, material.labels
        self.tags_ = _most_frequent(treebank.tags, TAGS)
        self.single_root_ = material.single_root
        self.projective_ = self._choose_projective(material)
        if self.projective_ and self.crossings == "lift":
            material = material.lifted()
        labeller = None
        if len(self.labels_) > 1:
            program = label_program(self.label_templates, self.fields_)
            labeller = LabelLearner(program, len(self.labels_), 2**self.bits, LABEL_RATE)
        self.summary_ = self._card(material, treebank.tags)
        training = train_trees(
            self._learner(material.sentences),
            labeller,
            material.gold_labels,
            Plan(self.epochs, self.portion, self.seed, self.patience, CELLS),
            monitor=None if dev is None else self._monitor(dev),
            checkpoint=None
            if checkpoint is None
            else Checkpoint(
                checkpoint,
                self._identity(material, dev),
                resume=resume,
                every=checkpoint_every,
            ),
            progress=progress,
        )
        self.weights_, self.label_weights_ = training.weights, training.label_weights
        self.summary_ |= self._results(training)
        return self

    def _choose_projective(self, material: Material) -> bool:
        if self.projective != "auto":
            return bool(self.projective)
        share = material.crossing / (len(material.sentences.offsets) - 1)
        return self.order == 2 or share < CROSSING

    def _identity(self, material: Material, dev: Treebank | None) -> str:
        """Name what a checkpoint of this training belongs to."""
        return fingerprint(
            __version__,
            repr(self),
            *material.sentences,
            material.gold_labels,
            repr(None if dev is None else (len(dev), dev.words)),
        )

    def _grammar(self) -> Grammar:
        siblings = self.sibling_templates if self.order == 2 else ()
        templates = make_templates(self.arc_templates, siblings, self.fields_)
        return Grammar(templates, self.projective_, self.single_root_)

    def _learner(self, sentences: Sentences) -> TreeLearner:
        size = 2**self.bits
        if self.learner == "mira":
            return MarginLearner(sentences, self._grammar(), size, self.k, self.aggressiveness)
        return LikelihoodLearner(sentences, self._grammar(), size, self.rate)

    def _monitor(self, dev: Treebank) -> Any:
        def monitor(weights: Weights, label_weights: Weights) -> tuple[float, float]:
            self.weights_, self.label_weights_ = weights, label_weights
            return self._scores(dev)

        return monitor

    def _card(self, material: Material, tags: Column) -> dict[str, Any]:
        sentences, words = len(material.sentences.offsets) - 1, len(material.gold_labels)
        return {
            "column": self.tag_column_,
            "tags": len(set(tags.used().names) - {UNKNOWN}),
            "own_tagger": self.tagger_ is not None,
            "sentences": sentences,
            "words": words,
            "skipped": material.skipped,
            "not_projective": material.crossing,
            "projective": self.projective_,
            "crossings": "lifted" if self.projective_ and self.crossings == "lift" else "kept",
            "single_root": self.single_root_,
            "labels": len(self.labels_),
        }

    def _results(self, training: TreeTraining) -> dict[str, Any]:
        return {
            "epochs": training.epoch,
            "best_epoch": training.best_epoch or training.epoch,
            "costs": training.costs,
            "learning_curve": [list(point) for point in training.curve],
            "used_weights": int(np.count_nonzero(self.weights_)),
        }

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("order", (1, 2)),
            ("learner", ("mira", "log-linear")),
            ("projective", ("auto", True, False)),
            ("crossings", ("keep", "lift")),
            ("decode", ("best", "mbr")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                wanted = ", ".join(map(str, allowed))
                raise InputError(f"{name}: expected one of {wanted}, found {value!r}")
        if self.order == 2 and self.projective is False:
            raise InputError("order: second-order trees are projective; choose order 1")
        for name, least, most in (
            ("epochs", 1, 10_000),
            ("k", 1, 1000),
            ("portion", 1, 10_000),
            ("bits", 8, 28),
            ("patience", 0, 10_000),
            ("seed", 0, 2**63),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"{name}: expected {least} to {most}, found {value!r}")
        for name in ("aggressiveness", "rate"):
            value = getattr(self, name)
            if not isinstance(value, float | int) or not 0 < value < float("inf"):
                raise InputError(f"{name}: expected above 0, found {value!r}")

    # ---- applying -----------------------------------------------------------------------------
    def predict(self, treebank: Treebank) -> Treebank:
        """Parse every sentence: the treebank again, with its heads and labels replaced.

        With a tagger of its own, the parser tags the sentences first.
        """
        tagged = self.tagged(treebank)
        return self.with_heads(tagged, self._heads(tagged))

    def decide(self, treebank: Treebank) -> ParsedHeads:
        """Return head and label of every word, and the probability of each."""
        tagged = self.tagged(treebank)
        heads = np.empty(tagged.words, np.int32)
        probability = np.empty(tagged.words)
        for words, forest in self._forests(tagged):
            marginals = forest.marginals().parts[0]
            heads[words] = self._decode(forest, marginals)
            probability[words] = marginals[arc_cells(heads[words], forest.offsets)]
        labels, confidence = self._labels(tagged, heads)
        return ParsedHeads(heads, labels, probability, confidence)

    def marginals(self, treebank: Treebank) -> list[FloatArray]:
        """Return for each sentence the probability of every arc: a row a head, a column a word."""
        found = []
        for _, forest in self._forests(self.tagged(treebank)):
            flat = forest.marginals().parts[0]
            for start, words in zip(forest.arc_starts, np.diff(forest.offsets), strict=False):
                side = int(words) + 1
                found.append(flat[start : start + side * side].reshape(side, side)[:, 1:])
        return found

    def kbest(self, treebank: Treebank, k: int) -> KBest:
        """Return the k best trees of each sentence."""
        forests = self._forests(self.tagged(treebank))
        parts = [KBest(np.empty((0, k)), np.empty((k, 0), np.int32))]
        parts += [forest.kbest(k) for _, forest in forests]
        return KBest(
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.outcome for part in parts], axis=1),
        )

    def log_partition(self, treebank: Treebank) -> FloatArray:
        """Return log Z of each sentence: a tree's score minus this is its log-probability."""
        forests = self._forests(self.tagged(treebank))
        return np.concatenate([np.empty(0), *(forest.log_partition() for _, forest in forests)])

    def score(self, treebank: Treebank) -> float:
        """Return the percentage of words that get the right head (UAS, punctuation included)."""
        return self._scores(treebank)[0]

    def tagged(self, treebank: Treebank) -> Treebank:
        """Return what the parser will look at: its own tags, if it has a tagger.

        A parser that learnt from tags and has no tagger refuses text without any.
        """
        self._check_fitted()
        if self.tagger_ is not None:
            treebank = self.tagger_.predict(treebank)
        treebank = replace(treebank, tag_column=self.tag_column_)
        if treebank.words and self.tags_ and not treebank.tags.known:
            raise InputError(
                f"expected tags in the {self.tag_column_} column, found none: "
                "this parser has no tagger of its own"
            )
        return treebank

    def without_tagger(self) -> Self:
        """Return the same parser for text that `tagged` has tagged."""
        parser = copy(self)
        parser.tagger_ = None
        return parser

    def with_heads(self, tagged: Treebank, heads: Int32) -> Treebank:
        """Splice these heads, and the likeliest labels for them, into what `tagged` returned."""
        return tagged.replace(heads=heads, labels=self._labels(tagged, heads)[0])

    def _scores(self, treebank: Treebank) -> tuple[float, float]:
        known = treebank.heads >= 0
        predicted = self.predict(treebank)
        right = (predicted.heads == treebank.heads)[known]
        labelled = right & same(predicted.labels, treebank.labels)[known]
        if not known.any():
            return float("nan"), float("nan")
        return 100.0 * float(right.mean()), 100.0 * float(labelled.mean())

    def _heads(self, treebank: Treebank) -> Int32:
        heads = np.empty(treebank.words, np.int32)
        for words, forest in self._forests(treebank):
            marginals = forest.marginals().parts[0] if self.decode == "mbr" else None
            heads[words] = self._decode(forest, marginals)
        return heads

    def _decode(self, forest: Arcs, marginals: FloatArray | None) -> Int32:
        if self.decode == "best" or marginals is None:
            return forest.argmax().outcome
        kind = Arcs if self.projective_ else Arborescences
        return kind(marginals, forest.offsets, self.single_root_).argmax().outcome

    def _labels(self, treebank: Treebank, heads: Int32) -> tuple[Column, FloatArray]:
        labels = np.zeros(treebank.words, np.int32)
        confidence = np.ones(treebank.words)
        if len(self.labels_) > 1:
            label_probabilities(
                word_codes(treebank, self.fields_),
                treebank.offsets,
                label_program(self.label_templates, self.fields_),
                heads,
                len(self.labels_),
                self.label_weights_,
                labels,
                confidence,
            )
        return Column(labels, list(self.labels_)), confidence

    def _forests(self, treebank: Treebank) -> Iterator[tuple[slice, Arcs]]:
        """Yield the trees of some sentences at a time, to bound the memory."""
        sentences = Sentences(word_codes(treebank, self.fields_), treebank.offsets, treebank.heads)
        grammar = self._grammar()
        for first, last in portions(block_starts(treebank.offsets, grammar.power), CELLS):
            words = slice(int(treebank.offsets[first]), int(treebank.offsets[last]))
            yield words, grammar.forest(sentences, np.arange(first, last), self.weights_)

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt: labels, and what the two tags of an arc add to its score.

        ``arcs`` has a matrix for modifiers left of their head and one for those right of it: a row
        for each head tag, a column for each modifier tag, at the distance that suits both best.
        ``root`` is what each tag gets below the root. ``strongest`` lists the best heads of each
        tag.
        """
        self._check_fitted()
        return {
            "labels": list(self.labels_),
            "table_share_used": float(np.count_nonzero(self.weights_) / len(self.weights_)),
            "tags": list(self.tags_),
            **describe_tags(self.arc_templates, self.tags_, self.weights_, top),
        }

    # ---- model files --------------------------------------------------------------------------
    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        arrays = pack_table("weights", self.weights_) | pack_table("labels", self.label_weights_)
        vocabulary: dict[str, Any] = {
            "labels": self.labels_,
            "tags": self.tags_,
            "projective": self.projective_,
            "single_root": self.single_root_,
            "column": self.tag_column_,
            "fields": self.fields_,
            "tagger": None,
        }
        if self.tagger_ is not None:
            words, inner = self.tagger_._pack()
            vocabulary["tagger"] = {
                "parameters": self.tagger_.get_params(),
                "summary": self.tagger_.summary_,
                "vocabulary": words,
            }
            arrays |= {f"tagger.{name}": array for name, array in inner.items()}
        return vocabulary, arrays

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        self._check_parameters()
        self.labels_ = [str(label) for label in vocabulary["labels"]]
        if not self.labels_ or len(set(self.labels_)) < len(self.labels_):
            raise ValueError("expected labels, each once")
        check_strings("labels", Column.of(self.labels_))
        self.tags_ = [str(tag) for tag in vocabulary["tags"]]
        if len(set(self.tags_)) < len(self.tags_) or len(self.tags_) > TAGS:
            raise ValueError(f"expected at most {TAGS} tags, each once")
        check_strings("tags", Column.of(self.tags_))
        self.projective_ = bool(vocabulary["projective"])
        self.single_root_ = bool(vocabulary["single_root"])
        self.tag_column_ = check_tag_column(vocabulary["column"])
        self.fields_ = [name for name in FIELDS if name in vocabulary["fields"]]
        if self.order == 2 and not self.projective_:
            raise ValueError("second-order trees are projective")
        label_program(self.label_templates, self.fields_)
        self._grammar()
        size = 2**self.bits
        self.weights_ = unpack_table("weights", arrays, size)
        label_size = size + len(self.labels_) - 1 if len(self.labels_) > 1 else 0
        self.label_weights_ = unpack_table("labels", arrays, label_size)
        self.tagger_ = None
        if vocabulary["tagger"] is not None:
            inner = {k.removeprefix("tagger."): v for k, v in arrays.items() if "tagger." in k}
            kept = vocabulary["tagger"]
            self.tagger_ = Tagger._restored(
                kept["parameters"], kept["summary"], kept["vocabulary"], inner
            )


def _most_frequent(tags: Column, most: int) -> list[str]:
    """List the tags seen most often; equally frequent ones by name."""
    counts = np.bincount(tags.ids, minlength=len(tags.names)).tolist()
    seen = [pair for pair in zip(counts, tags.names, strict=True) if pair[0] and pair[1] != UNKNOWN]
    return [name for _, name in sorted(seen, key=lambda pair: (-pair[0], pair[1]))[:most]]
