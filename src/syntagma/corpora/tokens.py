"""A corpus as the numbers of its words, kept on disk: text is read once, however often it is used.

Sentences stand one after another with a boundary before the first, between two, and behind the
last. Memory grows with the number of different words, not with the text.
"""

from __future__ import annotations

import tempfile
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import OutputError

BOUNDARY, UNKNOWN, FIRST = 0, 1, 2  # the number of a boundary, of a word cut off, of the first word
PIECE = 1 << 20  # words held before they are written
CHUNK = 1 << 19  # words in a chunk

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Vocabulary(NamedTuple):
    """The words that are kept, the most frequent first, and how often each occurs.

    ``unknown`` counts the occurrences of all others.
    """

    words: list[str]
    counts: Int64
    unknown: int


class Tokens(NamedTuple):
    """Numbers of words, boundaries between sentences, and what the numbers stand for."""

    ids: Int32
    sentences: int
    vocabulary: Vocabulary

    @property
    def words(self) -> int:
        """Words of the corpus."""
        return len(self.ids) - self.sentences - 1

    @property
    def size(self) -> int:
        """Different numbers: those of the words, of an unknown word and of a boundary."""
        return FIRST + len(self.vocabulary.words)

    def frequencies(self) -> Int64:
        """Return how often each number stands for a word; a boundary counts once a sentence."""
        ends = [self.sentences, self.vocabulary.unknown]
        return np.concatenate([ends, self.vocabulary.counts]).astype(np.int64)

    def chunks(self, size: int = CHUNK) -> Iterator[Int32]:
        """Cut into parts of whole sentences; each has the boundaries at both its ends.

        They are copies, so that workers on other machines can be given them too.
        """
        start, end = 0, len(self.ids) - 1
        while start < end:
            stop = end
            for at in range(start + size, end, size):
                found = np.flatnonzero(self.ids[at : at + size] == BOUNDARY)
                if len(found):
                    stop = at + int(found[0])
                    break
            yield np.array(self.ids[start : stop + 1])
            start = stop


@contextmanager
def spilled(
    sentences: Iterable[Sequence[str]],
    *,
    min_count: int = 1,
    max_words: int | None = None,
    lower: bool = False,
    read: Callable[[int], None] = lambda words: None,
) -> Iterator[Tokens]:
    """Number the words of a corpus, in a file that is there until the block ends.

    Parameters
    ----------
    sentences
        Lists of words, made one after another.
    min_count, max_words
        Words seen less often are unknown ones, and so are all but the most frequent.
    lower
        Take words that differ in case only for one.
    read
        Told how many words have been read so far.
    """
    with tempfile.TemporaryFile(prefix="syntagma-") as file:
        names, total = _write(sentences, file, read)
        ids = np.memmap(file, np.int32, "r+", shape=(total,))
        seen = np.zeros(FIRST + len(names), np.int64)
        for start in range(0, total, PIECE):
            seen += np.bincount(ids[start : start + PIECE], minlength=len(seen))
        vocabulary, number = _choose(names, seen[FIRST:], min_count, max_words, lower)
        for start in range(0, total, PIECE):
            ids[start : start + PIECE] = number[ids[start : start + PIECE]]
        ids.flags.writeable = False
        yield Tokens(ids, int(seen[BOUNDARY]) - 1, vocabulary)


def _write(
    sentences: Iterable[Sequence[str]], file: IO[bytes], read: Callable[[int], None]
) -> tuple[list[str], int]:
    """Write the number of every word as it comes up; return the words and how much was written."""
    number: defaultdict[str, int] = defaultdict(count(FIRST).__next__)
    look_up = number.__getitem__
    waiting, total = array("i", [BOUNDARY]), 0
    for sentence in sentences:
        if not sentence:
            continue
        waiting.extend(map(look_up, sentence))
        waiting.append(BOUNDARY)
        if len(waiting) > PIECE:
            total += _flush(waiting, file)
            waiting = array("i")
            read(total)
    total += _flush(waiting, file)
    return list(number), total


def _flush(waiting: array[int], file: IO[bytes]) -> int:
    try:
        file.write(waiting.tobytes())
        file.flush()
    except OSError as error:
        raise OutputError(f"{tempfile.gettempdir()}: {error.strerror}") from None
    return len(waiting)


def _choose(
    names: list[str], seen: Int64, min_count: int, max_words: int | None, lower: bool
) -> tuple[Vocabulary, Int32]:
    """Choose the words to keep; return them, and the new number of each old number."""
    if lower:
        merged: defaultdict[str, int] = defaultdict(count().__next__)
        same = np.array([merged[name.lower()] for name in names], np.int64)
        counts = np.zeros(len(merged), np.int64)
        np.add.at(counts, same, seen)
        names = list(merged)
    else:
        same, counts = np.arange(len(names)), seen
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= min_count][:max_words]
    new = np.full(len(names), UNKNOWN, np.int32)
    new[order] = FIRST + np.arange(len(order), dtype=np.int32)
    kept = counts[order]
    vocabulary = Vocabulary(
        [names[i] for i in order.tolist()], kept, int(counts.sum() - kept.sum())
    )
    return vocabulary, np.concatenate([[BOUNDARY, UNKNOWN], new[same]]).astype(np.int32)
