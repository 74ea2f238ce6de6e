"""The checkpoint file: whole or refused, and not to be mistaken for a model."""

from __future__ import annotations

import numpy as np
import pytest

import trellis
from trellis.errors import CheckpointError, DamagedModelError, FileAccessError, NewerModelError
from trellis.optim import LBFGSState
from trellis.store import CheckpointFile, write_model
from trellis.training import Checkpoint, Run

REFUSED = (DamagedModelError, NewerModelError)
MADE = {"l2": 1.0}


@pytest.fixture
def kept(tmp_path):
    """A small checkpoint in a folder of its own."""
    theta = np.array([0.5, -1.0])
    state = LBFGSState(theta, 3.25, theta * 2, ((theta, theta + 1),), 4, 5, values=(4.0, 3.25))
    file = CheckpointFile(tmp_path / "run" / "deep")
    file.prepare()
    file.write(*Checkpoint(Run(state, None, 12.5), False, 10, MADE).parts())
    return file


def load(file):
    return Checkpoint.from_parts(*file.read(), MADE, 2, file.path)


def test_what_was_written_is_read(kept):
    found = load(kept)
    assert (found.run.seconds, found.finished, found.fingerprint) == (12.5, False, MADE)
    assert found.run.state.values == (4.0, 3.25)
    assert found.run.state.changes[0][1].tolist() == [1.5, 0.0]


def test_arrays_read_can_be_written_to_and_hold_no_more_than_themselves(kept):
    state = load(kept).run.state
    assert state.theta.flags.writeable
    assert state.gradient.base is None


def test_there_may_be_none(tmp_path):
    assert CheckpointFile(tmp_path).read() is None


def test_every_truncation_and_every_changed_byte_is_refused(kept):
    raw = kept.path.read_bytes()
    for length in range(len(raw)):
        kept.path.write_bytes(raw[:length])
        with pytest.raises(DamagedModelError, match=r"not a whole Trellis checkpoint: .*delete it and train from"):
            load(kept)
    for at in range(len(raw)):
        for mask in (0x01, 0x20, 0x80):
            changed = bytearray(raw)
            changed[at] ^= mask
            kept.path.write_bytes(changed)
            with pytest.raises(REFUSED):
                load(kept)


def test_a_model_is_no_checkpoint(kept, small_model):
    small_model.save(kept.path)
    with pytest.raises(CheckpointError, match=r"training\.checkpoint: is a model, not a checkpoint; .*--warm-start"):
        kept.read()


def test_a_checkpoint_is_no_model(kept):
    for read in (trellis.load, trellis.CRF.load):
        with pytest.raises(CheckpointError, match="is a checkpoint, not a model; finish the training with --resume"):
            read(kept.path)


@pytest.mark.parametrize(("version", "error"), [(2, NewerModelError), (0, DamagedModelError), ("1", DamagedModelError)])
def test_versions(kept, version, error):
    description, tensors = kept.read()
    write_model(kept.path, {**description, "checkpoint": version}, tensors)
    with pytest.raises(error):
        kept.read()


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(FileAccessError, match="run: cannot be a folder for checkpoints"):
        CheckpointFile(tmp_path / "run").prepare()


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "training.checkpoint").mkdir()
    with pytest.raises(FileAccessError, match="is a directory"):
        CheckpointFile(tmp_path).prepare()
