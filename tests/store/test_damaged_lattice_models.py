"""Files of models beyond the chain that are not exactly what was written are refused with one typed error."""

from __future__ import annotations

import numpy as np
import pytest
from changes import changed, put, replacing, setting
from make_golden import GOLDEN

from trellis.errors import DamagedModelError, NewerModelError
from trellis.store import from_bytes, put_strings

NAMES = ["semi", "lattice", "lattice-lexicon"]


@pytest.fixture(params=NAMES)
def raw(request):
    return raw_of(request.param)


def raw_of(name):
    return (GOLDEN / f"format-3-{name}.trellis").read_bytes()


def test_every_truncation(raw, loading):
    for length in range(0, len(raw), 3):
        with pytest.raises(DamagedModelError):
            loading(raw[:length])


def test_every_changed_byte(raw, loading):
    for at in range(len(raw)):
        damaged = bytearray(raw)
        damaged[at] ^= 0x20 if at % 2 else 0xFF
        with pytest.raises((DamagedModelError, NewerModelError)):
            loading(bytes(damaged))


@pytest.mark.parametrize("name", NAMES)
def test_every_tensor_must_be_there_whole_and_of_its_type(name, loading):
    raw = raw_of(name)
    for tensor, values in from_bytes(raw)[1].items():
        wrong = [
            lambda _, tensors, t=tensor: tensors.pop(t),
            replacing(tensor, lambda v: v.astype(np.int64 if v.dtype == np.uint8 else np.uint8)),
            replacing(tensor, lambda v: v[None]),
        ]
        if len(values):
            wrong.append(replacing(tensor, lambda v: v[:-1]))
        for change in wrong:
            with pytest.raises(DamagedModelError):
                loading(changed(raw, change))
    with pytest.raises(DamagedModelError, match="unknown tensors"):
        loading(changed(raw, lambda _, tensors: tensors.update(more=np.zeros(1))))


def strings(name, values):
    def change(_, tensors):
        put_strings(tensors, name, values)

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("semi", setting("weights", np.nan)),
        ("semi", setting("longest", 0)),
        ("semi", setting("longest", 1 << 20)),
        ("semi", setting("longest", 2, -1)),  # of O
        ("semi", setting("type_sources", 9)),
        ("semi", setting("type_targets", 9)),
        ("semi", replacing("type_sources", lambda v: v[::-1].copy())),
        ("semi", setting("span_types", 9)),
        ("semi", replacing("span_counts", lambda v: np.append(v, np.uint16(0)).repeat(2))),
        ("semi", setting("pair_labels", 9)),
        ("semi", setting("pair_counts", 9)),
        ("semi", setting("phrase.4", 99)),
        ("semi", setting("phrase_type.4", -1)),
        ("semi", strings("phrases.4", ["New  York", "Lima", "sea"])),
        ("semi", strings("span_names.0", ["a", "b"])),
        ("semi", put("segments", "encoding", value="bioes")),
        ("semi", put("segments", "encoding", value="what")),
        ("semi", put("segments", "kinds", value=["PER", "LOC"])),
        ("semi", put("segments", "kinds", value="LOC")),
        ("semi", put("segments", "more", value=1)),
        ("semi", put("segments", "spans", value=None)),
        ("semi", put("segments", "spans", "parts", value=["surface", "length"])),
        ("semi", put("segments", "spans", "parts", value=["what"])),
        ("semi", put("segments", "spans", "longest", value=0)),
        ("semi", put("segments", "spans", "column", value=3)),
        ("semi", put("segments", "spans", "longest", value=60_000)),
        ("semi", put("segments", "spans", "longest", value=3)),
        ("semi", put("params", "longest", value={"PER": 0})),
        ("lattice", setting("weights", np.inf)),
        ("lattice", setting("pair_labels", 2)),
        ("lattice", setting("transition_sources", 2)),
        ("lattice", put("arcs", value=None)),
        ("lattice", put("arcs", value=["word"])),
        ("lattice", put("arcs", value="what")),
        ("lattice", strings("arc_names", ["near", "near"])),
        ("lattice", put("params", "arcs", value=7)),
        ("lattice", put("more", value=7)),
        ("lattice-lexicon", put("arcs", value=["word", "word"])),
        ("lattice-lexicon", put("arcs", value=["word"])),
        ("lattice-lexicon", put("arcs", value="given")),
        ("lattice-lexicon", setting("arc_keys.0", 10**6, -1)),
        ("lattice-lexicon", setting("arc_keys.0", -1)),
        ("lattice-lexicon", replacing("arc_keys.0", lambda v: np.repeat(v, 2))),
        ("lattice-lexicon", strings("arc_values.0", ["a"])),
    ],
)
def test_parts_that_do_not_fit_together(name, change, loading):
    with pytest.raises(DamagedModelError):
        loading(changed(raw_of(name), change))
