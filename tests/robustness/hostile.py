"""Model files whose container is whole and whose content is wrong: numbers, shapes, JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
from safetensors.numpy import load, save

INTEGERS = (-1, -2, 1, 1000, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e30, 1e99, 1e200, 1.7e308, float("inf"), float("-inf"), float("nan"))
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2, 3.5, 2**70, float("nan"), float("inf"), [], {}, [[]], [None], {"a": None},
    "", "_", "\x00", "a\tb", "a\nb", "\ud800", "upos", "xpos", "heads", "lower[99]", "word[-1]",
)  # fmt: skip
KINDS = ("int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "bool")


def read_parts(whole: bytes) -> tuple[Any, Any, dict[str, np.ndarray]]:
    """Take a model file apart: header, texts, arrays."""
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(json.loads(whole[8 : 8 + length])["__metadata__"]["syntagma"])
    arrays = load(whole)
    texts = json.loads(arrays.pop("texts").tobytes())
    return header, texts, arrays


def join_parts(header: Any, texts: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """Put a model file together again, every length right."""
    text = np.frombuffer(json.dumps(texts).encode(), np.uint8)
    return save({**arrays, "texts": text}, metadata={"syntagma": json.dumps(header)})


def hostile(rng: random.Random, whole: bytes) -> bytes:
    """Change one to three things inside a model file."""
    header, texts, arrays = read_parts(whole)
    for _ in range(rng.choice([1, 1, 2, 3])):
        what = rng.random()
        if what < 0.25:
            header = _changed(rng, header)
        elif what < 0.6:
            texts = _changed(rng, texts)
        else:
            with np.errstate(all="ignore"):  # numbers that do not fit are what is wanted
                _change_array(rng, arrays)
    return join_parts(header, texts, arrays)


def _changed(rng: random.Random, value: Any) -> Any:
    """Walk down a JSON value at random and change what is there."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        fresh = dict(value)
        what = rng.random()
        if what < 0.1:
            del fresh[key]
        elif what < 0.2:
            fresh[rng.choice(["", "nonsense", key + "\n"])] = fresh.pop(key)
        else:
            fresh[key] = _changed(rng, value[key])
        return fresh
    if isinstance(value, list) and value and rng.random() < 0.9:
        i, j = rng.randrange(len(value)), rng.randrange(len(value))
        what = rng.random()
        if what < 0.15:
            return value[:i] + value[i + 1 :]
        if what < 0.3:
            return [*value[:i], value[j], *value[i:]]
        if what < 0.45:
            fresh = list(value)
            fresh[i], fresh[j] = fresh[j], fresh[i]
            return fresh
        return [*value[:i], _changed(rng, value[i]), *value[i + 1 :]]
    return rng.choice(VALUES)


def _change_array(rng: random.Random, arrays: dict[str, np.ndarray]) -> None:
    name = rng.choice(list(arrays))
    array = arrays[name].copy()
    flat = array.reshape(-1)
    what = rng.random()
    if what < 0.55 and flat.size:
        _change_numbers(rng, flat)
    elif what < 0.65:
        array = flat[: rng.randint(0, flat.size)].copy()
    elif what < 0.72:
        array = np.concatenate([flat, flat[:3]])
    elif what < 0.79:
        array = array.reshape(rng.choice([(-1, 1), (1, -1)]))
    elif what < 0.89:
        array = array.astype(rng.choice(KINDS))
    elif what < 0.93:
        array = np.zeros((), array.dtype)
    elif what < 0.97:
        del arrays[name]
        return
    else:
        array = arrays[rng.choice(list(arrays))].copy()
    arrays[name] = array


def _change_numbers(rng: random.Random, flat: np.ndarray) -> None:
    """Write extreme numbers into an array, or a run that rises only by wrapping round."""
    if flat.dtype == np.int64 and flat.size > 4 and rng.random() < 0.3:
        flat[1:4] = (2**63 - 1, -(2**63), -1)
        return
    if rng.random() < 0.15:
        flat[:] = flat[np.array(rng.sample(range(flat.size), flat.size))]
        return
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.choice([0, flat.size - 1, rng.randrange(flat.size)])
        if flat.dtype.kind == "f":
            flat[at] = rng.choice(FLOATS)
        elif flat.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            limits = np.iinfo(flat.dtype)
            flat[at] = min(max(rng.choice(INTEGERS), limits.min), limits.max)
