"""Pictures of hidden states: which follows which or stands below which, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.reports.axes import frame
from syntagma.reports.cells import CELL, ROW, SMALL, TOP, cell, column_names, evidence
from syntagma.reports.charts import Series, line_chart
from syntagma.reports.drawing import Picture, number, safe, shorten, text_width


def draw_hmm(description: Mapping[str, Any]) -> Picture:
    """Draw which state follows which, where sequences begin, and the symbols of each state."""
    labels: Sequence[str] = description["labels"]
    names = [shorten(label, 12) for label in labels]
    left, top = 34.0 + max(text_width(name, SMALL) for name in ["start", *names]), TOP + 26
    aside = left + CELL * len(names) + 28
    told = [evidence(description["strongest"].get(label, ()), 6) for label in labels]
    rows = [("start", description["initial"], "")]
    rows += zip(names, description["transitions"], told, strict=True)
    body = [
        '<text class="axis" x="8" y="42">rows: the state before, columns: the state; '
        "the darker, the likelier</text>",
        f'<text class="axis" x="{number(aside)}" y="{number(top - 8)}">'
        "likeliest symbols of the state</text>",
        *column_names(names, left, top),
    ]
    for i, (name, row, symbols) in enumerate(rows):
        y = top + i * ROW
        body.append(
            f'<text class="e" x="{number(left - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
            f'<text class="axis" x="{number(aside)}" y="{number(y + 17)}">{safe(symbols)}</text>'
        )
        body += [
            cell(left + j * CELL, y, p, f"{name} then {names[j]}: {p:.3f}")
            for j, p in enumerate(row)
        ]
    width = aside + max((text_width(text, SMALL) for text in told), default=0.0) + 16
    return frame(
        body,
        top + ROW * len(rows) + 16,
        "What the hidden Markov model has learnt",
        "; ".join(f"{label}: {text}" for label, text in zip(labels, told, strict=True)),
        max(width, 560.0),
    )


def draw_latent_tree(description: Mapping[str, Any]) -> Picture:
    """Draw which states stand below which; of a model without states, its singular values."""
    if "states" not in description:
        return _singular_values(description["singular_values"])
    told = [", ".join(shorten(word, 16) for word in words) for words in description["states"]]
    names = [shorten(words[0], 10) for words in description["states"]]
    left = 40.0 + max(text_width(name, SMALL) for name in ["root", *names])
    top = TOP + 26 + 0.75 * max(text_width(name, SMALL) for name in names)
    rows = [("root", [description["start"]] * 2, "")]
    columns = [list(zip(*side, strict=True)) for side in description["transitions"]]
    rows += [(name, [columns[0][i], columns[1][i]], told[i]) for i, name in enumerate(names)]
    body = [
        '<text class="axis" x="8" y="42">rows: the state of the head, columns: that of the child; '
        "the darker, the likelier</text>"
    ]
    wide = CELL * len(names) + 30
    for side, title in enumerate(("child to the left", "child to the right")):
        x = left + side * wide
        body.append(f'<text x="{number(x)}" y="66">{title}</text>')
        body += column_names(names, x, top)
    aside = left + 2 * wide
    body.append(
        f'<text class="axis" x="{number(aside)}" y="{number(top - 8)}">likeliest words</text>'
    )
    for i, (name, sides, words) in enumerate(rows):
        y = top + i * ROW
        body.append(
            f'<text class="e" x="{number(left - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
            f'<text class="axis" x="{number(aside)}" y="{number(y + 17)}">{safe(words)}</text>'
        )
        for side, chances in enumerate(sides):
            body += [
                cell(left + side * wide + j * CELL, y, p, f"{names[j]} below {name}: {p:.3f}")
                for j, p in enumerate(chances)
            ]
    return frame(
        body,
        top + ROW * len(rows) + 16,
        "What the latent tree model has learnt",
        "; ".join(f"state {i + 1}: {words}" for i, words in enumerate(told)),
        aside + max(text_width(text, SMALL) for text in told) + 16,
    )


def _singular_values(moments: Mapping[str, Sequence[float]]) -> Picture:
    lines = [
        Series(name, [float(i + 1) for i in range(len(values))], list(values))
        for name, values in moments.items()
    ]
    return line_chart(
        lines,
        title="How far the moments carry",
        x_label="dimension",
        y_label="singular value",
    )
