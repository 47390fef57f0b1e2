"""Compare a predicted treebank with gold and report every figure that applies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.evaluation.attachment import Attachment, score_attachment
from syntagma.evaluation.calibration import Calibration, calibrate, misc_numbers
from syntagma.evaluation.counting import Mask, Ratio, filled, same
from syntagma.evaluation.punctuation import punctuation
from syntagma.evaluation.significance import Interval, bootstrap_intervals
from syntagma.evaluation.tagging import Tagging, score_tags

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Column, Treebank

TAG_PROBABILITY, HEAD_PROBABILITY = "TagProb", "HeadProb"  # keys of the MISC column


@dataclass(frozen=True)
class Evaluation:
    """What a prediction got right; parts that do not apply are None.

    ``indices`` are the sentences of the gold treebank that were scored.
    """

    sentences: int
    words: int
    indices: NDArray[np.int64]
    tagging: Tagging | None
    attachment: Attachment | None
    tag_calibration: Calibration | None
    head_calibration: Calibration | None
    intervals: dict[str, Interval]

    def ratios(self) -> dict[str, Ratio]:
        """Return each score sentence by sentence, under its JSON key."""
        ratios: dict[str, Ratio] = {}
        for part in (self.tagging, self.attachment):
            ratios |= part.ratios() if part is not None else {}
        return ratios

    def worst(self, most: int = 10) -> NDArray[np.int64]:
        """Return the gold indices of the sentences with most wrong, worst first.

        Ordered by the share right (of heads if any is wrong, else of tags), drawn a little to one
        half so that one wrong word alone does not outdo ten of twelve.
        """
        candidates = [part.heads for part in (self.attachment,) if part is not None]
        candidates += [part.words for part in (self.tagging,) if part is not None]
        faulty = [c for c in candidates if (c.right < c.total).any()]
        chosen = (faulty or candidates)[0]
        share = (chosen.right + 1) / (chosen.total + 2)
        order = np.argsort(share, kind="stable")
        wrong = order[chosen.right[order] < chosen.total[order]]
        return self.indices[wrong[:most]]

    def summary(self) -> dict[str, Any]:
        """Return all figures as a dict fit for JSON; scores are percentages."""
        figures: dict[str, Any] = {"sentences": self.sentences, "words": self.words}
        for part in (self.tagging, self.attachment):
            figures |= part.summary() if part is not None else {}
        figures["intervals"] = {
            key: {"low": interval.low, "high": interval.high}
            for key, interval in self.intervals.items()
        }
        calibrations = {"tags": self.tag_calibration, "heads": self.head_calibration}
        stated = {key: part.summary() for key, part in calibrations.items() if part is not None}
        return figures | ({"calibration": stated} if stated else {})


def evaluate(
    gold: Treebank,
    predicted: Treebank,
    max_length: int | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    *,
    training_forms: Collection[str] | None = None,
) -> Evaluation:
    """Score a predicted treebank against gold: tags, heads and labels, whichever both have.

    Parameters
    ----------
    gold, predicted
        The same sentences, word by word.
    max_length
        Score only sentences of at most so many words (punctuation included).
    bootstrap, seed
        Resamples for the intervals (0: no intervals) and their seed.
    training_forms
        Forms seen in training, to tell known words from unknown ones.

    Raises
    ------
    InputError
        The treebanks are not of the same text, or nothing can be scored.
    """
    check_same_text(gold, predicted)
    sizes = np.diff(gold.offsets)
    indices = np.arange(len(gold), dtype=np.int64)
    if max_length is not None:
        indices = indices[sizes <= max_length]
        if not len(indices):
            raise InputError(f"no sentence has at most {max_length} words")
        gold, predicted = gold.take(indices), predicted.take(indices)
    tagging = _score_tags(gold, predicted, training_forms)
    attachment = _score_heads(gold, predicted)
    if tagging is None and attachment is None:
        raise InputError(
            "nothing to score: gold and predicted have neither tags nor heads in common"
        )
    tag_column, guess = _tags(gold, predicted)
    evaluation = Evaluation(
        sentences=len(gold),
        words=int(gold.offsets[-1]),
        indices=indices,
        tagging=tagging,
        attachment=attachment,
        tag_calibration=_calibrate(
            predicted, TAG_PROBABILITY, filled(tag_column), same(tag_column, guess)
        ),
        head_calibration=_calibrate(
            predicted, HEAD_PROBABILITY, gold.heads >= 0, predicted.heads == gold.heads
        ),
        intervals={},
    )
    evaluation.intervals.update(
        bootstrap_intervals(evaluation.ratios(), samples=bootstrap, seed=seed)
    )
    return evaluation


def check_same_text(gold: Treebank, predicted: Treebank) -> None:
    """Refuse treebanks that are not of the same text, naming the first sentence that differs."""
    shared = min(len(gold), len(predicted))
    sizes, others = np.diff(gold.offsets)[:shared], np.diff(predicted.offsets)[:shared]
    first = int(np.argmax(sizes != others)) if (sizes != others).any() else shared
    words = int(gold.offsets[first])
    alike = _same_forms(gold.forms, predicted.forms, words)
    if not alike.all():
        word = int(np.argmin(alike))
        sentence = int(np.searchsorted(gold.offsets, word, side="right")) - 1
        place = word - int(gold.offsets[sentence]) + 1
        one, other = (t.forms.names[t.forms.ids[word]] for t in (gold, predicted))
        raise InputError(
            f"{_name(gold, sentence)}: word {place} is {one!r} in gold, {other!r} in predicted"
        )
    if first < shared:
        raise InputError(
            f"{_name(gold, first)}: {sizes[first]} words in gold, {others[first]} in predicted"
        )
    if len(gold) != len(predicted):
        longer, which = (gold, "predicted") if len(gold) > shared else (predicted, "gold")
        raise InputError(
            f"{_name(longer, shared)}: not in {which}; "
            f"gold has {len(gold)} sentences, predicted {len(predicted)}"
        )


def _same_forms(gold: Column, predicted: Column, words: int) -> Mask:
    return same(gold._replace(ids=gold.ids[:words]), predicted._replace(ids=predicted.ids[:words]))


def _name(treebank: Treebank, sentence: int) -> str:
    known = treebank[sentence].sent_id
    return f"sentence {sentence + 1} ({known})" if known else f"sentence {sentence + 1}"


def _tags(gold: Treebank, predicted: Treebank) -> tuple[Column, Column]:
    """Both tag columns: the one gold is read by, from either side."""
    guess: Column = getattr(predicted, gold.tag_column)
    return gold.tags, guess


def _score_tags(
    gold: Treebank, predicted: Treebank, training_forms: Collection[str] | None
) -> Tagging | None:
    tags, guess = _tags(gold, predicted)
    if not (tags.known and guess.known):
        return None
    known = None
    if training_forms is not None:
        seen = frozenset(training_forms)
        known = np.array([form in seen for form in gold.forms.names], dtype=bool)[gold.forms.ids]
    return score_tags(tags, guess, gold.offsets, known=known)


def _score_heads(gold: Treebank, predicted: Treebank) -> Attachment | None:
    if not ((gold.heads >= 0).any() and (predicted.heads >= 0).any()):
        return None
    labelled = gold.labels.known and predicted.labels.known
    return score_attachment(
        gold.heads,
        predicted.heads,
        gold.offsets,
        gold_labels=gold.labels if labelled else None,
        predicted_labels=predicted.labels if labelled else None,
        punctuation=punctuation(gold),
        tags=gold.tags,
    )


def _calibrate(predicted: Treebank, key: str, scored: Mask, right: Mask) -> Calibration | None:
    """Judge the probabilities stated in MISC, if any are."""
    stated = misc_numbers(predicted.misc, key)
    usable = scored & (stated >= 0) & (stated <= 1)
    return calibrate(stated[usable], right[usable]) if usable.any() else None
