"""From a summary dict to JSON, HTML and SVG."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagma.reports.models import model_svg
    from syntagma.reports.page import render_evaluation, render_treebank
    from syntagma.reports.summary import evaluation_summary
    from syntagma.reports.tags import tags_svg
    from syntagma.reports.trees import tree_svg

__all__ = [
    "evaluation_summary",
    "model_svg",
    "render_evaluation",
    "render_treebank",
    "tags_svg",
    "tree_svg",
]

_HOMES = {
    "evaluation_summary": "summary",
    "model_svg": "models",
    "render_evaluation": "page",
    "render_treebank": "page",
    "tags_svg": "tags",
    "tree_svg": "trees",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
