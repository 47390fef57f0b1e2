"""What `syntagma demo` does: every model at work on generated corpora with known truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from syntagma.corpora.edits import annotate
from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Treebank
from syntagma.models.tagger import Tagger

SIZES = (10, 25, 50, 100, 200, 400, 800)
HELD_OUT = 400


class Demonstration(NamedTuple):
    """One model on one generated corpus: gold, prediction and what was learnt on the way.

    `curves` are charts as `syntagma.reports.evaluation_summary` takes them.
    """

    title: str
    gold: Treebank
    predicted: Treebank
    training_forms: set[str]
    model: dict[str, Any]
    curves: list[dict[str, Any]]


def tagger(seed: int, progress: Callable[[int, int, float], None]) -> Demonstration:
    """Learn to tag from 10 to 800 sentences, and tag 400 unseen ones."""
    train = english(SIZES[-1], seed=seed).treebank
    held_out = english(HELD_OUT, seed=seed + 1).treebank
    accuracies = []
    for done, size in enumerate(SIZES):
        model = Tagger().fit(train[:size])
        accuracies.append(model.score(held_out))
        progress(done + 1, len(SIZES), accuracies[-1])
    chosen, confidence = model.decide(held_out)
    predicted = annotate(
        model.with_tags(held_out, chosen), "TagProb", [f"{p:.4f}" for p in confidence.tolist()]
    )
    # the heads are not the tagger's: without them the report shows tags
    predicted = predicted.replace(heads=[-1] * predicted.words)
    curve = {
        "title": "Learning curve",
        "x_label": "training sentences",
        "y_label": "tagging accuracy",
        "unit": "%",
        "x_log": True,
        "series": [{"name": "unseen sentences", "x": list(SIZES), "y": accuracies}],
    }
    card = {"kind": model.kind, **model.summary_}
    return Demonstration(
        "A tagger on generated English", held_out, predicted, model.known_forms(), card, [curve]
    )


DEMONSTRATIONS = {"tagger": tagger}
