"""`python -m syntagma`: the command line without its script."""

from syntagma.cli import main

main()
