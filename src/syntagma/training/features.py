"""Feature templates as data, and the sparse weights that they index.

A template names what it looks at: `suffix3` (of the word itself), `lower[-1]` (of the word before),
`lower[-1]|lower` (a pair). Every value seen often enough in training becomes an *attribute*, and
every attribute has a weight for each label it may vote for.

Most templates look at one word only, so their votes depend on that word's form alone. They are
added up once for each distinct form and shared by all its occurrences: the *rows* below are
(form, offset) pairs followed by the words of the corpus, and only pairs of words cost work for
every word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.wordclasses import PREFIX, WordClasses, function_of
from syntagma.corpora.wordforms import word_function
from syntagma.errors import InputError

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

# what a position before the first or behind the last word of a sentence holds
BOUNDARY = "\x00"

# chosen on training data of English-EWT: the first 2,000 sentences against the others, and nine
# tenths against the tenth
STANDARD = (
    *("bias", "word*3", "lower*3", "shape*2", "case*2", "digit", "hyphen", "punctuation"),
    *("prefix1", "prefix2", "prefix3", "prefix4", "prefix5", "prefix6"),
    *("suffix1", "suffix2*2", "suffix3*2", "suffix4*2", "suffix5*2", "suffix6", "suffix7"),
    *("lower[-1]", "lower[1]", "suffix3[-1]", "suffix3[1]", "shape[-1]", "shape[1]"),
    *("case|shape[-1]", "shape|shape[1]", "suffix2|lower[-1]", "suffix2|lower[1]"),
    *("lower[-1]|lower", "lower|lower[1]", "lower[-1]|lower[1]"),
    *("suffix3[-1]|suffix3", "suffix3|suffix3[1]", "suffix3[-1]|lower", "lower|suffix3[1]"),
)
# of each division of the words into classes
CLASSED = ("{}*2", "{}[-1]", "{}[1]")


def with_classes(features: Sequence[str], classes: WordClasses | None) -> tuple[str, ...]:
    """Return templates, and those that look at the classes of words unless some do already."""
    if classes is None or any(PREFIX in feature for feature in features):
        return tuple(features)
    return (*features, *(form.format(name) for name in classes.names for form in CLASSED))


class Template(NamedTuple):
    """One feature template: functions of words at given offsets, taken together.

    The attributes of a template with scale 2 count double, so that the penalty lets their weights
    speak up sooner.
    """

    name: str
    parts: tuple[tuple[str, int], ...]
    scale: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template.

        >>> Template.parse("lower[-1]|suffix2").parts
        (('lower', -1), ('suffix2', 0))
        >>> Template.parse("word*2")
        Template(name='word', parts=(('word', 0),), scale=2.0)
        """
        whole = re.fullmatch(r"([^*]+)(?:\*(\d{1,3}(?:\.\d{1,3})?))?", text.strip())
        scale = float(whole[2] or 1) if whole else 0.0
        parts = []
        for part in whole[1].split("|") if whole and scale else [""]:
            match = re.fullmatch(r"([a-z]+[1-9]?)(?:\[([+-]?\d{1,2})\])?", part)
            if match is None:
                raise InputError(
                    f"a feature template looks like suffix3, lower[-1], lower[-1]|lower or word*2; "
                    f"found {text!r}"
                )
            if not match[1].startswith(PREFIX):
                word_function(match[1])
            parts.append((match[1], int(match[2] or 0)))
        name = "|".join(f"{function}[{at}]" if at else function for function, at in parts)
        return cls(name, tuple(parts), scale)

    def __str__(self) -> str:
        return self.name if self.scale == 1 else f"{self.name}*{self.scale:g}"


class Attributes(NamedTuple):
    """The attributes that fire on a corpus, by row.

    Row ``f + V * k`` is form ``f`` seen at offset ``offsets_used[k]``, the last rows are the words
    themselves; `forms[t, k]` is the row of word t's neighbour at that offset.
    """

    starts: Int64
    attributes: Int32
    forms: Int32

    @property
    def words(self) -> int:
        """Words of the corpus."""
        return len(self.forms)

    @property
    def rows(self) -> int:
        """Rows, those of the words included."""
        return len(self.starts) - 1


@dataclass
class FeatureMap:
    """From words to attributes: the vocabulary of every template.

    `values[function]` lists the known values of a word function; an attribute of a template with
    one part is ``attribute[template][value]``, of a template with several parts the position of
    its combined key in `keys[template]` (both -1 or absent where training saw it too rarely).
    """

    templates: list[Template]
    values: dict[str, dict[str, int]]
    single: dict[str, Int32]
    keys: dict[str, Int64]
    bases: dict[str, int]
    size: int
    classes: WordClasses | None = None

    @classmethod
    def fit(
        cls,
        names: Sequence[str],
        forms: Int32,
        strings: Sequence[str],
        offsets: Int64,
        min_count: int = 1,
        classes: WordClasses | None = None,
    ) -> FeatureMap:
        """Collect the attributes that occur at least `min_count` times in a corpus.

        `classes` are what templates such as ``class1`` look at.
        """
        templates = [Template.parse(name) for name in names]
        if not templates:
            raise InputError("expected at least one feature template")
        twice = [
            t.name for i, t in enumerate(templates) if t.name in {u.name for u in templates[:i]}
        ]
        if twice:
            raise InputError(f"the feature template {twice[0]} is given twice")
        feature_map = cls(templates, {}, {}, {}, {}, 0, classes)
        for function in feature_map._functions():
            distinct = dict.fromkeys([*function_of(function, classes)(strings), BOUNDARY])
            distinct.pop("", None)
            feature_map.values[function] = {value: i for i, value in enumerate(distinct)}
        coded = feature_map._code(strings)
        for template in templates:
            if math.prod(len(feature_map.values[f]) for f, _ in template.parts) >= 2**62:
                raise InputError(f"{template.name} combines too many words for this corpus")
            keys = feature_map._keys(template, coded, forms, offsets, len(strings))
            found, counts = np.unique(keys[keys >= 0], return_counts=True)
            kept = found[counts >= min_count]
            feature_map.bases[template.name] = feature_map.size
            if len(template.parts) == 1:
                table = np.full(len(feature_map.values[template.parts[0][0]]), -1, np.int32)
                table[kept] = feature_map.size + np.arange(len(kept))
                feature_map.single[template.name] = table
            else:
                feature_map.keys[template.name] = kept
            feature_map.size += len(kept)
        return feature_map

    def transform(self, forms: Int32, strings: Sequence[str], offsets: Int64) -> Attributes:
        """Find the attributes of every word of a corpus."""
        coded = self._code(strings)
        words, vocabulary = len(forms), len(strings) + 1
        used = self.offsets_used()
        columns: list[tuple[int, Int32]] = []  # first row, attribute of each following row
        for template in self.templates:
            if len(template.parts) == 1:
                ((function, offset),) = template.parts
                codes = coded[function]
                table = np.append(self.single[template.name], np.int32(-1))
                columns.append((used.index(offset) * vocabulary, table[codes]))
            else:
                keys = self._keys(template, coded, forms, offsets, len(strings))
                known = self.keys[template.name]
                at = np.searchsorted(known, keys)
                at[at == len(known)] = 0
                hit = (known[at] == keys) if len(known) else np.zeros(words, bool)
                attribute = np.where(hit, at + self.bases[template.name], -1).astype(np.int32)
                columns.append((len(used) * vocabulary, attribute))
        rows = len(used) * vocabulary + words
        counts = np.zeros(rows + 1, np.int64)
        for first, attribute in columns:
            counts[first + 1 : first + 1 + len(attribute)] += attribute >= 0
        starts = np.cumsum(counts)
        place = starts[:-1].copy()
        flat = np.empty(starts[-1], np.int32)
        for first, attribute in columns:
            hit_rows = np.flatnonzero(attribute >= 0)
            flat[place[first + hit_rows]] = attribute[hit_rows]
            place[first + hit_rows] += 1
        neighbours = np.empty((words, len(used)), np.int32)
        for k, offset in enumerate(used):
            neighbours[:, k] = shifted(forms, offsets, offset, vocabulary - 1) + k * vocabulary
        return Attributes(starts, flat, neighbours)

    def offsets_used(self) -> list[int]:
        """Offsets that the templates of one part look at, in order."""
        return sorted({t.parts[0][1] for t in self.templates if len(t.parts) == 1})

    def _functions(self) -> list[str]:
        return list(dict.fromkeys(f for t in self.templates for f, _ in t.parts))

    def _code(self, strings: Sequence[str]) -> dict[str, Int32]:
        """Number the value of every function for every form, the boundary last; -1 if unknown."""
        coded = {}
        for function in self._functions():
            number = self.values[function].get
            values = [*function_of(function, self.classes)(strings), BOUNDARY]
            coded[function] = np.array([number(value, -1) for value in values], dtype=np.int32)
        return coded

    def _keys(
        self, template: Template, coded: dict[str, Int32], forms: Int32, offsets: Int64, end: int
    ) -> Int64:
        """Combine the values of a template's parts into one number for each word; -1 if none."""
        keys = np.zeros(len(forms), np.int64)
        missing = np.zeros(len(forms), bool)
        for function, offset in template.parts:
            values = coded[function][shifted(forms, offsets, offset, end)]
            keys = keys * len(self.values[function]) + values
            missing |= values < 0
        keys[missing] = -1
        return keys

    def scales(self) -> NDArray[np.float64]:
        """Return the scale of every attribute."""
        sizes = np.diff([*self.bases.values(), self.size])
        return np.repeat([template.scale for template in self.templates], sizes)

    def names(self, attributes: Int64) -> list[str]:
        """Write attributes for people: ``suffix2=ng``, ``lower[-1]|lower=of&the``."""
        ends = np.array([*self.bases.values(), self.size])
        values = {function: list(known) for function, known in self.values.items()}
        names = []
        for attribute in np.asarray(attributes).tolist():
            # templates without attributes share their base with the next one
            template = self.templates[int(np.searchsorted(ends, attribute, side="right")) - 1]
            functions = [function for function, _ in template.parts]
            if len(functions) == 1:
                codes = [int(np.flatnonzero(self.single[template.name] == attribute)[0])]
            else:
                key = int(self.keys[template.name][attribute - self.bases[template.name]])
                codes = []
                for function in reversed(functions):
                    key, code = divmod(key, len(values[function]))
                    codes.insert(0, code)
            shown = (values[f][c] for f, c in zip(functions, codes, strict=True))
            text = "&".join("(boundary)" if value == BOUNDARY else value for value in shown)
            names.append(f"{template.name}={text}")
        return names

    def counterparts(self, other: FeatureMap) -> Int32:
        """For each attribute, the attribute of another map with the same meaning, or -1."""
        found = np.full(self.size, -1, np.int32)
        translate = {
            function: np.array([other.values[function].get(v, -1) for v in known], np.int64)
            for function, known in self.values.items()
            if function in other.values
        }
        for template in self.templates:
            if template.name not in other.bases:
                continue
            if len(template.parts) == 1:
                mine = self.single[template.name]
                theirs = np.append(other.single[template.name], np.int32(-1))
                kept = mine >= 0
                found[mine[kept]] = theirs[translate[template.parts[0][0]][kept]]
                continue
            rest, key = (
                self.keys[template.name].copy(),
                np.zeros(len(self.keys[template.name]), np.int64),
            )
            missing, scale = np.zeros(len(rest), bool), 1
            for function, _ in reversed(template.parts):
                value = translate[function][rest % len(self.values[function])]
                rest //= len(self.values[function])
                missing |= value < 0
                key += value * scale
                scale *= len(other.values[function])
            known = other.keys[template.name]
            if len(known):
                at = np.minimum(np.searchsorted(known, key), len(known) - 1)
                hit = (known[at] == key) & ~missing
                base = self.bases[template.name]
                found[base : base + len(key)] = np.where(hit, at + other.bases[template.name], -1)
        return found

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Split into a JSON-able header and arrays, for a model file."""
        header: dict[str, Any] = {
            "templates": [str(template) for template in self.templates],
            "values": {function: list(values) for function, values in self.values.items()},
        }
        arrays: dict[str, NDArray[Any]] = {
            f"single.{name}": table for name, table in self.single.items()
        }
        if self.classes is not None:
            header["classed"], arrays["classes"] = self.classes.pack()
        return header, arrays | {f"keys.{name}": keys for name, keys in self.keys.items()}

    @classmethod
    def unpack(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FeatureMap:
        """Rebuild from `pack`, checking that every number is in range."""
        templates = [Template.parse(name) for name in header["templates"]]
        values = {
            str(function): {str(value): i for i, value in enumerate(known)}
            for function, known in header["values"].items()
        }
        classes = None
        if "classed" in header:
            classes = WordClasses.unpack(header["classed"], arrays["classes"])
        feature_map = cls(templates, values, {}, {}, {}, 0, classes)
        for function in feature_map._functions():
            function_of(function, classes)
        if any(len(values[f]) != len(header["values"][f]) for f in feature_map._functions()):
            raise ValueError("a word value occurs twice")
        for template in templates:
            feature_map.bases[template.name] = feature_map.size
            if len(template.parts) == 1:
                table = _numbers(arrays, f"single.{template.name}", np.int32)
                kept = table[table >= 0]
                if len(table) != len(values[template.parts[0][0]]):
                    raise ValueError(f"the table of {template.name} has the wrong length")
                feature_map.single[template.name] = table
            else:
                keys = _numbers(arrays, f"keys.{template.name}", np.int64)
                if (keys < 0).any() or (keys[1:] <= keys[:-1]).any():
                    raise ValueError(f"the keys of {template.name} are not sorted")
                feature_map.keys[template.name] = keys
                kept = np.arange(feature_map.size, feature_map.size + len(keys), dtype=np.int32)
            expected = np.arange(feature_map.size, feature_map.size + len(kept))
            if not np.array_equal(np.sort(kept), expected):
                raise ValueError(f"the attributes of {template.name} are not numbered in order")
            feature_map.size += len(kept)
        return feature_map


def _numbers(arrays: dict[str, NDArray[Any]], name: str, kind: type) -> NDArray[Any]:
    """Fetch a list of whole numbers that came from a file."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype != kind:
        raise ValueError(f"{name} is not a list of whole numbers")
    return array


def shifted(forms: Int32, offsets: Int64, by: int, outside: int) -> Int32:
    """Return the form `by` words further on in the same sentence, or `outside` beyond its ends."""
    out = np.full(len(forms), outside, np.int32)
    if not by:
        out[:] = forms
        return out
    lengths = np.diff(offsets)
    position = np.arange(len(forms)) - np.repeat(offsets[:-1], lengths)
    inside = (position + by >= 0) & (position + by < np.repeat(lengths, lengths))
    at = np.flatnonzero(inside)
    out[at] = forms[at + by]
    return out
