"""`syntagma inspect`: what a saved model holds."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from syntagma.cli.common import Json, emit, figures

# left to --json and --picture
LONG = (
    *("learning_curve", "costs", "transitions", "strongest", "arcs", "root"),
    *("initial", "singular_values", "map", "changes"),
    *("states", "start", "log_likelihoods", "parser", "latent"),
    *("arc_templates", "sibling_templates", "label_templates"),
)


def inspect(
    model: Annotated[str, typer.Argument(help="A saved model.", metavar="FILE")],
    picture: Annotated[
        str | None, typer.Option("--picture", help="Draw what the model has learnt, as SVG.")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="List so many of the strongest features per tag.")
    ] = 0,
    json: Json = False,
) -> None:
    """Print the model card of a saved model: its kind, parameters, training and size."""
    from syntagma.models import load

    loaded = load(model)
    card: dict[str, Any] = {
        "model": model,
        "kind": loaded.kind,
        "bytes": os.path.getsize(model) if model != "-" else None,
        "version": loaded.version_,
        "parameters": loaded.get_params(),
        "summary": loaded.summary_,
        **loaded.describe(top),
    }
    if picture:
        from syntagma.corpora.files import atomic_write
        from syntagma.reports import model_svg

        drawn = model_svg(loaded.kind, loaded.describe())
        with atomic_write(picture) as file:
            file.write(drawn.encode())
        card["picture"] = picture
    emit(card, json, lambda: _told(card))


def _told(card: dict[str, Any]) -> str:
    """Lay the card out, without matrices, curves and long lists."""
    flat: dict[str, Any] = {}
    for name, value in card.items():
        inner = value if name in ("parameters", "summary") else {name: value}
        flat |= {k: _short(v) for k, v in inner.items() if k not in LONG}
    strongest = {tag: found for tag, found in card.get("strongest", {}).items() if found}
    lines = [figures(flat)]
    for tag, found in strongest.items():
        evidence = ", ".join(f"{attribute} {weight:+.2f}" for attribute, weight in found)
        lines.append(f"{tag}: {evidence}")
    return "\n".join(lines)


def _short(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else value
