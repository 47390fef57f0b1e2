"""What a saved model has learnt, as a picture: one drawing for each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syntagma.errors import InputError
from syntagma.reports.axes import frame
from syntagma.reports.cells import CELL, ROW, SMALL, TOP, cell, column_names, evidence
from syntagma.reports.drawing import Picture, number, safe, shorten, text_width
from syntagma.reports.states import draw_hmm, draw_latent_tree
from syntagma.reports.words import draw_words

MOST_TAGS = 24  # of a parser, that are drawn


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
    told = [evidence(description["strongest"].get(label, ())) for label in labels]
    body = [
        '<text class="axis" x="8" y="42">rows: the tag before, columns: the tag; '
        "blue draws together, red keeps apart</text>",
        f'<text class="axis" x="{number(aside)}" y="{number(top - 8)}">'
        "strongest evidence for the tag</text>",
        *column_names(names, left, top),
    ]
    for i, (name, row) in enumerate(zip(names, weights, strict=True)):
        y = top + i * ROW
        body.append(
            f'<text class="e" x="{number(left - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
            f'<text class="axis" x="{number(aside)}" y="{number(y + 17)}">{safe(told[i])}</text>'
        )
        body += [
            cell(left + j * CELL, y, weight / strongest, f"{name} then {names[j]}: {weight:+.2f}")
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


def draw_mst(description: Mapping[str, Any]) -> Picture:
    """Draw which tags stand under which: modifiers left of their head, and right of it.

    A parser with many tags is drawn with the most frequent ones.
    """
    tags: Sequence[str] = description["tags"][:MOST_TAGS]
    root: Sequence[float] = description["root"][: len(tags)]
    sides = {
        side: [row[: len(tags)] for row in description["arcs"][side][: len(tags)]]
        for side in ("left", "right")
    }
    cut = len(description["tags"]) - len(tags)
    strongest = max((abs(w) for rows in sides.values() for row in rows for w in row), default=0.0)
    strongest = max(strongest, max(map(abs, root), default=0.0)) or 1.0
    names = [shorten(tag, 12) for tag in tags]
    widest = max((text_width(name, SMALL) for name in ["root", *names]), default=0.0)
    gutter, top = 20 + widest, TOP + 26 + 0.75 * widest
    remark = f"; the {len(tags)} most frequent tags of {cut + len(tags)}" if cut else ""
    body = [
        '<text class="axis" x="8" y="42">rows: the head, columns: the modifier; '
        f"blue draws together, red keeps apart{remark}</text>"
    ]
    x = 0.0
    for side, title in (("left", "modifier to the left"), ("right", "modifier to the right")):
        x += gutter
        body.append(f'<text x="{number(x)}" y="66">{title} of its head</text>')
        body += column_names(names, x, top)
        rows = list(zip(names, names, sides[side], strict=True))
        if side == "right":
            rows.append(("root", "the root", root))
        for i, (name, head, row) in enumerate(rows):
            y = top + i * ROW
            body.append(
                f'<text class="e" x="{number(x - 8)}" y="{number(y + 17)}">{safe(name)}</text>'
            )
            body += [
                cell(x + j * CELL, y, w / strongest, _said(side, head, names[j], w))
                for j, w in enumerate(row)
            ]
        x += CELL * len(names) + 0.55 * widest
    best = description.get("strongest", {})
    told = "; ".join(
        f"{tag}: {best[tag][0][0]}" for tag in tags if best.get(tag) and best[tag][0][1] > 0
    )
    return frame(
        body,
        top + ROW * (len(names) + 1) + 16,
        "What the parser has learnt",
        f"Best head of each tag. {told}",
        max(x + 16, 560.0),
    )


def _said(side: str, head: str, modifier: str, weight: float) -> str:
    pair = f"{modifier} under {head}"
    if head != "the root":
        pair = f"{modifier} {side} of its head {head}"
    return f"{pair}: {weight:+.2f}"


def draw_reranker(description: Mapping[str, Any]) -> Picture:
    """Draw the base parser of a re-ranker."""
    return draw_mst(description["parser"])


_DRAWINGS: dict[str, Callable[[Mapping[str, Any]], Picture]] = {
    "tagger": draw_tagger,
    "mst": draw_mst,
    "hmm": draw_hmm,
    "latent-tree": draw_latent_tree,
    "reranker": draw_reranker,
    "eigenwords": draw_words,
}
