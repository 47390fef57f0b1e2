"""Files in and out: compressed by ending, ``-`` for the standard streams, written whole or not."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from syntagma.errors import InputError, OutputError

COMPRESSED = (".xz", ".gz", ".bz2", ".zst")
STANDARD = "-"
_NO_ZSTANDARD = "needs the package zstandard (pip install 'syntagma[zstd]')"

AnyPath = str | PathLike[str]


def ending(path: AnyPath) -> str:
    """Return the ending that tells the format, lower case, without that of the compression.

    >>> ending("en_ewt-train.conllu.xz")
    '.conllu'
    """
    suffixes = [suffix.lower() for suffix in PurePath(fspath(path)).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_bytes(path: AnyPath) -> bytes:
    """Read a whole file, decompressed by its ending; ``-`` is the standard input."""
    name = fspath(path)
    try:
        if name == STANDARD:
            if sys.stdin is None:
                raise ValueError("it is closed")
            return sys.stdin.buffer.read()
        with open(name, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        raise InputError(_reason(error), path=name) from None
    except ValueError as error:  # a null character in the name
        raise InputError(str(error), path=name) from None
    return _decompress(raw, name)


def read_text(path: AnyPath) -> str:
    """Read a whole file as UTF-8, without its byte order mark; line ends stay as they are."""
    return decode(read_bytes(path), path).removeprefix("\ufeff")


def decode(raw: bytes, path: AnyPath | None = None) -> str:
    """Decode UTF-8 strictly; an error names the line of the bad byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"expected UTF-8 text, found byte 0x{raw[error.start]:02x}"
        raise InputError(found, path=path, line=line) from None


@contextmanager
def atomic_write(path: AnyPath) -> Iterator[BinaryIO]:
    """Write a file whole or not at all, compressed by its ending; ``-`` is the standard output.

    The bytes go to a new file in the same directory, which takes the name only when the block ends
    well. After any exception the earlier file stands and nothing else is left.
    """
    name = fspath(path)
    if name in (STANDARD, "/dev/stdout"):
        buffer = io.BytesIO()
        yield buffer
        with _output_errors("standard output"):
            if sys.stdout is None:
                raise ValueError("it is closed")
            rest = buffer.getbuffer()
            while rest:  # unbuffered, one call may write a part only
                rest = rest[sys.stdout.buffer.write(rest) :]
            sys.stdout.buffer.flush()
        return
    target, scratch, mode = _prepare(name)
    with _output_errors(name):
        # the mode of a new file is left to the system, which knows the umask
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if scratch == target else os.O_EXCL)
        raw = _Target(os.open(scratch, flags, 0o666), name)
    sink = cast(BinaryIO, io.BufferedWriter(raw))
    stream = sink
    try:
        stream = _compressor(sink, name)
        yield stream
        if stream is not sink:
            stream.close()
        sink.flush()
        with _output_errors(name):
            if mode is not None:
                os.fchmod(raw.fileno(), mode)
            if scratch != target:
                os.fsync(raw.fileno())
        sink.close()
        if scratch != target:
            with _output_errors(name):
                os.replace(scratch, target)
    except BaseException:
        raw.discard = True
        stream.close()
        sink.close()
        if scratch != target:
            with suppress(OSError):
                os.unlink(scratch)
        raise


class _Target(io.FileIO):
    """The file being written: its failures are `OutputError`; once discarded, nothing fails."""

    discard = False

    def __init__(self, descriptor: int, path: str) -> None:
        super().__init__(descriptor, "wb")
        self.path = path

    def write(self, data: Any) -> int:
        if self.discard:
            return memoryview(data).nbytes
        with _output_errors(self.path):
            return super().write(data)


@contextmanager
def _output_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (OutputError, BrokenPipeError):  # whoever reads a pipe may stop: that is no failure
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise OutputError(f"{name}: {_reason(error)}") from None


def _prepare(name: str) -> tuple[str, str, int | None]:
    """Find the file that a name stands for, where to write meanwhile, and the mode to keep."""
    with _output_errors(name):
        target = os.path.realpath(name)
        found = os.stat(target) if os.path.exists(target) else None
        if found is None and os.path.exists(name):
            return name, name, None  # a pipe by another name, such as /dev/fd/3
        if found is not None and not stat.S_ISREG(found.st_mode):
            return target, target, None  # a device or a pipe has no earlier content to keep
        if found is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    scratch = os.path.join(os.path.dirname(target), f".syntagma-{secrets.token_hex(6)}.tmp")
    return target, scratch, None if found is None else stat.S_IMODE(found.st_mode)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _compressor(sink: BinaryIO, name: str) -> BinaryIO:
    suffix = PurePath(name).suffix.lower()
    stream: Any = sink
    if suffix == ".xz":
        stream = lzma.LZMAFile(sink, "wb")  # noqa: SIM115
    elif suffix == ".gz":  # no name and no time inside: the same content gives the same file
        stream = gzip.GzipFile("", "wb", fileobj=sink, mtime=0)
    elif suffix == ".bz2":
        stream = bz2.BZ2File(sink, "wb")
    elif suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise OutputError(f"{name}: {_NO_ZSTANDARD}") from None
        stream = zstandard.ZstdCompressor().stream_writer(sink, closefd=False)
    return cast(BinaryIO, stream)


def _decompress(raw: bytes, name: str) -> bytes:
    suffix = PurePath(name).suffix.lower()
    expand: Callable[[bytes], bytes] | None = {
        ".xz": lzma.decompress,
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".zst": _expand_zstandard,
    }.get(suffix)
    if expand is None:
        return raw
    try:
        if not raw:
            raise EOFError("the file is empty")
        return expand(raw)
    except InputError as error:
        raise InputError(error.message, path=name) from None
    except Exception as error:  # each library has its own; all say that the bytes are wrong
        found = str(error) or "the data is damaged"
        raise InputError(f"expected {suffix[1:]} data: {found}", path=name) from None


def _expand_zstandard(raw: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise InputError(_NO_ZSTANDARD) from None
    pieces = []
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        pieces.append(frame.decompress(raw))
        if not frame.eof:
            raise EOFError("the file ends too early")
        raw = frame.unused_data
    return b"".join(pieces)
