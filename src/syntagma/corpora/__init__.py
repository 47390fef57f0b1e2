"""Text in and out: treebanks, brackets, plain text, generated corpora."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagma.corpora.brackets import Brackets
    from syntagma.corpora.files import atomic_write, read_bytes, read_text
    from syntagma.corpora.formats import read_treebank, write_treebank
    from syntagma.corpora.treebank import Column, Sentence, Treebank

__all__ = [
    "Brackets",
    "Column",
    "Sentence",
    "Treebank",
    "atomic_write",
    "read_bytes",
    "read_text",
    "read_treebank",
    "write_treebank",
]

# numpy is imported only when a treebank is, so that files alone stay quick
_HOMES = {
    "Brackets": "brackets",
    "Column": "treebank",
    "Sentence": "treebank",
    "Treebank": "treebank",
    "atomic_write": "files",
    "read_bytes": "files",
    "read_text": "files",
    "read_treebank": "formats",
    "write_treebank": "formats",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
