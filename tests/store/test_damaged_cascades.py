"""Files of cascades that are not exactly what was written are refused with one typed error."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from changes import changed, put, replacing, setting
from make_golden import GOLDEN

from trellis.errors import DamagedModelError, NewerModelError
from trellis.store import from_bytes

NAMES = ["cascade", "cascade-segments", "cascade-neural"]


def raw_of(name):
    return (GOLDEN / f"format-3-{name}.trellis").read_bytes()


@pytest.fixture(params=NAMES)
def raw(request):
    return raw_of(request.param)


def test_every_truncation(raw, loading):
    for length in range(0, len(raw), 7):
        with pytest.raises(DamagedModelError):
            loading(raw[:length])


def test_every_changed_byte(raw, loading):
    for at in range(0, len(raw), 2):
        damaged = bytearray(raw)
        damaged[at] ^= 0x20 if at % 4 else 0xFF
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
    with pytest.raises(DamagedModelError, match="no stage"):
        loading(changed(raw, lambda _, tensors: tensors.update(more=np.zeros(1))))
    with pytest.raises(DamagedModelError, match="unknown tensors"):
        loading(changed(raw, lambda _, tensors: tensors.update({"0.more": np.zeros(1)})))


def stage(number, change):
    """A change of one stage's entry."""

    def apply(description, _):
        table = copy.deepcopy(description["stages"])
        change(table[number])
        description["stages"] = table

    return apply


@pytest.mark.parametrize(
    "change",
    [
        put("how", value={}),
        put("how", value={"wire": "radio", "least": 0.0, "paths": 1, "seed": 0}),
        put("how", value={"wire": "joint", "least": 0.7, "paths": 1, "seed": 0}),
        put("how", value={"wire": "joint", "least": 0.0, "paths": 0, "seed": 0}),
        put("how", value={"wire": "joint", "least": 0.0, "paths": 1, "seed": -1}),
        put("stages", value=[]),
        put("stages", value=None),
        put("stages", value=[1]),
        put("training", value={}),
        put("params", value={"more": 1}),
        stage(1, lambda s: s.update(reads=[])),
        stage(1, lambda s: s.update(reads=[1])),
        stage(1, lambda s: s.update(reads=[0, 0])),
        stage(1, lambda s: s.update(reads="0")),
        stage(1, lambda s: s.update(wiring=None)),
        stage(0, lambda s: s.update(reads=[0])),
        stage(1, lambda s: s["wiring"].update(lower=["ner"])),
        stage(1, lambda s: s["wiring"].update(lower=[])),
        stage(1, lambda s: s["wiring"].update(templates=["U:%x[0,word]"])),
        stage(1, lambda s: s["wiring"].update(templates=["nonsense"])),
        stage(1, lambda s: s["wiring"].update(context=None)),
        stage(1, lambda s: s["wiring"].pop("columns")),
        stage(1, lambda s: s["table"].update(model="tree")),
        stage(1, lambda s: s["table"].update(weight=-1.0)),
        stage(1, lambda s: s["table"].pop("target")),
        stage(1, lambda s: s["table"].update(target="pos")),
        stage(1, lambda s: s.pop("model")),
        setting("1.read.table_digits", -1, at=0),
        setting("1.read.table_digits", 99, at=0),
        setting("1.read.table_counts", -1, at=0),
        setting("1.read.table_counts", 99, at=0),
        setting("1.read.table_weights", np.nan, at=0),
        setting("1.read.label_codes", -5, at=0),
        setting("1.read.label_codes", 0, at=1),
        setting("1.read.label_codes", 1 << 62, at=-1),
        setting("1.read.label_code_counts", -1, at=0),
        setting("1.read.label_code_counts", 10**6, at=0),
        setting("1.read.transition_codes", 1 << 61, at=0),
        setting("1.weights", np.inf, at=0),
        setting("0.weights", np.nan, at=0),
    ],
)
def test_parts_that_do_not_fit_together(change, loading):
    with pytest.raises(DamagedModelError):
        loading(changed(raw_of("cascade"), change))
