"""How long the command takes to start: ``python -m tests.cli.startup`` prints medians as JSON."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

STARTS = {"import syntagma": ("-c", "import syntagma"), "--help": ("-m", "syntagma", "--help")}


def median_seconds(start: str, times: int = 10) -> float:
    """Start so many times and return the median time."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        order = [sys.executable, *STARTS[start]]
        subprocess.run(order, check=True, stdout=subprocess.DEVNULL)
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


if __name__ == "__main__":
    print(json.dumps({start: round(median_seconds(start), 3) for start in STARTS}))
