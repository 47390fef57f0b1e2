"""Changes to whole treebanks: joined, annotated in MISC, commented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from syntagma.corpora.treebank import STRINGS, UNKNOWN, Column, Treebank, written_columns
from syntagma.corpora.written import CONLLU, Written, compose
from syntagma.errors import InputError


def concatenate(treebanks: Sequence[Treebank]) -> Treebank:
    """Join treebanks one after another; the tag column is the first one's.

    Files of one format keep their bytes; a mixture is written as CoNLL-U.
    """
    if not treebanks:
        raise InputError("expected at least one treebank to join")
    if len(treebanks) == 1:
        return treebanks[0]
    ends = np.cumsum([treebank.words for treebank in treebanks])
    shifts = [0, *ends[:-1].tolist()]
    offsets = np.concatenate(
        [[0], *(t.offsets[1:] + by for t, by in zip(treebanks, shifts, strict=True))]
    ).astype(np.int64)
    columns = {name: _join([t.columns[name] for t in treebanks]) for name in STRINGS}
    heads = np.concatenate([treebank.heads for treebank in treebanks])
    layouts = {treebank.written.layout for treebank in treebanks}
    written = _join_text([t.written for t in treebanks]) if len(layouts) == 1 else None
    return Treebank.from_columns(
        offsets, columns, heads, tags=treebanks[0].tag_column, written=written
    )


def _join(columns: Sequence[Column]) -> Column:
    number: dict[str, int] = {}
    ids = []
    for column in columns:
        translated = [number.setdefault(name, len(number)) for name in column.names]
        ids.append(np.array(translated, np.int32)[column.ids])
    return Column(np.concatenate(ids), list(number))


def _join_text(parts: Sequence[Written]) -> Written:
    texts = [part.text + part.missing_end() for part in parts[:-1]] + [parts[-1].text]
    shifts = np.cumsum([0, *map(len, texts)])
    pairs = list(zip(parts, shifts.tolist(), strict=False))
    blocks = np.concatenate([*(part.blocks[:-1] + by for part, by in pairs), shifts[-1:]])
    lines = [part.lines + by for part, by in pairs if part.lines is not None]
    return Written(
        parts[0].layout,
        b"".join(texts),
        blocks,
        np.concatenate(lines) if lines else None,
        parts[0].mark,
    )


def annotate(treebank: Treebank, key: str, values: Sequence[str]) -> Treebank:
    """Set ``key=value`` in the MISC column of every word; other keys are kept.

    >>> treebank = Treebank.from_sentences([["Birds", "sing"]])
    >>> annotate(treebank, "TagProb", ["0.9", "0.8"]).misc.strings()
    ['TagProb=0.9', 'TagProb=0.8']
    """
    others = [_without(misc, key + "=") for misc in treebank.misc.names]
    fresh = [
        f"{others[i]}{key}={value}"
        for i, value in zip(treebank.misc.ids.tolist(), values, strict=True)
    ]
    return treebank.replace(misc=fresh)


def _without(misc: str, start: str) -> str:
    """Return the other entries of a MISC value, ready to be followed by one more."""
    kept = [entry for entry in misc.split("|") if entry != UNKNOWN and not entry.startswith(start)]
    return "".join(entry + "|" for entry in kept)


def comment(treebank: Treebank, name: str, values: Sequence[str]) -> Treebank:
    """Write ``# name = value`` above every sentence; CoNLL-U where the format has no comments.

    >>> commented = comment(Treebank.from_sentences([["Birds"]]), "rank", ["1"])
    >>> commented[0].comments
    {'rank': '1'}
    """
    written = treebank.written
    if not written.layout.comments:
        written = compose(
            CONLLU, treebank.offsets, written_columns(treebank.columns, treebank.heads)
        )
    pieces, grown = [], [0]
    for sentence, value in enumerate(values):
        block = written.block(sentence)
        body = block.lstrip(b"\r\n")
        end = b"\r\n" if b"\r\n" in block else b"\n"
        line = f"# {name} = {value}".encode() + end
        pieces.append(block[: len(block) - len(body)] + line + body)
        grown.append(grown[-1] + len(line))
    shift = np.array(grown, np.int64)
    assert written.lines is not None  # formats with comments have a line for each word
    lines = written.lines + np.repeat(shift[1:], np.diff(treebank.offsets))
    changed = replace(written, text=b"".join(pieces), blocks=written.blocks + shift, lines=lines)
    return replace(treebank, written=changed)
