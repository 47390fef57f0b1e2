"""Every way a file can be wrong: the error names the line and what was expected."""

from __future__ import annotations

import time

import pytest

from syntagma.corpora.brackets import parse_brackets
from syntagma.corpora.conllu import parse_conllu, parse_conllx, parse_tsv
from syntagma.corpora.text import parse_text
from syntagma.errors import InputError


def row(name="1", head="0", **fields):
    order = ("form", "lemma", "upos", "xpos", "feats")
    values = [fields.get(field, field) for field in order]
    return "\t".join([name, *values, head, "dep", "_", "_"]) + "\n"


def refused(reader, text, message):
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InputError) as caught:
        reader(raw, "a.file")
    assert str(caught.value) == f"a.file:{message}"


GOOD = "# ok\n" + row() + "\n"  # three lines

CONLLU = {
    "missing columns": (GOOD + "1\tform\n", "4: expected 10 tab-separated columns, found 2"),
    "one column more": (
        GOOD + row().replace("\n", "\t_\n"),
        "4: expected 10 tab-separated columns, found 11",
    ),
    "spaces alone": (GOOD + "  \n", "4: expected 10 tab-separated columns, found 1"),
    "an empty field": (GOOD + row(lemma=""), "4: expected a value in column 3, found nothing"),
    "a repeated id": (
        GOOD + row() + row(),
        "5: expected word 2 of the sentence, found '1'",
    ),
    "a missing id": (
        GOOD + row() + row("3", "1"),
        "5: expected word 2 of the sentence, found '3'",
    ),
    "ids out of order": (
        GOOD + row("2") + row("1", "2"),
        "4: expected word 1 of the sentence, found '2'",
    ),
    "word zero": (GOOD + row("0"), "4: expected word 1 of the sentence, found '0'"),
    "no id": (
        GOOD + row("one"),
        "4: expected a word number, a range such as 1-2 or an empty node such as 1.1, found 'one'",
    ),
    "a huge id": (
        GOOD + row("9" * 60),
        "4: expected a word number, a range such as 1-2 or an empty node such as 1.1, "
        f"found '{'9' * 37}...'",
    ),
    "a superscript digit": (
        GOOD + row("²"),
        "4: expected a word number, a range such as 1-2 or an empty node such as 1.1, found '²'",
    ),
    "a range past the end": (
        GOOD + row("1-3", "_") + row() + row("2", "1"),
        "4: expected a range from word 1 to at most 2, found '1-3'",
    ),
    "a range of one word": (
        GOOD + row("1-1", "_") + row(),
        "4: expected a range from word 1 to at most 1, found '1-1'",
    ),
    "a range out of place": (
        GOOD + row() + row("1-2", "_") + row("2", "1"),
        "5: expected a range from word 2 to at most 2, found '1-2'",
    ),
    "ranges that overlap": (
        GOOD + row("1-2", "_") + row() + row("2-3", "_") + row("2", "1") + row("3", "1"),
        "6: expected a range from word 2 to at most 3, found '2-3'",
    ),
    "an empty node out of place": (
        GOOD + row() + row("2.1", "_"),
        "5: expected the empty node 1.1, found '2.1'",
    ),
    "empty nodes that skip": (
        GOOD + row() + row("1.1", "_") + row("1.3", "_"),
        "6: expected the empty node 1.2, found '1.3'",
    ),
    "a head in words": (
        GOOD + row(head="root"),
        "4: expected the number of a head, or _, found 'root'",
    ),
    "a negative head": (
        GOOD + row(head="-1"),
        "4: expected the number of a head, or _, found '-1'",
    ),
    "a leading zero": (
        GOOD + row(head="00"),
        "4: expected the number of a head, or _, found '00'",
    ),
    "a head outside": (GOOD + row(head="2"), "4: expected a head from 0 to 1, found 2"),
    "its own head": (
        GOOD + row() + row("2", "2"),
        "5: expected another head: a word cannot be its own head",
    ),
    "a cycle": (
        GOOD + row("1", "4") + row("2", "3") + row("3", "2") + row("4", "0"),
        "5: expected a tree: the heads go round in a cycle",
    ),
    "some heads": (
        GOOD + row() + row("2", "_"),
        "5: expected a head: other words of the sentence have one",
    ),
    "only comments": (
        GOOD + "\n# one\n# two\n\n" + row(),
        "5: expected a sentence, found comments without a word",
    ),
    "only an empty node": (
        GOOD + row("0.1", "_"),
        "4: expected a sentence, found comments without a word",
    ),
    "a null character": (GOOD + row(form="a\0b"), "4: expected text, found a null character"),
    "a lone return": (
        GOOD.replace("\n", "\r\n") + row(form="a\rb"),
        r"4: expected lines that end in \n or \r\n, found \r",
    ),
    "latin-1": (
        GOOD.encode() + row(form="é").encode("latin-1"),
        "4: expected UTF-8 text, found byte 0xe9",
    ),
    "an empty file": ("", " expected at least one sentence, found none"),
    "blank lines": ("\n\r\n\n", " expected at least one sentence, found none"),
}


@pytest.mark.parametrize("case", CONLLU)
def test_conllu(case):
    refused(parse_conllu, *CONLLU[case])


@pytest.mark.parametrize("case", CONLLU)
def test_line_numbers_count_returns_once(case):
    text, message = CONLLU[case]
    raw = text if isinstance(text, bytes) else text.encode()
    if case != "a lone return":
        raw = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    refused(parse_conllu, b"\xef\xbb\xbf" + raw, message)


def test_conllx_has_no_ranges():
    text = GOOD + row("1-2", "_") + row() + row("2", "1")
    refused(parse_conllx, text, "4: expected word 1 of the sentence, found '1-2'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tN\t0\n\nb\tN\n", "3: expected 3 tab-separated columns, found 2"),
        ("a\n\nb\tN\n", "3: expected 1 column, found 2"),
        ("a\tN\t0\n\t\t\n", "2: expected a value in column 1, found nothing"),
        ("a\tN\t0\tx\n", "1: expected 3 tab-separated columns, found 4"),
        ("a\tN\tx\n", "1: expected the number of a head, or _, found 'x'"),
        ("\n\na\tN\t2\nb\tN\t1\n", "3: expected a tree: the heads go round in a cycle"),
        ("", " expected at least one sentence, found none"),
    ],
)
def test_tsv(text, message):
    refused(parse_tsv, text, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A b)\n(A (B c)\n(A b)", "2: expected ) to close this tree, found the end of the file"),
        ("(A b)\n\n)", "3: expected ( before this )"),
        ("(A b)\n(S\n  (B))", "3: expected a word inside (B"),
        ("(A b)\n()", "2: expected a word inside ("),
        ("(A b)\nc", "2: expected (TAG word) or a bracket, found 'c'"),
        ("(A b)\n(A\nb c)", "3: expected (TAG word) or a bracket, found 'b'"),
        ("(A b)\n(A (-NONE- *))", "2: expected a word in the tree, found only traces"),
        (b"(A b)\n(A \xff)", "2: expected UTF-8 text, found byte 0xff"),
        ("(A b)\n(A \0)", "2: expected text, found a null character"),
        (" \n", " expected at least one tree, found none"),
    ],
)
def test_brackets(text, message):
    refused(parse_brackets, text, message)


def test_text():
    refused(parse_text, " \n\t\n", " expected at least one sentence, found none")


@pytest.mark.parametrize("reader", [parse_conllu, parse_tsv, parse_text, parse_brackets])
@pytest.mark.parametrize(
    "piece",
    ["a", "(", "\t", *(pytest.param(s, marks=pytest.mark.slow) for s in (" ", ")", "(a ", "a b "))],
)
def test_a_line_of_ten_megabytes_is_quick(reader, piece):
    raw = (piece * (10_000_000 // len(piece))).encode()
    start = time.perf_counter()
    try:
        outcome = str(reader(raw))
    except InputError as error:
        outcome = str(error)
    assert 0 < len(outcome) < 200
    assert time.perf_counter() - start < 15
