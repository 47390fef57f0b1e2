"""What tests of several commands look at."""

from __future__ import annotations


def refused(result, *parts):
    """Check for status 2, nothing on stdout, and one line that holds these parts; return it."""
    assert (result.status, result.out) == (2, b""), result.err
    assert result.err.count("\n") == 1
    assert result.err.startswith("syntagma: ")
    assert "Traceback" not in result.err
    assert len(result.err) < 600
    for part in parts:
        assert str(part) in result.err
    return result.err


def without(text, *columns):
    """Return the lines of a CoNLL-U text with these columns of every word blanked."""
    rows = [line.split("\t") for line in text.split("\n")]
    for row in rows:
        if row[0].isdigit():
            for column in columns:
                row[column] = "*"
    return ["\t".join(row) for row in rows]
