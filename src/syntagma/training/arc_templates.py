"""Feature templates of dependency parts, as data.

A template lists what it looks at, each as ``anchor.field`` or ``anchor+1.field``:

======= =====================================================================
anchor  is
======= =====================================================================
``h``   the head
``m``   the modifier
``b``   every word between the two (only its tags; each different pair of them counts once)
``s``   the nearest modifier on the same side, between head and modifier; for labels, the head's
        last modifier before this one
``n``   the head's next modifier
``g``   the head's own head
``l``   the modifier's first modifier
``r``   the modifier's last modifier
======= =====================================================================

====================== ======================================================
field                  is
====================== ======================================================
``word``, ``lower``    the form, as written or in small letters
``prefix``, ``suffix`` first five letters, or last three in small letters, of longer words
``tag``                the tag column in use
``other``              the other tag column, or else the first two letters of the tag
``feats``              the morphological features
====================== ======================================================

A template counts only where all it looks at is there. Each counts twice: by itself, and together
with direction and distance.

The first-order templates are those of McDonald, Crammer and Pereira (2005), the sibling ones those
of McDonald and Pereira (2006), with what other tag sets and morphology allow. Both words of an arc
are looked at together, but not with their tags besides: on English-EWT parsers learn better so.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError

FIELDS = ("word", "lower", "prefix", "suffix", "tag", "other", "feats")
PAD = 2  # how far from its anchor a template may look

ARCS = (
    # McDonald, Crammer and Pereira (2005)
    "h.word h.tag",
    "h.word",
    "h.tag",
    "m.word m.tag",
    "m.word",
    "m.tag",
    "h.tag m.word m.tag",
    "h.word h.tag m.tag",
    "h.word m.word",
    "h.word m.tag",
    "h.tag m.word",
    "h.tag m.tag",
    "h.tag h+1.tag m-1.tag m.tag",
    "h-1.tag h.tag m-1.tag m.tag",
    "h.tag h+1.tag m.tag m+1.tag",
    "h-1.tag h.tag m.tag m+1.tag",
    "h.tag h+1.tag m.tag",
    "h-1.tag h.tag m.tag",
    "h.tag m.tag m+1.tag",
    "h.tag m-1.tag m.tag",
    "h.tag b.tag m.tag",
    # the same of the other tags, finer or coarser
    "h.word h.other",
    "h.other",
    "m.word m.other",
    "m.other",
    "h.other m.word m.other",
    "h.word h.other m.other",
    "h.word m.other",
    "h.other m.word",
    "h.other m.other",
    "h.other h+1.other m-1.other m.other",
    "h-1.other h.other m-1.other m.other",
    "h.other h+1.other m.other m+1.other",
    "h-1.other h.other m.other m+1.other",
    "h.other h+1.other m.other",
    "h-1.other h.other m.other",
    "h.other m.other m+1.other",
    "h.other m-1.other m.other",
    "h-1.other h.other h+1.other m-1.other m.other m+1.other",
    "h.other b.tag m.other",
    "h.other m.tag",
    "h.tag m.other",
    # farther away, and words next to either
    "h.tag m-2.tag m-1.tag m.tag",
    "h.tag m.tag m+1.tag m+2.tag",
    "h.tag h+1.tag h+2.tag m.tag",
    "h-2.tag h-1.tag h.tag m.tag",
    "h.tag m.tag m+1.word",
    "h.tag m.tag m-1.word",
    "h-1.word h.tag m.tag",
    "h+1.word h.tag m.tag",
    # what is in between, of either alone
    "b.tag m.tag",
    "h.tag b.tag",
    "h.word b.tag m.tag",
    "h.tag b.tag m.word",
    "h.tag b.other m.tag",
    "h.other b.other m.other",
    "b.other m.tag",
    "h.tag b.other",
    # parts of words, and morphology
    "h.prefix m.tag",
    "h.tag m.prefix",
    "h.suffix m.tag",
    "h.tag m.suffix",
    "h.lower m.lower",
    "h.lower m.tag",
    "h.tag m.lower",
    "h.feats h.tag m.tag",
    "h.tag m.tag m.feats",
    "h.feats m.feats",
)
SIBLINGS = (
    # McDonald and Pereira (2006)
    "h.tag s.tag m.tag",
    "s.tag m.tag",
    "s.word m.word",
    "s.word m.tag",
    "s.tag m.word",
    # with the head's word, the other tags, and what stands next to either
    "h.tag s.word m.tag",
    "h.word s.tag m.tag",
    "h.tag s.tag m.word",
    "h.word s.word m.tag",
    "h.word s.tag m.word",
    "h.tag s.word m.word",
    "h.other s.other m.other",
    "s.other m.other",
    "h.tag s.tag m.tag m+1.tag",
    "h.tag s.tag s+1.tag m-1.tag m.tag",
)
LABELS = (
    "h.word h.tag",
    "h.tag",
    "m.word m.tag",
    "m.word",
    "m.tag",
    "h.word m.word",
    "h.word m.tag",
    "h.tag m.word",
    "h.tag m.tag",
    "h.tag h+1.tag m-1.tag m.tag",
    "h-1.tag h.tag m.tag m+1.tag",
    "m-1.tag m.tag m+1.tag",
    "h-1.tag h.tag h+1.tag",
    "m.suffix m.tag h.tag",
    "h.suffix h.tag m.tag",
    "h.other m.other",
    # morphology
    "h.tag m.feats",
    "h.feats m.feats",
    "m.feats m.tag",
    "m.feats",
    "h.feats h.tag m.tag",
    "h.tag m.word m.feats",
    "h.word m.feats",
    "h.tag m.feats l.word",
    # the tree around the arc
    "g.tag h.tag m.tag",
    "g.tag h.word m.tag",
    "g.word h.tag m.tag",
    "h.tag m.tag l.tag",
    "h.tag m.tag r.tag",
    "h.tag m.tag l.word",
    "h.tag m.tag l.word r.tag",
    "h.tag m.tag r.word",
    "h.word l.word",
    "m.tag l.tag r.tag",
    "m.word l.tag",
    "m.tag l.word",
    "h.tag s.tag m.tag",
    "h.tag m.tag n.tag",
    "h.tag s.tag m.tag n.tag",
    "h.word s.tag m.tag",
    "h.word m.tag n.tag",
    "h.tag s.word m.tag",
    "h.tag m.tag n.word",
)

_ATOM = re.compile(r"([a-z])([+-]\d)?\.([a-z]+)")


class Program(NamedTuple):
    """Templates made ready for kernels: a row for each anchor, a column for each template.

    Templates without ``b`` come first. ``starts`` says where the atoms of a cell begin in
    ``places`` (positions from the anchor, in a padded sentence) and ``fields``; its last entry is
    their number. Seeds come from the template's own text, so weights do not depend on the order.
    """

    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    fields: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    used: NDArray[np.bool_]
    plain: int


def make_program(templates: Sequence[str], anchors: str, present: Sequence[str]) -> Program:
    """Make templates ready, leaving out those that look at a field that is not present.

    ``other`` counts as present: there is something to look at in any case.

    >>> make_program(["h.tag b.tag m.tag", "h.tag", "h.feats"], "hmb", ["tag"]).used.tolist()
    [[True, True], [False, True], [False, True]]
    """
    parsed = [(text, _parse(text, anchors)) for text in templates]
    seen = {*present, "other"}
    kept = [(text, atoms) for text, atoms in parsed if all(f in seen for _, _, f in atoms)]
    kept.sort(key=lambda item: any(anchor == "b" for anchor, _, _ in item[1]))
    starts, places, fields = [0], [], []
    for anchor in anchors:
        for _, atoms in kept:
            for where, step, field in atoms:
                if where == anchor:
                    places.append(PAD + step)
                    fields.append(FIELDS.index(field))
            starts.append(len(places))
    seeds = [_seed(f"{anchor} of {text}") for anchor in anchors for text, _ in kept]
    shape = (len(anchors), len(kept))
    return Program(
        np.array(starts, np.int64),
        np.array(places, np.int64),
        np.array(fields, np.int64),
        np.array(seeds, np.uint64).reshape(shape),
        (np.diff(starts) > 0).reshape(shape),
        sum("b" not in {anchor for anchor, _, _ in atoms} for _, atoms in kept),
    )


def _parse(text: str, anchors: str) -> list[tuple[str, int, str]]:
    atoms = []
    for part in text.split():
        match = _ATOM.fullmatch(part)
        if not match or match[1] not in anchors or match[3] not in FIELDS:
            raise InputError(
                f"template {text!r}: expected parts like {anchors[0]}.tag or {anchors[1]}-1.tag, "
                f"of anchors {', '.join(anchors)} and fields {', '.join(FIELDS)}; found {part!r}"
            )
        step = int(match[2] or 0)
        if abs(step) > PAD or (match[1] == "b" and (step or match[3] not in ("tag", "other"))):
            allowed = "only b.tag or b.other" if match[1] == "b" else f"at most {PAD} words away"
            raise InputError(f"template {text!r}: expected {allowed}, found {part!r}")
        atoms.append((match[1], step, match[3]))
    if not atoms:
        raise InputError("expected a feature template, found an empty one")
    return atoms


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
