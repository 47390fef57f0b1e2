"""Pieces of pictures made of cells: columns' names, the cells, and the evidence beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.reports.drawing import number, safe, shorten

ROW, CELL, SMALL = 26.0, 30.0, 12.0
TOP = 78.0


def evidence(strongest: Sequence[Sequence[Any]], most: int = 4) -> str:
    """Name what speaks most for something, the strongest first."""
    return ",  ".join(shorten(str(name), 28) for name, _ in strongest[:most])


def column_names(names: Sequence[str], left: float, top: float) -> list[str]:
    """Write the names of columns, slanting."""
    places = [(number(left + i * CELL + CELL / 2), name) for i, name in enumerate(names)]
    return [
        f'<text transform="translate({x} {number(top - 6)}) rotate(-45)">{safe(name)}</text>'
        for x, name in places
    ]


def cell(x: float, y: float, strength: float, said: str) -> str:
    """Draw one cell, the darker the stronger, red if the strength is negative."""
    kind = "cell" if strength >= 0 else "cell bad"
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(CELL - 1)}" '
        f'height="25" rx="2" fill-opacity="{0.04 + 0.96 * abs(strength):.2f}">'
        f"<title>{safe(said)}</title></rect>"
    )
