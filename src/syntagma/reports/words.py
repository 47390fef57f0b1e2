"""A map of words: similar ones stand near each other and have the same colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.reports.axes import frame
from syntagma.reports.drawing import Picture, number, safe, shorten, text_width

WIDTH, HEIGHT, TOP, EDGE, LINE = 880.0, 640.0, 60.0, 24.0, 13.0
COLOURS = ("accent", "label", "missed", "wrong", "muted", "ink")

Box = tuple[float, float, float, float]


def draw_words(description: Mapping[str, Any]) -> Picture:
    """Draw the map of a model of word vectors; a word without room is a dot, named on hover."""
    words: Sequence[Sequence[Any]] = description["map"]
    across, down = ([float(word[axis]) for word in words] for axis in (1, 2))
    body = [
        f'<text class="axis" x="8" y="42">the {len(words)} most frequent words; '
        "near ones occur in similar contexts</text>"
    ]
    taken: list[Box] = []
    groups: dict[int, list[str]] = {}
    for whole, x, y, group in words:
        word = shorten(str(whole), 24)
        half = text_width(word, 12.0) / 2
        left, right = EDGE + half, WIDTH - EDGE - half
        x = min(max(_placed(x, across, EDGE, WIDTH - EDGE), left), right)
        y = _placed(y, down, TOP + EDGE, HEIGHT - EDGE)
        box = (x - half - 2, y - LINE / 2, x + half + 2, y + LINE / 2)
        style = f'style="fill:var(--sy-{COLOURS[int(group) % len(COLOURS)]})"'
        if any(_overlap(box, other) for other in taken):
            body.append(
                f'<circle {style} cx="{number(x)}" cy="{number(y)}" r="2">'
                f"<title>{safe(str(whole))}</title></circle>"
            )
        else:
            taken.append(box)
            body.append(
                f'<text class="m" {style} x="{number(x)}" y="{number(y + 4)}">{safe(word)}</text>'
            )
        groups.setdefault(int(group), []).append(str(whole))
    told = "; ".join(", ".join(group[:8]) for _, group in sorted(groups.items()))
    return frame(body, HEIGHT, "What the vectors of words tell apart", f"Groups: {told}", WIDTH)


def _placed(value: float, values: Sequence[float], start: float, end: float) -> float:
    low, high = min(values), max(values)
    return (
        (start + end) / 2 if low == high else start + (value - low) / (high - low) * (end - start)
    )


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
