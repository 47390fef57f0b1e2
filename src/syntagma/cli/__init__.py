"""The command line: one file per command; models are imported only when a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a stated failure, 2 bad input or usage."""
    from syntagma.cli.app import run

    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
