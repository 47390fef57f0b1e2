"""The summary dict of an evaluation report: all that the page shows, fit for JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import syntagma
from syntagma.evaluation import Evaluation, Tagging, evaluate
from syntagma.evaluation.calibration import misc_numbers
from syntagma.evaluation.comparison import HEAD_PROBABILITY, TAG_PROBABILITY

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column, Treebank

MOST_LABELS = 14  # labels in the confusion matrix before the rest is summed up
OTHER = "other"


def evaluation_summary(
    gold: Treebank,
    predicted: Treebank,
    *,
    evaluation: Evaluation | None = None,
    title: str = "Evaluation",
    model: Mapping[str, Any] | None = None,
    curves: Sequence[Mapping[str, Any]] = (),
    worst: int = 12,
    max_length: int | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    training_forms: Collection[str] | None = None,
) -> dict[str, Any]:
    """Gather what a report shows: scores, confusion, calibration, curves, worst sentences, model.

    Parameters
    ----------
    gold, predicted
        The same sentences, word by word.
    evaluation
        Their `Evaluation`, if it is at hand; else it is made with ``max_length``, ``bootstrap``,
        ``seed`` and ``training_forms``.
    model
        The model card: names and values, in order.
    curves
        Line charts such as the learning curve: dicts with ``title``, ``x_label``, ``y_label``,
        ``series`` (dicts with ``name``, ``x``, ``y``, and ``low``, ``high`` where known), and
        optionally ``x_log`` and ``unit``.
    worst
        How many of the worst sentences to show.
    """
    if evaluation is None:
        evaluation = evaluate(
            gold, predicted, max_length, bootstrap, seed, training_forms=training_forms
        )
    summary: dict[str, Any] = {
        "title": title,
        "version": syntagma.__version__,
        "scores": evaluation.summary(),
        "curves": [dict(curve) for curve in curves],
        "model": dict(model or {}),
        "worst": sentence_rows(predicted, evaluation.worst(worst).tolist(), gold=gold),
    }
    if evaluation.tagging is not None:
        summary["confusion"] = confusion_table(evaluation.tagging)
    return summary


def confusion_table(tagging: Tagging, most: int = MOST_LABELS) -> dict[str, Any]:
    """Keep the labels most often mistaken, sum the others up, frequent labels first."""
    counts = tagging.confusion
    size = len(tagging.labels)
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diagonal(counts)
    kept = np.argsort(-mistakes, kind="stable")[:most] if size > most + 1 else np.arange(size)
    kept = kept[np.argsort(-counts.sum(axis=1)[kept], kind="stable")]
    place = np.full(size, len(kept))
    place[kept] = np.arange(len(kept))
    labels = [tagging.labels[i] for i in kept]
    if len(kept) < size:
        labels.append(OTHER)
    table = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(table, (place[:, None], place[None, :]), counts)
    if len(kept) < size:  # mistakes among the others are mistakes still, but of no one cell
        table[-1, -1] = np.diagonal(counts)[place == len(kept)].sum()
    return {"labels": labels, "counts": table.tolist()}


def sentence_rows(
    treebank: Treebank, indices: Sequence[int], *, gold: Treebank | None = None
) -> list[dict[str, Any]]:
    """Give these sentences as dicts, with probabilities from MISC and errors against gold.

    ``probability`` holds a list for ``heads`` and for ``tags`` where MISC states any.
    """
    tags = treebank.tag_column if gold is None else gold.tag_column
    stated = {
        "heads": misc_numbers(treebank.misc, HEAD_PROBABILITY),
        "tags": misc_numbers(treebank.misc, TAG_PROBABILITY),
    }
    rows = []
    for index in indices:
        sentence = treebank[index]
        words = slice(int(treebank.offsets[index]), int(treebank.offsets[index + 1]))
        row: dict[str, Any] = {"index": index, "id": sentence.sent_id, "text": sentence.text}
        row |= _columns(treebank, index, tags)
        row["probability"] = {
            kind: [None if np.isnan(p) else float(p) for p in values[words]]
            for kind, values in stated.items()
            if not np.isnan(values[words]).all()
        }
        if gold is not None:
            row["gold"] = _columns(gold, index, tags)
            row["errors"] = _errors(row, row["gold"])
        rows.append(row)
    return rows


def _columns(treebank: Treebank, index: int, tag_column: str) -> dict[str, Any]:
    sentence = treebank[index]
    tags: Column = getattr(treebank, tag_column)
    words = slice(int(treebank.offsets[index]), int(treebank.offsets[index + 1]))
    return {
        "forms": sentence.forms,
        "tags": [tags.names[i] for i in tags.ids[words]],
        "heads": sentence.heads,
        "labels": sentence.labels,
    }


def _errors(row: Mapping[str, Any], gold: Mapping[str, Any]) -> dict[str, int]:
    """Count wrong tags, heads and, under right heads, labels.

    What gold leaves open is right; what the sentence leaves open throughout is not judged.
    """
    tags = zip(row["tags"], gold["tags"], strict=True)
    heads = list(zip(row["heads"], gold["heads"], strict=True))
    labels = zip(heads, row["labels"], gold["labels"], strict=True)
    tagged = any(tag != "_" for tag in row["tags"])
    parsed = any(head >= 0 for head in row["heads"])
    return {
        "tags": sum(right not in ("_", tag) for tag, right in tags) if tagged else 0,
        "heads": sum(right >= 0 and head != right for head, right in heads) if parsed else 0,
        "labels": sum(
            head == right and "_" not in (label, known) and label != known
            for (head, right), label, known in labels
        ),
    }
