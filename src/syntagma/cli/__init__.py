"""The command line: one file per command; models are imported only when a command runs."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a stated failure, 2 bad input or usage."""
    try:
        from syntagma.cli.app import run

        if isinstance(sys.stdout, io.TextIOWrapper):
            # a file name need not be text; readers of JSON understand the escapes
            sys.stdout.reconfigure(errors="backslashreplace")
        status = run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # before the command had begun
        print("syntagma: interrupted", file=sys.stderr)
        status = 130
    sys.exit(status)
