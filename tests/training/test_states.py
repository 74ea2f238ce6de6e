"""Any optimiser's state survives a file, and what is no state is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np
import pytest
from numpy.typing import NDArray

from trellis.optim import LBFGS, STATES, LBFGSState
from trellis.store import from_bytes, to_bytes
from trellis.training.states import Reader, Writer

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Inner:
    rate: float
    order: NDArray[np.int64]
    name: str | None = None


@dataclass(frozen=True)
class Outer:
    """One of everything that states are made of."""

    theta: F64
    value: float
    inner: Inner | None
    history: tuple[tuple[F64, F64], ...] = ()
    iteration: int = 0
    evaluations: int = 0
    pair: tuple[int, float] = (0, 0.0)
    lowest: float = math.inf
    done: bool = False
    rows: F64 = field(default_factory=lambda: np.zeros((2, 3)))
    maybe: F64 | None = None


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(STATES, "Inner", Inner)
    monkeypatch.setitem(STATES, "Outer", Outer)


def a_state(**other):
    theta = np.array([0.1, -0.0, 1e-308])
    inner = Inner(1 / 3, np.array([5, 1, 2**62]), "läuft")
    history = ((theta, theta + 1), (theta + 2, theta * 3))
    usual = {"theta": theta, "value": -1.5, "inner": inner, "history": history, "iteration": 3, "pair": (2, 0.5)}
    return Outer(**{**usual, **other})


def through_a_file(state, size=3):
    writer = Writer()
    description, tensors = from_bytes(to_bytes({"state": writer.write(state)}, writer.tensors))
    reader = Reader(tensors, size)
    out = reader.state(description["state"])
    reader.check_all_used()
    return out


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    elif isinstance(a, tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif type(a).__name__ in STATES:
        for one in fields(a):
            assert_same(getattr(a, one.name), getattr(b, one.name))
    else:
        assert repr(a) == repr(b)


class TestAState:
    def test_is_the_same_after_a_file(self):
        assert_same(through_a_file(a_state()), a_state())

    @pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, 5e-324, 0.1 + 0.2])
    def test_may_hold_any_float(self, value):
        assert_same(through_a_file(a_state(lowest=value)), a_state(lowest=value))

    def test_may_not_know_its_objective_yet(self):
        assert_same(through_a_file(a_state(value=math.inf)), a_state(value=math.inf))

    def test_may_hold_states_in_states_or_none(self):
        assert through_a_file(a_state(inner=None)).inner is None
        assert through_a_file(a_state()).inner.order.tolist() == [5, 1, 2**62]

    def test_has_plain_numbers_where_numpy_s_were(self):
        out = through_a_file(a_state(value=np.float64(0.1), iteration=np.int64(4)))
        assert (type(out.value), type(out.iteration)) == (float, int)

    def test_may_have_a_theta_of_any_length_where_that_changes(self):
        grown = a_state(theta=np.arange(7.0))
        assert_same(through_a_file(grown, size=None), grown)
        with pytest.raises(ValueError, match="an array of 7 for 3 weights"):
            through_a_file(grown)
        with pytest.raises(ValueError, match="weights"):
            through_a_file(a_state(theta=np.zeros((2, 2))), size=None)

    def test_writes_an_array_once_that_is_there_twice(self):
        writer = Writer()
        writer.write(a_state())
        assert len(writer.tensors) == 6  # theta is in the history too
        out = through_a_file(a_state())
        assert out.history[0][0] is out.theta

    def test_of_l_bfgs_goes_on_as_if_nothing_had_been(self):
        class Bowl:
            l1 = 0.0

            def value_and_gradient(self, theta):
                scale = np.arange(1.0, 6.0)
                return float(scale @ (theta - 1) ** 4), 4 * scale * (theta - 1) ** 3

        state = LBFGS().start(Bowl(), np.zeros(5))
        for _ in range(12):
            again = through_a_file(state, 5)
            assert_same(again, state)
            assert_same(LBFGS().step(Bowl(), again), LBFGS().step(Bowl(), state))
            state = LBFGS().step(Bowl(), state)


@pytest.mark.parametrize("value", [{1: 2}, [1], object(), b"x", np.array([True]), np.array(["a"])])
def test_what_no_state_may_hold_is_refused_when_it_is_written(value):
    with pytest.raises(TypeError, match="a checkpoint cannot hold"):
        Writer().write(a_state(inner=value))


def test_a_class_that_is_not_among_the_states_is_refused(monkeypatch):
    writer = Writer()
    written = writer.write(a_state())
    monkeypatch.delitem(STATES, "Outer")
    with pytest.raises(TypeError, match="a checkpoint cannot hold Outer"):
        Writer().write(a_state())
    with pytest.raises(ValueError, match="'Outer' of an optimiser that is not known"):
        Reader(writer.tensors, 3).state(written)


def changed(path, value):
    """The written state with another value at a place such as `inner.rate`."""
    writer = Writer()
    written = writer.write(a_state())
    place = written["fields"]
    *folders, last = path.split(".")
    for folder in folders:
        place = place[int(folder)] if folder.isdigit() else place[folder]["fields"]
    place[last] = value
    return written, writer.tensors


WRONG = {
    "a text for a number": ("value", "1.5"),
    "a truth value for a number": ("iteration", True),
    "a number for a truth value": ("done", 1),
    "a float for a count": ("iteration", 1.0),
    "a count below zero": ("evaluations", -1),
    "no array": ("theta", 1.0),
    "no such tensor": ("theta", {"tensor": 99}),
    "a tensor that is no number": ("theta", {"tensor": "0"}),
    "an array for a number": ("value", {"tensor": 0}),
    "whole numbers for floats": ("theta", {"tensor": 1}),
    "nothing where there must be something": ("theta", None),
    "too many of a pair": ("pair", [1, 0.5, 2]),
    "a pair of other things": ("pair", [1, "x"]),
    "no tuple": ("history", 3),
    "a history of numbers": ("history", [[1, 2]]),
    "an unknown tag": ("value", {"pickle": "x"}),
    "an unknown float": ("value", {"float": "1.0"}),
    "an objective that is none": ("value", {"float": "nan"}),
    "an objective without a bottom": ("value", {"float": "-inf"}),
    "another class": ("inner", {"state": "object", "fields": {}}),
    "a class that is no text": ("inner", {"state": ["Inner"], "fields": {}}),
    "a state of another kind": ("inner", {"state": "LBFGSState", "fields": {}}),
    "a number for an inner state": ("inner", 3),
    "a wrong type inside": ("inner.rate", "fast"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused_when_it_is_read(case):
    written, tensors = changed(*WRONG[case])
    with pytest.raises((ValueError, TypeError, KeyError)):
        Reader(tensors, 3).state(written)


@pytest.mark.parametrize("name", ["missing", "additional"])
def test_fields_must_be_those_of_the_class(name):
    written, tensors = changed("value", 1.0)
    if name == "missing":
        del written["fields"]["done"]
    else:
        written["fields"]["more"] = 1
    with pytest.raises(ValueError, match="fields of Outer"):
        Reader(tensors, 3).state(written)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_arrays_must_be_finite(bad):
    with pytest.raises(ValueError, match="not finite"):
        through_a_file(a_state(maybe=np.array([1.0, bad, 2.0])))


def test_arrays_must_be_as_long_as_there_are_weights():
    with pytest.raises(ValueError, match="an array of 4 for 3 weights"):
        through_a_file(a_state(maybe=np.zeros(4)))
    with pytest.raises(ValueError, match="an array of 3 for 4 weights"):
        through_a_file(a_state(), size=4)
    with pytest.raises(ValueError, match="weights"):
        through_a_file(a_state(theta=np.zeros((1, 3)), history=()))


def test_no_tensor_may_be_left_over():
    writer = Writer()
    written = writer.write(a_state())
    reader = Reader({**writer.tensors, "t9": np.zeros(3)}, 3)
    reader.state(written)
    with pytest.raises(ValueError, match="belong to nothing"):
        reader.check_all_used()


@pytest.mark.parametrize("written", [None, 1, "LBFGSState", [], {}, {"tensor": 0}, {"state": "LBFGSState"}])
def test_what_is_no_state_at_all(written):
    with pytest.raises((ValueError, TypeError)):
        Reader({"t0": np.zeros(3)}, 3).state(written)


def test_every_state_s_types_can_be_checked():
    """`get_type_hints` must find every name in them, also where modules postpone annotations."""
    import typing

    for kind in STATES.values():
        assert {one.name for one in fields(kind)} <= set(typing.get_type_hints(kind))
    assert "LBFGSState" in STATES
    assert STATES["LBFGSState"] is LBFGSState
