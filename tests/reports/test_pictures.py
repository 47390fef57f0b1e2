"""Pictures of sentences: well-formed for any text, and showing what they should."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.reports import tags_svg, tree_svg
from syntagma.reports.arcs import lay_out
from syntagma.reports.sentences import Drawn
from syntagma.reports.trees import list_arcs

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>", "]]>", "&amp;", "\x00", '"', "'", "\ufffe", "\x0b", "語", "a" * 99]
TEXT = st.one_of(st.text(min_size=1, max_size=8), st.sampled_from(HOSTILE))
GOLD = Drawn(["The", "cat", "sleeps"], ["DET", "NOUN", "VERB"], [2, 3, 0], ["det", "nsubj", "root"])
WRONG = Drawn(["The", "cat", "sleeps"], ["DET", "X", "VERB"], [3, 3, 0], ["det", "obj", "root"])


def tree(rng, size):
    order = rng.permutation(size) + 1
    heads = [0] * size
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = int(order[rng.integers(i)])
    return heads


def find(svg, tag, kind):
    return [e for e in ElementTree.fromstring(svg).iter(SVG + tag) if e.get("class") == kind]


def texts(svg, kind):
    return [e.text for e in find(svg, "text", kind)]


def groups(svg, kind):
    return find(svg, "g", kind)


def test_wrong_missed_and_mislabelled_arcs_are_told_apart():
    svg = tree_svg(WRONG, gold=GOLD)
    (wrong,), (missed,), (label,) = (groups(svg, k) for k in ("wrong", "missed", "label"))
    assert wrong.find(f"{SVG}title").text == "sleeps → The (wrong)"
    assert missed.find(f"{SVG}title").text == "cat → The (missed)"
    assert label.find(f"{SVG}text").text == "obj ≠ nsubj"
    assert texts(svg, "t bad") == ["X"]
    assert texts(svg, "gold") == ["NOUN"]
    assert "1 wrong heads" in ElementTree.fromstring(svg).find(f"{SVG}desc").text
    assert not groups(tree_svg(GOLD, gold=GOLD), "wrong")


def test_doubtful_arcs_are_faint_and_say_so():
    svg = tree_svg(GOLD, confidence=[0.5, None, 1.0])
    assert texts(svg, None)[:3] == ["det 50%", "nsubj", "root"]
    assert re.findall(r"stroke-opacity:([\d.]+)", svg) == ["0.65", "1.00"]


def test_tags_show_probability_alternatives_and_errors():
    others = [[("PRON", 0.1)], [("NOUN", 0.4), ("X", 0.6)], []]
    svg = tags_svg(WRONG, gold=GOLD, confidence=[0.9, 0.6, None], alternatives=others)
    titles = [e.find(f"{SVG}title").text for e in groups(svg, None)]
    assert titles == ["The\nDET 90%\nPRON 10%", "cat\nX 60%\nNOUN 40%\ngold: NOUN", "sleeps\nVERB"]
    bars = [float(e.get("width")) for e in find(svg, "rect", "p")]
    tracks = [float(e.get("width")) for e in find(svg, "rect", None) if e.get("rx") == "1.5"]
    assert np.divide(bars, tracks).tolist() == pytest.approx([0.9, 0.6], abs=0.01)
    assert texts(svg, "gold") == ["NOUN"]


def test_unknown_heads_and_empty_tags_draw_nothing():
    bare = Drawn(["a", "b"], ["_", "_"], [-1, 0], ["_", "_"])
    assert len(list_arcs(bare, None)) == 1
    assert texts(tree_svg(bare), None) == ["a", "b"]
    assert texts(tree_svg(bare), "t") == []


def test_what_gold_leaves_open_is_not_wrong():
    unknown = GOLD._replace(tags=["_"] * 3, heads=[-1] * 3, labels=["_"] * 3)
    assert tree_svg(GOLD, gold=unknown) == tree_svg(GOLD)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(size=st.integers(1, 80), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_any_sentence_is_well_formed_xml(size, seed, data):
    rng = np.random.default_rng(seed)
    pool = data.draw(st.lists(TEXT, min_size=1, max_size=12))

    def some():
        return [pool[i] for i in rng.integers(len(pool), size=size)]

    forms = some()
    sentence, gold = (Drawn(forms, some(), tree(rng, size), some()) for _ in range(2))
    confidence = rng.random(size).tolist()
    for svg in (
        tree_svg(sentence),
        tree_svg(sentence, gold=gold, confidence=confidence),
        tags_svg(sentence, gold=gold, confidence=confidence),
    ):
        root = ElementTree.fromstring(svg)
        assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
            "svg", "title", "desc", "style", "rect", "g", "path", "text",
        }  # fmt: skip
        assert float(root.get("width")) > 0
        svg.encode()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(size=st.integers(1, 60), seed=st.integers(0, 2**32 - 1))
def test_arcs_keep_apart(size, seed):
    rng = np.random.default_rng(seed)
    sentence = Drawn(["w"] * size, ["X"] * size, tree(rng, size), ["dep"] * size)
    arcs = list_arcs(sentence, Drawn(["w"] * size, ["X"] * size, tree(rng, size), ["d"] * size))
    layout = lay_out([20.0] * size, arcs)
    assert all(b - a >= 20 for a, b in zip(layout.centres, layout.centres[1:], strict=False))
    for i, j in combinations(range(len(arcs)), 2):
        (a, b), (c, d) = arcs[i].ends, arcs[j].ends
        if max(a, c) < min(b, d):
            assert layout.levels[i] != layout.levels[j], "arcs over one gap run at other heights"
        if a < c < d < b:
            assert layout.levels[i] > layout.levels[j]
            assert layout.lefts[i] < layout.lefts[j]
            assert layout.rights[j] < layout.rights[i]
    ends = [
        (word, x)
        for arc, left, right in zip(arcs, layout.lefts, layout.rights, strict=True)
        for word, x in {arc.ends[0]: left, arc.ends[1]: right}.items()
    ]
    assert len(set(ends)) == len(ends), "no two arcs end at one point"
    assert all(0 < x < layout.width for _, x in ends)


def halves(low, high, head, heads):
    """Heads of a tree in which the middle word of every span governs its halves."""
    if low < high:
        middle = (low + high) // 2
        heads[middle] = head
        halves(low, middle, middle + 1, heads)
        halves(middle + 1, high, middle + 1, heads)
    return heads


@pytest.mark.parametrize(
    ("heads", "most"),
    [
        (halves(0, 63, 0, [0] * 63), 6),
        ([0, *range(1, 60)], 2),  # a chain: all arcs on one level, the root above
        ([0, 1, *range(1, 59)], 3),  # every arc crosses its neighbours only
    ],
)
def test_long_sentences_stay_low(heads, most):
    size = len(heads)
    arcs = list_arcs(Drawn(["w"] * size, ["X"] * size, heads, ["dep"] * size), None)
    assert max(lay_out([20.0] * size, arcs).levels) <= most
