"""Tagging accuracy: overall, on known and unknown words, by tag and by whole sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.evaluation.counting import Counts, Mask, Ratio, filled, per_sentence, percent

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column


class Tagging(NamedTuple):
    """How well words were tagged. ``confusion[g, p]`` counts gold ``labels[g]`` tagged ``[p]``."""

    labels: tuple[str, ...]
    confusion: Counts
    words: Ratio
    known: Ratio | None
    unknown: Ratio | None

    @property
    def accuracy(self) -> float | None:
        """Words tagged right, in per cent."""
        return self.words.percent

    @property
    def sentences(self) -> Ratio:
        """Sentences tagged right throughout, among those with a scored word."""
        scored = self.words.total > 0
        return Ratio(
            (scored & (self.words.right == self.words.total)).astype(np.int64),
            scored.astype(np.int64),
        )

    def ratios(self) -> dict[str, Ratio]:
        """Return each figure sentence by sentence, under its JSON key."""
        ratios = {"accuracy": self.words, "exact": self.sentences}
        if self.known is not None and self.unknown is not None:
            ratios |= {"accuracy_known": self.known, "accuracy_unknown": self.unknown}
        return ratios

    def by_tag(self) -> dict[str, dict[str, float | int | None]]:
        """Precision, recall and F1 of each tag that occurs, the most frequent in gold first."""
        right = np.diagonal(self.confusion)
        gold, predicted = self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        order = np.argsort(-gold, kind="stable")
        return {
            self.labels[i]: {
                "words": int(gold[i]),
                "precision": percent(int(right[i]), int(predicted[i])),
                "recall": percent(int(right[i]), int(gold[i])),
                "f1": percent(2 * int(right[i]), int(gold[i] + predicted[i])),
            }
            for i in order
        }

    def confusions(self, most: int = 20) -> list[dict[str, Any]]:
        """The most frequent mistakes, most frequent first."""
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
        return [
            {"gold": self.labels[g], "predicted": self.labels[p], "count": int(wrong[g, p])}
            for g, p in pairs
            if wrong[g, p]
        ]

    def summary(self) -> dict[str, Any]:
        """Return the figures as a dict fit for JSON."""
        figures: dict[str, Any] = {key: ratio.percent for key, ratio in self.ratios().items()}
        if self.unknown is not None:
            figures["unknown_words"] = int(self.unknown.total.sum())
        return figures | {"tags": self.by_tag(), "confusions": self.confusions()}


def score_tags(
    gold: Column,
    predicted: Column,
    offsets: NDArray[np.int64],
    *,
    known: Mask | None = None,
) -> Tagging:
    """Score predicted tags against gold ones; words whose gold tag is `_` are not scored.

    ``known`` marks the words whose form was seen in training.
    """
    scored = filled(gold)
    used = {gold.names[i] for i in np.unique(gold.ids[scored])}
    used |= {predicted.names[i] for i in np.unique(predicted.ids[scored])}
    labels = tuple(sorted(used))
    rows, columns = _positions(gold, labels)[scored], _positions(predicted, labels)[scored]
    size = len(labels)
    confusion = np.bincount(rows * size + columns, minlength=size * size).reshape(size, size)
    right = np.zeros(len(scored), dtype=bool)
    right[scored] = rows == columns

    def ratio(among: Mask) -> Ratio:
        return Ratio(per_sentence(right & among, offsets), per_sentence(scored & among, offsets))

    return Tagging(
        labels,
        confusion.astype(np.int64),
        ratio(scored),
        None if known is None else ratio(known),
        None if known is None else ratio(~known),
    )


def _positions(column: Column, labels: tuple[str, ...]) -> NDArray[np.int64]:
    index = {label: i for i, label in enumerate(labels)}
    table = np.array([index.get(name, -1) for name in column.names], dtype=np.int64)
    return table[column.ids]
