"""Sentences of text files of any size, one after another, as lists of words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import PurePath
from typing import Any

from syntagma.corpora import tokenise as running
from syntagma.corpora.files import COMPRESSED, STANDARD, AnyPath
from syntagma.corpora.streams import Block, Member, members
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError

ENDINGS = {
    ".txt": "text",
    ".conllu": "conllu",
    ".conllx": "conllx",
    ".tsv": "tsv",
    ".dp": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
}
FIELDS = ("text", "body")  # of a document, where none is named
SEPARATORS = {"slash": "/", "underscore": "_"}
COLUMNS = {"conllu": 10, "conllx": 10}
NO_BREAK = "\u00a0"
Sentences = Iterator[list[str]]
Texts = AnyPath | Treebank | Iterable[AnyPath] | Iterable[Sequence[str]]


def read_sentences(
    path: AnyPath, *, format: str | None = None, field: str | None = None, tokenise: bool = False
) -> Sentences:
    """Yield the sentences of a file, of which little is held at once.

    Parameters
    ----------
    path
        A file, compressed or not, a ``.zip`` archive of such files, ``archive.zip/pattern`` for
        some of its files, or ``-``.
    format
        "text" (a sentence a line), "slash" (``word/tag``), "underscore" (``word_tag``), "conllu",
        "conllx", "tsv" (the word comes first) or "json" (a document a line, its sentences on
        lines of their own): that of files whose ending does not tell, and of ``.txt``.
    field
        The field of a JSON document that holds its text; by default text, or else body.
    tokenise
        Split running text, plain or in JSON, into words and sentences.
    """
    if format is not None and format not in READERS:
        raise InputError(f"format: expected one of {', '.join(READERS)}, found {format!r}")
    for member in members(path):
        chosen = _told(member.path, format)
        if chosen == "json":
            yield from _documents(member, field, tokenise)
        elif chosen == "text":
            yield from _text(member, tokenise)
        else:
            yield from READERS[chosen](member)


def split_line(line: str) -> list[str]:
    """Split a line at its spaces; one that does not break stands inside a word.

    >>> split_line("about 10\u00a0000 people")
    ['about', '10\\xa0000', 'people']
    """
    if NO_BREAK not in line:
        return line.split()
    return [word for word in re.split("[ \\t\\r]", line) if word]


def _told(path: str, format: str | None) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    found = ENDINGS.get(suffixes[-1] if suffixes else "", "text" if path == STANDARD else None)
    if found in (None, "text"):
        found = format or found
    if found is None:
        known = ", ".join(ENDINGS)
        expected = f"expected an ending that tells the format ({known}) or format="
        raise InputError(expected, path=path)
    return found


def _text(member: Member, tokenise: bool = False) -> Sentences:
    blocks = member.blocks(breakable=True)
    if tokenise:
        yield from running.sentences(
            line for block in blocks for line in block.text.removesuffix("\n").split("\n")
        )
        return
    for block in blocks:
        yield from filter(None, map(split_line, block.text.split("\n")))


def _tagged(separator: str) -> Callable[[Member], Sentences]:
    def read(member: Member) -> Sentences:
        for block in member.blocks():
            for number, line in enumerate(block.text.split("\n")):
                words = [word.rpartition(separator)[0] for word in line.split()]
                if "" in words:
                    found = line.split()[words.index("")]
                    expected = f"expected words like word{separator}tag, found {_quoted(found)}"
                    raise block.fail(number, expected)
                if words:
                    yield words

    return read


def _documents(member: Member, field: str | None = None, tokenise: bool = False) -> Sentences:
    for block in member.blocks():
        for number, line in enumerate(block.text.split("\n")):
            if not line.strip():
                continue
            lines = _document(block, number, line, field).split("\n")
            if tokenise:
                yield from running.sentences(lines)
            else:
                yield from filter(None, map(split_line, lines))


def _document(block: Block, number: int, line: str, field: str | None) -> str:
    """Return the text of a document, nothing if it is null."""
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise block.fail(number, f"expected a JSON object, found {_quoted(line)}")
    wanted = FIELDS if field is None else (field,)
    name = next((name for name in wanted if name in document), None)
    if name is None:
        there = ", ".join(map(str, document))
        raise block.fail(number, f"expected a field {' or '.join(wanted)}, found {_quoted(there)}")
    text = document[name]
    if text is not None and not isinstance(text, str):
        raise block.fail(number, f"expected text in the field {name}, found {_quoted(repr(text))}")
    return text or ""


def _columns(format: str) -> Callable[[Member], Sentences]:
    """Read tab-separated words, a blank line behind each sentence."""
    count, comments = COLUMNS.get(format), format == "conllu"
    place = 0 if count is None else 1

    def read(member: Member) -> Sentences:
        words: list[str] = []
        for block in member.blocks():
            for number, line in enumerate(block.text.split("\n")):
                fields = line.rstrip("\r").split("\t")
                if fields == [""]:
                    if number < block.text.count("\n") and words:
                        yield words
                        words = []
                    continue
                if comments and line.startswith("#"):
                    continue
                if count is not None and len(fields) != count:
                    expected = f"expected {count} tab-separated columns, found {len(fields)}"
                    raise block.fail(number, expected)
                if not fields[place]:
                    raise block.fail(number, f"expected a word in column {place + 1}, found none")
                if count is None or fields[0].isdigit():
                    words.append(fields[place])
                elif not fields[0].replace("-", "").replace(".", "").isdigit():
                    found = _quoted(fields[0])
                    raise block.fail(number, f"expected a word number, found {found}")
        if words:
            yield words

    return read


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


READERS: dict[str, Callable[[Member], Sentences]] = {
    "text": _text,
    "json": _documents,
    **{format: _tagged(separator) for format, separator in SEPARATORS.items()},
    **{format: _columns(format) for format in ("conllu", "conllx", "tsv")},
}


def sentences_of(texts: Texts, **options: Any) -> Iterator[Sequence[str]]:
    """Yield the sentences of files, of a treebank, or of lists of words.

    The options are those of `read_sentences`.
    """
    if isinstance(texts, Treebank):
        yield from (sentence.forms for sentence in texts)
        return
    for text in [texts] if isinstance(texts, str | PathLike) else texts:
        if isinstance(text, str | PathLike):
            yield from read_sentences(text, **options)
        else:
            yield text
