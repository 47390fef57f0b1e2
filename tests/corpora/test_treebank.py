"""Treebanks as columns: made, cut, taken apart, and spliced without touching another byte."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora import Column, Treebank
from syntagma.corpora.conllu import parse_conllu, parse_tsv
from syntagma.corpora.text import parse_text
from syntagma.errors import InputError

PROPERTY = settings(max_examples=60, deadline=None, derandomize=True)
RAW = """\
# sent_id = s1
# text = Vámonos al mar
# empty =
# a note

1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tVamos\tir\tVERB\tV\tNumber=Plur\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t1:obj\t_
2.1\tfoo\t_\t_\t_\t_\t_\t_\t1:dep\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tS\t_\t5\tcase\t5:case\tX=1
4\tel\tel\tDET\tD\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl\t_


1\tSí\tsí\tINTJ\tI\t_\t0\troot\t0:root\t_
""".replace("# a note\n\n", "# a note\n").encode()
CRLF = b"\xef\xbb\xbf" + RAW.replace(b"\n", b"\r\n")


@pytest.fixture(params=[RAW, CRLF, RAW[:-1], CRLF[:-2], b"\n" + RAW + b"\n\n\n"])
def raw(request):
    return request.param


def text(treebank):
    return treebank.written.mark + treebank.written.text


def test_columns(raw):
    treebank = parse_conllu(raw)
    assert treebank.offsets.tolist() == [0, 5, 6]
    assert (len(treebank), treebank.words, treebank.lengths.tolist()) == (2, 6, [5, 1])
    assert treebank.forms.strings() == ["Vamos", "nos", "a", "el", "mar", "Sí"]
    assert treebank.heads.tolist() == [0, 1, 5, 5, 1, 0]
    assert treebank.labels.names == ["root", "obj", "case", "det", "obl"]
    assert treebank.misc.strings() == ["_", "_", "X=1", "_", "_", "_"]
    assert treebank.feats.names == ["Number=Plur", "_"]
    assert treebank.heads.dtype == treebank.forms.ids.dtype == np.int32
    assert treebank.offsets.dtype == np.int64
    assert treebank.multiple_roots.tolist() == []


def test_sentences(raw):
    treebank = parse_conllu(raw)
    first, second = treebank
    assert (first.sent_id, first.text) == ("s1", "Vámonos al mar")
    assert first.comments == {"sent_id": "s1", "text": "Vámonos al mar", "empty": ""}
    assert (second.sent_id, second.text) == (None, "Sí")
    assert first.tags == ["VERB", "PRON", "ADP", "DET", "NOUN"]
    assert first.lemmas[0] == "ir"
    assert (treebank[-1].forms, treebank[-1].labels, treebank[-1].heads) == (["Sí"], ["root"], [0])
    assert len(first) == 5
    assert repr(first) == "<Sentence of 5 words: Vámonos al mar>"
    with pytest.raises(IndexError):
        treebank[2]


def test_unchanged_is_byte_identical(raw):
    treebank = parse_conllu(raw)
    assert text(treebank) == raw
    assert text(treebank.replace()) == raw
    same = treebank.replace(
        heads=treebank.heads, **{n: c for n, c in treebank.columns.items() if n != "forms"}
    )
    assert text(same) == raw


def test_only_the_fields_change(raw):
    changed = parse_conllu(raw).replace(
        tags=["A", "B", "CCCCC", "D", "é", "F"],
        heads=[-1] * 5 + [0],
        labels=["l"] * 6,
        misc=["m"] * 6,
    )
    expected = raw.decode()
    for old, new in [
        ("VERB\tV\tNumber=Plur\t0\troot\t0:root\t_", "A\tV\tNumber=Plur\t_\tl\t0:root\tm"),
        ("PRON\tP\t_\t1\tobj\t1:obj\t_", "B\tP\t_\t_\tl\t1:obj\tm"),
        ("ADP\tS\t_\t5\tcase\t5:case\tX=1", "CCCCC\tS\t_\t_\tl\t5:case\tm"),
        ("DET\tD\t_\t5\tdet\t5:det\t_", "D\tD\t_\t_\tl\t5:det\tm"),
        ("NOUN\tN\t_\t1\tobl\t1:obl\t_", "é\tN\t_\t_\tl\t1:obl\tm"),
        ("INTJ\tI\t_\t0\troot\t0:root\t_", "F\tI\t_\t0\tl\t0:root\tm"),
    ]:  # fmt: skip
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert text(changed).decode() == expected
    again = parse_conllu(text(changed))
    for name, column in changed.columns.items():
        assert getattr(again, name).strings() == column.strings()
    np.testing.assert_array_equal(again.heads, changed.heads)
    # the places of blocks and words moved along, so that a second splice and a cut still fit
    np.testing.assert_array_equal(again.written.blocks, changed.written.blocks)
    np.testing.assert_array_equal(again.written.lines, changed.written.lines)


def test_cuts_and_orders(raw):
    treebank = parse_conllu(raw)
    assert text(treebank[:]) == raw
    assert treebank[1:].forms.names == treebank.forms.names
    assert treebank[1:][0].forms == ["Sí"]
    for order in ([1, 0], [1, 1, 0], [-1], [0, 0], []):
        taken = treebank.take(order)
        assert [s.forms for s in taken] == [treebank[i].forms for i in order]
        assert [s.heads for s in taken] == [treebank[i].heads for i in order]
        if order:
            again = parse_conllu(text(taken))
            assert [s.forms for s in again] == [s.forms for s in taken]
            np.testing.assert_array_equal(again.written.lines, taken.written.lines)
            tagged = taken.replace(tags=["T"] * taken.words)
            assert [set(s.tags) for s in parse_conllu(text(tagged))] == [{"T"}] * len(order)
    with pytest.raises(IndexError):
        treebank.take([2])


@PROPERTY
@given(data=st.data())
def test_splices_compose(data):
    treebank = parse_conllu(data.draw(st.sampled_from([RAW, CRLF])))
    values = st.lists(
        st.sampled_from(["_", "x", "é\u2028", "longer value"]), min_size=6, max_size=6
    )
    names = data.draw(
        st.lists(
            st.sampled_from(["upos", "xpos", "labels", "misc", "lemmas", "feats"]), unique=True
        )
    )
    columns = {name: data.draw(values) for name in names}
    at_once = treebank.replace(**columns)
    in_turn = treebank
    for name, column in columns.items():
        in_turn = in_turn.replace(**{name: Column.of(column)})
    assert text(at_once) == text(in_turn)
    assert text(at_once[1:]) == text(at_once)[: len(at_once.written.mark)] + at_once.written.block(
        1
    )
    back = at_once.replace(**{name: getattr(treebank, name) for name in names})
    assert text(back) == text(treebank)


def test_tag_columns():
    treebank = parse_conllu(RAW)
    assert treebank.tag_column == "upos"
    assert parse_conllu(RAW, tags="xpos")[0].tags == ["V", "P", "S", "D", "N"]
    only_xpos = treebank.replace(upos=["_"] * 6)
    assert parse_conllu(text(only_xpos)).tag_column == "xpos"
    untagged = only_xpos.replace(xpos=["_"] * 6)
    assert parse_conllu(text(untagged)).tag_column == "upos"
    with pytest.raises(InputError, match="expected upos or xpos, found 'pos'"):
        parse_conllu(RAW, tags="pos")


def test_tsv_is_spliced_and_widened():
    treebank = parse_tsv(b"the\tDT\t2\r\ndog\tNN\t0\r\n\r\n#\t#\t0")
    assert [s.forms for s in treebank] == [["the", "dog"], ["#"]]
    assert treebank.tag_column == "xpos"
    tagged = treebank.replace(tags=["D", "N", "#"], heads=[0, 1, 0])
    assert text(tagged) == b"the\tD\t0\r\ndog\tN\t1\r\n\r\n#\t#\t0"
    assert parse_tsv(b"the\tDT\n", tags="upos").upos.strings() == ["DT"]
    labelled = treebank.replace(labels=["det", "root", "root"])
    assert labelled.written.layout.format == "conllu"
    assert parse_conllu(text(labelled)).labels.strings() == ["det", "root", "root"]


def test_text_becomes_conllu_when_tagged():
    treebank = parse_text("\n The\u00a0dog  barks\t.\r\n\r\nYes".encode())
    assert [s.forms for s in treebank] == [["The\u00a0dog", "barks", "."], ["Yes"]]
    assert text(treebank.take([1, 0])) == "Yes\r\n\n The\u00a0dog  barks\t.\r\n\r\n".encode()
    tagged = treebank.replace(tags=["N", "V", "P", "I"])
    assert text(tagged).decode().splitlines()[0] == "1\tThe\u00a0dog\t_\tN\t_\t_\t_\t_\t_\t_"


def test_from_sentences():
    treebank = Treebank.from_sentences(
        [["Two words", "b"], ["c"]],
        lemmas=[["two", "b"], ["c"]],
        upos=[["X", "Y"], ["Z"]],
        xpos=[["x", "y"], ["z"]],
        heads=[[2, 0], [0]],
        labels=[["dep", "root"], ["root"]],
    )
    assert text(treebank).decode() == (
        "1\tTwo words\ttwo\tX\tx\t_\t2\tdep\t_\t_\n2\tb\tb\tY\ty\t_\t0\troot\t_\t_\n\n"
        "1\tc\tc\tZ\tz\t_\t0\troot\t_\t_\n\n"
    )
    again = parse_conllu(text(treebank))
    for part in ("blocks", "lines"):
        np.testing.assert_array_equal(getattr(again.written, part), getattr(treebank.written, part))
    bare = Treebank.from_sentences([["a"]])
    assert (bare.heads.tolist(), bare.tags.strings(), bare.tag_column) == ([-1], ["_"], "upos")
    nothing = Treebank.from_sentences([])
    assert (len(nothing), nothing.words, text(nothing)) == (0, 0, b"")
    assert text(treebank[:0].replace(tags=[], misc=[], heads=[])) == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forms": [["a"], []]}, "sentence 2: expected at least one word"),
        ({"forms": [["a\tb"]]}, "forms: expected text without tabs and line ends, found 'a\\\\tb'"),
        ({"forms": [["a", ""]]}, "forms: expected text without tabs and line ends, found ''"),
        ({"forms": [["a\r"]]}, "forms: expected text without tabs"),
        ({"forms": [["\ud800"]]}, "forms: expected text, found '\\\\ud800'"),
        ({"forms": [["a"]], "upos": []}, "upos: expected 1 sentences, found 0"),
        ({"forms": [["a"]], "labels": [["x", "y"]]}, "sentence 1: expected 1 words, found 2"),
        ({"forms": [["a", "b"]], "heads": [[2, 1]]}, "sentence 1, word 1: expected a tree"),
        ({"forms": [["a"], ["b"]], "heads": [[0], [2]]}, "sentence 2, word 1: expected a head"),
        ({"forms": [["a", "b"]], "heads": [[0, -1]]}, "word 2: expected a head: other words"),
        ({"forms": [["a"]], "heads": [[-2]]}, "expected a head from 0 to 1, found -2"),
    ],
)  # fmt: skip
def test_from_sentences_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Treebank.from_sentences(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tags": ["X"]}, "upos: expected 6 words, found 1"),
        ({"heads": [0]}, "heads: expected 6 numbers"),
        ({"heads": [0, 0, 3, 0, 0, 0]}, "word 3: expected another head"),
        ({"misc": ["a\nb"] * 6}, "misc: expected text without tabs and line ends"),
    ],
)
def test_replace_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        parse_conllu(RAW).replace(**changes)


def test_replace_knows_its_columns():
    with pytest.raises(TypeError, match="no such column: forms, tag"):
        parse_conllu(RAW).replace(forms=["x"] * 6, tag=["x"] * 6)


def test_several_roots_are_reported():
    treebank = Treebank.from_sentences([["a"], ["b", "c"]], heads=[[0], [0, 0]])
    assert treebank.multiple_roots.tolist() == [1]


def test_a_long_chain_is_no_cycle():
    size = 70_000
    heads = np.arange(size)
    chain = Treebank.from_sentences([["w"] * size], heads=[heads.tolist()])
    assert chain.heads[-1] == size - 1
    with pytest.raises(InputError, match="round in a cycle"):
        chain.replace(heads=np.append(heads[1:] + 1, 1) % (size + 1))


def test_treebanks_travel_between_processes():
    treebank = pickle.loads(pickle.dumps(parse_conllu(CRLF)))
    assert text(treebank) == CRLF
    assert treebank[0].tags == parse_conllu(CRLF)[0].tags


def test_columns_number_by_appearance():
    column = Column.of(["b", "a", "b"])
    assert (column.ids.tolist(), column.names) == ([0, 1, 0], ["b", "a"])
    assert column.known
    assert not Column.blank(2).known
    assert not Column.of([]).known
