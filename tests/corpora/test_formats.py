"""Formats by ending, from one to another, and the treebanks of the world byte for byte."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest

from syntagma.corpora import Brackets, Treebank, read_bytes, read_treebank, write_treebank
from syntagma.errors import InputError, OutputError

TREES = """( (S
    (NP-SBJ (NNP Ms.) (NNP Haag))
    (VP (VBZ plays) (NP (NNP Elianti)) (PP (-NONE- *T*-1)))
    (. .)))
(FRAG (JJ Good)) (X (UH so))
"""
TREEBANK = Treebank.from_sentences(
    [["New York", "sleeps"], ["Yes"]],
    xpos=[["NNP", "VBZ"], ["UH"]],
    heads=[[2, 0], [0]],
    labels=[["nsubj", "root"], ["root"]],
)


class Streams:
    def __init__(self, content: bytes = b"") -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("name", ["a.conllu", "a.CONLLU.xz", "a.conllx.gz", "a.dp", "a.tsv.zst"])
def test_what_is_written_is_read(tmp_path, name):
    write_treebank(TREEBANK, tmp_path / name)
    again = read_treebank(tmp_path / name)
    assert [s.forms for s in again] == [s.forms for s in TREEBANK]
    assert again.tags.strings() == TREEBANK.tags.strings()
    assert again.heads.tolist() == TREEBANK.heads.tolist()
    assert again.tag_column == "xpos"


def test_text_keeps_words_whole(tmp_path):
    write_treebank(TREEBANK, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == "New\u00a0York sleeps\nYes\n".encode()
    assert read_treebank(tmp_path / "a.txt").lengths.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({}, "Yes\tUH\t0"),
        ({"heads": [-1] * 3}, "Yes\tUH"),
        ({"heads": [-1] * 3, "tags": ["_"] * 3}, "Yes"),
        ({"tags": ["_"] * 3}, "Yes\t_\t0"),
    ],
)
def test_tsv_has_the_columns_it_needs(tmp_path, changes, row):
    write_treebank(TREEBANK.replace(**changes), tmp_path / "a.dp")
    assert (tmp_path / "a.dp").read_text().splitlines()[-2] == row


@pytest.mark.parametrize("ending", [".mrg", ".psd", ".penn.bz2", ".brackets"])
def test_brackets(tmp_path, ending):
    path = tmp_path / f"wsj{ending}"
    with_returns = TREES.replace("\n", "\r\n").encode()
    write_treebank(_trees(tmp_path, with_returns), path)
    treebank = read_treebank(path)
    assert read_bytes(path) == with_returns
    assert [s.forms for s in treebank] == [
        ["Ms.", "Haag", "plays", "Elianti", "."],
        ["Good"],
        ["so"],
    ]
    assert treebank[0].tags == ["NNP", "NNP", "VBZ", "NNP", "."]
    assert set(treebank.heads.tolist()) == {-1}
    trees = treebank.brackets
    assert trees.labels.strings() == ["", "S", "NP-SBJ", "VP", "NP", "PP", "FRAG", "X"]
    assert trees.parents.tolist() == [-1, 0, 1, 1, 3, 3, -1, -1]
    assert trees.first.tolist() == [0, 0, 0, 2, 3, 4, 0, 0]
    assert trees.last.tolist() == [6, 6, 2, 5, 4, 5, 1, 1]
    assert trees.leaf_parents.tolist() == [2, 2, 3, 4, 5, 1, 0, 0]
    assert trees.is_word.tolist() == [True] * 4 + [False] + [True] * 3
    assert squeezed("".join(trees.strings())) == squeezed(TREES)
    swapped = treebank.take([2, 0])
    assert swapped.brackets.strings() == [trees.strings()[2], trees.strings()[0]]
    assert squeezed(swapped.written.text.decode()) == squeezed("".join(swapped.brackets.strings()))


def _trees(tmp_path, raw):
    path = tmp_path / "source.mrg"
    path.write_bytes(raw)
    return read_treebank(path)


def squeezed(text: str) -> str:
    return re.sub(r"\s*([()])\s*", r"\1", re.sub(r"\s+", " ", text))


def test_new_tags_reach_the_brackets(tmp_path):
    treebank = _trees(tmp_path, TREES.encode())
    tagged = treebank.replace(tags=list("abcdefg"))
    write_treebank(tagged, tmp_path / "tagged.mrg")
    assert (tmp_path / "tagged.mrg").read_text() == (
        "( (S (NP-SBJ (a Ms.) (b Haag))"
        " (VP (c plays) (NP (d Elianti)) (PP (-NONE- *T*-1))) (e .)))\n"
        "(FRAG (f Good))\n(X (g so))\n"
    )
    write_treebank(tagged, tmp_path / "tagged.conllu")
    assert read_treebank(tmp_path / "tagged.conllu").tags.strings() == list("abcdefg")


def test_trees_made_by_a_program_are_escaped():
    one = Brackets.parse("(S (A b) (C d))")
    made = Brackets(
        **{**vars(one), "leaf_forms": one.leaf_forms._replace(names=["(", "a b"])}
    ).strings()
    assert made == ["(S (A -LRB-) (C a\u00a0b))"]
    treebank = one.treebank(tags="upos")
    assert (treebank.upos.strings(), treebank.tag_column) == (["A", "C"], "upos")
    assert treebank.written.text == b"(S (A b) (C d))\n"


def test_nesting_may_be_deep():
    depth = 100_000
    text = "(S " * depth + "(A b)" + ")" * depth
    trees = Brackets.parse(text)
    assert trees.parents.tolist() == list(range(-1, depth - 1))
    assert squeezed(trees.strings()[0]) == squeezed(text)
    assert trees.treebank().words == 1


def test_only_trees_become_brackets(tmp_path):
    with pytest.raises(OutputError, match="expected trees of phrases"):
        write_treebank(TREEBANK, tmp_path / "a.mrg")
    assert list(tmp_path.iterdir()) == []


def test_the_format_may_be_named(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"a b\nc\n")
    with pytest.raises(InputError, match=r"words: expected an ending that tells the format"):
        read_treebank(path)
    assert read_treebank(path, format="text").lengths.tolist() == [2, 1]
    with pytest.raises(InputError, match=r"format: expected one of conllu, .* 'xml'"):
        read_treebank(path, format="xml")
    with pytest.raises(InputError, match="expected upos or xpos"):
        read_treebank(path, format="text", tags="tags")
    write_treebank(TREEBANK, path, format="text")
    assert path.read_bytes() == "New\u00a0York sleeps\nYes\n".encode()
    write_treebank(TREEBANK, path)
    assert path.read_bytes() == TREEBANK.written.text
    assert read_treebank(path).lengths.tolist() == [2, 1]


def test_standard_streams(monkeypatch):
    output = Streams()
    monkeypatch.setattr(sys, "stdout", output)
    write_treebank(TREEBANK, "-")
    for raw, words in [(output.buffer.getvalue(), 3), (TREES.encode(), 7)]:
        monkeypatch.setattr(sys, "stdin", Streams(raw))
        assert read_treebank("-").words == words
    monkeypatch.setattr(sys, "stdin", Streams(b"a b\n"))
    with pytest.raises(InputError, match="-:1: expected 10 tab-separated columns, found 1"):
        read_treebank("-")


# ---- real treebanks -----------------------------------------------------------------------------
@pytest.mark.realdata
def test_every_treebank_is_byte_identical(data):
    paths = sorted([*data.glob("ud/*.conllu.xz"), *data.glob("wsj/*.conllu.xz")])
    assert paths
    for path in paths:
        raw = read_bytes(path)
        treebank = read_treebank(path)
        assert treebank.written.text == raw, path.name
        heads = treebank.heads
        same = treebank.replace(heads=heads, upos=treebank.upos, misc=treebank.misc)
        assert same.written.text == raw, path.name
        assert len(treebank.multiple_roots) == 0, path.name
        halves = [treebank[: len(treebank) // 2], treebank[len(treebank) // 2 :]]
        assert b"".join(half.written.text for half in halves) == raw, path.name
        order = np.random.default_rng(0).permutation(len(treebank))
        assert len(treebank.take(order).written.text) == len(raw), path.name


@pytest.mark.realdata
def test_conllx(data):
    danish = read_treebank(data / "treebanks/da_cdt_ddt.conllx.xz")
    assert danish.written.text == read_bytes(data / "treebanks/da_cdt_ddt.conllx.xz")
    assert danish.written.layout.format == "conllx"
    czech = read_treebank(data / "treebanks/cs_fictree.conllx.xz")
    assert len(czech.multiple_roots) == 9549


@pytest.mark.realdata
@pytest.mark.parametrize("part", ["train", "dev"])
def test_penn_brackets_agree_with_their_dependencies(data, part):
    trees = read_treebank(data / f"wsj/brackets-{part}.mrg.xz")
    raw = read_bytes(data / f"wsj/brackets-{part}.mrg.xz")
    assert trees.written.text == raw
    assert squeezed("\n".join(trees.brackets.strings())) == squeezed(raw.decode())
    words = read_treebank(data / f"wsj/dep-{part}.conllu.xz")
    assert words.tag_column == "xpos"
    assert words.forms.strings() == trees.forms.strings()
    assert words.tags.strings() == trees.tags.strings()
