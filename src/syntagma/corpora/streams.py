"""Files as streams: decompressed while they are read, cut into blocks of whole lines.

However large a file is, a few megabytes of it are held at once. A ``.zip`` archive is the files in
it; ``archive.zip/pattern`` those whose names fit.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from os import fspath
from pathlib import PurePath
from typing import IO, Any, NamedTuple

from syntagma.corpora.files import COMPRESSED, STANDARD, AnyPath
from syntagma.errors import InputError

PIECE = 1 << 20  # bytes read at a time
PACKED_PIECE = 1 << 16  # less where a few bytes may stand for many
LONGEST = 1 << 26  # bytes in a line
MARK = b"\xef\xbb\xbf"
ARCHIVE = ".zip"
SPACES = (b" ", b"\t")


class Block(NamedTuple):
    """Some whole lines of a file, and the number of the first."""

    path: str
    line: int
    text: str

    def fail(self, line: int, message: str) -> InputError:
        """Return the error that blames a line, counted from 0 in this block."""
        return InputError(message, path=self.path, line=self.line + line)


class Member(NamedTuple):
    """A file, or one in an archive: its name, and its bytes piece by piece."""

    path: str
    pieces: Iterator[bytes]

    def blocks(self, *, breakable: bool = False) -> Iterator[Block]:
        """Cut into whole lines; `breakable` lines without an end are cut at a space."""
        rest, line, first = b"", 1, True
        for piece in self.pieces:
            rest += piece
            end = rest.rfind(b"\n") + 1
            if not end and breakable and len(rest) > PIECE:
                end = max(rest.rfind(space) for space in SPACES) + 1
            if end:
                yield self._block(rest[:end], line, first)
                line, first = line + rest.count(b"\n", 0, end), False
                rest = rest[end:]
            elif len(rest) > LONGEST:
                size = f"{LONGEST >> 20} megabytes"
                raise InputError(f"expected lines of at most {size}", path=self.path, line=line)
        if rest:
            yield self._block(rest, line, first)

    def _block(self, raw: bytes, line: int, first: bool) -> Block:
        if first:
            raw = raw.removeprefix(MARK)
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            at, found = error.start, f"UTF-8 text, found byte 0x{raw[error.start]:02x}"
        else:
            at, found = text.find("\0"), "text, found a null character"
            if at < 0:
                return Block(self.path, line, text)
            at = raw.find(b"\0")
        place = line + raw.count(b"\n", 0, at)
        raise InputError(f"expected {found}", path=self.path, line=place)


def members(path: AnyPath) -> Iterator[Member]:
    """Open a file, decompressed by its ending, or the files of an archive one after another.

    Each is to be read before the next is asked for. ``-`` is the standard input.
    """
    name = fspath(path)
    archive, pattern = _archived(name)
    with _naming(name):
        if name == STANDARD:
            if sys.stdin is None:
                raise ValueError("it is closed")
            yield Member(name, _pieces(sys.stdin.buffer, name))
        elif archive:
            yield from _unpacked(archive, pattern)
        else:
            with open(name, "rb") as stream:
                yield Member(name, _pieces(stream, name))


def _archived(name: str) -> tuple[str, str]:
    """Split a path into an archive and the pattern of its members; two blanks if it is a file."""
    if name.lower().endswith(ARCHIVE):
        return name, "*"
    at = name.lower().find(f"{ARCHIVE}/")
    if at < 0 or os.path.exists(name):
        return "", ""
    cut = at + len(ARCHIVE)
    return name[:cut], name[cut + 1 :]


def _unpacked(archive: str, pattern: str) -> Iterator[Member]:
    found = False
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if not info.is_dir() and fnmatchcase(info.filename, pattern):
                found = True
                name = f"{archive}/{info.filename}"
                with _naming(name):
                    stream = opened.open(info)
                with stream:
                    yield Member(name, _pieces(stream, name))
    if not found:
        raise InputError(f"expected files named {pattern} in it, found none", path=archive)


def _pieces(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Read a stream to its end, decompressed by the ending of its name."""
    unpack: Callable[[IO[bytes]], Iterator[bytes]] = {
        ".xz": _read_xz,
        ".gz": _read_gz,
        ".bz2": _read_bz2,
        ".zst": _read_zst,
    }.get(PurePath(name).suffix.lower(), _read)
    pieces = unpack(stream)
    while True:
        with _naming(name):
            piece = next(pieces, b"")
        if not piece:
            return
        yield piece


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece


def _read_xz(stream: IO[bytes]) -> Iterator[bytes]:
    return _read(lzma.LZMAFile(stream))


def _read_gz(stream: IO[bytes]) -> Iterator[bytes]:
    packed: Any = gzip.GzipFile(fileobj=stream)
    return _read(packed)


def _read_bz2(stream: IO[bytes]) -> Iterator[bytes]:
    return _read(bz2.BZ2File(stream))


def _read_zst(stream: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        message = "needs the package zstandard (pip install 'syntagma[zstd]')"
        raise InputError(message) from None
    frame = None
    while raw := stream.read(PACKED_PIECE):
        while raw:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            if piece := frame.decompress(raw):
                yield piece
            raw, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("the file ends too early")


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Turn what goes wrong while a file is opened or read into an error that names it."""
    try:
        yield
    except InputError as error:
        raise error if error.path else InputError(error.message, path=name) from None
    except OSError as error:
        if error.strerror:
            raise InputError(error.strerror, path=name) from None
        raise InputError(_damage(name, error), path=name) from None
    except (KeyboardInterrupt, GeneratorExit, MemoryError):
        raise
    except Exception as error:  # each way of packing has its own; all say the bytes are wrong
        raise InputError(_damage(name, error), path=name) from None


def _damage(name: str, error: Exception) -> str:
    suffix = PurePath(name).suffix.lower()
    expected = suffix[1:] if suffix in (*COMPRESSED, ARCHIVE) else "readable"
    return f"expected {expected} data: {str(error)[:100] or 'the data is damaged'}"
