"""Charts: nice ticks, points where they belong, well-formed for odd data."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.reports.axes import Axis, linear, logarithmic, nice_ticks
from syntagma.reports.charts import Series, bar_chart, line_chart, reliability_chart
from syntagma.reports.confusion import confusion_chart

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False)


def find(svg, tag, kind):
    return [
        e
        for e in ElementTree.fromstring(svg).iter(SVG + tag)
        if kind in (e.get("class") or "").split()
    ]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(NUMBERS, st.floats(1e-6, 1e9))
def test_ticks_cover_the_range_and_are_few(low, span):
    high = low + span
    ticks = nice_ticks(low, high)
    if high > low and span > 1e-6 * abs(low):
        step = ticks[1] - ticks[0]
        assert ticks[0] <= low + step * 1e-6
        assert ticks[-1] >= high - step * 1e-6
        assert 2 <= len(ticks) <= 8
    assert list(ticks) == sorted(ticks)


def test_ticks_by_hand():
    assert nice_ticks(3, 3) == (2.4, 2.6, 2.8, 3.0, 3.2, 3.4, 3.6)
    assert nice_ticks(70, 97) == (70.0, 80.0, 90.0, 100.0)
    assert logarithmic([100, 12_000], 0, 100).ticks == (100, 200, 500, 1000, 2000, 5000, 10_000)
    assert logarithmic([110, 140], 0, 100).ticks == (110, 120, 130, 140)
    assert linear([], 0, 100).ticks[0] == 0.0


def test_an_axis_places_its_ends():
    assert Axis(0, 10, 50, 150, ()).place(5) == 100
    assert Axis(1, 100, 0, 10, (), logarithmic=True).place(10) == pytest.approx(5)


def test_lines_have_points_legend_and_band():
    x, y = [100, 1000, 10_000], [70.0, 85.0, 92.0]
    one = Series("full", x, y, [v - 1 for v in y], [v + 1 for v in y])
    two = Series("<plain>", x, [60.0, 70.0, 75.0])
    svg = line_chart([one, two], title="T", x_label="n", y_label="%", x_log=True, unit="%")
    places = [(float(e.get("cx")), float(e.get("cy"))) for e in find(svg, "circle", "f0")]
    assert places[1][0] - places[0][0] == pytest.approx(places[2][0] - places[1][0], abs=0.2)
    assert places[0][1] > places[1][1] > places[2][1]
    assert len(find(svg, "path", "band")) == 1
    words = "".join(ElementTree.fromstring(svg).itertext())
    assert "<plain>" in words
    assert "full: from 70 to 92%" in words


def test_reliability_shows_points_and_counts():
    bins = [
        {"low": 0.5, "high": 0.6, "words": 10, "probability": 0.55, "right": 0.5},
        {"low": 0.9, "high": 1.0, "words": 40, "probability": 0.95, "right": 1.0},
    ]
    svg = reliability_chart(bins)
    low, high = find(svg, "circle", "f0")
    assert float(low.get("cx")) < float(high.get("cx"))
    assert float(low.get("cy")) > float(high.get("cy"))
    heights = [float(e.get("height")) for e in find(svg, "rect", "count")]
    assert heights[1] == pytest.approx(4 * heights[0], abs=0.2)
    assert "10 words at 55%: 50% right" in "".join(low.itertext())


def test_confusion_marks_mistakes_and_writes_counts():
    svg = confusion_chart(["A", "<B>"], [[90, 10], [0, 1000]])
    cells = find(svg, "rect", "cell")
    assert [e.get("class") for e in cells] == ["cell", "cell bad", "cell", "cell"]
    assert [e.text for e in find(svg, "text", "m")] == ["90", "10", "1,000"]
    assert "A as <B>: 10 (10.0%)" in "".join(ElementTree.fromstring(svg).itertext())


def test_bars_are_as_high_as_their_values():
    svg = bar_chart(["a", "b", "c"], [10.0, 20.0, -10.0], title="T", unit="%")
    bars = find(svg, "rect", "bar")
    heights = [float(e.get("height")) for e in bars]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.3)
    assert heights[2] == pytest.approx(heights[0], abs=0.3)
    assert float(bars[2].get("y")) == pytest.approx(
        float(bars[0].get("y")) + heights[0], abs=0.2
    ), "negative values hang below zero"


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), st.text(max_size=9), st.booleans())
def test_any_line_is_well_formed(points, name, log):
    x, y = [p[0] for p in points], [p[1] for p in points]
    svg = line_chart([Series(name, x, y)], title=name, x_label=name, y_label=name, x_log=log)
    for circle in find(svg, "circle", "f0"):
        assert math.isfinite(float(circle.get("cx")) + float(circle.get("cy")))
