"""Check that word numbers, multiword ranges and empty nodes stand where CoNLL-U puts them."""

from __future__ import annotations

import numpy as np

from syntagma.corpora.lines import LONGEST_NUMBER, IntArray, Lines


def check_ids(
    lines: Lines,
    ranges: bool,
    rows: IntArray,
    ids: IntArray,
    begins: IntArray,
    stops: IntArray,
    first: IntArray,
    before: IntArray,
) -> None:
    """Refuse a file whose words do not count 1, 2, ... in every sentence.

    ``ids`` are the numbers in ``rows`` (-1 where it is none), ``begins`` and ``stops`` the bytes
    they were read from, ``first`` the first line of each sentence and ``before`` how many words
    stand before each line. ``ranges`` allows multiword ranges and empty nodes.
    """
    sentence = np.searchsorted(first, rows, side="right") - 1
    place = before[rows] - before[first][sentence]
    wrong = np.flatnonzero((ids != place + 1) & ((ids >= 0) | (not ranges)))
    if len(wrong):
        row = wrong[0]
        found = lines.show(begins[row], stops[row])
        lines.fail(rows[row], f"expected word {place[row] + 1} of the sentence, found {found}")
    size = np.diff(before[np.append(first, len(before) - 1)])
    last, covered, node = -1, 0, (0, 0)
    for row in np.flatnonzero(ids < 0).tolist():
        if sentence[row] != last:
            last, covered, node = int(sentence[row]), 0, (0, 0)
        words = int(place[row])
        text = lines.text[begins[row] : stops[row]]
        begin, dash, end = text.partition(b"-")
        word, dot, number = text.partition(b".")
        if dash and _plain(begin) and _plain(end):
            total = int(size[last])
            expected = f"a range from word {words + 1} to at most {total}"
            fits = covered < int(begin) == words + 1 and int(begin) < int(end) <= total
            covered = int(end)
        elif dot and _plain(word) and _plain(number):
            node = (words, node[1] + 1 if node[0] == words else 1)
            expected = f"the empty node {node[0]}.{node[1]}"
            fits = (int(word), int(number)) == node
        else:
            expected = "a word number, a range such as 1-2 or an empty node such as 1.1"
            fits = False
        if not fits:
            found = lines.show(begins[row], stops[row])
            lines.fail(rows[row], f"expected {expected}, found {found}")


def _plain(number: bytes) -> bool:
    return (
        number.isdigit()
        and len(number) <= LONGEST_NUMBER
        and not (len(number) > 1 and number.startswith(b"0"))
    )
