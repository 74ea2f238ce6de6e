"""Optimisers are found by name, with hyperparameters that are checked."""

from __future__ import annotations

from typing import get_type_hints

import numpy as np
import pytest

from trellis.errors import SettingError
from trellis.optim import LBFGS, OPTIMIZERS, OWLQN, STATES, Auto, NewtonCG, NonlinearCG, find_optimizer


def test_names():
    assert find_optimizer("auto", 1e-3) == Auto(tol=1e-3)
    assert find_optimizer("lbfgs", 1e-3) == LBFGS(tol=1e-3)
    assert find_optimizer("owlqn", 1e-3) == OWLQN(tol=1e-3)
    assert find_optimizer("cg", 1e-3) == NonlinearCG(tol=1e-3)
    assert find_optimizer("newton-cg", 1e-3) == NewtonCG(tol=1e-3)
    for name, kind in OPTIMIZERS.items():
        assert find_optimizer(name, 1e-3) == kind(tol=1e-3)
    assert list(OPTIMIZERS)[:5] == ["auto", "lbfgs", "owlqn", "cg", "newton-cg"]


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(SettingError, match=f"'adam' is not known; there are: {', '.join(OPTIMIZERS)}"):
        find_optimizer("adam", 1e-3)


def test_options():
    assert find_optimizer("lbfgs", 1e-3, memory=50, diagonal=True) == LBFGS(50, 1e-3, diagonal=True)
    assert find_optimizer(
        "newton-cg", 1e-3, globalisation="line-search", gradient_tol=0.05, accuracy=np.float64(0.3)
    ) == (NewtonCG("line-search", tol=1e-3, gradient_tol=0.05, accuracy=0.3))
    assert find_optimizer("auto", 1e-3, memory=np.int64(5)) == Auto(1e-3, memory=5)
    assert find_optimizer("newton-cg", 1e-3, cache=4000).cache == 4000


def test_an_unknown_option_lists_those_there_are():
    message = r"optimizer 'cg' has no option 'memory'; it has: curvature=0.2, period=10, gradient_tol=None"
    with pytest.raises(SettingError, match=message):
        find_optimizer("cg", 1e-3, memory=5)


@pytest.mark.parametrize("option", ["name", "kind", "options"])
def test_an_unknown_option_may_have_any_name(option):
    with pytest.raises(SettingError, match=f"optimizer 'auto' has no option '{option}'; it has: epochs=8"):
        find_optimizer("auto", 1e-3, **{option: 3})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lbfgs", {"memory": 0}, "memory is 0; expected a whole number >= 1"),
        ("lbfgs", {"memory": 2.0}, "memory is 2.0; expected a whole number >= 1"),
        ("lbfgs", {"memory": True}, "memory is True; expected a whole number >= 1"),
        ("lbfgs", {"memory": "10"}, "memory is '10'; expected a whole number >= 1"),
        ("lbfgs", {"memory": None}, "memory is None; expected a whole number >= 1"),
        ("lbfgs", {"diagonal": 1}, "diagonal is 1; expected True or False"),
        ("lbfgs", {"power": 1.5}, "power is 1.5; expected a number > 0 and <= 1"),
        ("newton-cg", {"cache": "some"}, "cache is 'some'; expected a whole number >= 0, or 'all'"),
        ("owlqn", {"period": -1}, "period is -1; expected a whole number >= 1"),
        ("cg", {"curvature": 1.0}, "curvature is 1.0; expected a number > 0.0001 and < 1"),
        ("cg", {"curvature": float("nan")}, "curvature is nan; expected a number > 0.0001 and < 1"),
        ("newton-cg", {"gradient_tol": -0.1}, "gradient_tol is -0.1; expected a number >= 0, or None"),
        ("newton-cg", {"globalisation": "luck"}, "globalisation is 'luck'; expected 'trust-region' or 'line-search'"),
        ("newton-cg", {"globalisation": None}, "globalisation is None; expected 'trust-region' or 'line-search'"),
        ("newton-cg", {"accuracy": float("inf")}, "accuracy is inf; expected a number > 0 and < 1"),
        ("lbfgs", {"memory": 10**400}, "memory is a whole number of over 300 digits; expected a whole number >= 1"),
        ("lbfgs", {"first_step": 10**5000}, "first_step is a whole number of over 300 digits; expected a number > 0"),
        ("lbfgs", {"tol": 1e-2}, "'tol' is a setting of its own, not among the options of an optimizer"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(name, options, message):
    with pytest.raises(SettingError) as caught:
        find_optimizer(name, 1e-3, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("tol", [0.0, 1.0, -1e-3, float("nan"), "1e-3", None])
def test_a_tolerance_that_does_not_fit_is_refused(tol):
    with pytest.raises(SettingError, match=r"tol is .*; expected a number > 0 and < 1"):
        find_optimizer("lbfgs", tol)


def test_states_are_known_by_the_names_of_their_classes():
    assert all(kind.__name__ == name for name, kind in STATES.items())
    others = {"DualPerceptronState", "Progression", "Events", "EMState", "AdamState"}  # of no optimiser of a CRF
    theirs = {kind for name, kind in STATES.items() if name not in others}
    assert {get_type_hints(kind.start)["return"] for kind in OPTIMIZERS.values()} == theirs
