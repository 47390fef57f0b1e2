"""Arrays and a JSON header in one file, written atomically and never unpickled.

The file is in safetensors format; the header is one JSON text in its metadata. Nothing in it
depends on the clock or the machine, so equal content gives equal bytes.
"""

from __future__ import annotations

import json
import re
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma import __version__
from syntagma.corpora.files import atomic_write, read_bytes
from syntagma.errors import ModelFileError

FORMAT = 1
KEY = "syntagma"
LARGEST = 1e100  # no weight comes near; sums of smaller ones stay finite
LARGEST_WEIGHT = np.float32(1e30)
HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")  # an escape that may be no text by itself
TEXTS = "texts"  # the array that holds the JSON of `texts`
Path = str | PathLike[str]
Arrays = dict[str, NDArray[Any]]


def write_arrays(path: Path, header: dict[str, Any], texts: Any, arrays: Arrays) -> None:
    """Write a small header, any amount of JSON-able text, and arrays as one file."""
    from safetensors.numpy import save

    full = {"format": FORMAT, "version": __version__, **header}
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    plain[TEXTS] = np.frombuffer(_json(texts).encode(), dtype=np.uint8)
    data = save(plain, metadata={KEY: _json(full)})
    with atomic_write(path) as file:
        file.write(data)


def read_arrays(path: Path) -> tuple[dict[str, Any], Any, Arrays]:
    """Read back what `write_arrays` wrote, or say what is wrong with the file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = read_bytes(path)
    try:
        length = int.from_bytes(data[:8], "little")
        raw = json.loads(data[8 : 8 + length])["__metadata__"][KEY]
        header = json.loads(raw)
        if not isinstance(header, dict):
            raise TypeError
        _json(header).encode()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError("this is not a syntagma model file", path=path) from error
    if header.get("format") != FORMAT:
        raise ModelFileError(
            f"expected model format {FORMAT}, found {header.get('format')!r} "
            f"(written by syntagma {header.get('version')!r}; this is {__version__})",
            path=path,
        )
    try:
        arrays = load(data)
        raw = arrays.pop(TEXTS).tobytes()
        texts = json.loads(raw)
        if HALF_CHARACTER.search(raw):
            _json(texts).encode()
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError("the model file is cut off or damaged", path=path) from error
    return header, texts, arrays


def finite_array(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Fetch a float array of known shape from a file; ValueError if it is anything else."""
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64 or not (np.abs(array) < LARGEST).all():
        raise ValueError(f"{name} should hold finite numbers of shape {shape}")
    return np.ascontiguousarray(array)


def pack_table(name: str, table: NDArray[np.float32]) -> Arrays:
    """Return a table that is mostly zero as the places and values of its other entries."""
    places = np.flatnonzero(table)
    return {f"{name}.places": places.astype(np.uint32), f"{name}.values": table[places]}


def unpack_table(name: str, arrays: Arrays, size: int) -> NDArray[np.float32]:
    """Rebuild a table of known size from `pack_table`; ValueError if it does not fit."""
    places, values = arrays[f"{name}.places"], arrays[f"{name}.values"]
    if places.dtype != np.uint32 or places.ndim != 1 or values.shape != places.shape:
        raise ValueError(f"{name} should be places and as many values")
    if len(places) and not (places[-1] < size and (np.diff(places.astype(np.int64)) > 0).all()):
        raise ValueError(f"the places of {name} should rise and stay below {size}")
    if values.dtype != np.float32 or not (np.abs(values) < LARGEST_WEIGHT).all():
        raise ValueError(f"{name} should hold finite numbers")
    table = np.zeros(size, np.float32)
    table[places] = values
    return table


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
