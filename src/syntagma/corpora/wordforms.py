"""What can be read off a word without knowing its language: affixes, shape, case, digits.

Each function takes the distinct forms of a corpus and returns one value for each; an empty value
means that the form has no such property (a two-letter word has no suffix of three letters).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from syntagma.errors import InputError

Forms = Sequence[str]


def word_function(name: str) -> Callable[[Forms], list[str]]:
    """Look up a word function by name: `word`, `lower`, `suffix3`, `prefix2`, `shape`, ...

    >>> word_function("suffix2")(["Singing", "a"])
    ['ng', '']
    """
    if name in _PLAIN:
        return _PLAIN[name]
    affix = re.fullmatch(r"(prefix|suffix)([1-9])", name)
    if affix is None:
        known = ", ".join([*_PLAIN, "prefix1..9", "suffix1..9"])
        raise InputError(f"no word function is called {name!r}; there are {known}")
    length = int(affix[2])
    if affix[1] == "prefix":
        return lambda forms: [f[:length].lower() if len(f) >= length else "" for f in forms]
    return lambda forms: [f[-length:].lower() if len(f) >= length else "" for f in forms]


def shape(form: str) -> str:
    """Write a form as classes of characters, runs shortened to two.

    >>> [shape(form) for form in ("McDonald's", "1,000", "U.S.", "über")]
    ["XxXxx'x", 'd,dd', 'X.X.', 'xx']
    """
    classes = "".join(
        "X" if c.isupper() else "d" if c.isdigit() else "x" if c.isalpha() else c for c in form
    )
    return re.sub(r"(.)\1{2,}", r"\1\1", classes)


def _case(form: str) -> str:
    if form.islower():
        return "lower"
    if form.isupper():
        return "upper" if len(form) > 1 else "capital"
    if form.istitle():
        return "title"
    return "mixed" if any(c.isupper() for c in form) else ""


def is_punctuation(form: str) -> bool:
    """Tell whether a form is made of punctuation and symbols alone."""
    return bool(form) and all(unicodedata.category(c)[0] in "PS" for c in form)


def _flag(test: Callable[[str], bool]) -> Callable[[Forms], list[str]]:
    return lambda forms: ["yes" if test(form) else "" for form in forms]


_PLAIN: dict[str, Callable[[Forms], list[str]]] = {
    "bias": lambda forms: ["yes"] * len(forms),
    "word": list,
    "lower": lambda forms: [form.lower() for form in forms],
    "shape": lambda forms: [shape(form) for form in forms],
    "case": lambda forms: [_case(form) for form in forms],
    "capitalised": _flag(lambda form: form[:1].isupper()),
    "uppercase": _flag(str.isupper),
    "digit": _flag(lambda form: any(c.isdigit() for c in form)),
    "hyphen": _flag(lambda form: "-" in form),
    "period": _flag(lambda form: "." in form),
    "punctuation": _flag(is_punctuation),
}
