"""Rows of a re-made table: a figure of ours beside the published one, over several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Said = Callable[[str], None]
Part = Callable[[Any, int], Iterator["Row"]]


class Row(NamedTuple):
    """One figure; ``low`` and ``high`` are the extremes of several runs, ``ours`` their mean."""

    system: str
    setting: str
    metric: str
    ours: float
    paper: float | None
    low: float
    high: float

    def summary(self) -> dict[str, Any]:
        """Return the row as a dict fit for JSON, rounded to hundredths."""
        rounded = {key: round(getattr(self, key), 2) for key in ("ours", "low", "high")}
        return {**self._asdict(), **rounded}


def rows_of(
    system: str,
    setting: str,
    runs: Sequence[Mapping[str, float]],
    paper: Mapping[str, float] | None = None,
) -> list[Row]:
    """Make a row of every figure that the runs have, in their order.

    >>> rows_of("tagger", "English", [{"accuracy": 90.0}, {"accuracy": 92.0}])[0].ours
    91.0
    """
    found = []
    for metric in runs[0]:
        values = [run[metric] for run in runs]
        published = (paper or {}).get(metric)
        mean = sum(values) / len(values)
        found.append(Row(system, setting, metric, mean, published, min(values), max(values)))
    return found


def rows_of_parts(
    table: Mapping[str, Part], data: Path | None, parts: Sequence[str], seeds: int, said: Said
) -> Iterator[Row]:
    """Make the named parts of a table one after another."""
    for part in parts:
        said(part)
        yield from table[part](data, seeds)
