"""`syntagma inspect`: what a saved model holds."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from syntagma.cli.common import Json, emit, figures


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
    flat: dict[str, Any] = {}
    for name, value in card.items():
        if name in ("parameters", "summary"):
            flat |= {k: v for k, v in value.items() if k != "learning_curve"}
        else:
            flat[name] = value
    return figures(flat)
