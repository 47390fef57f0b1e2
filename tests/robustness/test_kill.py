"""A killed training goes on to the same model."""

from __future__ import annotations

import time

import pytest

from robustness.kill import EARLIER, Trainings, run


def test_a_killed_training_goes_on_to_the_same_model(tmp_path):
    trainings = Trainings(tmp_path, sentences=60, iterations=100)
    trainings.output.write_bytes(EARLIER)
    # wait for a checkpoint rather than for a time: machines differ
    process = trainings.start()
    end = time.monotonic() + 60
    while not trainings.checkpoint.exists() and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert trainings.checkpoint.exists()
    assert trainings.output.read_bytes() == EARLIER
    assert trainings.finish() == trainings.whole


@pytest.mark.slow
def test_ten_kills_at_any_moment_and_ten_near_the_end(tmp_path):
    found = run(tmp_path, 10)
    assert found["failures"] == []
    assert found["kills_at_any_moment"] >= 10
    assert found["with_a_checkpoint"] > 1
    assert found["kills_in_the_last_write"] > 5
