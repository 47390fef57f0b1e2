"""Pictures of saved models."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from syntagma.corpora.generated import english
from syntagma.corpora.treebank import Treebank
from syntagma.errors import InputError
from syntagma.models.parser import DependencyParser
from syntagma.reports import model_svg

TAGGER = {
    "labels": ["DET", "NOUN", "<script>"],
    "transitions": [[-2.0, 3.0, 0.0], [0.5, -0.1, 1.0], [0.0, 0.0, 0.0]],
    "strongest": {"DET": [["word=the", 4.0]], "NOUN": [["suffix4=tion", 2.5]], "<script>": []},
}
PARSER = {
    "tags": ["NOUN", "<b>"],
    "arcs": {"left": [[1.0, 2.0], [-0.5, 0.0]], "right": [[0.5, 0.25], [0.0, -3.0]]},
    "root": [0.75, -0.25],
    "strongest": {"NOUN": [["NOUN to the right", 1.0]], "<b>": []},
}


def test_the_tagger_shows_pairs_and_evidence():
    svg = model_svg("tagger", TAGGER)
    ET.fromstring(svg)
    assert "<script>" not in svg
    assert "DET then NOUN: +3.00" in svg
    assert "suffix4=tion" in svg
    assert svg.count("cell bad") == sum(w < 0 for row in TAGGER["transitions"] for w in row)


def test_weights_of_zero_are_drawn_too():
    flat = TAGGER | {"transitions": [[0.0] * 3] * 3}
    ET.fromstring(model_svg("tagger", flat))


def test_the_parser_shows_which_tags_stand_under_which():
    svg = model_svg("mst", PARSER)
    ET.fromstring(svg)
    assert "<b>" not in svg
    assert "&lt;b&gt; left of its head NOUN: +2.00" in svg
    assert "&lt;b&gt; right of its head &lt;b&gt;: -3.00" in svg
    assert "NOUN under the root: +0.75" in svg
    weights = [*PARSER["arcs"]["left"], *PARSER["arcs"]["right"], PARSER["root"]]
    assert svg.count("cell bad") == sum(w < 0 for row in weights for w in row)
    assert "most frequent" not in svg


def test_of_many_tags_the_most_frequent_are_drawn():
    size = 50
    square = np.zeros((size, size)).tolist()
    many = {
        "tags": [f"T{i}" for i in range(size)],
        "arcs": {"left": square, "right": square},
        "root": [0.0] * size,
        "strongest": {},
    }
    svg = model_svg("mst", many)
    ET.fromstring(svg)
    assert "the 24 most frequent tags of 50" in svg
    assert ">T23<" in svg
    assert ">T24<" not in svg
    empty = {"tags": [], "arcs": {"left": [], "right": []}, "root": [], "strongest": {}}
    ET.fromstring(model_svg("mst", empty))


def test_what_is_drawn_of_a_parser_is_what_scores_arcs(tmp_path):
    parser = DependencyParser(arc_templates=("h.tag m.tag", "h.word"), bits=16, epochs=2)
    parser.fit(english(30, seed=1).treebank)
    path = tmp_path / "parser.syntagma"
    parser.save(path)
    parser = DependencyParser.load(path)
    described = parser.describe(top=2)
    tags = described["tags"]
    assert tags[0] == "NOUN", "the most frequent tag comes first"
    ET.fromstring(model_svg("mst", described))
    # side by side, or far apart: the picture has the better of all distances
    for side, order in (("left", (1, 0)), ("right", (0, 1))):
        for head, modifier in (("NOUN", "DET"), ("VERB", "NOUN"), ("ADJ", "PUNCT")):
            best = -np.inf
            for between in (0, 1, 2, 3, 4, 5, 10):
                pair = [(head, modifier)[i] for i in order]
                sentence = [pair[0], *["UNSEEN"] * between, pair[1]]
                # no word is known, so words add only what hashing confuses them with: nothing
                unknown = [[f"unknown{i}" for i in range(between + 2)]]
                treebank = Treebank.from_sentences(unknown, upos=[sentence])
                ((_, forest),) = parser._forests(treebank)
                last = between + 2
                h, m = (last, 1) if side == "left" else (1, last)
                best = max(best, float(forest.scores[h * (last + 1) + m]))
            drawn = described["arcs"][side][tags.index(head)][tags.index(modifier)]
            assert drawn == pytest.approx(best, abs=1e-3)
    strongest = described["strongest"]["DET"]
    assert len(strongest) == 2
    assert strongest[0][0] == "NOUN to the right"


def test_the_hidden_markov_model_shows_states_and_symbols():
    description = {
        "labels": ["S1", "S2"],
        "initial": [0.25, 0.75],
        "transitions": [[0.9, 0.1], [0.5, 0.5]],
        "strongest": {"S1": [["<b>", 0.5], ["the", 0.25]], "S2": []},
    }
    svg = model_svg("hmm", description)
    ET.fromstring(svg)
    assert "<b>" not in svg
    assert "&lt;b&gt;,  the" in svg
    assert "start then S2: 0.750" in svg
    assert "S1 then S2: 0.100" in svg
    assert svg.count('"cell"') == 6


def test_an_unknown_kind_is_named():
    with pytest.raises(InputError, match="nonsense"):
        model_svg("nonsense", {})
