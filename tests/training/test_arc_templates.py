"""Feature templates of dependency parts: what their texts mean, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import PROPERTY
from naive import parts as naive
from syntagma.errors import InputError
from syntagma.training.arc_templates import (
    ARCS,
    FIELDS,
    LABELS,
    PAD,
    SIBLINGS,
    make_program,
)

ATOMS = st.tuples(
    st.sampled_from("hms"), st.sampled_from(["", "-2", "-1", "+1", "+2"]), st.sampled_from(FIELDS)
).map(lambda atom: f"{atom[0]}{atom[1]}.{atom[2]}")
TEXTS = st.lists(ATOMS, min_size=1, max_size=4).map(" ".join)


def read_back(program, anchors):
    """The atoms of each template of a program, anchor by anchor."""
    templates = program.seeds.shape[1]
    found = []
    for t in range(templates):
        mine = []
        for row, anchor in enumerate(anchors):
            cell = row * templates + t
            for atom in range(program.starts[cell], program.starts[cell + 1]):
                step = int(program.places[atom]) - PAD
                mine.append((anchor, step, FIELDS[program.fields[atom]]))
        found.append(mine)
    return found


@PROPERTY
@given(texts=st.lists(TEXTS, max_size=5, unique=True))
def test_programs_hold_what_the_texts_say(texts):
    program = make_program(texts, "hms", FIELDS)
    assert program.seeds.shape == program.used.shape == (3, len(texts))
    assert program.plain == len(texts)
    assert program.starts[-1] == len(program.places) == len(program.fields)
    for text, mine, used in zip(texts, read_back(program, "hms"), program.used.T, strict=True):
        assert sorted(mine) == sorted(naive.atoms(text))
        assert "".join(np.array(list("hms"))[used]) == "".join(
            anchor for anchor in "hms" if anchor in {atom[0] for atom in naive.atoms(text)}
        )


def test_templates_that_look_between_come_last():
    program = make_program(["h.tag b.tag", "m.tag", "b.tag m.word", "h.word"], "hmb", FIELDS)
    assert program.plain == 2
    assert read_back(program, "hmb")[0] == [("m", 0, "tag")]
    assert all(("b", 0, "tag") in atoms for atoms in read_back(program, "hmb")[2:])


@PROPERTY
@given(texts=st.lists(TEXTS, min_size=2, max_size=6, unique=True), data=st.data())
def test_seeds_belong_to_the_text_and_the_anchor(texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    seeds = make_program(texts, "hms", FIELDS).seeds
    others = make_program([texts[i] for i in order], "hms", FIELDS).seeds
    np.testing.assert_array_equal(others, seeds[:, order])
    assert len(np.unique(seeds)) == seeds.size
    assert (seeds != 0).all()


@PROPERTY
@given(texts=st.lists(TEXTS, max_size=6, unique=True), present=st.sets(st.sampled_from(FIELDS)))
def test_templates_of_absent_fields_are_left_out(texts, present):
    kept = [
        text
        for text in texts
        if {field for _, _, field in naive.atoms(text)} <= {*present, "other"}
    ]
    found = make_program(texts, "hms", sorted(present))
    expected = make_program(kept, "hms", FIELDS)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found an empty one"),
        ("   ", "found an empty one"),
        ("x.tag", r"anchors h, m, b and fields word.*found 'x.tag'"),
        ("s.tag", "found 's.tag'"),
        ("h.colour", "found 'h.colour'"),
        ("htag", "found 'htag'"),
        ("h", "found 'h'"),
        ("h.tag m.", "found 'm.'"),
        ("h.tag,m.tag", "found 'h.tag,m.tag'"),
        ("h1.tag", "found 'h1.tag'"),
        ("h+12.tag", r"found 'h\+12.tag'"),
        ("H.tag", "found 'H.tag'"),
        ("h+3.tag", "at most 2 words away"),
        ("h.tag m-9.word", "at most 2 words away"),
        ("b.word", "only b.tag"),
        ("h.tag b+1.tag", "only b.tag"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(InputError, match=message) as caught:
        make_program(["h.tag", text], "hmb", FIELDS)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError):  # whether or not the treebank has anything to look at
        make_program([text], "hmb", [])


def test_the_standard_templates_are_templates_each_once():
    for texts, anchors in ((ARCS, "hmb"), (SIBLINGS, "hms"), (LABELS, None)):
        assert len(set(texts)) == len(texts) > 0
        if anchors:
            assert make_program(texts, anchors, FIELDS).seeds.shape == (3, len(texts))


def test_no_templates_make_an_empty_program():
    program = make_program([], "hms", FIELDS)
    assert program.seeds.shape == (3, 0)
    assert program.plain == 0
