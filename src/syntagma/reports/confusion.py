"""The confusion matrix as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.reports.axes import figure, frame
from syntagma.reports.drawing import Picture, number, safe, shorten, text_width

TOP, ROW = 58.0, 26.0


def confusion_chart(
    labels: Sequence[str], counts: Sequence[Sequence[int]], *, title: str = "Confusion"
) -> Picture:
    """Draw a confusion matrix, gold in rows: right words in one colour, mistakes in another.

    Numbers are words. Colours are shares of the row, those of mistakes relative to the greatest.
    """
    names = [shorten(label, 12) for label in labels]
    left = 34 + max((text_width(name, 12.0) for name in names), default=0.0)
    widest = max((len(figure(c)) for row in counts for c in row), default=1)
    cell = max(28.0, 10.0 + 7.2 * widest)
    top = TOP + 18 + max((text_width(name, 12.0) for name in names), default=0.0) * 0.75
    body = ['<text class="axis" x="8" y="44">rows gold, columns predicted</text>']
    told = []
    mistakes = [
        count / sum(row)
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
        if i != j and count
    ]
    strongest = max(mistakes, default=1.0)
    for i, (name, row) in enumerate(zip(names, counts, strict=True)):
        y, total = top + i * ROW, sum(row)
        body.append(
            f'<text class="e" x="{number(left - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
        )
        x = left + i * cell + cell / 2
        turn = f'transform="translate({number(x)} {number(top - 6)}) rotate(-45)"'
        body.append(f"<text {turn}>{safe(name)}</text>")
        for j, count in enumerate(row):
            part = count / total if total else 0.0
            strength = 0.55 * part / strongest if i != j else part
            said = f"{name} as {names[j]}: {figure(count)} ({part:.1%})" if count else ""
            body.append(_cell(left + j * cell, y, cell, count, strength, i != j, said))
        told.append(f"{name}: {row[i]} of {total} right")
    width = left + cell * len(names) + max((text_width(n, 12.0) for n in names[-1:]), default=0.0)
    return frame(body, top + ROW * len(names) + 16, title, "; ".join(told), max(width, 240.0))


def _cell(
    x: float, y: float, width: float, count: int, strength: float, wrong: bool, said: str
) -> str:
    kind = "cell bad" if wrong and count else "cell"
    box = (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width - 1)}" '
        f'height="25" rx="2" fill-opacity="{0.04 + 0.96 * strength:.2f}"/>'
    )
    if not count:
        return box
    ink = "m on" if strength > 0.78 else "m"
    return (
        f"<g><title>{safe(said)}</title>{box}"
        f'<text class="{ink}" x="{number(x + width / 2)}" y="{number(y + 17)}">'
        f"{figure(count)}</text></g>"
    )
