"""Split running text into words and sentences without knowing its language.

Punctuation and symbols are split off at the edges of words and kept inside them (``don't``,
``mother-in-law``, ``1,234.5``, ``and/or``); dotted letters (``U.S.``), runs of full stops, dashes
and quotes, and short endings that were split off before (``'s``) stay together. A sentence ends
with a full stop, a question mark or an exclamation mark of any script unless a small letter
follows, or where a paragraph does.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

ENDS = frozenset(".!?…。！？｡؟۔।॥።៕།") | {"...", ".."}
CLOSING = frozenset("\"')]}»”’") | {"''"}
LONGEST = 1000  # words of what seems a sentence
REMEMBERED = 1 << 20


def words(text: str) -> list[str]:
    """Split a text into words and punctuation marks.

    >>> words('He said, "The U.S. paid $1.23 mln. in mid-May..."')
    ['He', 'said', ',', '"', 'The', 'U.S.', 'paid', '$', '1.23', 'mln', '.', 'in', 'mid-May', '...', '"']
    """  # noqa: E501
    return list(chain.from_iterable(map(_SPLIT.__getitem__, text.split())))


def sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines of running text into sentences; an empty line ends a paragraph.

    >>> list(sentences(["It rains. The", "sun (shines.) Ca. a", "day", "", "Go"]))
    [['It', 'rains', '.'], ['The', 'sun', '(', 'shines', '.', ')'], ['Ca', '.', 'a', 'day'], ['Go']]
    """
    waiting: list[str] = []
    ended = False
    for line in lines:
        found = words(line)
        if not found and waiting:
            yield waiting
            waiting, ended = [], False
        if not ended and ENDS.isdisjoint(found) and len(waiting) + len(found) < LONGEST:
            waiting += found  # most lines
            continue
        for word in found:
            if ended and word not in CLOSING and word not in ENDS:
                if not word[0].islower():
                    yield waiting
                    waiting = []
                ended = False
            waiting.append(word)
            ended = ended or word in ENDS
            if len(waiting) == LONGEST:
                yield waiting
                waiting, ended = [], False
    if waiting:
        yield waiting


class _Split(dict[str, tuple[str, ...]]):
    """How what stood between spaces is split, found once for each: most of a text is repeated."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if len(self) >= REMEMBERED:
            self.clear()
        found = self[piece] = tuple(_pattern().findall(piece))
        return found


_SPLIT = _Split()


@cache
def _pattern() -> re.Pattern[str]:
    mark = "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in _punctuation())
    letter = rf"[^\s{mark}]"
    return re.compile(
        rf"(?<!\S)['’]{letter}{{1,2}}(?!\S)|(?:{letter}\.){{2,}}(?!{letter})|{letter}+(?:[{mark}]{letter}+)*"
        rf"|\.{{2,}}|-{{2,}}|'{{2}}|`{{2}}|[{mark}]"
    )


def _punctuation() -> list[tuple[int, int]]:
    """Return the ranges of characters that are punctuation or symbols."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] in "PS":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1] = (ranges[-1][0], code)
            else:
                ranges.append((code, code))
    return ranges
