"""Whatever the bytes, a reader gives the naive reader's answer or one clear error."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import corpora as naive
from syntagma.corpora.brackets import parse_brackets
from syntagma.corpora.conllu import parse_conllu, parse_conllx, parse_tsv
from syntagma.corpora.text import parse_text
from syntagma.errors import InputError

FUZZ = settings(max_examples=200, deadline=None, derandomize=True)

PIECES = [
    "1", "2", "3", "0", "10", "01", "_", "-", ".", "#", "# x = y", "a", "é", "日", " ", "\t", "\n",
    "\r\n", "\r", "\n\n", "\u2028", "\u0085", "\u00a0", "\x0c", "\ufeff", "\0", "(", ")", "(A b)",
    "(NP ", "-NONE-", "999999999999", "1-2", "0.1", "1.1", "²", "٣",
]  # fmt: skip
noise = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join).map(str.encode),
)
ROW = "{}\tform\tlemma\tN\tNN\t_\t{}\tdep\t_\t_"
tree = st.recursive(
    st.sampled_from(["(A b)", "(-NONE- *)", "(NN\tx)"]),
    lambda inside: st.builds(
        "({} {})".format,
        st.sampled_from(["", "S", "NP-SBJ"]),
        st.lists(inside, max_size=3).map(" ".join),
    ),
    max_leaves=8,
)

trees = st.lists(tree, min_size=1, max_size=3).map("\n".join).map(str.encode)


@st.composite
def sentence(draw):
    """A right sentence as (name, head) rows, with ranges and empty nodes between the words."""
    size = draw(st.integers(1, 4))
    names = draw(st.permutations(range(1, size + 1)))
    heads = {names[0]: 0}
    for i, word in enumerate(names[1:], 1):
        heads[word] = draw(st.sampled_from([0, *names[:i]]))
    known = draw(st.booleans())
    rows = []
    for word in range(1, size + 1):
        if word < size and draw(st.integers(0, 3)) == 0:
            rows.append((f"{word}-{word + 1}", "_"))
        rows.append((str(word), str(heads[word]) if known else "_"))
        rows += [(f"{word}.{n + 1}", "_") for n in range(draw(st.integers(-4, 2)))]
    return rows


@st.composite
def table(draw, row, comment):
    """A file of such sentences, broken in one place half of the time."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for rows in draw(st.lists(sentence(), min_size=1, max_size=3)):
        lines += comment + [row.format(*fields) for fields in rows] + [""]
    text = end.join(lines) + end * draw(st.integers(0, 1))
    how = draw(st.sampled_from(["leave", "leave", "cut", "insert", "repeat"]))
    place = draw(st.integers(0, len(text) - 1))
    if how == "cut":
        text = text[:place] + text[place + 1 :]
    elif how == "insert":
        text = text[:place] + draw(st.sampled_from(PIECES)) + text[place:]
    elif how == "repeat":
        line = draw(st.sampled_from(lines))
        text = text.replace(line, line + end + line, 1)
    return text.encode()


def expected(reader, *arguments):
    with suppress(naive.Refused):
        return reader(*arguments)
    return None


def found(reader, raw):
    try:
        treebank = reader(raw, "fuzz.file")
    except InputError as raised:
        error = raised
    else:
        assert treebank.written.mark + treebank.written.text == raw
        return treebank
    assert str(error).startswith("fuzz.file")
    assert "\n" not in str(error)
    return None


@FUZZ
@given(raw=st.one_of(noise, table(ROW, ["# x = y"]), table(ROW, [])))
@pytest.mark.parametrize(("reader", "ranges"), [(parse_conllu, True), (parse_conllx, False)])
def test_conll(reader, ranges, raw):
    want, got = expected(naive.read_conllu, raw, ranges), found(reader, raw)
    assert (got is None) == (want is None)
    if got is None:
        return
    assert got.lengths.tolist() == [len(sentence) for sentence in want]
    words = [word for sentence in want for word in sentence]
    for name, field in {"forms": 1, "lemmas": 2, "upos": 3, "xpos": 4, "labels": 7}.items():
        assert getattr(got, name).strings() == [word[field] for word in words]
    assert got.heads.tolist() == [naive.head(word[6]) for word in words]


@FUZZ
@given(raw=st.one_of(noise, table("w{0}\tN\t{1}", []), table("{0}\t{1}", []), table("{0}", [])))
def test_tsv(raw):
    want, got = expected(naive.read_tsv, raw), found(parse_tsv, raw)
    assert (got is None) == (want is None)
    if got is not None:
        assert [s.forms for s in got] == [[word[0] for word in s] for s in want]
        if len(want[0][0]) > 1:
            assert [s.tags for s in got] == [[word[1] for word in s] for s in want]


@FUZZ
@given(raw=noise)
def test_text(raw):
    want, got = expected(naive.read_text, raw), found(parse_text, raw)
    assert (None if got is None else [s.forms for s in got]) == want


@FUZZ
@given(raw=st.one_of(noise, trees, trees))
def test_brackets(raw):
    want, got = expected(naive.read_brackets, raw), found(parse_brackets, raw)
    spoken = [[leaf for leaf in naive.leaves(t) if leaf[0] != "-NONE-"] for t in want or []]
    if want is None or not all(spoken):
        assert got is None
        return
    assert [s.forms for s in got] == [[word for _, word in s] for s in spoken]
    assert [s.tags for s in got] == [[tag for tag, _ in s] for s in spoken]
    assert got.brackets.strings() == [written(tree) for tree in want]
    for i, tree in enumerate(want):
        one = got.brackets.take([i])
        rows = zip(one.labels.strings(), one.parents, one.first, one.last, strict=True)
        assert list(rows) == naive.phrases(tree)


def written(tree) -> str:
    if isinstance(tree[1], str):
        return f"({tree[0]} {tree[1]})"
    return f"({tree[0]} {' '.join(map(written, tree[1:]))})"
