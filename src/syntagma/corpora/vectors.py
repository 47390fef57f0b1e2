"""Word vectors as text, as word2vec writes them: a line "words dimensions", then a word a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.files import AnyPath, atomic_write
from syntagma.corpora.streams import Block, members
from syntagma.errors import InputError

Float32 = NDArray[np.float32]

PORTION = 1000  # words written at a time
NO_BREAK = "\u00a0"
LARGEST = 1e30  # no entry comes near; products of two would not be finite


def write_vectors(path: AnyPath, words: Sequence[str], vectors: Float32) -> None:
    """Write vectors so that they are read back bit for bit.

    A space inside a word becomes a no-break space: others part the entries.
    """
    with atomic_write(path) as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for start in range(0, len(words), PORTION):
            rows = vectors[start : start + PORTION].tolist()
            lines = (
                f"{word.replace(' ', NO_BREAK)} {' '.join(f'{value:.9g}' for value in row)}\n"
                for word, row in zip(words[start : start + PORTION], rows, strict=True)
            )
            file.write("".join(lines).encode())


def read_vectors(path: AnyPath) -> tuple[list[str], Float32]:
    """Read words and their vectors, or name the first line that is wrong."""
    for member in members(path):
        lines = _lines(member.blocks())
        block, number, line = next(lines, (Block(member.path, 1, ""), 0, ""))
        header = line.split()
        if len(header) != 2 or not all(part.isascii() and part.isdigit() for part in header):
            raise block.fail(number, "expected a line with the numbers of words and of dimensions")
        expected, width = (int(part[:9]) for part in header)
        if not width:
            raise block.fail(number, "expected at least one dimension")
        place: dict[str, int] = {}
        rows: list[Float32] = []
        for block, number, line in lines:
            word, row = _row(block, number, line, width)
            if word in place:
                raise block.fail(number, f"the word {_quoted(word)} has two vectors")
            place[word] = len(rows)
            rows.append(row)
        if len(rows) != expected or not rows:
            message = f"expected {expected} words as its first line says, found {len(rows)}"
            raise InputError(message, path=member.path)
        return list(place), np.stack(rows)
    raise InputError("expected word vectors, found an empty archive", path=path)


def _lines(blocks: Iterator[Block]) -> Iterator[tuple[Block, int, str]]:
    for block in blocks:
        lines = block.text.split("\n")
        for number, line in enumerate(lines):
            if number < len(lines) - 1 or line:
                yield block, number, line.rstrip(" \r")


def _row(block: Block, number: int, line: str, width: int) -> tuple[str, Float32]:
    parts = line.replace("\t", " ").split(" ")
    word = " ".join(parts[:-width])
    if len(parts) <= width or not word or " " in word:
        count = max(len(line.split()) - 1, 0)
        raise block.fail(number, f"expected a word and {width} numbers, found {count} numbers")
    try:
        values = [float(part) for part in parts[-width:]]
    except ValueError as error:
        raise block.fail(number, f"expected {width} numbers, {_reason(error)}") from None
    row = np.array(values)
    if not (np.abs(row) < LARGEST).all():
        found = values[int(np.argmin(np.abs(row) < LARGEST))]
        raise block.fail(number, f"expected finite numbers, found {found} for {_quoted(word)}")
    return word, row.astype(np.float32)


def _reason(error: ValueError) -> str:
    return f"found {str(error).rpartition(': ')[2][:42]}"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
