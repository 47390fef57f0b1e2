"""Tag dictionaries: which tags a word may have."""

from __future__ import annotations

from syntagma.corpora.files import AnyPath, read_text
from syntagma.errors import InputError


def read_dictionary(path: AnyPath) -> dict[str, list[str]]:
    """Read a dictionary of lines ``word TAB tag[,tag...]``; a word may have several lines."""
    possible: dict[str, list[str]] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        word, tab, tags = line.rstrip("\r").partition("\t")
        listed = [tag.strip() for tag in tags.split(",")]
        if not (word and tab and all(listed)) or "\t" in tags or "\0" in line:
            raise InputError("expected word TAB tag[,tag...]", path=path, line=number)
        known = possible.setdefault(word, [])
        known.extend(tag for tag in listed if tag not in known)
    if not possible:
        raise InputError("expected at least one word with its tags", path=path)
    return possible
