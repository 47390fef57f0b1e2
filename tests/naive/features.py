"""Feature templates with strings and dictionaries, a word at a time."""

from __future__ import annotations

import re
from collections import Counter


def value(function: str, form: str | None) -> str | None:
    """One word function of one form; None is a position outside the sentence."""
    if form is None:
        return "outside"
    if function == "bias":
        return "yes"
    if function == "word":
        return "=" + form
    if function == "lower":
        return "=" + form.lower()
    if function[:6] == "suffix":
        n = int(function[6:])
        return "=" + form[len(form) - n :].lower() if len(form) >= n else None
    if function[:6] == "prefix":
        n = int(function[6:])
        return "=" + form[:n].lower() if len(form) >= n else None
    if function == "digit":
        return "yes" if re.search(r"\d", form) else None
    raise NotImplementedError(function)


def attributes(templates: list[str], sentence: list[str]) -> list[list[str]]:
    """Every attribute of every word, as readable strings."""
    out = []
    for t in range(len(sentence)):
        fired = []
        for template in templates:
            parts = []
            for part in template.split("|"):
                function, _, rest = part.partition("[")
                at = t + int(rest.rstrip("]") or 0)
                form = sentence[at] if 0 <= at < len(sentence) else None
                parts.append(value(function, form))
            if None not in parts:
                fired.append(template + ":" + "&".join(parts))
        out.append(fired)
    return out


def frequent(all_fired: list[list[str]], min_count: int) -> set[str]:
    """The attributes seen often enough."""
    counts = Counter(name for fired in all_fired for name in fired)
    return {name for name, count in counts.items() if count >= min_count}
