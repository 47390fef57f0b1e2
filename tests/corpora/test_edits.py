"""Joining, annotating and commenting treebanks."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.corpora import read_treebank, write_treebank
from syntagma.corpora.edits import annotate, comment, concatenate
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError

CONLLU = (
    "# text = vámonos\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\tA=1|TagProb=9\n"
    "2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_\n\n"
    "1\tya\tya\tADV\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n"
)


def treebank(tmp_path, text=CONLLU, name="a.conllu"):
    (tmp_path / name).write_bytes(text.encode())
    return read_treebank(tmp_path / name)


def written(treebank, tmp_path):
    write_treebank(treebank, tmp_path / "out")
    return (tmp_path / "out").read_bytes().decode()


def again(treebank, tmp_path):
    """Read back what is written: the columns must be those of the treebank."""
    (tmp_path / "again.conllu").write_text(written(treebank, tmp_path), newline="")
    read = read_treebank(tmp_path / "again.conllu", tags=treebank.tag_column)
    for name, column in treebank.columns.items():
        assert read.columns[name].strings() == column.strings()
    np.testing.assert_array_equal(read.heads, treebank.heads)
    np.testing.assert_array_equal(read.offsets, treebank.offsets)
    return read


@pytest.mark.parametrize("ending", ["", "no blank line", "no newline"])
def test_joined_files_keep_their_bytes(tmp_path, ending):
    text = CONLLU if not ending else CONLLU[: -1 if ending == "no blank line" else -2]
    first, second = treebank(tmp_path, text), treebank(tmp_path, CONLLU, "b.conllu")
    joined = concatenate([first, second, first[1:]])
    assert len(joined) == 5
    assert joined.words == 7
    start = written(joined, tmp_path)
    assert start.startswith(CONLLU + CONLLU)
    assert start[len(CONLLU + CONLLU) :].rstrip("\n") == CONLLU.split("\n\n")[1]
    again(joined, tmp_path)
    # what was joined can still be cut and spliced
    assert again(joined[2:4], tmp_path).forms.strings() == second.forms.strings()
    assert "\tNOUN\t" in written(joined.replace(upos=["NOUN"] * 7), tmp_path)


def test_joining_formats_gives_conllu(tmp_path):
    other = treebank(tmp_path, "ya\tADV\nno\tPART\n", "b.tsv")
    joined = concatenate([treebank(tmp_path), other])
    assert again(joined, tmp_path).forms.strings() == ["vamos", "nos", "ya", "ya", "no"]
    with pytest.raises(InputError, match="at least one"):
        concatenate([])


def test_annotations_replace_their_own_key_only(tmp_path):
    changed = annotate(treebank(tmp_path), "TagProb", ["0.1", "0.2", "0.3"])
    assert changed.misc.strings() == ["A=1|TagProb=0.1", "TagProb=0.2", "SpaceAfter=No|TagProb=0.3"]
    expected = (
        CONLLU.replace("A=1|TagProb=9", "A=1|TagProb=0.1")
        .replace("obj\t_\t_", "obj\t_\tTagProb=0.2")
        .replace("SpaceAfter=No", "SpaceAfter=No|TagProb=0.3")
    )
    assert written(changed, tmp_path) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_stand_above_their_sentence(tmp_path, newline):
    changed = comment(treebank(tmp_path, CONLLU.replace("\n", newline)), "rank", ["1", "2"])
    assert [sentence.comments["rank"] for sentence in changed] == ["1", "2"]
    assert written(changed, tmp_path) == CONLLU.replace("# text", "# rank = 1\n# text").replace(
        "1\tya", "# rank = 2\n1\tya"
    ).replace("\n", newline)
    again(changed, tmp_path)
    assert "\tX\t" in written(changed.replace(upos=["X"] * 3), tmp_path)


def test_formats_without_comments_become_conllu():
    changed = comment(Treebank.from_sentences([["a"], ["b"]]), "id", ["x", "y"])
    assert [sentence.comments["id"] for sentence in changed] == ["x", "y"]
