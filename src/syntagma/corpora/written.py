"""How a treebank stands in its file: every byte kept, and single fields replaced in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NEWLINE, RETURN, TAB = 10, 13, 9


class Layout(NamedTuple):
    """A tab-separated format: the column each field stands in, by the name `Treebank` gives it."""

    format: str
    fields: tuple[str, ...]
    comments: bool = True  # lines that start with "#" are kept, not read
    ranges: bool = False  # multiword ranges and empty nodes may stand between the words


CONLLU = Layout(
    "conllu",
    ("ids", "forms", "lemmas", "upos", "xpos", "feats", "heads", "labels", "deps", "misc"),
    ranges=True,
)
CONLLX = Layout(
    "conllx",
    ("ids", "forms", "lemmas", "upos", "xpos", "feats", "heads", "labels", "phead", "pdeprel"),
)
TEXT = Layout("text", ())
BRACKETS = Layout("brackets", ())


def tabbed(columns: int, tags: str) -> Layout:
    """Return the layout of "word TAB tag TAB head" with its first one, two or three columns."""
    return Layout("tsv", ("forms", tags, "heads")[:columns], comments=False)


@dataclass(frozen=True, eq=False)
class Written:
    """The bytes of a treebank's file and where its sentences and words stand in them.

    ``blocks`` (sentences + 1) cuts the text into sentences, each with its comments and the blank
    lines that follow it; ``lines`` holds where each word's line starts. ``mark`` is the byte order
    mark, if there is one.
    """

    layout: Layout
    text: bytes
    blocks: NDArray[np.int64]
    lines: NDArray[np.int64] | None = None  # only where fields can be replaced
    mark: bytes = b""

    def block(self, sentence: int) -> bytes:
        """Return the bytes of one sentence."""
        return self.text[self.blocks[sentence] : self.blocks[sentence + 1]]

    def take(
        self, sentences: NDArray[np.int64], words: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Written:
        """Return the text of some sentences, given their words and how many each has."""
        starts, ends = self.blocks[sentences], self.blocks[sentences + 1]
        pieces = [self.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        # only the last sentence of a file may lack the blank line that ends a sentence
        for i in np.flatnonzero(sentences[:-1] == len(self.blocks) - 2).tolist():
            pieces[i] += self.missing_end()
        blocks = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=blocks[1:])
        lines = self.lines
        if lines is not None:
            lines = lines[words] + np.repeat(blocks[:-1] - starts, sizes)
        return Written(self.layout, b"".join(pieces), blocks, lines, self.mark)

    def missing_end(self) -> bytes:
        """Return what must follow the text before another sentence can."""
        last = self.block(len(self.blocks) - 2)
        end = b"\r\n" if b"\r\n" in self.text else b"\n"
        if not last.endswith(b"\n"):
            return end if self.layout in (TEXT, BRACKETS) else end + end
        ended = self.layout in (TEXT, BRACKETS) or last.endswith((b"\n\n", b"\n\r\n"))
        return b"" if ended else end

    def splice(self, offsets: NDArray[np.int64], values: dict[str, list[bytes]]) -> Written:
        """Return the same text with other values in some fields of every word."""
        lines = self.lines
        if lines is None:
            raise TypeError(f"{self.layout.format} has no fields to replace")
        columns = sorted((self.layout.fields.index(name), name) for name in values)
        starts, ends = self._places(lines, [column for column, _ in columns])
        count, total = len(columns), starts.size
        fresh: list[bytes] = [b""] * total
        for i, (_, name) in enumerate(columns):
            fresh[i::count] = values[name]
        begin, end = starts.ravel(), ends.ravel()
        pieces: list[bytes] = [b""] * (2 * total + 1)
        pieces[0::2] = [
            self.text[a:b]
            for a, b in zip([0, *end.tolist()], [*begin.tolist(), len(self.text)], strict=True)
        ]
        pieces[1::2] = fresh
        shift = np.zeros(total + 1, np.int64)
        np.cumsum(np.fromiter(map(len, fresh), np.int64, total) - (end - begin), out=shift[1:])
        return Written(
            self.layout,
            b"".join(pieces),
            self.blocks + shift[offsets * count],
            lines + shift[:-1:count],
            self.mark,
        )

    def _places(
        self, lines: NDArray[np.int64], columns: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find where some fields of every word start and end: two arrays, words x columns."""
        buffer = np.frombuffer(self.text, np.uint8)
        tabs = np.flatnonzero(buffer == TAB)
        first = np.searchsorted(tabs, lines)
        starts = np.empty((len(lines), len(columns)), np.int64)
        ends = np.empty_like(starts)
        for i, column in enumerate(columns):
            starts[:, i] = lines if column == 0 else tabs[first + column - 1] + 1
            if column < len(self.layout.fields) - 1:
                ends[:, i] = tabs[first + column]
                continue
            newlines = np.append(np.flatnonzero(buffer == NEWLINE), len(buffer))
            stops = newlines[np.searchsorted(newlines, lines)]
            ends[:, i] = stops - (buffer[stops - 1] == RETURN)
        return starts, ends


def compose(
    layout: Layout,
    offsets: NDArray[np.int64],
    columns: dict[str, list[str]],
) -> Written:
    """Write columns (one string a word) as text; a field without a column is ``_``."""
    total = int(offsets[-1])
    sizes = np.diff(offsets)
    blank = ["_"] * total
    given = dict(columns)
    if "ids" in layout.fields:
        places = np.arange(total) - np.repeat(offsets[:-1], sizes) + 1
        given["ids"] = list(map(str, places.tolist()))
    rows = [
        row.encode() + b"\n"
        for row in map(
            "\t".join, zip(*(given.get(name, blank) for name in layout.fields), strict=True)
        )
    ]
    lengths = np.zeros(total + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, total), out=lengths[1:])
    blocks = lengths[offsets] + np.arange(len(offsets))
    lines = lengths[:-1] + np.repeat(np.arange(len(sizes)), sizes)
    text = b"".join(
        b"".join(rows[a:b]) + b"\n"
        for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    )
    return Written(layout, text, blocks, lines)
