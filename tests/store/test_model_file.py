"""The model file: what is saved is loaded, by us and by the safetensors package."""

from __future__ import annotations

import stat

import numpy as np
import pytest
from handmade import put_together, take_apart
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file

import trellis
from trellis.errors import FileAccessError
from trellis.store import from_bytes, get_strings, put_strings, read_model, to_bytes, write_model
from trellis.store.file import FORMAT

tensors = st.dictionaries(
    st.text(min_size=1, max_size=5).filter(lambda name: name != "__metadata__" and name.isprintable()),
    st.sampled_from(["f8", "i8", "i4", "u2", "u1"]).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    ),
    max_size=5,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(tensors=tensors, description=st.dictionaries(st.text().filter(lambda key: key != "format"), json_values))
def test_what_is_written_is_read(tensors, description):
    found, again = from_bytes(to_bytes(description, tensors))
    assert found == {"format": FORMAT, **description}
    assert again.keys() == tensors.keys()
    for name, values in tensors.items():
        assert again[name].dtype == values.dtype
        np.testing.assert_array_equal(again[name], values)


def test_equal_content_is_equal_bytes():
    a, b = np.arange(3.0), np.arange(4, dtype=np.int32)
    assert to_bytes({"x": 1, "y": 2}, {"a": a, "b": b}) == to_bytes({"y": 2, "x": 1}, {"b": b, "a": a})


def test_the_layout_is_the_one_described(small_model, tmp_path):
    small_model.save(tmp_path / "m")
    raw = (tmp_path / "m").read_bytes()
    assert put_together(*take_apart(raw)) == raw
    _, entries, _ = take_apart(raw)
    sizes = {"F64": 8, "I64": 8, "I32": 4, "U16": 2, "U8": 1}
    in_order = sorted(entries.values(), key=lambda entry: entry["data_offsets"])
    assert [sizes[e["dtype"]] for e in in_order] == sorted((sizes[e["dtype"]] for e in in_order), reverse=True)


def test_the_safetensors_package_reads_it(small_model, tmp_path):
    small_model.save(tmp_path / "m")
    theirs, (_, ours) = load_file(tmp_path / "m"), read_model(tmp_path / "m")
    assert theirs.keys() == ours.keys()
    for name, values in ours.items():
        assert theirs[name].dtype == values.dtype
        np.testing.assert_array_equal(theirs[name], values)


def test_read_tensors_are_of_native_kind_and_nobody_elses_memory():
    """Else kernels would be compiled once more for them, or a change would be seen in the bytes they came from."""
    raw = to_bytes({}, {"a": np.arange(3.0), "b": np.arange(5, dtype=np.uint16), "c": np.zeros(0, np.int64)})
    for values in from_bytes(raw)[1].values():
        assert values.flags.aligned
        assert values.flags.writeable
        assert values.flags.c_contiguous
        assert values.dtype.isnative
        values += 1
    np.testing.assert_array_equal(from_bytes(raw)[1]["a"], np.arange(3.0))


@given(strings=st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True))
def test_lists_of_strings(strings):
    tensors = {}
    put_strings(tensors, "words", strings)
    assert get_strings(tensors, "words") == strings


class TestFiles:
    def test_a_model_comes_back_whole(self, small_model, tmp_path):
        path = tmp_path / "m.trellis"
        small_model.save(path)
        loaded = trellis.load(path)
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()

    def test_missing(self, tmp_path):
        with pytest.raises(FileAccessError, match="gone: no such"):
            trellis.load(tmp_path / "gone")

    def test_a_directory(self, tmp_path):
        with pytest.raises(FileAccessError, match="is a directory"):
            trellis.load(tmp_path)

    def test_are_not_private_by_accident_and_keep_their_mode(self, tmp_path):
        path = tmp_path / "m"
        write_model(path, {}, {})
        (tmp_path / "plain").touch()
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
        path.chmod(0o640)
        write_model(path, {}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
