"""Ways to damage a file: bytes, lines, fields, numbers, letters, line ends, two files in one."""

from __future__ import annotations

import random
from collections.abc import Callable

ODD = (
    "\u0000",
    "\u0085",
    "\u2028",
    "\ufeff",
    "\u00a0",
    "\u202e",
    "e\u0301",
    "\u0660",
    "\U0001f600",
)
ODD_BYTES = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\t", b"\n", b" ")
HUGE = (b"0", b"-1", b"01", b"999999999", b"4294967296", b"9" * 30, b"9" * 5000, b"1e9", b"nan")
FIELDS = (b"", b"_", b"1", b"2-3", b"3-2", b"1.1", b"0", b"-NONE-", b"(", b")", b"#", b"a b", b",")

Mutator = Callable[[random.Random, bytes, bytes], bytes]


def flip_bits(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Turn over one to four bits."""
    broken = bytearray(data)
    for _ in range(rng.randint(1, 4) if data else 0):
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    return bytes(broken)


def insert_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Put in a few bytes, random or awkward."""
    place = rng.randint(0, len(data))
    piece = rng.choice([rng.randbytes(rng.randint(1, 8)), rng.choice(ODD_BYTES)])
    return data[:place] + piece + data[place:]


def delete_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Take out a few bytes."""
    place = rng.randint(0, len(data))
    return data[:place] + data[place + rng.choice([1, 1, 2, 10, 100]) :]


def truncate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Keep one end of the file."""
    place = rng.randint(0, len(data))
    return rng.choice([data[:place], data[place:]])


def splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Go on with another file in the middle of this one."""
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def _lines(rng: random.Random, data: bytes) -> tuple[list[bytes], int]:
    lines = data.split(b"\n")
    return lines, rng.randrange(len(lines))


def repeat_line(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Write a line twice, or very often."""
    lines, i = _lines(rng, data)
    lines[i:i] = [lines[i]] * rng.choice([1, 1, 2, 300])
    return b"\n".join(lines)


def remove_line(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Take out a line."""
    lines, i = _lines(rng, data)
    del lines[i]
    return b"\n".join(lines)


def swap_lines(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Let two lines change places."""
    lines, i = _lines(rng, data)
    j = rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _edit(rng: random.Random, data: bytes, separator: bytes, value: bytes) -> bytes:
    lines, i = _lines(rng, data)
    fields = lines[i].split(separator)
    fields[rng.randrange(len(fields))] = value
    lines[i] = separator.join(fields)
    return b"\n".join(lines)


def edit_field(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Replace what stands between two tabs or spaces."""
    return _edit(rng, data, rng.choice([b"\t", b"\t", b" "]), rng.choice(FIELDS))


def huge_number(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Replace a field by a number that is too large, or no number."""
    return _edit(rng, data, rng.choice([b"\t", b" "]), rng.choice(HUGE))


def odd_letters(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Put in a letter that is easily mishandled, once or in a long run."""
    place = rng.randint(0, len(data))
    piece = (rng.choice(ODD) * rng.choice([1, 1, 2000])).encode()
    return data[:place] + piece + data[place:]


def line_ends(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Mix line ends, or change all."""
    if rng.random() < 0.5:
        return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    lines = data.split(b"\n")
    ends = [rng.choice([b"\n", b"\n", b"\r\n", b"\r", b"\n\n"]) for _ in lines]
    return b"".join(line + end for line, end in zip(lines, ends, strict=True))


def mark(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Begin with a byte order mark, of this encoding or another."""
    return rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf" * 2]) + data


BYTES: tuple[Mutator, ...] = (flip_bits, insert_bytes, delete_bytes, truncate, splice)
TEXTS: tuple[Mutator, ...] = (
    *BYTES,
    *(repeat_line, remove_line, swap_lines, edit_field, edit_field),
    *(huge_number, odd_letters, line_ends, mark),
)


def damaged(rng: random.Random, data: bytes, other: bytes, ways: tuple[Mutator, ...]) -> bytes:
    """Damage a file in one to three of these ways."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        data = rng.choice(ways)(rng, data, other)
    return data
