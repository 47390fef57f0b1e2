"""Run benchmarks: ``python -m benchmarks [NAME ...] [--data DIR]``; one JSON line a measurement.

Peers that are not installed are skipped, and said to be. ``make bench`` installs them all.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import pkgutil
from importlib import import_module
from pathlib import Path

import benchmarks


def main() -> None:
    """Run the benchmarks named, or all."""
    names = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument(
        "--data",
        default=os.environ.get("SYNTAGMA_DATA"),
        type=Path,
        help="directory of the treebanks [SYNTAGMA_DATA]; else generated corpora",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: {', '.join(names)}")
    for name in arguments.names or names:
        run = import_module(f"benchmarks.{name}").run
        takes_data = len(inspect.signature(run).parameters)
        for line in run(arguments.data) if takes_data else run():
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
