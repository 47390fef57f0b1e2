"""Files by ending, whole or not at all, and every failure one line."""

from __future__ import annotations

import builtins
import io
import os
import stat
import sys

import pytest

from syntagma.corpora.files import atomic_write, decode, ending, read_bytes, read_text
from syntagma.errors import InputError, OutputError

ENDINGS = ["", ".xz", ".gz", ".bz2", ".zst"]
CONTENT = "ein Häuschen\n".encode() * 1000


class Streams:
    """Standard input and output as byte streams."""

    def __init__(self, content: bytes = b"") -> None:
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("suffix", ENDINGS)
def test_what_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"corpus.conllu{suffix}"
    with atomic_write(path) as stream:
        stream.write(CONTENT)
    assert read_bytes(path) == CONTENT
    assert read_text(path) == CONTENT.decode()
    assert (path.read_bytes() == CONTENT) == (suffix == "")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ENDINGS[1:])
def test_the_same_content_gives_the_same_file(tmp_path, suffix):
    files = [tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"]
    for path in files:
        with atomic_write(path) as stream:
            stream.write(CONTENT)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("suffix", ENDINGS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
def test_a_failure_leaves_the_earlier_file(tmp_path, suffix, error):
    path = tmp_path / f"corpus{suffix}"
    path.write_bytes(b"earlier")

    def fail():
        with atomic_write(path) as stream:
            stream.write(os.urandom(200_000))
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"earlier"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ENDINGS[1:])
@pytest.mark.parametrize("cut", [0, 5, 20, -1])
def test_a_truncated_file_is_one_error(tmp_path, suffix, cut):
    path = tmp_path / f"corpus{suffix}"
    with atomic_write(path) as stream:
        stream.write(CONTENT)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=f"expected {suffix[1:]} data") as caught:
        read_bytes(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ENDINGS[1:])
def test_plain_text_under_a_compressed_name_is_one_error(tmp_path, suffix):
    path = tmp_path / f"corpus{suffix}"
    path.write_bytes(CONTENT)
    with pytest.raises(InputError, match=f"expected {suffix[1:]} data"):
        read_bytes(path)


@pytest.mark.parametrize("suffix", ENDINGS[1:])
def test_joined_compressed_files_are_read_on(tmp_path, suffix):
    path = tmp_path / f"corpus{suffix}"
    with atomic_write(path) as stream:
        stream.write(CONTENT)
    path.write_bytes(path.read_bytes() * 2)
    assert read_bytes(path) == CONTENT * 2


@pytest.mark.parametrize("suffix", ENDINGS)
def test_a_full_disk_is_one_error(suffix, tmp_path):
    path = tmp_path / f"full{suffix}"
    path.symlink_to("/dev/full")
    with (
        pytest.raises(OutputError, match="No space left on device"),
        atomic_write(path) as stream,
    ):
        stream.write(os.urandom(1_000_000))


def test_what_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "missing.txt", "nul\0l", ""):
        with pytest.raises(InputError) as caught:
            read_bytes(path)
        assert "\n" not in str(caught.value)


def test_what_cannot_be_written_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "a.txt", "nul\0l", ""):
        with pytest.raises(OutputError), atomic_write(path) as stream:
            stream.write(b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write anything")
def test_permissions_are_respected(tmp_path):
    path = tmp_path / "locked"
    path.write_bytes(b"earlier")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_bytes(path)
    with pytest.raises(OutputError, match="Permission denied"), atomic_write(path) as stream:
        stream.write(b"x")


def test_the_bytes_are_on_the_disk_before_the_name_changes(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, n=name, r=real: (calls.append(n), r(*a)))
    with atomic_write(tmp_path / "new") as stream:
        stream.write(b"x")
    assert calls == ["fsync", "replace"]


def test_mode_and_links_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"earlier")
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic_write(link) as stream:
        stream.write(b"later")
    assert link.is_symlink()
    assert real.read_bytes() == b"later"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "new") as stream:
            stream.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_devices_are_written_in_place():
    with atomic_write("/dev/null") as stream:
        stream.write(b"x")
    assert not os.path.isfile("/dev/null")


def test_standard_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Streams(CONTENT))
    assert read_bytes("-") == CONTENT
    output = Streams()
    monkeypatch.setattr(sys, "stdout", output)
    with atomic_write("-") as stream:
        stream.write(CONTENT)
        assert output.buffer.getvalue() == b""
    assert output.buffer.getvalue() == CONTENT


def test_zstandard_is_optional(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *arguments, **options)

    path = tmp_path / "a.zst"
    path.write_bytes(b"x")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"needs the package zstandard \(pip install"):
        read_bytes(path)
    with pytest.raises(OutputError, match="needs the package zstandard"), atomic_write(path) as s:
        s.write(b"x")
    assert path.read_bytes() == b"x"
    assert [p.name for p in tmp_path.iterdir()] == ["a.zst"]


def test_the_bad_byte_is_placed():
    with pytest.raises(InputError, match=r"^a\.txt:3: expected UTF-8 text, found byte 0xff$"):
        decode(b"one\ntwo\r\nth\xffree\n", "a.txt")


def test_ending_looks_before_the_compression():
    assert ending("x/y.CONLLU.XZ") == ".conllu"
    assert ending("a.b.mrg") == ".mrg"
    assert ending("plain") == ending("plain.gz") == ending("-") == ""
