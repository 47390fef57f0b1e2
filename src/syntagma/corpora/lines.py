"""Cut a file into lines and fields in bulk, over its bytes, keeping what an error must name."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.files import AnyPath, decode
from syntagma.corpora.written import NEWLINE, RETURN, TAB
from syntagma.errors import InputError

MARK = b"\xef\xbb\xbf"
LONGEST_NUMBER = 9  # digits; more would not fit the heads' int32

IntArray = NDArray[np.int64]


class Lines(NamedTuple):
    """A file cut into lines: where each starts and its content ends, line ends left out."""

    path: AnyPath | None
    text: bytes
    buffer: NDArray[np.uint8]
    starts: IntArray
    ends: IntArray

    def fail(self, line: int, message: str) -> NoReturn:
        """Refuse the file because of one line, counted from 0."""
        raise InputError(message, path=self.path, line=int(line) + 1)

    def show(self, start: int, end: int) -> str:
        """Quote some bytes in an error, shortened."""
        text = self.text[start : min(end, start + 200)].decode(errors="replace")
        return repr(text if len(text) <= 40 else text[:37] + "...")

    def strings(self, starts: IntArray, ends: IntArray) -> list[str]:
        """Return the text of many fields, split at once."""
        # gather every field with the byte after it (the last may have none), and make that a tab
        sizes = ends - starts + 1
        stops = np.cumsum(sizes)
        places = np.arange(stops[-1]) + np.repeat(starts - (stops - sizes), sizes)
        packed = self.buffer.take(places, mode="clip")
        packed[stops - 1] = TAB
        return packed[:-1].tobytes().decode().split("\t")


def cut(raw: bytes, path: AnyPath | None) -> tuple[bytes, Lines]:
    """Split off the byte order mark and cut a file into lines; it must be UTF-8 text."""
    decode(raw, path)
    mark = MARK if raw.startswith(MARK) else b""
    text = raw[len(mark) :]
    null = text.find(b"\0")
    if null >= 0:
        line = text.count(b"\n", 0, null) + 1
        raise InputError("expected text, found a null character", path=path, line=line)
    buffer = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(buffer == NEWLINE)
    starts = np.concatenate([[0], newlines + 1]).astype(np.int64)
    ends = np.append(newlines, len(buffer)).astype(np.int64)
    returns = np.flatnonzero(buffer == RETURN)
    lines = np.searchsorted(ends, returns)
    inner = np.flatnonzero(ends[lines] != returns + 1)
    if len(inner):
        line = int(lines[inner[0]]) + 1
        raise InputError(
            "expected lines that end in \\n or \\r\\n, found \\r", path=path, line=line
        )
    ends[lines] -= 1
    return mark, Lines(path, text, buffer, starts, ends)


def fields(lines: Lines, rows: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """Find where each field of some lines starts and ends: two arrays, columns x lines."""
    tabs = np.flatnonzero(lines.buffer == TAB)
    first = np.searchsorted(tabs, lines.starts[rows])
    found = np.searchsorted(tabs, lines.ends[rows]) - first
    wrong = np.flatnonzero(found != columns - 1)
    if len(wrong):
        noun = "column" if columns == 1 else "tab-separated columns"
        count = found[wrong[0]] + 1
        lines.fail(rows[wrong[0]], f"expected {columns} {noun}, found {count}")
    begins = np.empty((columns, len(rows)), np.int64)
    stops = np.empty_like(begins)
    begins[0] = lines.starts[rows]
    stops[-1] = lines.ends[rows]
    for column in range(columns - 1):
        place = tabs[first + column]
        stops[column] = place
        begins[column + 1] = place + 1
    missing = stops == begins
    if missing.any():
        row, column = np.argwhere(missing.T)[0]
        lines.fail(rows[row], f"expected a value in column {column + 1}, found nothing")
    return begins, stops


def numbers(buffer: NDArray[np.uint8], begins: IntArray, stops: IntArray) -> IntArray:
    """Read fields as plain numbers; -1 where a field is anything else."""
    size = stops - begins
    value = np.zeros(len(begins), np.int64)
    bad = (size > LONGEST_NUMBER) | ((size > 1) & (buffer[begins] == ord("0")))
    alive = np.flatnonzero(~bad)
    for place in range(int(size[alive].max(initial=0))):
        alive = alive[size[alive] > place]
        digit = buffer[begins[alive] + place].astype(np.int64) - ord("0")
        value[alive] = value[alive] * 10 + digit
        bad[alive] |= (digit < 0) | (digit > 9)
    value[bad] = -1
    return value
