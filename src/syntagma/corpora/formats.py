"""Read and write treebanks in any format, chosen by the file's ending."""

from __future__ import annotations

from collections.abc import Callable

from syntagma.corpora.conllu import parse_conllu, parse_conllx, parse_tsv
from syntagma.corpora.files import STANDARD, AnyPath, atomic_write, ending, read_bytes
from syntagma.corpora.treebank import Treebank, check_tag_column
from syntagma.errors import InputError

READERS: dict[str, Callable[[bytes, AnyPath | None, str | None], Treebank]] = {
    "conllu": parse_conllu,
    "conllx": parse_conllx,
    "tsv": parse_tsv,
}
ENDINGS = {
    ".conllu": "conllu",
    ".conll": "conllu",
    ".conllx": "conllx",
    ".tsv": "tsv",
    ".dp": "tsv",
}


def read_treebank(path: AnyPath, *, tags: str | None = None, format: str | None = None) -> Treebank:
    """Read a treebank; its format is told by the ending, before that of the compression.

    Parameters
    ----------
    path
        The file; ``-`` is the standard input.
    tags
        The tag column, "upos" or "xpos"; by default upos unless only xpos is set.
    format
        One of conllu, conllx, tsv, where the ending does not tell.
    """
    if tags is not None:
        check_tag_column(tags)
    raw = read_bytes(path)
    return READERS[_format(path, format)](raw, path, tags)


def write_treebank(treebank: Treebank, path: AnyPath) -> None:
    """Write a treebank as it was read, with whatever was replaced; ``-`` is the standard output."""
    with atomic_write(path) as stream:
        stream.write(treebank.written.mark + treebank.written.text)


def _format(path: AnyPath, format: str | None) -> str:
    if format is not None:
        if format not in READERS:
            raise InputError(f"format: expected one of {', '.join(READERS)}, found {format!r}")
        return format
    found = ENDINGS.get(ending(path))
    if found is None and path != STANDARD:
        known = ", ".join(ENDINGS)
        raise InputError(
            f"expected an ending that tells the format ({known}) or format=", path=path
        )
    return found or "conllu"
