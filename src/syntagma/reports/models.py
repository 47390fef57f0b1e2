"""What a saved model has learnt, as a picture: one drawing for each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syntagma.errors import InputError
from syntagma.reports.axes import frame
from syntagma.reports.drawing import Picture, number, safe, shorten, text_width

ROW, CELL, SMALL = 26.0, 30.0, 12.0
TOP = 78.0


def model_svg(kind: str, description: Mapping[str, Any]) -> str:
    """Draw the description of a model, as its `describe` returns it, as a standalone SVG."""
    if kind not in _DRAWINGS:
        raise InputError(f"there is no picture of a {kind} model")
    return _DRAWINGS[kind](description).standalone()


def draw_tagger(description: Mapping[str, Any]) -> Picture:
    """Draw which tag follows which, and the attributes that speak most for each tag."""
    labels: Sequence[str] = description["labels"]
    weights: Sequence[Sequence[float]] = description["transitions"]
    names = [shorten(label, 12) for label in labels]
    widest = max(text_width(name, SMALL) for name in names)
    left, top = 34 + widest, TOP + 0.75 * widest
    strongest = max((abs(w) for row in weights for w in row), default=0.0) or 1.0
    aside = left + CELL * len(names) + 28
    told = [_evidence(description["strongest"].get(label, ())) for label in labels]
    body = [
        '<text class="axis" x="8" y="42">rows: the tag before, columns: the tag; '
        "blue draws together, red keeps apart</text>",
        f'<text class="axis" x="{number(aside)}" y="{number(top - 8)}">'
        "strongest evidence for the tag</text>",
    ]
    for i, (name, row) in enumerate(zip(names, weights, strict=True)):
        y, x = top + i * ROW, left + i * CELL + CELL / 2
        turn = f'transform="translate({number(x)} {number(top - 6)}) rotate(-45)"'
        body.append(
            f'<text class="e" x="{number(left - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
            f"<text {turn}>{safe(name)}</text>"
            f'<text class="axis" x="{number(aside)}" y="{number(y + 17)}">{safe(told[i])}</text>'
        )
        body += [
            _cell(left + j * CELL, y, weight / strongest, f"{name} then {names[j]}: {weight:+.2f}")
            for j, weight in enumerate(row)
        ]
    width = aside + max((text_width(text, SMALL) for text in told), default=0.0) + 16
    return frame(
        body,
        top + ROW * len(names) + 16,
        "What the tagger has learnt",
        "; ".join(f"{label}: {text}" for label, text in zip(labels, told, strict=True)),
        width,
    )


def _evidence(strongest: Sequence[Sequence[Any]], most: int = 4) -> str:
    return ",  ".join(shorten(str(name), 28) for name, _ in strongest[:most])


def _cell(x: float, y: float, strength: float, said: str) -> str:
    kind = "cell" if strength >= 0 else "cell bad"
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(CELL - 1)}" '
        f'height="25" rx="2" fill-opacity="{0.04 + 0.96 * abs(strength):.2f}">'
        f"<title>{safe(said)}</title></rect>"
    )


_DRAWINGS: dict[str, Callable[[Mapping[str, Any]], Picture]] = {"tagger": draw_tagger}
