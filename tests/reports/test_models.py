"""Pictures of saved models."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from syntagma.errors import InputError
from syntagma.reports import model_svg

TAGGER = {
    "labels": ["DET", "NOUN", "<script>"],
    "transitions": [[-2.0, 3.0, 0.0], [0.5, -0.1, 1.0], [0.0, 0.0, 0.0]],
    "strongest": {"DET": [["word=the", 4.0]], "NOUN": [["suffix4=tion", 2.5]], "<script>": []},
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


def test_an_unknown_kind_is_named():
    with pytest.raises(InputError, match="nonsense"):
        model_svg("nonsense", {})
