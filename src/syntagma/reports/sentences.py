"""What a picture reads of a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from syntagma.reports.drawing import shorten

Probabilities = Sequence[float | None]


class Sentence(Protocol):
    """A sentence as columns; `_` is the empty tag or label, 0 the root, head -1 is unknown."""

    @property
    def forms(self) -> list[str]:
        """The words as written."""

    @property
    def tags(self) -> list[str]:
        """Their part-of-speech tags."""

    @property
    def heads(self) -> list[int]:
        """Their heads, counted from 1."""

    @property
    def labels(self) -> list[str]:
        """The labels of the arcs from their heads."""


class Drawn(NamedTuple):
    """A sentence given by its columns."""

    forms: list[str]
    tags: list[str]
    heads: list[int]
    labels: list[str]


def shown_tags(sentence: Sentence | None) -> list[str]:
    """Return the tags as drawn: nothing for an empty one."""
    return [] if sentence is None else ["" if t == "_" else shorten(t, 24) for t in sentence.tags]


def gold_tags(sentence: Sentence, gold: Sentence | None) -> list[str]:
    """Return the right tags; where gold has none, the tag given counts as right."""
    given = shown_tags(sentence)
    return [right or tag for right, tag in zip(shown_tags(gold) or given, given, strict=True)]


def shown_labels(sentence: Sentence) -> list[str]:
    """Return the labels as drawn: nothing for an empty one."""
    return ["" if label == "_" else label for label in sentence.labels]


def start_of(sentence: Sentence) -> str:
    """Return the first words, to name a picture."""
    return shorten(" ".join(sentence.forms[:16]), 80)


def probability_of(confidence: Probabilities | None, word: int) -> float | None:
    """Return the probability of a word's decision, None where it is not known."""
    value = confidence[word] if confidence is not None else None
    return None if value is None or math.isnan(value) else min(1.0, max(0.0, float(value)))
