"""Tag sequences as pictures, with the certainty of each tag and errors against gold."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.reports.drawing import Picture, number, picture, safe, share, shorten, text_width
from syntagma.reports.sentences import (
    Probabilities,
    Sentence,
    gold_tags,
    probability_of,
    shown_tags,
    start_of,
)

WRAP, MARGIN, GAP = 880.0, 8.0, 12.0
Alternatives = Sequence[Sequence[tuple[str, float]]]


def tags_svg(
    sentence: Sentence,
    *,
    gold: Sentence | None = None,
    confidence: Probabilities | None = None,
    alternatives: Alternatives | None = None,
) -> str:
    """Draw a tagged sentence as an SVG file, each tag with a bar for its probability.

    ``alternatives`` lists other tags of each word with their probabilities, shown on hover.
    """
    drawing = draw_tags(sentence, gold=gold, confidence=confidence, alternatives=alternatives)
    return drawing.standalone()


def draw_tags(
    sentence: Sentence,
    *,
    gold: Sentence | None = None,
    confidence: Probabilities | None = None,
    alternatives: Alternatives | None = None,
) -> Picture:
    """Draw a tagged sentence for a page that brings the styles."""
    tags, right_tags = shown_tags(sentence), gold_tags(sentence, gold)
    row = 54.0 if tags == right_tags else 70.0
    body, x, y, widest = ['<g class="sy-words">'], MARGIN, MARGIN, 0.0
    for i, (whole, tag, right) in enumerate(zip(sentence.forms, tags, right_tags, strict=True)):
        form, probability = shorten(whole), probability_of(confidence, i)
        room = max(text_width(form), text_width(tag, 12.0) + 14, text_width(right, 12.0) + 14)
        if x > MARGIN and x + room > WRAP:
            x, y = MARGIN, y + row
        others = [pair for pair in alternatives[i] if pair[0] != tag] if alternatives else []
        hover = [whole, tag if probability is None else f"{tag} {share(probability)}"]
        hover += [f"{other} {share(chance)}" for other, chance in others]
        hover += [f"gold: {right}"] if tag != right else []
        body.append(f"<g><title>{safe(chr(10).join(hover))}</title>")
        body += _word(form, tag, right, probability, x, y, room)
        body.append("</g>")
        x += room + GAP
        widest = max(widest, x)
    wrong = sum(tag != right for tag, right in zip(tags, right_tags, strict=True))
    pairs = " ".join(f"{form}/{tag}" for form, tag in zip(sentence.forms, tags, strict=True))
    return picture(
        max(widest, MARGIN) - GAP + MARGIN,
        y + row + MARGIN / 2,
        "".join(body) + "</g>",
        kind="sy-tags",
        title=f"Tags: {start_of(sentence)}",
        description=pairs + (f" ({wrong} wrong)" if gold is not None else ""),
    )


def _word(
    form: str, tag: str, right: str, probability: float | None, x: float, y: float, room: float
) -> list[str]:
    """Draw one word over its tag, the bar of its probability, and the right tag if it is wrong."""
    middle, left, width = number(x + room / 2), number(x), number(room)
    box, text = ("", "t") if tag == right else (' class="bad"', "t bad")
    parts = [
        f'<text x="{middle}" y="{number(y + 16)}">{safe(form)}</text>',
        f'<rect{box} x="{left}" y="{number(y + 22)}" width="{width}" height="18" rx="4"/>',
        f'<text class="{text}" x="{middle}" y="{number(y + 35)}">{safe(tag)}</text>',
    ]
    if probability is not None:
        track = f'x="{left}" y="{number(y + 42)}" height="3" rx="1.5"'
        parts.append(f'<rect {track} width="{width}"/>')
        parts.append(f'<rect class="p" {track} width="{number(room * probability)}"/>')
    if tag != right:
        parts.append(f'<text class="gold" x="{middle}" y="{number(y + 58)}">{safe(right)}</text>')
    return parts
