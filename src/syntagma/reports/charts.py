"""Small charts as SVG: lines, reliability, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.reports.axes import (
    WIDTH,
    Axis,
    draw_horizontal,
    draw_vertical,
    figure,
    frame,
    left_margin,
    linear,
    logarithmic,
)
from syntagma.reports.drawing import Picture, number, safe, share, text_width

HEIGHT, TOP, BOTTOM, RIGHT = 330.0, 58.0, 52.0, 20.0
STYLES = 4  # distinct line styles


class Series(NamedTuple):
    """One line: points, and the band of its intervals if ``low`` and ``high`` are given."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    y_log: bool = False,
    unit: str = "",
) -> Picture:
    """Draw lines with points, such as a learning curve."""
    y_all = [v for s in series for values in (s.y, s.low, s.high) for v in values or ()]
    x_all = [v for s in series for v in s.x]
    legend = len(series) > 1
    top = TOP + (20 if legend else 0)
    upwards = logarithmic if y_log and min(y_all, default=0.0) > 0 else linear
    vertical = upwards(y_all, HEIGHT - BOTTOM, top, name=y_label, unit=unit)
    left = left_margin(vertical)
    across = logarithmic if x_log and min(x_all, default=0.0) > 0 else linear
    horizontal = across(x_all, left, WIDTH - RIGHT - 12, name=x_label)
    body = [draw_vertical(vertical, left, WIDTH - RIGHT)]
    body.append(draw_horizontal(horizontal, HEIGHT - BOTTOM))
    told, x_legend = [], left
    for i, line in enumerate(series):
        kind = i % STYLES
        points = _points(line.x, line.y, horizontal, vertical)
        body.append(_band(line, kind, horizontal, vertical))
        body.append(f'<path class="line s{kind}" d="{_path(points)}"/>')
        for (x, y), at, up in zip(points, line.x, line.y, strict=True):
            said = f"{line.name}: {vertical.write(up)} at {horizontal.write(at)}"
            body.append(
                f'<circle class="f{kind}" cx="{number(x)}" cy="{number(y)}" r="3.5">'
                f"<title>{safe(said)}</title></circle>"
            )
        if legend:
            body.append(
                f'<path class="line s{kind}" d="M{number(x_legend)} 40h22"/>'
                f'<text x="{number(x_legend + 28)}" y="44">{safe(line.name)}</text>'
            )
            x_legend += text_width(line.name, 12.0) + 52
        if line.y:
            told.append(f"{line.name}: from {figure(line.y[0])} to {figure(line.y[-1])}{unit}")
    return frame(body, HEIGHT, title, f"{y_label} by {x_label}. " + "; ".join(told))


def reliability_chart(bins: Sequence[Mapping[str, Any]], *, title: str = "Reliability") -> Picture:
    """Draw share right against stated probability, the diagonal, and the words in each bin.

    ``bins`` are dicts with ``low, high, words, probability, right``.
    """
    size, strip = 300.0, 54.0
    ticks = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    vertical = Axis(0.0, 1.0, TOP + size, TOP, ticks, "share right")
    left = left_margin(vertical)
    horizontal = Axis(0.0, 1.0, left, left + size, ticks, "stated probability")
    floor = TOP + size + 12 + strip
    corners = [(horizontal.place(v), vertical.place(v)) for v in (0.0, 1.0)]
    body = [draw_vertical(vertical, left, left + size)]
    body += [f'<path class="ideal" d="{_path(corners)}"/>', draw_horizontal(horizontal, floor)]
    points, most = [], max((int(row["words"]) for row in bins), default=1)
    for row in bins:
        points.append((horizontal.place(row["probability"]), vertical.place(row["right"])))
        x, end = horizontal.place(row["low"]), horizontal.place(row["high"])
        tall = max(1.0, strip * row["words"] / most)
        said = (
            f"{figure(row['words'])} words at {share(row['probability'])}: "
            f"{share(row['right'])} right"
        )
        body.append(
            f'<rect class="count" x="{number(x + 0.5)}" y="{number(floor - tall)}" '
            f'width="{number(max(2.0, end - x - 1))}" height="{number(tall)}">'
            f"<title>{safe(said)}</title></rect>"
        )
        radius = 2.5 + 3.0 * (row["words"] / most) ** 0.5
        body.append(
            f'<circle class="f0" cx="{number(points[-1][0])}" cy="{number(points[-1][1])}" '
            f'r="{number(radius)}"><title>{safe(said)}</title></circle>'
        )
    body.append(f'<path class="line s0" d="{_path(points)}"/>')
    body.append(
        f'<text class="axis" x="{number(left + size + 10)}" y="{number(floor - strip + 10)}">'
        f"{figure(most)}</text>"
        f'<text class="axis" x="{number(left + size + 10)}" y="{number(floor)}">words</text>'
    )
    told = "; ".join(f"{share(row['probability'])}: {share(row['right'])} right" for row in bins)
    return frame(body, floor + BOTTOM, title, told, left + size + 64)


def bar_chart(
    names: Sequence[str],
    values: Sequence[float],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    unit: str = "",
) -> Picture:
    """Draw one bar for each name."""
    vertical = linear([0.0, *values], HEIGHT - BOTTOM, TOP, name=y_label, unit=unit)
    left = left_margin(vertical)
    step = (WIDTH - RIGHT - left) / max(1, len(values))
    body = [draw_vertical(vertical, left, WIDTH - RIGHT)]
    zero = vertical.place(0.0)
    every = max(1, round(max((text_width(n, 12.0) for n in names), default=0.0) / step + 0.4))
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        x, y = left + step * i, vertical.place(value)
        body.append(
            f'<rect class="bar" x="{number(x + step * 0.12)}" y="{number(min(y, zero))}" '
            f'width="{number(step * 0.76)}" height="{number(max(1.0, abs(zero - y)))}" rx="2">'
            f"<title>{safe(f'{name}: {vertical.write(value)}')}</title></rect>"
        )
        if i % every == 0:
            body.append(_below(x + step / 2, 18, name))
    body.append(_below((left + WIDTH - RIGHT) / 2, 38, x_label))
    told = "; ".join(f"{n}: {figure(v)}{unit}" for n, v in zip(names, values, strict=True))
    return frame(body, HEIGHT, title, told)


def _band(line: Series, kind: int, horizontal: Axis, vertical: Axis) -> str:
    if not line.low or not line.high:
        return ""
    there = _points(line.x, line.high, horizontal, vertical)
    back = _points(line.x, line.low, horizontal, vertical)
    return f'<path class="band f{kind}" d="{_path(there + back[::-1])}Z"/>'


def _points(
    x: Sequence[float], y: Sequence[float], horizontal: Axis, vertical: Axis
) -> list[tuple[float, float]]:
    return [(horizontal.place(a), vertical.place(b)) for a, b in zip(x, y, strict=True)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) if points else ""


def _below(x: float, drop: float, text: str) -> str:
    y = HEIGHT - BOTTOM + drop
    return f'<text class="axis m" x="{number(x)}" y="{number(y)}">{safe(text)}</text>'
