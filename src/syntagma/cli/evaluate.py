"""`syntagma evaluate`: compare predictions with gold."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Json,
    Seed,
    Stopwatch,
    Tags,
    blaming,
    emit,
    figures,
    read,
)


def evaluate(
    gold: Annotated[str, typer.Argument(help="The right analyses.", metavar="GOLD")],
    predicted: Annotated[str, typer.Argument(help="The same text, analysed.", metavar="PREDICTED")],
    tags: Tags = None,
    format: Format = None,
    max_length: Annotated[
        int, typer.Option("--max-length", min=0, help="Score only sentences up to so long; 0: all.")
    ] = 0,
    train: Annotated[
        str | None, typer.Option("--train", help="Training file: tells known from unknown words.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Another system's output to compare with.")
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Resamples behind the intervals; 0: none.")
    ] = 1000,
    report: Annotated[
        str | None, typer.Option("--report", help="Write an HTML report with errors and charts.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Score tags and trees against gold, with 95% intervals.

    Reports tagging accuracy where both files have tags, and UAS, LAS and complete trees where both
    have heads.
    """
    watch = Stopwatch()
    right = read(gold, tags, format)
    guess = read(predicted, tags or right.tag_column, format)

    from syntagma.evaluation import compare
    from syntagma.evaluation import evaluate as score

    seen = set(read(train, None, format).forms.used().names) if train else None
    options: dict[str, Any] = {
        "max_length": max_length or None,
        "seed": seed,
        "training_forms": seen,
    }
    with blaming(predicted):
        evaluation = score(right, guess, bootstrap=bootstrap, **options)
    summary = evaluation.summary()
    if baseline:
        rival = read(baseline, right.tag_column, format)
        with blaming(baseline):
            other = score(right, rival, bootstrap=0, **options)
        differences = compare(
            evaluation.ratios(), other.ratios(), samples=max(bootstrap, 1), seed=seed
        )
        summary["against_baseline"] = {k: d.summary() for k, d in differences.items()}
    if report:
        from syntagma.corpora.files import atomic_write
        from syntagma.reports.page import evaluation_summary, render_evaluation

        page = render_evaluation(
            evaluation_summary(
                right,
                guess,
                evaluation=evaluation,
                title=f"Evaluation of {os.path.basename(predicted)}",
            )
        )
        with atomic_write(report) as file:
            file.write(page.encode())
        summary["report"] = report
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


def _told(summary: dict[str, Any]) -> str:
    """Lay the scores out, each with its interval and its difference from the baseline."""
    lines: dict[str, Any] = {}
    for name, value in summary.items():
        if isinstance(value, dict | list) or value is None:
            continue
        text = (
            f"{value:,.2f}"
            if isinstance(value, float)
            else f"{value:,}"
            if isinstance(value, int)
            else value
        )
        interval = summary["intervals"].get(name)
        if interval:
            text += f"  [{interval['low']:.2f}, {interval['high']:.2f}]"
        change = summary.get("against_baseline", {}).get(name)
        if change:
            text += (
                f"  {change['value']:+.2f} [{change['low']:+.2f}, {change['high']:+.2f}]"
                f" against the baseline (p = {change['p_value']:.3f})"
            )
        lines[name] = text
    return figures(lines)
