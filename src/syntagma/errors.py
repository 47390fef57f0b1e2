"""The errors a user can cause, each one line that says what was expected and where."""

from __future__ import annotations

from os import PathLike, fspath


class SyntagmaError(Exception):
    """Anything the user can mend; the command line prints it on one line."""


class InputError(SyntagmaError, ValueError):
    """Input that cannot be read as asked: names the file, the line and what was expected.

    >>> str(InputError("expected 10 columns, found 9", path="a.conllu", line=7))
    'a.conllu:7: expected 10 columns, found 9'
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else fspath(path)
        self.line = line
        place = ":".join(str(part) for part in (self.path, line) if part is not None)
        told = f"{place}: {message}" if place else message
        super().__init__(" ".join(told.splitlines()))  # what a file holds may be quoted in it


class OutputError(SyntagmaError, OSError):
    """Output that cannot be written; whatever stood there before still stands."""


class ModelFileError(InputError):
    """A model file that is damaged, hostile, of another kind or of a newer format."""


class NotFittedError(SyntagmaError, AttributeError):
    """A model was asked to predict before `fit` or `load`."""
