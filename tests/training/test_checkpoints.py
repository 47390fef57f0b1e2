"""Checkpoints: state on disk that continues to the same end, or refuses."""

from __future__ import annotations

import numpy as np
import pytest

from syntagma.errors import InputError, ModelFileError
from syntagma.training.checkpoints import Checkpoint, fingerprint
from syntagma.training.loop import train


class Stopped(Exception):
    pass


def bowl(w):
    scale = np.arange(1, len(w) + 1)
    return float((scale * (w - 1) ** 4).sum()), 4 * scale * (w - 1) ** 3


@pytest.mark.parametrize("stop", [1, 4, 9, 14])
def test_a_stopped_training_ends_the_same(tmp_path, stop):
    def options(resume):
        keeper = Checkpoint(tmp_path / "c", "me", resume=resume, every=0)
        return dict(
            iterations=15,
            tolerance=0.0,
            checkpoint=keeper,
            monitor=lambda w: float(w.sum()),
            monitor_every=2,
        )

    def interrupt(iteration, total, value):
        if iteration == stop:
            raise Stopped

    whole = train(bowl, np.zeros(6), **options(False))
    with pytest.raises(Stopped):
        train(bowl, np.zeros(6), progress=interrupt, **options(False))
    resumed = train(bowl, np.full(6, 9.0), **options(True))
    assert resumed.state.x.tobytes() == whole.state.x.tobytes()
    assert resumed.curve == whole.curve
    assert len(whole.curve) == 7


def test_a_converged_training_is_not_taken_further(tmp_path):
    keeper = Checkpoint(tmp_path / "c", "me", resume=True, every=0)
    first = train(bowl, np.zeros(3), iterations=500, tolerance=1e-3, checkpoint=keeper)
    assert first.state.converged
    again = train(bowl, np.zeros(3), iterations=500, tolerance=1e-3, checkpoint=keeper)
    assert again.state.iteration == first.state.iteration
    assert again.state.x.tobytes() == first.state.x.tobytes()


def test_other_data_is_refused(tmp_path):
    arrays = {"x": np.zeros(2)}
    Checkpoint(tmp_path / "c", fingerprint("this")).save(arrays)
    assert Checkpoint(tmp_path / "c", fingerprint("this")).restore() is None
    with pytest.raises(InputError, match="other data"):
        Checkpoint(tmp_path / "c", fingerprint("that"), resume=True).restore()
    (tmp_path / "c").write_bytes(b"garbage")
    with pytest.raises(ModelFileError, match="not a syntagma model file"):
        Checkpoint(tmp_path / "c", fingerprint("this"), resume=True).restore()


def test_finishing_removes_it_and_starting_over_ignores_it(tmp_path):
    keeper = Checkpoint(tmp_path / "c", "me", resume=True)
    assert keeper.restore() is None
    keeper.save({"x": np.ones(3)})
    restored = keeper.restore()
    assert restored is not None
    assert restored["x"].tolist() == [1, 1, 1]
    keeper.finish()
    assert not (tmp_path / "c").exists()
    keeper.finish()
