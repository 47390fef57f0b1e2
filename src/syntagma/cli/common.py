"""What commands share: their common options, JSON output and progress on a terminal."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.errors import InputError, OutputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Threads to use; 0: all cores.")]
Tags = Annotated[
    str | None,
    typer.Option("--tags", help="Tag column: upos or xpos.  [default: upos if there, else xpos]"),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Input format, where the file's ending does not tell: conllu, conllx, "
        "tsv, text or brackets.",
    ),
]
Progress = Callable[[int, int, float], None]


def help_text(command: Callable[..., Any]) -> str:
    """Return the docstring of a command with each paragraph on one line, to be wrapped anew."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def use_threads(jobs: int) -> None:
    """Let the kernels use so many threads; 0 means all cores."""
    import numba

    if jobs:
        numba.set_num_threads(min(jobs, numba.get_num_threads()))


def read(path: str, tags: str | None, format: str | None) -> Treebank:
    """Read a treebank for a command."""
    from syntagma.corpora import read_treebank

    return read_treebank(path, tags=tags, format=format)


@contextmanager
def blaming(path: str) -> Iterator[None]:
    """Name the file that an error is about, where what raised it did not know."""
    try:
        yield
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(error.message, path=path) from error


def warn(text: str) -> None:
    """Say something on stderr that does not stop the command."""
    print(f"syntagma: {text}", file=sys.stderr, flush=True)


def emit(summary: dict[str, Any], as_json: bool, text: Callable[[], str]) -> None:
    """Print one JSON object, or the same for people."""
    with standard_output():
        print(json.dumps(_finite(summary), allow_nan=False) if as_json else text(), flush=True)


@contextmanager
def standard_output() -> Iterator[None]:
    """Name what cannot be written to; a reader that went away is left to the caller."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from None


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot write by null."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def free_stdout(output: str | None, as_json: bool) -> str:
    """Return where the result goes; with --json it must not be stdout."""
    if as_json and output in (None, "-"):
        raise InputError("--json prints on stdout: give the result a file with -o")
    return output or "-"


def figures(pairs: dict[str, Any]) -> str:
    """Lay out names and values in two columns."""
    width = max(map(len, pairs), default=0)
    return "\n".join(f"{name:<{width}}  {_readable(value)}" for name, value in pairs.items())


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


class Stopwatch:
    """Seconds since it was made.

    >>> Stopwatch().seconds < 1
    True
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far, to the millisecond."""
        return round(time.perf_counter() - self._start, 3)


@contextmanager
def progress_bar(task: str, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on stderr while a training runs, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total, value: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[value]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(task, total=None, value="")

        def show(done: int, total: int, value: float) -> None:
            progress.update(bar, completed=done, total=total, value=f"{value:,.1f}")

        yield show
