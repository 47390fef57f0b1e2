"""Attachment scores of dependency trees, whole and broken down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.evaluation.counting import Counts, Mask, Ratio, per_sentence, percent, same

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column

LENGTHS = (10, 20, 30, 40)  # the last sentence length of each bin; longer ones share the last bin
ARCS = (1, 2, 6)  # the last arc length of each bin


class Breakdown(NamedTuple):
    """Right heads (and heads with labels) out of the words of each group."""

    names: tuple[str, ...]
    words: Counts
    heads: Counts
    labelled: Counts | None

    def summary(self) -> dict[str, dict[str, float | int | None]]:
        """Return the figures of each group that has words."""
        rows: dict[str, dict[str, float | int | None]] = {}
        for i, name in enumerate(self.names):
            words = int(self.words[i])
            if words:
                rows[name] = {"words": words, "uas": percent(int(self.heads[i]), words)}
                if self.labelled is not None:
                    rows[name]["las"] = percent(int(self.labelled[i]), words)
        return rows


class Attachment(NamedTuple):
    """How well heads were found; ``labelled`` is None where labels are missing on either side."""

    heads: Ratio
    heads_no_punct: Ratio
    labelled: Ratio | None
    labelled_no_punct: Ratio | None
    by_length: Breakdown
    by_arc_length: Breakdown
    by_tag: Breakdown | None

    @property
    def uas(self) -> float | None:
        """Words with the right head, in per cent."""
        return self.heads.percent

    @property
    def las(self) -> float | None:
        """Words with the right head and label, in per cent."""
        return None if self.labelled is None else self.labelled.percent

    def ratios(self) -> dict[str, Ratio]:
        """Return each figure sentence by sentence, under its JSON key."""
        ratios = {"uas": self.heads}
        if self.labelled is not None:
            ratios["las"] = self.labelled
        ratios["complete"] = _complete(self.heads)
        ratios["uas_no_punct"] = self.heads_no_punct
        if self.labelled_no_punct is not None:
            ratios["las_no_punct"] = self.labelled_no_punct
        ratios["complete_no_punct"] = _complete(self.heads_no_punct)
        return ratios

    def summary(self) -> dict[str, Any]:
        """Return the figures as a dict fit for JSON."""
        figures: dict[str, Any] = {key: ratio.percent for key, ratio in self.ratios().items()}
        figures["by_length"] = self.by_length.summary()
        figures["by_arc_length"] = self.by_arc_length.summary()
        if self.by_tag is not None:
            figures["by_tag"] = self.by_tag.summary()
        return figures


def score_attachment(
    gold_heads: NDArray[np.int32],
    predicted_heads: NDArray[np.int32],
    offsets: NDArray[np.int64],
    *,
    gold_labels: Column | None = None,
    predicted_labels: Column | None = None,
    punctuation: Mask | None = None,
    tags: Column | None = None,
) -> Attachment:
    """Score predicted heads (0 is the root) against gold ones; unknown gold heads do not count.

    A label is right when it is the same string, subtype included.
    """
    scored = gold_heads >= 0
    right = scored & (predicted_heads == gold_heads)
    labels = None
    if gold_labels is not None and predicted_labels is not None:
        labels = right & same(gold_labels, predicted_labels)
    spoken = scored if punctuation is None else scored & ~punctuation

    def ratio(hits: Mask, among: Mask) -> Ratio:
        return Ratio(per_sentence(hits & among, offsets), per_sentence(among, offsets))

    def breakdown(names: Sequence[str], group: NDArray[np.integer]) -> Breakdown:
        def count(mask: Mask) -> Counts:
            return np.bincount(group[mask], minlength=len(names)).astype(np.int64)

        marked = None if labels is None else count(labels)
        return Breakdown(tuple(names), count(scored), count(right), marked)

    sizes = np.diff(offsets)
    positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes) + 1
    distance = np.searchsorted(ARCS, np.abs(gold_heads - positions)) + 1
    tagged = None
    if tags is not None and tags.known:
        order = np.argsort(-np.bincount(tags.ids, minlength=len(tags.names)), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        tagged = breakdown([tags.names[i] for i in order], rank[tags.ids])
    return Attachment(
        ratio(right, scored),
        ratio(right, spoken),
        None if labels is None else ratio(labels, scored),
        None if labels is None else ratio(labels, spoken),
        breakdown(bin_names(LENGTHS), np.repeat(np.searchsorted(LENGTHS, sizes), sizes)),
        breakdown(["root", *bin_names(ARCS)], np.where(gold_heads == 0, 0, distance)),
        tagged,
    )


def bin_names(edges: Sequence[int]) -> list[str]:
    """Name the bins that end at these lengths.

    >>> bin_names((1, 2, 6))
    ['1', '2', '3-6', '7+']
    """
    starts = [1, *(edge + 1 for edge in edges)]
    closed = zip(starts, edges, strict=False)
    names = [str(end) if start == end else f"{start}-{end}" for start, end in closed]
    return [*names, f"{starts[-1]}+"]


def _complete(words: Ratio) -> Ratio:
    """Sentences right throughout, among those with a scored word."""
    scored = words.total > 0
    return Ratio((scored & (words.right == words.total)).astype(np.int64), scored.astype(np.int64))
