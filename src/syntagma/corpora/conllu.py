"""CoNLL-U, CoNLL-X and "word TAB tag TAB head": treebanks from tab-separated text."""

from __future__ import annotations

from syntagma.corpora.columns import parse
from syntagma.corpora.files import AnyPath
from syntagma.corpora.treebank import Treebank
from syntagma.corpora.written import CONLLU, CONLLX, tabbed


def parse_conllu(raw: bytes, path: AnyPath | None = None, tags: str | None = None) -> Treebank:
    """Read CoNLL-U, with comments, multiword ranges and empty nodes."""
    return parse(raw, CONLLU, path, tags)


def parse_conllx(raw: bytes, path: AnyPath | None = None, tags: str | None = None) -> Treebank:
    """Read CoNLL-X: ten columns, coarse tags in upos and fine ones in xpos, words only."""
    return parse(raw, CONLLX, path, tags)


def parse_tsv(raw: bytes, path: AnyPath | None = None, tags: str | None = None) -> Treebank:
    """Read "word TAB tag TAB head"; the last or the last two columns may be left out.

    The tags are read as xpos unless ``tags`` says upos. No line is a comment: ``#`` is a word.
    """
    text = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    columns = min(text[: text.find(b"\n")].count(b"\t") + 1, 3)
    return parse(raw, tabbed(columns, tags or "xpos"), path, tags)
