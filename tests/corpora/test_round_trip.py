"""Any valid CoNLL-U, however odd its characters, is read field by field and written as it stood."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora.conllu import parse_conllu

# everything but tab, line ends, null and surrogates may stand in a field; the odd ones often do
ODD = "\u2028\u2029\u0085\u00a0\x0b\x0c\x1c\x1d\x1e\ufeff #-_.1é日🎉"
field = st.text(
    st.one_of(
        st.sampled_from(ODD),
        st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"),
    ),
    min_size=1,
    max_size=5,
)
comment = st.text(st.sampled_from(ODD + "=\t "), max_size=8).map("#{}".format)


@st.composite
def sentences(draw):
    """The lines of one sentence and the fields of its words."""
    size = draw(st.integers(1, 5))
    order = draw(st.permutations(range(1, size + 1)))
    heads = {order[0]: 0} | {w: draw(st.sampled_from(order[:i])) for i, w in enumerate(order) if i}
    lines, words, covered = draw(st.lists(comment, max_size=2)), [], 0

    def add(name: str, head: str) -> None:
        fields = draw(st.lists(field, min_size=10, max_size=10))
        fields[0], fields[6] = name, head
        lines.append("\t".join(fields))
        if name.isdigit():
            words.append(fields)

    for word in range(size + 1):
        if word:
            if word < size and word > covered and draw(st.booleans()):
                covered = draw(st.integers(word + 1, size))
                add(f"{word}-{covered}", "_")
            add(str(word), str(heads[word]))
        for node in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            add(f"{word}.{node + 1}", "_")
    return lines, words


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    corpus=st.lists(sentences(), min_size=1, max_size=3),
    mark=st.booleans(),
    ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=7),
    blanks=st.tuples(st.integers(0, 2), st.integers(1, 3)),
    finished=st.booleans(),
)
def test_round_trip(corpus, mark, ends, blanks, finished):
    rows = [""] * blanks[0]
    for lines, _ in corpus:
        rows += lines + [""] * blanks[1]
    if not finished:
        while not rows[-1]:
            rows.pop()
    text = "".join(row + ends[i % len(ends)] for i, row in enumerate(rows))
    if not finished:
        text = text.rstrip("\r\n")
    raw = ("\ufeff" * mark + text).encode()
    treebank = parse_conllu(raw)
    assert treebank.written.mark + treebank.written.text == raw
    words = [word for _, sentence in corpus for word in sentence]
    places = {"forms": 1, "lemmas": 2, "upos": 3, "xpos": 4, "feats": 5, "labels": 7, "misc": 9}
    for name, place in places.items():
        assert getattr(treebank, name).strings() == [word[place] for word in words]
    assert treebank.heads.tolist() == [int(word[6]) for word in words]
    assert treebank.lengths.tolist() == [len(sentence) for _, sentence in corpus]
