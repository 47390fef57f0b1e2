"""Reports as one HTML file each: no network, light and dark, for keyboard, screen and paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import syntagma
from syntagma.evaluation.comparison import check_same_text
from syntagma.reports.axes import figure
from syntagma.reports.charts import Series, line_chart, reliability_chart
from syntagma.reports.confusion import confusion_chart
from syntagma.reports.drawing import Picture, clean, style
from syntagma.reports.sentences import Drawn
from syntagma.reports.summary import evaluation_summary, sentence_rows
from syntagma.reports.tags import draw_tags
from syntagma.reports.trees import draw_tree

if TYPE_CHECKING:
    from jinja2 import Environment

    from syntagma.corpora.treebank import Treebank

__all__ = ["evaluation_summary", "render_evaluation", "render_treebank"]

FIGURES = {
    "accuracy": ("Tagging accuracy", "words tagged right"),
    "accuracy_known": ("Known words", "tagged right, form seen in training"),
    "accuracy_unknown": ("Unknown words", "tagged right, form not seen in training"),
    "exact": ("Exact sentences", "every tag right"),
    "uas": ("UAS", "words with the right head"),
    "las": ("LAS", "right head and label"),
    "uas_no_punct": ("UAS without punctuation", "words with the right head"),
    "las_no_punct": ("LAS without punctuation", "right head and label"),
    "complete": ("Complete trees", "every head right"),
    "complete_no_punct": ("Complete without punctuation", "every head right"),
    "precision": ("Precision", "predicted brackets that are right"),
    "recall": ("Recall", "gold brackets found"),
    "f1": ("F1", "of precision and recall"),
}
BREAKDOWNS = {
    "by_length": "By sentence length",
    "by_arc_length": "By arc length",
    "by_tag": "By tag of the word",
}
LONGEST = 500  # words of a sentence whose tree is drawn
MOST_ROWS = 20  # of a table
EAGER = 100  # sentences in the page at once; the others are unfolded as the reader comes near


def render_evaluation(summary: Mapping[str, Any]) -> str:
    """Render the summary of `evaluation_summary` as a page."""
    scores = summary["scores"]
    figures = [
        {
            "name": name,
            "note": note,
            "value": scores[key],
            **scores.get("intervals", {}).get(key, {}),
        }
        for key, (name, note) in FIGURES.items()
        if scores.get(key) is not None
    ]
    return (
        _environment()
        .get_template("evaluation.html")
        .render(
            summary=summary,
            scores=scores,
            figures=figures,
            breakdowns=[_breakdown(t, scores[k]) for k, t in BREAKDOWNS.items() if scores.get(k)],
            confusion=_confusion(summary.get("confusion")),
            calibration={
                kind: {"chart": _reliability(kind, part), **part}
                for kind, part in scores.get("calibration", {}).items()
            },
            curves=[_curve(curve) for curve in summary.get("curves", [])],
            worst=[_shown(row) for row in summary.get("worst", [])],
        )
    )


def render_treebank(
    treebank: Treebank,
    *,
    gold: Treebank | None = None,
    title: str = "Parses",
    limit: int | None = None,
) -> str:
    """Render the sentences of a treebank as a page of trees, or of tags where there are no heads.

    Probabilities are read from MISC (``HeadProb``, ``TagProb``); errors show where ``gold`` is
    given; ``limit`` keeps the first sentences only.
    """
    if gold is not None:
        check_same_text(gold, treebank)
    count = len(treebank) if limit is None else max(0, min(limit, len(treebank)))
    sentences = [_shown(row) for row in sentence_rows(treebank, range(count), gold=gold)]
    return (
        _environment()
        .get_template("treebank.html")
        .render(
            title=title,
            version=syntagma.__version__,
            words=treebank.words,
            sentences=sentences[:EAGER],
            folded=[sentences[i : i + EAGER] for i in range(EAGER, count, EAGER)],
            shown=count,
            total=len(treebank),
            compared=gold is not None,
            wrong=sum(bool(sentence["wrong"]) for sentence in sentences),
        )
    )


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Draw one sentence of the summary: its tree, else its tags.

    A tree of very many words could not be read and would be slow to lay out.
    """
    sentence = _drawn(row)
    gold = _drawn(row["gold"]) if "gold" in row else None
    stated = row["probability"]
    picture: Picture | None = None
    parsed = any(head >= 0 for head in sentence.heads)
    tree = parsed and len(sentence.forms) <= LONGEST
    if tree:
        picture = draw_tree(sentence, gold=gold, confidence=stated.get("heads"))
    elif any(tag != "_" for tag in sentence.tags):
        picture = draw_tags(sentence, gold=gold, confidence=stated.get("tags"))
    errors = row.get("errors", {})
    wrong = [_plural(count, f"wrong {kind[:-1]}") for kind, count in errors.items() if count]
    return {
        **row,
        "tree": tree,
        "too_long": parsed and not tree,
        "picture": picture,
        "wrong": ", ".join(wrong),
    }


def _drawn(row: Mapping[str, Any]) -> Drawn:
    return Drawn(row["forms"], row["tags"], row["heads"], row["labels"])


def _curve(curve: Mapping[str, Any]) -> Picture:
    series = [Series(**line) for line in curve["series"]]
    return line_chart(series, **{k: v for k, v in curve.items() if k != "series"})


def _breakdown(title: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(list(rows.items())[:MOST_ROWS])
    remark = f" (the {MOST_ROWS} most frequent)" if len(rows) > MOST_ROWS else ""
    return {"title": title + remark, "rows": kept}


def _reliability(kind: str, part: Mapping[str, Any]) -> Picture:
    return reliability_chart(part["equal_width"], title=f"Reliability of {kind}")


def _confusion(table: Mapping[str, Any] | None) -> Picture | None:
    if table is None or len(table["labels"]) < 2:
        return None
    return confusion_chart(table["labels"], table["counts"], title="Confusion of tags")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _readable(value: Any) -> str:
    """Write a value of the model card for people."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return figure(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_readable(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_readable, value))
    return str(value)


def _escaped(value: Any) -> Any:
    """Let pictures pass as they are; everything else is text, cleaned and then escaped."""
    from markupsafe import Markup

    if isinstance(value, Picture):
        return Markup(value)
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value)
    return value


def _stylesheet(*names: str) -> Any:
    from markupsafe import Markup

    return Markup(style(*names))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("syntagma.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escaped,
    )
    environment.globals["style"] = _stylesheet
    environment.filters |= {"plural": _plural, "readable": _readable}
    return environment
