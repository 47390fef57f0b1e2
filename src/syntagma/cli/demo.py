"""`syntagma demo`: the main job on generated corpora with known truth."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from syntagma.cli.common import Jobs, Json, Seed, Stopwatch, emit, progress_bar, use_threads
from syntagma.errors import OutputError


def demo(
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the report as a page that works offline."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn from generated English whose truth is known, and report how well it went.

    Nothing needs to be downloaded. The first run compiles the kernels, which later runs reuse.
    """
    watch = Stopwatch()
    use_threads(jobs)
    if output:
        _make_directory(output)

    from syntagma.corpora.files import atomic_write
    from syntagma.evaluation import evaluate
    from syntagma.experiments.demonstration import DEMONSTRATIONS
    from syntagma.reports import evaluation_summary, render_evaluation

    results: dict[str, Any] = {}
    for name, run in DEMONSTRATIONS.items():
        with progress_bar(name, quiet=json) as progress:
            shown = run(seed, progress)
        scored = evaluate(shown.gold, shown.predicted, training_forms=shown.training_forms)
        figures = scored.summary()
        results[name] = {
            key: figures[key]
            for key in ("accuracy", "accuracy_known", "accuracy_unknown", "words", "sentences")
        }
        results[name]["interval"] = figures["intervals"]["accuracy"]
        results[name]["learning_curve"] = [
            list(point)
            for line in shown.curves[0]["series"]
            for point in zip(line["x"], line["y"], strict=True)
        ]
        if output:
            page = render_evaluation(
                evaluation_summary(
                    shown.gold,
                    shown.predicted,
                    evaluation=scored,
                    title=shown.title,
                    model=shown.model,
                    curves=shown.curves,
                )
            )
            with atomic_write(output) as file:
                file.write(page.encode())
    summary = {**results, "report": output, "seconds": watch.seconds}
    emit(summary, json, lambda: _told(summary))


def _make_directory(output: str) -> None:
    directory = os.path.dirname(os.path.abspath(output))
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory}: {error.strerror}") from None


def _told(summary: dict[str, Any]) -> str:
    tagger = summary["tagger"]
    lines = ["A tagger learns generated English; accuracy on 400 unseen sentences:", ""]
    for size, accuracy in tagger["learning_curve"]:
        lines.append(
            f"  {size:>4} training sentences  {accuracy:6.2f} %  {'#' * round(accuracy / 2)}"
        )
    low, high = tagger["interval"]["low"], tagger["interval"]["high"]
    lines += [
        "",
        f"  known words {tagger['accuracy_known']:.2f} %, unknown words "
        f"{tagger['accuracy_unknown']:.2f} %; 95% interval of all [{low:.2f}, {high:.2f}]",
        "",
    ]
    if summary["report"]:
        lines.append(f"Open {summary['report']} in a browser for the errors and the charts.")
    lines.append(f"{summary['seconds']:.1f} s")
    return "\n".join(lines)
