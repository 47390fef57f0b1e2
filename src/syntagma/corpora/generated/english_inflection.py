"""English inflection, for the few hundred stems that generated text is made of."""

from __future__ import annotations

# base, past, participle, third person, gerund: as many as are irregular or double a consonant
_IRREGULAR = """
be was been is being|have had had has having|do did done does doing|go went gone goes going
run ran run|drive drove driven|fly flew flown|ride rode ridden|rise rose risen|fall fell fallen
grow grew grown|eat ate eaten|buy bought bought|sell sold sold|make made made|build built built
find found found|lose lost lost|meet met met|know knew known|see saw seen|say said said
think thought thought|hear heard heard|begin began begun|give gave given|send sent sent
show showed shown|lend lent lent|bring brought brought|pay paid paid|teach taught taught
slip slipped slipped slips slipping|drop dropped dropped drops dropping|forget forgot forgotten
admit admitted admitted admits admitting|prefer preferred preferred prefers preferring
plan planned planned plans planning|ski skied skied skis skiing
"""
_PARTS = {
    parts[0]: parts[1:]
    for line in _IRREGULAR.strip().splitlines()
    for parts in (entry.split() for entry in line.split("|"))
}
_PARTS["run"] += ["runs", "running"]
_PARTS["forget"] += ["forgets", "forgetting"]
_PARTS["begin"] += ["begins", "beginning"]
_PREFIXES = ("co", "counter", "mis", "out", "over", "pre", "re", "under")


def plural(noun: str) -> str:
    """Return the plural of a noun; ``-fish`` does not change."""
    if noun.endswith("fish"):
        return noun
    if noun.endswith(("s", "x", "ch", "sh", "z")) or noun in ("potato", "tomato"):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def inflected(verb: str, tag: str) -> str:
    """Return a verb in the form of a Penn tag; a prefix does not hide an irregular stem.

    >>> inflected("resell", "VBD"), inflected("plan", "VBG"), inflected("carry", "VBZ")
    ('resold', 'planning', 'carries')
    """
    prefix = ""
    if verb not in _PARTS:
        known = (prefix for prefix in _PREFIXES if verb.removeprefix(prefix) in _PARTS)
        prefix = next(known, "")
    stem = verb.removeprefix(prefix)
    forms = _regular(stem)
    listed = _PARTS.get(stem, [])
    forms[: len(listed)] = listed
    tags = ("VBD", "VBN", "VBZ", "VBG", "VB", "VBP")
    return prefix + dict(zip(tags, [*forms, stem, stem], strict=True))[tag]


def _regular(verb: str) -> list[str]:
    """Return past, participle, third person and gerund of a regular verb."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [verb[:-1] + "ied", verb[:-1] + "ied", verb[:-1] + "ies", verb + "ing"]
    past = verb + "d" if verb.endswith("e") else verb + "ed"
    third = verb + "es" if verb.endswith(("o", "s", "x", "ch", "sh", "z")) else verb + "s"
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    return [past, past, third, stem + "ing"]
