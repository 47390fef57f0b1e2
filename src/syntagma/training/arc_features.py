"""Features of dependency parts, hashed to places in one table of weights by integer arithmetic.

Strings are hashed once for each distinct value of a column. What a template sees of one word is one
number, worked out once a word; a feature of a part is the sum of its words' numbers, so the work
for a part is an addition, a multiplication and a look-up for each template. There is no vocabulary,
and unseen words need no care.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from syntagma.corpora.treebank import Column, Treebank
from syntagma.training.arc_templates import FIELDS, PAD, Program, make_program

Codes = NDArray[np.uint64]
Weights = NDArray[np.float32]
Places = NDArray[np.int64]
Int64 = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Heads = NDArray[np.int32]

HEAD, MODIFIER, THIRD = 0, 1, 2  # anchors, as rows of a program
FIELD_COUNT = len(FIELDS)
TAG, OTHER = FIELDS.index("tag"), FIELDS.index("other")
BETWEEN = 64  # different pairs of tags between head and modifier that are looked at
NONE = -1  # no third word

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LAST = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
_NOBODY = np.uint64(0x5851F42D4C957F2D)


def present_fields(treebank: Treebank, only_tags: bool = False) -> list[str]:
    """List the fields that this treebank has anything in, besides words only tags if so wished."""
    absent = set()
    if only_tags or not treebank.feats.known:
        absent.add("feats")
    if only_tags or not _other_tags(treebank).known:
        absent.add("other")
    return [name for name in FIELDS if name not in absent]


def word_codes(treebank: Treebank, fields: Sequence[str] = FIELDS) -> Codes:
    """Hash what templates look at: (words, fields) numbers; 0 is a value that is not there."""
    forms = treebank.forms.used()
    columns = {
        "word": forms,
        "lower": _mapped(forms, str.lower),
        "prefix": _mapped(forms, lambda form: form[:5] if len(form) > 5 else "_"),
        "suffix": _mapped(forms, lambda form: form[-3:].lower() if len(form) > 3 else "_"),
        "tag": treebank.tags,
        "other": _other_tags(treebank),
        "feats": treebank.feats,
    }
    if "other" not in fields:
        columns["other"] = _mapped(treebank.tags, lambda tag: tag[:2])
    codes = np.zeros((treebank.words, FIELD_COUNT), np.uint64)
    for name, column in columns.items():
        if name in fields or name == "other":
            ids, names = column.used()
            codes[:, FIELDS.index(name)] = hashes(names, name)[ids]
    return codes


def _other_tags(treebank: Treebank) -> Column:
    return treebank.xpos if treebank.tag_column == "upos" else treebank.upos


def _mapped(column: Column, change: Callable[[str], str]) -> Column:
    return Column(column.ids, [change(name) for name in column.names])


def hashes(names: list[str], field: str) -> Codes:
    """Hash strings; the same string means different things in different columns."""
    key = field.encode()
    blank = 0 if field in ("prefix", "suffix", "feats", "other") else None
    return np.array(
        [
            blank
            if name == "_" and blank is not None
            else int.from_bytes(
                hashlib.blake2b(name.encode(), digest_size=8, key=key).digest(), "little"
            )
            for name in names
        ],
        np.uint64,
    )


@njit(cache=True, nogil=True, inline="always")
def _mix(state: np.uint64, value: np.uint64) -> np.uint64:
    mixed = (state ^ value) * _MIX
    return mixed ^ (mixed >> _SHIFT)


@njit(cache=True, nogil=True)
def sentence_keys(codes: Codes, heads: Heads, labels: Heads, offsets: Int64) -> Codes:
    """Hash every sentence with its tree and labels: equal sentences have equal keys."""
    keys = np.zeros(len(offsets) - 1, np.uint64)
    for s in range(len(offsets) - 1):
        key = np.uint64(0)
        for i in range(offsets[s], offsets[s + 1]):
            for field in range(codes.shape[1]):
                key = _mix(key, codes[i, field])
            key = _mix(key, np.uint64(heads[i] + 1))
            key = _mix(key, np.uint64(labels[i] + 1))
        keys[s] = key
    return keys


class Templates(NamedTuple):
    """The programs of a parser; ``siblings`` has no templates in first order."""

    arcs: Program
    siblings: Program


def make_templates(
    arcs: Sequence[str], siblings: Sequence[str], present: Sequence[str]
) -> Templates:
    """Make a parser's templates ready for a treebank that has these fields."""
    return Templates(make_program(arcs, "hmb", present), make_program(siblings, "hms", present))


class Parts(NamedTuple):
    """What the templates see of each position of one sentence, as anchor of each kind.

    ``arcs[anchor, position, template]``; 0 where something is missing. The last row of
    ``siblings[THIRD]`` stands for no sibling. ``tags`` tells pairs of tags apart.
    """

    arcs: Codes
    siblings: Codes
    plain: int
    tags: Codes


@njit(cache=True, nogil=True)
def padded_codes(codes: Codes, start: int, words: int) -> Codes:
    """Copy one sentence: boundaries, the root, the words, boundaries. Row i + `PAD` is word i."""
    local = np.empty((words + 1 + 2 * PAD, FIELD_COUNT), np.uint64)
    for field in range(FIELD_COUNT):
        for pad in range(PAD):
            local[pad, field] = np.uint64(0xA000 + 16 * field + pad)
            local[words + 1 + PAD + pad, field] = np.uint64(0xE000 + 16 * field + pad)
        local[PAD, field] = np.uint64(0xB000 + 16 * field)
    for i in range(words):
        local[i + 1 + PAD] = codes[start + i]
    return local


@njit(cache=True, nogil=True)
def program_parts(local: Codes, program: Program) -> Codes:
    """Work out what each template sees from each anchor at each position (and at none)."""
    anchors, templates = program.seeds.shape
    positions = len(local) - 2 * PAD
    parts = np.empty((anchors, positions + 1, templates), np.uint64)
    for anchor in range(anchors):
        for template in range(templates):
            cell = anchor * templates + template
            seed = program.seeds[anchor, template]
            first, last = program.starts[cell], program.starts[cell + 1]
            for position in range(positions):
                value = seed
                for atom in range(first, last):
                    code = local[position + program.places[atom], program.fields[atom]]
                    if code == 0:
                        value = np.uint64(0)
                        break
                    value = _mix(value, code)
                parts[anchor, position, template] = value
            parts[anchor, positions, template] = _mix(seed, _NOBODY) if last > first else seed
    return parts


@njit(cache=True, nogil=True)
def sentence_parts(
    codes: Codes, start: int, words: int, arc_program: Program, sibling_program: Program
) -> Parts:
    """Work out the parts of one sentence."""
    local = padded_codes(codes, start, words)
    tags = np.empty(words + 1, np.uint64)
    for i in range(words + 1):
        tags[i] = _mix(local[PAD + i, TAG], local[PAD + i, OTHER])
    return Parts(
        program_parts(local, arc_program),
        program_parts(local, sibling_program),
        arc_program.plain,
        tags,
    )


@njit(cache=True, nogil=True)
def table_shift(size: int) -> np.uint64:
    """How far a 64-bit hash is shifted to fall into a table of this size, a power of two."""
    bits = 0
    while (1 << bits) < size:
        bits += 1
    return np.uint64(64 - bits)


@njit(cache=True, nogil=True, inline="always")
def where_code(anchor: int, modifier: int) -> np.uint64:
    """Number for direction and distance, from 1 to 14 (15 and 16 are for no sibling)."""
    distance = abs(anchor - modifier)
    bucket = distance if distance <= 5 else 6 if distance <= 10 else 7
    return np.uint64(2 * bucket - (1 if anchor < modifier else 0))


@njit(cache=True, nogil=True, inline="always")
def put(out: Places, count: int, feature: np.uint64, where: np.uint64, shift: np.uint64) -> int:
    """Note the places of one feature, alone and with direction and distance.

    The two lie within 32 places, so that memory is waited for once.
    """
    place = (feature * _LAST) >> shift
    out[count] = np.int64(place)
    out[count + 1] = np.int64(place ^ where)
    return count + 2


@njit(cache=True, nogil=True, inline="always")
def put_apart(
    out: Places, count: int, feature: np.uint64, where: np.uint64, shift: np.uint64
) -> int:
    """Note the same two, each with room for others behind it."""
    out[count] = np.int64((feature * _LAST) >> shift)
    out[count + 1] = np.int64(((feature ^ (where * _MIX)) * _LAST) >> shift)
    return count + 2


@njit(cache=True, nogil=True)
def room(parts: Parts) -> int:
    """How many places one part can have at most."""
    arcs = parts.arcs.shape[2]
    return 2 * max(parts.plain + (arcs - parts.plain) * BETWEEN, parts.siblings.shape[2])


@njit(cache=True, nogil=True)
def arc_places(
    parts: Parts,
    head: int,
    modifier: int,
    between: Int64,
    distinct: int,
    shift: np.uint64,
    out: Places,
) -> int:
    """List the places of one arc's features; return how many there are.

    ``between`` holds the positions of the first ``distinct`` different tags in between.
    """
    where = where_code(head, modifier)
    n = 0
    for t in range(parts.plain):
        a, b = parts.arcs[HEAD, head, t], parts.arcs[MODIFIER, modifier, t]
        if a != 0 and b != 0:
            n = put(out, n, a + b, where, shift)
    for t in range(parts.plain, parts.arcs.shape[2]):
        a, b = parts.arcs[HEAD, head, t], parts.arcs[MODIFIER, modifier, t]
        if a != 0 and b != 0:
            for i in range(distinct):
                c = parts.arcs[THIRD, between[i], t]
                if c != 0:
                    n = put(out, n, a + b + c, where, shift)
    return n


@njit(cache=True, nogil=True)
def note_tag(parts: Parts, between: Int64, distinct: int, position: int) -> int:
    """Add a position to those of different tags; return how many there are now."""
    for i in range(distinct):
        if parts.tags[between[i]] == parts.tags[position]:
            return distinct
    if distinct < BETWEEN:
        between[distinct] = position
        return distinct + 1
    return distinct


@njit(cache=True, nogil=True)
def places_of_arc(
    parts: Parts, head: int, modifier: int, between: Int64, shift: np.uint64, out: Places
) -> int:
    """List the places of one arc's features, looking up the tags between by itself."""
    distinct = 0
    for i in range(min(head, modifier) + 1, max(head, modifier)):
        distinct = note_tag(parts, between, distinct, i)
    return arc_places(parts, head, modifier, between, distinct, shift, out)


@njit(cache=True, nogil=True)
def places_of_sibling(
    parts: Parts, head: int, modifier: int, sibling: int, shift: np.uint64, out: Places
) -> int:
    """List the places of a modifier together with its sibling; the head itself if it has none."""
    third = sibling
    if sibling == head:
        third = parts.siblings.shape[1] - 1
        where = np.uint64(16 if head < modifier else 15)
    else:
        where = where_code(sibling, modifier)
    n = 0
    for t in range(parts.siblings.shape[2]):
        a, b = parts.siblings[HEAD, head, t], parts.siblings[MODIFIER, modifier, t]
        c = parts.siblings[THIRD, third, t]
        if a != 0 and b != 0 and c != 0:
            n = put(out, n, a + b + c, where, shift)
    return n


@njit(cache=True, nogil=True)
def add_up(weights: Weights, places: Places, count: int) -> float:
    """Sum the weights at some places."""
    total = 0.0
    for i in range(count):
        total += weights[places[i]]
    return total


@njit(cache=True, nogil=True)
def _score_arcs(
    parts: Parts, words: int, weights: Weights, shift: np.uint64, scores: FloatArray
) -> None:
    between = np.empty(BETWEEN, np.int64)
    places = np.empty(room(parts), np.int64)
    side = words + 1
    for i in range(side):
        distinct = 0
        for j in range(i + 1, side):
            count = arc_places(parts, i, j, between, distinct, shift, places)
            scores[i * side + j] = add_up(weights, places, count)
            if i:
                count = arc_places(parts, j, i, between, distinct, shift, places)
                scores[j * side + i] = add_up(weights, places, count)
            distinct = note_tag(parts, between, distinct, j)


@njit(cache=True, nogil=True)
def _score_siblings(
    parts: Parts, words: int, weights: Weights, shift: np.uint64, scores: FloatArray
) -> None:
    places = np.empty(room(parts), np.int64)
    side = words + 1
    for head in range(side):
        for modifier in range(1, side):
            if head == modifier:
                continue
            step = -1 if head < modifier else 1
            block = (head * side + modifier) * side
            for third in range(modifier + step, head + step, step):
                count = places_of_sibling(parts, head, modifier, third, shift, places)
                scores[block + third] = add_up(weights, places, count)


@njit(cache=True, nogil=True, parallel=True)
def score_parts(
    codes: Codes,
    offsets: Int64,
    sentences: Int64,
    arc_program: Program,
    sibling_program: Program,
    weights: Weights,
    arc_starts: Int64,
    sibling_starts: Int64,
    arcs: FloatArray,
    siblings: FloatArray,
) -> None:
    """Score every arc, and every pair of siblings, of some sentences, into blocks of their own."""
    shift = table_shift(len(weights))
    for s in prange(len(sentences)):
        start = offsets[sentences[s]]
        words = offsets[sentences[s] + 1] - start
        parts = sentence_parts(codes, start, words, arc_program, sibling_program)
        _score_arcs(parts, words, weights, shift, arcs[arc_starts[s] : arc_starts[s + 1]])
        if parts.siblings.shape[2]:
            block = siblings[sibling_starts[s] : sibling_starts[s + 1]]
            _score_siblings(parts, words, weights, shift, block)
