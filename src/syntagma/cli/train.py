"""`syntagma train MODEL`: learn a model from treebanks and save it."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syntagma.cli.common import (
    Format,
    Jobs,
    Json,
    Seed,
    Stopwatch,
    Tags,
    emit,
    figures,
    help_text,
    progress_bar,
    read,
    use_threads,
)
from syntagma.errors import InputError, OutputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank

app = typer.Typer(help="Learn a model from treebanks and save it.")


@app.callback()
def models() -> None:
    """Learn a model from treebanks and save it."""


def tagger(
    train: Annotated[list[str], typer.Argument(help="Training files.", metavar="TRAIN")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the model is saved.")],
    dev: Annotated[
        str | None, typer.Option("--dev", help="Scored during training; it steers nothing.")
    ] = None,
    tags: Tags = None,
    format: Format = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Use the first so many sentences; 0: all.")
    ] = 0,
    order: Annotated[
        int, typer.Option("--order", min=1, max=2, help="Tags before that a tag depends on.")
    ] = 1,
    l2: Annotated[float, typer.Option("--l2", min=0, help="Strength of the penalty.")] = 0.5,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", help="Feature templates with commas between: word,suffix3,lower[-1]|lower"
        ),
    ] = None,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="Drop attributes seen less often.")
    ] = 1,
    unseen_pairs: Annotated[
        int,
        typer.Option(
            "--unseen-pairs",
            min=0,
            help="Attributes seen so often get weights for all tags, seen with or not; 0: none do.",
        ),
    ] = 10,
    iterations: Annotated[
        int, typer.Option("--iterations", min=0, help="At most so many steps.")
    ] = 150,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Stop when ten steps gain less.")
    ] = 1e-4,
    decode: Annotated[
        str, typer.Option("--decode", help="posterior (best tags) or viterbi (best sequence).")
    ] = "posterior",
    restrict: Annotated[
        int,
        typer.Option(
            "--restrict", min=0, help="Words seen so often keep to their tags; 0: none do."
        ),
    ] = 0,
    dictionary: Annotated[
        str | None,
        typer.Option("--dictionary", help="Possible tags of words: word TAB tag[,tag...] a line."),
    ] = None,
    warm_start: Annotated[
        str | None, typer.Option("--warm-start", help="Start from the weights of this tagger.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint of a stopped training.")
    ] = False,
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", min=0, help="Seconds between checkpoints.")
    ] = 10.0,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
) -> None:
    """Learn a part-of-speech tagger (a conditional random field).

    Words tagged _ are summed out, so partly annotated text is welcome. While it runs the state is
    kept in FILE.checkpoint; --resume goes on from there to the identical model.
    """
    watch = Stopwatch()
    use_threads(jobs)
    _check_directory(output)
    treebank = _read_all(train, tags, format, limit)
    held_out = read(dev, tags or treebank.tag_column, format) if dev else None

    from syntagma.corpora.dictionary import read_dictionary
    from syntagma.models.tagger import Tagger

    given: dict[str, Any] = {} if features is None else {"features": tuple(features.split(","))}
    model = Tagger(
        order=order,
        l2=l2,
        min_count=min_count,
        unseen_pairs=unseen_pairs,
        iterations=iterations,
        tolerance=tolerance,
        decode=decode,
        restrict=restrict,
        **given,
    )
    checkpoint = f"{output}.checkpoint"
    began = time.time()
    try:
        with progress_bar("training", quiet=json) as progress:
            model.fit(
                treebank,
                dictionary=read_dictionary(dictionary) if dictionary else None,
                dev=held_out,
                start_from=Tagger.load(warm_start) if warm_start else None,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(checkpoint, began, resume)) from None
    model.save(output)
    if os.path.exists(checkpoint):
        os.remove(checkpoint)
    summary = {"model": output, **model.summary_}
    if held_out is not None:
        summary["dev"] = {"accuracy": model.score(held_out), "words": held_out.words}
    summary["seconds"] = watch.seconds
    emit(summary, json, lambda: _told(summary))


app.command("tagger", help=help_text(tagger))(tagger)


def _told(summary: dict[str, Any]) -> str:
    shown = {k: v for k, v in summary.items() if k not in ("dev", "learning_curve")}
    if "dev" in summary:
        shown["dev accuracy"] = summary["dev"]["accuracy"]
    return figures(shown)


def _how_to_go_on(checkpoint: str, began: float, resumed: bool) -> str:
    """Tell whether an interrupted training can be taken up: a checkpoint of its own is there."""
    if os.path.exists(checkpoint) and (resumed or os.path.getmtime(checkpoint) >= began):
        return f"--resume goes on from {checkpoint}"
    return "nothing was half written; there is no checkpoint yet to go on from"


def _check_directory(output: str) -> None:
    """Refuse an output that cannot be written before hours are spent on it."""
    directory = os.path.dirname(os.path.abspath(output))
    if output == "-":
        raise InputError("-o: a model needs a file of its own, not stdout")
    if not os.path.isdir(directory):
        raise InputError("expected a directory to write the model in", path=directory)
    if os.path.isdir(output):
        raise InputError("expected a file to write the model to, found a directory", path=output)
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(f"{output}: {error.strerror}") from None


def _read_all(paths: list[str], tags: str | None, format: str | None, limit: int) -> Treebank:
    from syntagma.corpora.edits import concatenate

    first = read(paths[0], tags, format)
    rest = [read(path, tags or first.tag_column, format) for path in paths[1:]]
    treebank = concatenate([first, *rest])
    if not treebank.tags.known:
        column = treebank.tag_column
        raise InputError(f"expected tags in the {column} column, found none", path=paths[0])
    return treebank[:limit] if limit else treebank
