"""Dependency trees as pictures, with the certainty of each arc and errors against gold."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.reports.arcs import CORNER, Arc, Layout, lay_out
from syntagma.reports.drawing import Picture, number, picture, safe, share, shorten, text_width
from syntagma.reports.sentences import (
    Probabilities,
    Sentence,
    gold_tags,
    probability_of,
    shown_labels,
    shown_tags,
    start_of,
)

DOUBTFUL = 0.9  # an arc less probable than this says so in its caption
REMARKS = {"plain": "", "wrong": " (wrong)", "missed": " (missed)", "label": " (wrong label)"}


def tree_svg(
    sentence: Sentence, *, gold: Sentence | None = None, confidence: Probabilities | None = None
) -> str:
    """Draw a dependency tree as an SVG file.

    Parameters
    ----------
    sentence
        Anything with `forms`, `tags`, `heads` and `labels`.
    gold
        The right analysis: wrong arcs are highlighted and missed ones drawn dashed.
    confidence
        Probability of each word's head; a doubtful arc is drawn lighter and says so.
    """
    return draw_tree(sentence, gold=gold, confidence=confidence).standalone()


def draw_tree(
    sentence: Sentence, *, gold: Sentence | None = None, confidence: Probabilities | None = None
) -> Picture:
    """Draw a dependency tree for a page that brings the styles."""
    tags, right_tags = shown_tags(sentence), gold_tags(sentence, gold)
    forms = [shorten(form) for form in sentence.forms]
    arcs = list_arcs(sentence, gold, confidence)
    widths = [
        max(text_width(form), text_width(tag, 12.0), text_width(right, 12.0))
        for form, tag, right in zip(forms, tags, right_tags, strict=True)
    ]
    layout = lay_out(widths, arcs)
    top = max(layout.levels, default=0)
    step = 24 if top <= 6 else 20 if top <= 12 else 16
    base = 20.0 + top * step
    body = ['<g class="sy-arcs">']
    body += [_arc(arc, i, layout, base, step, forms) for i, arc in enumerate(arcs)]
    body.append('</g><g class="sy-words">')
    for whole, form, tag, right, x in zip(
        sentence.forms, forms, tags, right_tags, layout.centres, strict=True
    ):
        title = f"<title>{safe(whole)}</title>" if form != whole else ""
        body.append(_text("", x, base + 19, title + safe(form)))
        if tag or right:
            body.append(_text("t" if tag == right else "t bad", x, base + 37, safe(tag)))
        if tag != right:
            body.append(_text("gold", x, base + 52, safe(right)))
    body.append("</g>")
    return picture(
        layout.width,
        base + (47 if tags == right_tags else 62),
        "".join(body),
        kind="sy-tree",
        title=f"Dependency tree: {start_of(sentence)}",
        description=_describe(forms, arcs),
    )


def list_arcs(
    sentence: Sentence, gold: Sentence | None, confidence: Probabilities | None = None
) -> list[Arc]:
    """List the arcs to draw: those of the sentence, then gold ones that it missed."""
    arcs, missed = [], []
    labels = shown_labels(sentence)
    truth = gold.heads if gold is not None else [-1] * len(sentence.heads)
    gold_labels = shown_labels(gold) if gold is not None else labels
    for word, (head, right) in enumerate(zip(sentence.heads, truth, strict=True), start=1):
        label, gold_label = shorten(labels[word - 1], 24), shorten(gold_labels[word - 1], 24)
        probability = probability_of(confidence, word - 1)
        kind = "plain"
        if right >= 0 and head != right:
            kind = "wrong"
            missed.append(Arc(right, word, gold_label, "missed", None))
        elif right >= 0 and label and gold_label and label != gold_label:
            kind = "label"
            label = f"{label} ≠ {gold_label}"
        if head >= 0:
            if probability is not None and probability < DOUBTFUL:
                label = f"{label} {share(probability)}".strip()
            arcs.append(Arc(head, word, label, kind, probability))
    return arcs + missed


def _arc(arc: Arc, i: int, layout: Layout, base: float, step: float, forms: Sequence[str]) -> str:
    y = base - layout.levels[i] * step
    start, end = layout.lefts[i], layout.rights[i]
    if arc.head > arc.modifier:
        start, end = end, start
    line = f"M{number(end)} {number(y + 4)}V{number(base - 4)}"
    if arc.head:
        corner = min(CORNER, abs(end - start) / 2, step)
        turn = corner if end > start else -corner
        line = (
            f"M{number(start)} {number(base)}V{number(y + corner)}"
            f"q0 {number(-corner)} {number(turn)} {number(-corner)}H{number(end - turn)}"
            f"q{number(turn)} 0 {number(turn)} {number(corner)}V{number(base - 4)}"
        )
    faint, look = "", ""
    if arc.probability is not None:
        opacity = f"opacity:{0.3 + 0.7 * arc.probability:.2f}"
        look = f' style="stroke-{opacity};stroke-width:{0.8 + 1.2 * arc.probability:.1f}"'
        faint = f' style="fill-{opacity}"'
    kind = "" if arc.kind == "plain" else f' class="{arc.kind}"'
    drop = 3.5 if arc.head else -1.0
    return (
        f"<g{kind}><title>{safe(_say(arc, forms))}</title>"
        f'<path{look} d="{line}"/>'
        f'<path class="h"{faint} d="M{number(end)} {number(base)}l-3.5-7h7z"/>'
        + (_text("", (start + end) / 2, y + drop, safe(arc.caption)) if arc.caption else "")
        + "</g>"
    )


def _text(kind: str, x: float, y: float, content: str) -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{number(x)}" y="{number(y)}">{content}</text>'


def _say(arc: Arc, forms: Sequence[str]) -> str:
    head = forms[arc.head - 1] if arc.head else "root"
    sure = "" if arc.probability is None else f", {share(arc.probability)}"
    return f"{head} → {forms[arc.modifier - 1]}{sure}{REMARKS[arc.kind]}"


def _describe(forms: Sequence[str], arcs: Sequence[Arc]) -> str:
    wrong = sum(arc.kind == "wrong" for arc in arcs)
    said = "; ".join(_say(arc, forms) for arc in arcs[:12]) + ("; …" if len(arcs) > 12 else "")
    return f"{len(forms)} words{f', {wrong} wrong heads' if wrong else ''}. {said}"
