"""One sentence a line, words between spaces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from syntagma.corpora.files import AnyPath
from syntagma.corpora.lines import cut
from syntagma.corpora.treebank import Column, Treebank
from syntagma.corpora.written import NEWLINE, RETURN, TAB, TEXT, Written
from syntagma.errors import InputError

SPACE = 32


def parse_text(raw: bytes, path: AnyPath | None = None, tags: str | None = None) -> Treebank:
    """Read a sentence from every line that is not blank; spaces and tabs part the words."""
    mark, lines = cut(raw, path)
    gap = np.isin(lines.buffer, np.array([SPACE, TAB, NEWLINE, RETURN], np.uint8))
    edges = np.diff(np.concatenate([[True], gap, [True]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == -1), np.flatnonzero(edges == 1)
    before = np.append(np.searchsorted(starts, lines.starts), len(starts))
    filled = np.flatnonzero(np.diff(before))
    if not len(filled):
        raise InputError("expected at least one sentence, found none", path=path)
    blocks = np.append(lines.starts[filled], len(lines.text))
    blocks[0] = 0
    return Treebank.from_columns(
        np.append(before[filled], len(starts)).astype(np.int64),
        {"forms": Column.of(lines.strings(starts, ends))},
        tags=tags,
        written=Written(TEXT, lines.text, blocks, mark=mark),
    )


def plain_text(treebank: Treebank) -> bytes:
    """Write a sentence a line; a space inside a word becomes a no-break space."""
    names = [form.replace(" ", "\u00a0") for form in treebank.forms.names]
    forms = list(map(names.__getitem__, treebank.forms.ids.tolist()))
    offsets = treebank.offsets.tolist()
    return "".join(f"{' '.join(forms[a:b])}\n" for a, b in pairwise(offsets)).encode()
