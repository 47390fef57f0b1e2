"""Scores of predictions against gold, with intervals."""

from syntagma.evaluation.attachment import Attachment, score_attachment
from syntagma.evaluation.calibration import Calibration, calibrate
from syntagma.evaluation.comparison import Evaluation, evaluate
from syntagma.evaluation.counting import Ratio
from syntagma.evaluation.punctuation import punctuation
from syntagma.evaluation.significance import (
    Difference,
    Interval,
    bootstrap_difference,
    bootstrap_intervals,
    compare,
)
from syntagma.evaluation.tagging import Tagging, score_tags

__all__ = [
    "Attachment",
    "Calibration",
    "Difference",
    "Evaluation",
    "Interval",
    "Ratio",
    "Tagging",
    "bootstrap_difference",
    "bootstrap_intervals",
    "calibrate",
    "compare",
    "evaluate",
    "punctuation",
    "score_attachment",
    "score_tags",
]
