"""`syntagma demo`: the main job on generated corpora with known truth."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.cli.common import Jobs, Json, Seed, Stopwatch, emit, progress_bar, use_threads
from syntagma.errors import InputError, OutputError

if TYPE_CHECKING:
    from syntagma.evaluation import Evaluation
    from syntagma.experiments.demonstration import Demonstration

# what a model is judged by: its headline figure, and those told beside it
SHOWN = {
    "accuracy": ("accuracy", "accuracy_known", "accuracy_unknown", "words", "sentences"),
    "uas": ("uas", "las", "complete", "words", "sentences"),
}
NAMES = {
    "accuracy": "accuracy",
    "accuracy_known": "known words",
    "accuracy_unknown": "unknown words",
    "uas": "words with the right head",
    "las": "with the right label too",
    "complete": "trees without a wrong head",
}


def demo(
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the report here, and more pages beside it; they work offline.",
        ),
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
    if output == "-":
        raise InputError("-o: the report has several pages and needs a file of its own, not stdout")
    if output:
        _make_directory(output)

    from syntagma.evaluation import evaluate
    from syntagma.experiments.demonstration import DEMONSTRATIONS, PREPARED

    results: dict[str, Any] = {}
    told: list[str] = []
    pages: dict[str, tuple[Demonstration, Evaluation]] = {}
    with _compiling(jobs) as compiled:
        for name, run in DEMONSTRATIONS.items():
            if name in PREPARED:
                compiled()
            with progress_bar(name, quiet=json) as progress:
                shown = run(seed, progress)
            scored = evaluate(shown.gold, shown.predicted, training_forms=shown.training_forms)
            results[name] = _figures(shown, scored)
            told.append(_told(shown, results[name]))
            if output:
                page = results[name]["report"] = _page_name(output, name, first=not pages)
                pages[page] = shown, scored
    _write(pages)
    summary = {**results, "report": output, "seconds": watch.seconds}
    if output:
        told.append(f"Open {output} in a browser for the errors and the charts.")
    told.append(f"{summary['seconds']:.1f} s")
    emit(summary, json, lambda: "\n".join(told))


@contextmanager
def _compiling(jobs: int) -> Iterator[Callable[[], Any]]:
    """While the first models learn, compile for others in a process beside; yield the wait.

    numba compiles on one core, which is most of the first demonstration's time.
    """
    if jobs == 1 or (os.cpu_count() or 1) == 1:
        yield lambda: None
        return
    work = "from syntagma.experiments.demonstration import prepare; prepare()"
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, "-c", work], stdin=nowhere, stdout=nowhere, stderr=nowhere
    ) as process:
        try:
            yield process.wait
        finally:
            process.kill()


def _figures(shown: Demonstration, scored: Evaluation) -> dict[str, Any]:
    """Pick the figures that a model of this kind is judged by."""
    figures = scored.summary()
    found = {key: figures[key] for key in SHOWN[shown.headline] if figures.get(key) is not None}
    found["interval"] = figures["intervals"][shown.headline]
    found["learning_curve"] = [
        list(point)
        for line in shown.curves[0]["series"][:1]
        for point in zip(line["x"], line["y"], strict=True)
    ]
    return found


def _page_name(output: str, name: str, first: bool) -> str:
    """Name the page of a model: the first has the name given, the others stand beside it.

    >>> _page_name("out/demo.html", "mst", first=False)
    'out/demo-mst.html'
    """
    if first:
        return output
    directory, file = os.path.split(output)
    stem, dot, ending = file.partition(".")
    return os.path.join(directory, f"{stem}-{name}{dot}{ending}")


def _write(pages: dict[str, tuple[Demonstration, Evaluation]]) -> None:
    """Write the report pages, each with links to the others."""
    from syntagma.corpora.files import atomic_write
    from syntagma.reports import evaluation_summary, render_evaluation

    links = [
        {"title": shown.title, "page": os.path.basename(page)} for page, (shown, _) in pages.items()
    ]
    for page, (shown, scored) in pages.items():
        report = evaluation_summary(
            shown.gold,
            shown.predicted,
            evaluation=scored,
            title=shown.title,
            model=shown.model,
            curves=shown.curves,
        )
        report["pages"] = [link for link in links if link["title"] != shown.title]
        with atomic_write(page) as file:
            file.write(render_evaluation(report).encode())


def _make_directory(output: str) -> None:
    directory = os.path.dirname(os.path.abspath(output))
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory}: {error.strerror}") from None


def _told(shown: Demonstration, found: dict[str, Any]) -> str:
    """Tell how one model learnt, as lines of a bar chart, and its scores."""
    lines = [f"{shown.title} {shown.does}; {NAMES[shown.headline]} on unseen sentences:", ""]
    for size, score in found["learning_curve"]:
        lines.append(f"  {size:>4} training sentences  {score:6.2f} %  {'#' * round(score / 2)}")
    low, high = found["interval"]["low"], found["interval"]["high"]
    others = ", ".join(
        f"{NAMES[key]} {found[key]:.2f} %"
        for key in found
        if key in NAMES and key != shown.headline
    )
    lines += ["", f"  {others}", f"  95% interval of the last [{low:.2f}, {high:.2f}]", ""]
    return "\n".join(lines)
