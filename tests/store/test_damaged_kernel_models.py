"""Files of kernel perceptrons that are not exactly what was written are refused with one typed error."""

from __future__ import annotations

import numpy as np
import pytest
from changes import changed, put, replacing, setting

from trellis import KernelPerceptron
from trellis.corpus import Corpus
from trellis.errors import DamagedModelError, NewerModelError
from trellis.store import from_bytes

WORDS = {"word": [["a", "b", "c"], ["b", "é"], ["a"]], "tag": [["X", "Y", "Z"], ["Y", "X"], ["Z"]]}


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "m"
    KernelPerceptron("tag", "word[-1:0]").fit(Corpus.from_lists(WORDS)).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def raw_with_values(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "m"
    KernelPerceptron().fit([[{"x": 1.5, "y": 1}, {"x": -0.5}], [{"y": 2.0}]], [["P", "Q"], ["Q"]]).save(path)
    return path.read_bytes()


def test_the_file_itself_is_fine(raw, raw_with_values, loading):
    assert loading(raw).classes_ == ["X", "Y", "Z"]
    assert loading(changed(raw, lambda *_: None)).classes_ == ["X", "Y", "Z"]
    assert "support_values" in from_bytes(raw_with_values)[1]
    assert loading(raw_with_values).classes_ == ["P", "Q"]


def test_every_truncation(raw, loading):
    for length in range(len(raw)):
        with pytest.raises(DamagedModelError):
            loading(raw[:length])


def test_every_changed_byte(raw, loading):
    for at in range(len(raw)):
        for mask in (0x01, 0x80):
            data = bytearray(raw)
            data[at] ^= mask
            with pytest.raises((DamagedModelError, NewerModelError)):
                loading(bytes(data))


BAD = {
    "a coefficient that is not finite": setting("coefficients", np.inf),
    "a transition that is not finite": setting("transitions", np.nan, at=8),
    "an attribute out of range": setting("support_ids", 1000),
    "a negative attribute": setting("support_ids", -1),
    "a negative count": setting("support_counts", -1),
    "counts that wrap around": setting("support_counts", 2**31 - 1),
    "a label out of range": setting("coefficient_labels", 3),
    "labels that do not ascend": replacing("coefficient_labels", lambda v: v[::-1].copy()),
    "a label twice": lambda _, tensors: tensors["coefficient_labels"].__setitem__(slice(0, 2), 0),
    "a coefficient too few": replacing("coefficients", lambda v: v[:-1]),
    "a transition too many": replacing("transitions", lambda v: np.append(v, 0.0)),
    "transitions as a table": replacing("transitions", lambda v: v.reshape(3, 3)),
    "values for some attributes": lambda _, tensors: tensors.update({"support_values": np.ones(1)}),
    "a tensor that is not known": lambda _, tensors: tensors.update({"weights": np.ones(1)}),
    "no kernel": lambda description, _: description.pop("kernel"),
    "a kernel that is none": put("kernel", value=[2, 1.0, 1.0, False]),
    "a kernel with more": put("kernel", "gamma", value=1.0),
    "degree 0": put("kernel", "degree", value=0),
    "degree 21": put("kernel", "degree", value=21),
    "degree true": put("kernel", "degree", value=True),
    "degree as a float": put("kernel", "degree", value=2.0),
    "a negative offset": put("kernel", "offset", value=-1.0),
    "an offset that is text": put("kernel", "offset", value="1.0"),
    "scale 0": put("kernel", "scale", value=0.0),
    "a whole number as scale": put("kernel", "scale", value=1),
    "cosine as a number": put("kernel", "cosine", value=1),
    "a parameter out of range": put("params", "epochs", value=0),
    "a parameter of another model": put("params", "l2", value=1.0),
    "a model of another kind": put("model", value="CRF"),
    "features on transitions": put("features", "templates", value=["U:%x[-1,word]", "B:%x[0,word]"]),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_parts_that_do_not_fit_are_refused(raw, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw, change))


class TestEveryTensor:
    def test_missing_or_of_another_kind(self, raw_with_values, loading):
        for name, values in from_bytes(raw_with_values)[1].items():
            if name != "support_values":  # without them it is a model whose values are 1
                with pytest.raises(DamagedModelError):
                    loading(changed(raw_with_values, lambda _, tensors, name=name: tensors.pop(name)))
            for other in ("f8", "i8", "i4", "u2", "u1"):
                if values.dtype != np.dtype(other):
                    data = changed(raw_with_values, replacing(name, lambda v, other=other: v.astype(other)))
                    with pytest.raises(DamagedModelError):
                        loading(data)

    def test_any_number_is_refused_or_answers(self, raw_with_values, loading):
        for name, values in from_bytes(raw_with_values)[1].items():
            for at in range(len(values)):
                for new in (np.inf, np.nan, -1.0) if values.dtype.kind == "f" else extremes(values, at):
                    try:
                        model = loading(changed(raw_with_values, setting(name, new, at)))
                    except DamagedModelError:
                        continue
                    assert len(model.predict([[{"x": 1.0}, {"y": 2.0, "z": 3.0}]])[0]) == 2


def extremes(values, at):
    kind = np.iinfo(values.dtype)
    return kind.min, kind.max, int(values[at]) ^ 1
