"""`syntagma train MODEL`: what the trainings of all models share."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from syntagma.cli.common import read
from syntagma.errors import InputError, OutputError

if TYPE_CHECKING:
    from syntagma.corpora.treebank import Treebank
    from syntagma.models.eigenwords import Eigenwords

app = typer.Typer(help="Learn a model from treebanks and save it.")

Train = Annotated[list[str], typer.Argument(help="Training files.", metavar="TRAIN")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where the model is saved.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Use the first so many sentences; 0: all.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from the checkpoint of a stopped training.")
]
CheckpointEvery = Annotated[
    float, typer.Option("--checkpoint-every", min=0, help="Seconds between checkpoints.")
]


@app.callback()
def models() -> None:
    """Learn a model from treebanks and save it."""


@contextmanager
def checkpointed(output: str, resume: bool) -> Iterator[str]:
    """Name the checkpoint beside a model; it goes once the model has been written.

    An interruption tells whether the training can be taken up.
    """
    checkpoint = f"{output}.checkpoint"
    began = time.time()
    try:
        yield checkpoint
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_go_on(checkpoint, began, resume)) from None
    if os.path.exists(checkpoint):
        os.remove(checkpoint)


def _how_to_go_on(checkpoint: str, began: float, resumed: bool) -> str:
    """Tell whether an interrupted training can be taken up: a checkpoint of its own is there."""
    if os.path.exists(checkpoint) and (resumed or os.path.getmtime(checkpoint) >= began):
        return f"--resume goes on from {checkpoint}"
    return "nothing was half written; there is no checkpoint yet to go on from"


def check_directory(output: str) -> None:
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


def read_all(paths: list[str], tags: str | None, format: str | None) -> list[Treebank]:
    """Read training files; the tag column of the first is that of all."""
    first = read(paths[0], tags, format)
    return [first, *(read(path, tags or first.tag_column, format) for path in paths[1:])]


def join(treebanks: list[Treebank], limit: int) -> Treebank:
    """Make one treebank of training files, or of their first sentences."""
    from syntagma.corpora.edits import concatenate

    treebank = concatenate(treebanks)
    return treebank[:limit] if limit else treebank


def require_tags(treebank: Treebank, path: str) -> None:
    """Refuse a file without tags."""
    if not treebank.tags.known:
        column = treebank.tag_column
        raise InputError(f"expected tags in the {column} column, found none", path=path)


def require_heads(treebank: Treebank, path: str) -> None:
    """Refuse a file without heads."""
    if not (treebank.heads >= 0).any():
        raise InputError("expected sentences with heads, found none", path=path)


def read_embedding(path: str) -> Eigenwords:
    """Read word vectors: a saved model, or a word2vec text by its ending."""
    from syntagma.corpora.files import ending
    from syntagma.models.eigenwords import Eigenwords

    if ending(path) in (".txt", ".vec"):
        return Eigenwords.from_word2vec(path)
    return Eigenwords.load(path)
