"""Some hundred damaged files; ``python -m tests.robustness.mutations --count 20000`` runs more."""

from __future__ import annotations

from robustness.mutations import run, summary


def test_damaged_files_are_one_clear_error_or_read_right(tmp_path):
    found = summary(list(run(tmp_path, 640)))
    assert found["first_failures"] == []
    assert found["count"] == 640
    assert found["errors"] > 200
    assert found["successes"] > 40
