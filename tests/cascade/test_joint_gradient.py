"""The gradient of a cascade's objective equals finite differences, whatever its stages are and read."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cascade.joint_problems import make_joint, numerical

LOWER = {"labels": 3}
CASES = {
    "labels of a chain": [LOWER, {"labels": 2, "features": "s0[0]"}],
    "labels beside": [LOWER, {"labels": 2, "features": "s0[-2:2]"}],
    "pairs of labels": [LOWER, {"labels": 2, "features": "s0[0] + (s0[-1] & s0[0])"}],
    "triples of labels": [LOWER, {"labels": 2, "features": "(s0[-1] & s0[0] & s0[1])"}],
    "labels that are no neighbours": [LOWER, {"labels": 2, "features": "(s0[-1] & s0[1])"}],
    "pairs on transitions": [LOWER, {"labels": 2, "features": "s0[0] + transitions(s0[-1] & s0[0])"}],
    "some pairs on transitions": [
        LOWER,
        {"labels": 3, "features": "s0[0] + transitions(s0[-1] & s0[0])", "pairs": "some"},
    ],
    "labels on transitions": [LOWER, {"labels": 3, "features": "s0[0] + transitions(s0[0])"}],
    "with the input": [LOWER, {"labels": 2, "features": "(x[0] & s0[0]) + (x[-1] & s0[-1] & s0[0])"}],
    "functions of arcs": [
        LOWER,
        {"labels": 2, "features": 'U:%apply_pair[0,s0,"f"]\nU:%apply_pair[1,s0,"f"]/%x[2,s0]\nB:%apply_pair[0,s0,"f"]'},
    ],
    "one label twice": [LOWER, {"labels": 2, "features": "(s0[0] & prefix(s0, 1)[0]) + (s0[0] & s0[1] & s0[1])"}],
    "three in a row": [
        LOWER,
        {"labels": 2, "features": "s0[0] + transitions(s0[-1] & s0[0])"},
        {"labels": 2, "features": "s1[0] + (s1[-1] & s1[0]) + transitions(s1[-1] & s1[0])"},
    ],
    "one of two": [LOWER, {"labels": 2}, {"labels": 3, "features": "s0[0] + s1[0] + (s0[0] & s1[0])"}],
    "two of one": [LOWER, {"labels": 2, "features": "s0[-1:1]"}, {"labels": 2, "features": "s0[0] + (s0[0] & s0[1])"}],
    "all of all": [
        LOWER,
        {"labels": 2, "features": "s0[0] + transitions(s0[-1] & s0[0])"},
        {"labels": 2, "features": "s0[0] + (s0[0] & s1[0]) + transitions(s1[-1] & s1[0])"},
    ],
    "segments below": [{"labels": 5, "kind": "segments"}, {"labels": 2, "features": "s0[-1:1] + (s0[-1] & s0[0])"}],
    "segments above": [LOWER, {"labels": 5, "kind": "segments", "features": "s0[-1:1] + (s0[-1] & s0[0])"}],
    "segments between": [
        LOWER,
        {"labels": 3, "kind": "segments", "features": "s0[0] + (s0[-1] & s0[0])"},
        {"labels": 2, "features": "s1[0] + s0[1]"},
    ],
    "no transitions below": [{"labels": 3, "kind": "order0"}, {"labels": 2, "features": "s0[0] + (s0[-1] & s0[0])"}],
    "second order below": [{"labels": 3, "kind": "order2"}, {"labels": 2, "features": "s0[0] + (s0[-1] & s0[0])"}],
    "second order above": [LOWER, {"labels": 2, "kind": "order2", "features": "s0[0] + (s0[-1] & s0[0])"}],
    "known in part": [{"labels": 3, "known": 0.5}, {"labels": 2, "known": 0.5, "features": "s0[0]"}],
    "sentences that count differently": [
        {"labels": 3, "weights": [0.0, 1.0, 2.0, 0.5]},
        {"labels": 2, "weights": [3.0, 1.0, 0.0, 1.0], "features": "s0[0] + transitions(s0[-1] & s0[0])"},
    ],
    **{
        f"the loss {loss}": [
            {"labels": 3, "loss": loss},
            {"labels": 2, "loss": loss, "features": "s0[0] + transitions(s0[-1] & s0[0])"},
            {"labels": 2, "loss": loss, "features": "s1[0] + (s1[-1] & s1[0])"},
        ]
        for loss in ("exp", "pointwise-log", "pointwise-exp", "softmax-margin")
    },
}


def copied(stages):
    return [dict(stage) for stage in stages]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_equals_finite_differences(name, seed):
    shard, size, theta = make_joint(seed, copied(CASES[name]))
    value, local = shard.value_and_gradient(theta)
    gradient = np.zeros(size)
    shard.add_to(gradient, local)
    assert value == pytest.approx(shard.value(theta), rel=1e-12)
    index = np.random.default_rng(seed).choice(size, min(size, 60), replace=False)
    expected = numerical(shard.value, theta, index)
    np.testing.assert_allclose(gradient[index], expected, atol=2e-7 * max(1.0, abs(value)), rtol=1e-5)
    assert np.abs(gradient).max() > 1e-3


def not_exact(name):
    """Losses whose curvature is Gauss and Newton's."""
    return "pointwise" in name


@pytest.mark.parametrize("name", [name for name in CASES if not not_exact(name)])
@pytest.mark.parametrize("seed", range(2))
def test_hessian_vector_products_equal_finite_differences(name, seed):
    shard, size, theta = make_joint(seed, copied(CASES[name]))
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=size)
    product = np.zeros(size)
    shard.add_to(product, shard.hessian_vector(theta, direction))

    def gradient(at):
        out = np.zeros(size)
        shard.add_to(out, shard.value_and_gradient(at)[1])
        return out

    step = 1e-5
    expected = (gradient(theta + step * direction) - gradient(theta - step * direction)) / (2 * step)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(product, expected, atol=3e-6 * scale)
    again = np.zeros(size)
    shard.add_to(again, shard.hessian_vector(theta, direction))
    np.testing.assert_array_equal(again, product)
    value = gradient(theta)
    shard.hessian_vector(theta, direction)
    np.testing.assert_array_equal(gradient(theta), value)
