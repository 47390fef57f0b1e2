"""Read and write treebanks in any format, chosen by the file's ending."""

from __future__ import annotations

import io
from collections.abc import Callable
from os import fspath

from syntagma.corpora.brackets import parse_brackets
from syntagma.corpora.conllu import parse_conllu, parse_conllx, parse_tsv
from syntagma.corpora.files import STANDARD, AnyPath, atomic_write, ending, read_bytes
from syntagma.corpora.lines import MARK
from syntagma.corpora.text import parse_text, plain_text
from syntagma.corpora.treebank import Treebank, check_tag_column, written_columns
from syntagma.corpora.written import CONLLU, CONLLX, compose, tabbed
from syntagma.errors import InputError, OutputError

READERS: dict[str, Callable[[bytes, AnyPath | None, str | None], Treebank]] = {
    "conllu": parse_conllu,
    "conllx": parse_conllx,
    "tsv": parse_tsv,
    "brackets": parse_brackets,
    "text": parse_text,
}
ENDINGS = {
    ".conllu": "conllu",
    ".conllx": "conllx",
    ".tsv": "tsv",
    ".dp": "tsv",
    ".mrg": "brackets",
    ".psd": "brackets",
    ".penn": "brackets",
    ".brackets": "brackets",
    ".txt": "text",
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
        One of conllu, conllx, tsv, brackets, text; told by the content where neither this nor the
        ending says it.
    """
    if tags is not None:
        check_tag_column(tags)
    if format is None:
        format = ENDINGS.get(ending(path))
    else:
        _check_format(format)
    raw = read_bytes(path)
    return READERS[format or _guess(raw, path)](raw, path, tags)


def write_treebank(treebank: Treebank, path: AnyPath, *, format: str | None = None) -> None:
    """Write a treebank in the format of the ending; ``-`` is the standard output.

    In the format it was read in, it is written byte for byte, with whatever was replaced; so too
    where the ending tells no format.
    """
    if format is None:
        format = ENDINGS.get(ending(path))
    else:
        _check_format(format)
    content = _content(treebank, format, path)
    with atomic_write(path) as stream:
        stream.write(content)


def _content(treebank: Treebank, format: str | None, path: AnyPath) -> bytes:
    written = treebank.written
    if format in (None, written.layout.format):
        return written.mark + written.text
    if format == "text":
        return plain_text(treebank)
    if format == "brackets":
        if treebank.brackets is None:
            raise OutputError(f"{fspath(path)}: expected trees of phrases to write as brackets")
        return "".join(f"{tree}\n" for tree in treebank.brackets.strings()).encode()
    layout = {"conllu": CONLLU, "conllx": CONLLX}.get(format)
    if layout is None:
        count = 3 if (treebank.heads >= 0).any() else 2 if treebank.tags.known else 1
        layout = tabbed(count, treebank.tag_column)
    columns = written_columns(treebank.columns, treebank.heads)
    return compose(layout, treebank.offsets, columns).text


def _check_format(format: str) -> None:
    if format not in READERS:
        raise InputError(f"format: expected one of {', '.join(READERS)}, found {format!r}")


def _guess(raw: bytes, path: AnyPath) -> str:
    """Tell brackets and CoNLL-U by their first line; the standard input is else CoNLL-U."""
    lines = (line.strip() for line in io.BytesIO(raw.removeprefix(MARK)))
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if first.startswith(b"("):
        return "brackets"
    if first.count(b"\t") == len(CONLLU.fields) - 1 or fspath(path) == STANDARD:
        return "conllu"
    known = ", ".join(ENDINGS)
    raise InputError(f"expected an ending that tells the format ({known}) or format=", path=path)
