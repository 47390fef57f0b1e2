"""Axes of the charts: nice ticks, scales, grid lines and names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from syntagma.reports.drawing import Picture, number, picture, safe, text_width

WIDTH = 560.0


class Axis(NamedTuple):
    """One axis: the values at its ends, where they stand in pixels, and its ticks."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    name: str = ""
    unit: str = ""
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def write(self, value: float) -> str:
        """Write a tick as short as its neighbours allow."""
        return figure(value) + self.unit


def figure(value: float) -> str:
    """Write a number for people.

    >>> figure(12500), figure(0.25), figure(-3.0)
    ('12,500', '0.25', '-3')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def nice_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Choose round numbers that cover a range.

    >>> nice_ticks(0, 97)
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    """
    span = high - low
    if not span > max(1e-100, 1e-9 * max(abs(low), abs(high))):
        margin = 0.5 if abs(low) < 100 else 0.005 * abs(low)
        low, high, span = low - margin, high + margin, high - low + 2 * margin
    rough = span / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(float(f"{k * step:.12g}") for k in range(first, last + 1))


def linear(
    values: Sequence[float], start: float, end: float, name: str = "", unit: str = ""
) -> Axis:
    """Make an axis that covers these values between nice ticks."""
    ticks = nice_ticks(min(values, default=0.0), max(values, default=1.0))
    return Axis(ticks[0], ticks[-1], start, end, ticks, name, unit)


def logarithmic(
    values: Sequence[float], start: float, end: float, name: str = "", unit: str = ""
) -> Axis:
    """Make a logarithmic axis that covers these positive values, ticks at 1, 2, 5, 10, ..."""
    low, high = min(values), max(values)
    if not low * (1 + 1e-9) < high:
        low, high = low / 2, high * 2
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    candidates = (m * 10.0**power for power in powers for m in (1, 2, 5))
    ticks = tuple(t for t in candidates if low * 0.999 <= t <= high * 1.001)
    if len(ticks) < 2:
        ticks = tuple(t for t in nice_ticks(low, high) if low <= t <= high)
    thin = ticks if len(ticks) <= 8 else ticks[:: -(-len(ticks) // 8)]
    return Axis(low, high, start, end, thin, name, unit, logarithmic=True)


def draw_horizontal(axis: Axis, bottom: float) -> str:
    """Draw the horizontal axis: tick numbers and name below."""
    parts = [
        f'<text class="axis m" x="{number(axis.place(tick))}" y="{number(bottom + 18)}">'
        f"{axis.write(tick)}</text>"
        for tick in axis.ticks
    ]
    middle = number((axis.start + axis.end) / 2)
    parts.append(
        f'<text class="axis m" x="{middle}" y="{number(bottom + 38)}">{safe(axis.name)}</text>'
    )
    return "".join(parts)


def draw_vertical(axis: Axis, left: float, right: float) -> str:
    """Draw the vertical axis: grid lines, tick numbers, and the name above."""
    parts = []
    for tick in axis.ticks:
        y = number(axis.place(tick))
        parts.append(f'<path class="grid" d="M{number(left)} {y}H{number(right)}"/>')
        parts.append(
            f'<text class="axis e" x="{number(left - 8)}" y="{y}" dy="4">{axis.write(tick)}</text>'
        )
    parts.append(
        f'<text class="axis" x="8" y="{number(min(axis.start, axis.end) - 14)}">'
        f"{safe(axis.name)}</text>"
    )
    return "".join(parts)


def left_margin(axis: Axis) -> float:
    """Return the room that the tick numbers of a vertical axis need."""
    return 18.0 + max(text_width(axis.write(tick), 12.0) for tick in axis.ticks)


def frame(
    body: Sequence[str], height: float, title: str, description: str, width: float = WIDTH
) -> Picture:
    """Put a chart under its title."""
    name = f'<text class="name" x="8" y="20">{safe(title)}</text>'
    content = name + "".join(body)
    return picture(width, height, content, kind="sy-chart", title=title, description=description)
