"""`syntagma render`: a page of pictures from a tagged or parsed file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from syntagma.cli.common import Format, Json, Stopwatch, Tags, emit, free_stdout, read


def render(
    parses: Annotated[str, typer.Argument(help="A tagged or parsed file.", metavar="PARSES")],
    output: Annotated[str | None, typer.Option("--output", "-o", help="The page.")] = None,
    gold: Annotated[
        str | None, typer.Option("--gold", help="The right analyses: errors are highlighted.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Show the first so many sentences; 0: all.")
    ] = 0,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    json: Json = False,
) -> None:
    """Draw trees and tags, with their probabilities and errors, as one page that works offline."""
    watch = Stopwatch()
    target = free_stdout(output, json)
    treebank = read(parses, tags, format)
    right = read(gold, tags or treebank.tag_column, format) if gold else None

    from syntagma.corpora.files import atomic_write
    from syntagma.reports.page import render_treebank

    page = render_treebank(treebank, gold=right, title=title or parses, limit=limit or None)
    with atomic_write(target) as file:
        file.write(page.encode())
    summary: dict[str, Any] = {
        "output": target,
        "sentences": min(len(treebank), limit or len(treebank)),
        "words": treebank.words,
        "seconds": watch.seconds,
    }
    if json or target != "-":
        emit(summary, json, lambda: f"drew {summary['sentences']:,} sentences in {target}")
