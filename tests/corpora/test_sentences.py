"""Sentences streamed from every kind of file, and errors that name the file and the line."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora import streams, tokens
from syntagma.corpora.files import atomic_write
from syntagma.corpora.generated import english
from syntagma.corpora.sentences import read_sentences, sentences_of
from syntagma.corpora.tokenise import sentences as tokenised
from syntagma.corpora.tokenise import words
from syntagma.corpora.tokens import spilled
from syntagma.errors import InputError

PLAIN = "The vans stop .\n\n  Über uns\u00a0alle \r\nEnd\n"
SENTENCES = [["The", "vans", "stop", "."], ["Über", "uns\u00a0alle"], ["End"]]


def read(path, **options):
    return list(read_sentences(path, **options))


def write(path, text):
    with atomic_write(path) as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
@pytest.mark.parametrize("ending", ["", ".xz", ".gz", ".bz2", ".zst"])
def test_text_in_pieces_of_any_size(tmp_path, monkeypatch, ending, piece):
    monkeypatch.setattr(streams, "PIECE", max(piece, 20))
    monkeypatch.setattr(streams, "PACKED_PIECE", piece)
    path = write(tmp_path / f"a.txt{ending}", "\ufeff" + PLAIN)
    assert read(path) == SENTENCES


def test_formats_by_ending_and_by_name(tmp_path):
    treebank = english(20, seed=1).treebank
    from syntagma.corpora import write_treebank

    expected = [sentence.forms for sentence in treebank]
    for name in ("a.conllu.xz", "a.conllx", "a.tsv", "a.txt"):
        write_treebank(treebank, tmp_path / name)
        assert read(tmp_path / name) == expected
    tagged = "".join(
        " ".join(f"{w}/{t}" for w, t in zip(s.forms, s.tags, strict=True)) + "\n" for s in treebank
    )
    assert read(write(tmp_path / "b.txt", tagged), format="slash") == expected
    under = write(tmp_path / "noending", "a_b_NN 1/2_CD\n\n")
    assert read(under, format="underscore") == [["a_b", "1/2"]]
    documents = [{"text": "a b\nc", "body": "x"}, {"body": "d  e\n\n"}, {"text": None, "n": 1}]
    lines = "\n".join(map(json.dumps, documents)) + "\n"
    assert read(write(tmp_path / "d.jsonl", lines)) == [["a", "b"], ["c"], ["d", "e"]]
    assert read(write(tmp_path / "e.jsonl", '{"x": "a"}\n'), field="x") == [["a"]]
    assert list(sentences_of(treebank)) == expected == list(sentences_of(expected))
    assert list(sentences_of([tmp_path / "a.tsv", str(tmp_path / "a.txt")])) == expected * 2


def test_conllu_takes_words_only(tmp_path):
    row = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n"
    rows = [("1-2", "don't"), ("1", "do"), ("2", "n't"), ("2.1", "ghost"), ("3", "#")]
    text = "# text = x\n" + "".join(row.format(*pair) for pair in rows)
    assert read(write(tmp_path / "a.conllu", text)) == [["do", "n't", "#"]]


def test_archives_and_patterns(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/ca01", "a/b\n")
        archive.writestr("x/ca02", "c/d e/f\n")
        archive.writestr("x/README", "nothing tagged\n")
    assert read(f"{path}/x/ca*", format="slash") == [["a"], ["c", "e"]]
    with pytest.raises(InputError, match=r"a\.zip/x/README:1: expected words like word/tag"):
        read(path, format="slash")
    with pytest.raises(InputError, match="expected files named y"):
        read(f"{path}/y")
    damaged = bytearray(path.read_bytes())
    damaged[40] ^= 255
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"a\.zip"):
        read(path, format="text")
    path.write_bytes(b"PK no archive")
    with pytest.raises(InputError, match="expected zip data"):
        read(path)


def test_standard_input(monkeypatch):
    class Standard:
        buffer = io.BytesIO(PLAIN.encode())

    monkeypatch.setattr(sys, "stdin", Standard)
    assert read("-") == SENTENCES
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="closed"):
        read("-")


BROKEN = {
    "a.txt": (b"a\nb \xff\n", ":2: expected UTF-8 text, found byte 0xff"),
    "b.txt": (b"a\n\nb\0\n", ":3: expected text, found a null character"),
    "a.conllu": (b"# x\n1\ta\n", ":2: expected 10 tab-separated columns, found 2"),
    "b.conllu": (b"x\ta" + b"\t_" * 8 + b"\n", ":1: expected a word number, found 'x'"),
    "c.conllu": (b"1\t" + b"\t_" * 8 + b"\n", ":1: expected a word in column 2, found none"),
    "a.tsv": (b"\ta\n", ":1: expected a word in column 1"),
    "a.jsonl": (b'{"text": "a"}\n[1]\n', ":2: expected a JSON object, found '\\[1\\]'"),
    "b.jsonl": (b'{"title": "a"}\n', ":1: expected a field text or body, found 'title'"),
    "c.jsonl": (b'{"text": 3}\n', ":1: expected text in the field text, found '3'"),
    "a.xyz": (b"a\n", ": expected an ending that tells the format"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("piece", [20, 1 << 20])
def test_broken_files_name_the_line(tmp_path, monkeypatch, name, piece):
    monkeypatch.setattr(streams, "PIECE", piece)
    content, message = BROKEN[name]
    with pytest.raises(InputError, match=rf"{name}{message}"):
        read(write(tmp_path / name, content))


@pytest.mark.parametrize("ending", ["xz", "gz", "bz2", "zst"])
def test_packed_files_that_are_cut_off(tmp_path, ending):
    path = write(tmp_path / f"a.txt.{ending}", PLAIN * 100)
    whole = path.read_bytes()
    for damaged in (whole[:-3], whole[: len(whole) // 2], b"no such thing"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=f"a.txt.{ending}: expected {ending} data"):
            read(path)
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "nothing.txt")
    with pytest.raises(InputError, match="format: expected one of"):
        read(path, format="xml")


def test_text_without_line_ends_is_cut_at_spaces(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "PIECE", 100)
    monkeypatch.setattr(streams, "LONGEST", 1000)
    path = write(tmp_path / "a.txt", "word " * 5000)
    assert sum(map(len, read(path))) == 5000
    assert {word for sentence in read(path) for word in sentence} == {"word"}
    with pytest.raises(InputError, match=":1: expected lines of at most"):
        read(write(tmp_path / "b.txt", "x" * 5000))


def test_tokenising():
    told = "\"It's 50% of $1,234.5 (mother-in-law's, U.S.A. style)?!\" «Да», यह हिन्दी है।"
    expected = (
        "\" It's 50 % of $ 1,234.5 ( mother-in-law's , U.S.A. style ) ? ! \" « Да » , यह हिन्दी है ।"
    )
    assert words(told) == expected.split()
    penn = "`` I do n't , '' he 's said ... -- 3 1/2"
    assert words(penn) == penn.split()
    assert list(tokenised(["He came. “No!” she", "said. Then", " ", "The end"])) == [
        ["He", "came", "."],
        ["“", "No", "!", "”", "she", "said", "."],
        ["Then"],
        ["The", "end"],
    ]
    assert max(map(len, tokenised(["a " * 5000]))) <= 1000


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_tokenising_loses_only_spaces(text):
    assert "".join(words(text)) == "".join(text.split())


@pytest.mark.parametrize("size", [1, 5, 64, 10_000])
def test_numbers_of_words_stand_for_the_words(monkeypatch, size):
    monkeypatch.setattr(tokens, "PIECE", size)
    sentences = [s.forms for s in english(60, seed=2).treebank]
    flat = [word for sentence in sentences for word in sentence]
    with spilled([*sentences, []], min_count=2) as found:
        names = ["|", "?", *found.vocabulary.words]
        assert found.ids[0] == found.ids[-1] == 0
        told = [names[i] for i in found.ids[1:].tolist()]
        expected = [
            word if word == "|" or flat.count(word) > 1 else "?"
            for s in sentences
            for word in [*s, "|"]
        ]
        assert told == expected
        assert (found.words, found.sentences) == (len(flat), len(sentences))
        kept = found.vocabulary
        assert kept.counts.tolist() == [flat.count(word) for word in kept.words]
        assert (np.diff(kept.counts) <= 0).all()
        assert kept.counts.sum() + kept.unknown == len(flat)
        assert found.frequencies().sum() == len(found.ids) - 1
        chunks = list(found.chunks(size))
        assert all(chunk[0] == chunk[-1] == 0 for chunk in chunks)
        assert np.concatenate([c[:-1] for c in chunks]).tolist() == found.ids[:-1].tolist()
    with spilled(sentences, lower=True, max_words=3) as found:
        assert found.vocabulary.words[0] == found.vocabulary.words[0].lower()
        assert len(found.vocabulary.words) == 3
        low = [word.lower() for word in flat]
        assert found.vocabulary.counts.tolist() == [low.count(w) for w in found.vocabulary.words]
