"""`syntagma reproduce PAPER`: the tables of a paper, its figures beside ours."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from syntagma.cli.common import Jobs, Json, Stopwatch, emit, read, use_threads
from syntagma.errors import InputError

PAPERS = ("mst", "dhillon2012")


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(PAPERS)}.", metavar="PAPER")],
    data: Annotated[
        str | None,
        typer.Option("--data", help="Directory of the treebanks.  [default: SYNTAGMA_DATA]"),
    ] = None,
    part: Annotated[
        list[str] | None, typer.Option("--part", help="Only this part of the tables.")
    ] = None,
    train: Annotated[
        str | None, typer.Option("--train", help="A treebank of your own to learn from.")
    ] = None,
    dev: Annotated[str | None, typer.Option("--dev", help="And one to be scored on.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each row.")] = 3,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Make the tables of a paper again: means over several runs, and their extremes.

    mst: the graph-based parser, beside MSTParser and UDPipe. Its parts are wsj, ewt, languages,
    nbest and certainty.

    dhillon2012: latent trees and re-ranking. Its parts are wsj, ewt, parser and samples (which
    needs no data).
    """
    watch = Stopwatch()
    use_threads(jobs)
    if paper not in PAPERS:
        raise InputError(f"expected one of the papers {', '.join(PAPERS)}, found {paper!r}")
    if (train is None) != (dev is None):
        raise InputError("--train and --dev go together")
    folder = data or os.environ.get("SYNTAGMA_DATA")
    if train is None and folder is None and part != ["samples"]:
        raise InputError("expected --data, or --train and --dev")
    if train is None and folder is not None and not os.path.isdir(folder):
        raise InputError("expected a directory of treebanks", path=folder)

    made = import_module(f"syntagma.experiments.{paper}")
    unknown = set(part or ()) - set(made.PARTS)
    if unknown:
        raise InputError(
            f"--part: expected one of {', '.join(made.PARTS)}, found {', '.join(sorted(unknown))}"
        )
    rows = made.table(
        Path(folder) if folder else None,
        part or list(made.PARTS),
        seeds,
        read(train, None, None) if train else None,
        read(dev, None, None) if dev else None,
        said=_say,
    )
    shown: list[dict[str, Any]] = []
    for row in rows:
        shown.append(row.summary())
        if not json:
            print(_line(shown[-1]), flush=True)
    summary = {"paper": paper, "rows": shown, "seeds": seeds, "seconds": watch.seconds}
    emit(summary, json, lambda: f"{watch.seconds:,.1f} s")


def _say(part: str) -> None:
    if sys.stderr.isatty():
        print(f"{part} ...", file=sys.stderr)


def _line(row: dict[str, Any]) -> str:
    told = "" if row["paper"] is None else f"  ({row['paper']:.2f})"
    spread = f"[{row['low']:.2f}, {row['high']:.2f}]" if row["low"] != row["high"] else ""
    return (
        f"{row['setting']:<34} {row['system']:<24} {row['metric']:<34} "
        f"{row['ours']:6.2f} {spread:<16}{told}"
    ).rstrip()
