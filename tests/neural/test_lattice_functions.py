"""Lattices as functions of PyTorch: values, gradients and second derivatives, against PyTorch's own and differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch_reference import chain_log_z, cut, segment_log_z

from trellis.errors import DataError, NoLegalPathError
from trellis.lattice.segments import SegmentTypes
from trellis.neural import Chains, Segments, log_partition, marginals, path_losses, path_scores, segment_scores

lengths = st.lists(st.integers(0, 4), min_size=1, max_size=3)
seeds = st.integers(0, 2**32 - 1)


def offsets_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def chains(seed, sizes, labels=3, blocks=False):
    generator = torch.Generator().manual_seed(seed)
    tokens = sum(sizes)
    nodes = torch.randn(tokens, labels, dtype=torch.float64, generator=generator)
    shape = (tokens, labels, labels) if blocks else (labels, labels)
    arcs = torch.randn(*shape, dtype=torch.float64, generator=generator)
    return Chains(offsets_of(sizes)), nodes.requires_grad_(), arcs.requires_grad_()


def plain_log_z(nodes, arcs, offsets):
    blocks = cut(arcs, offsets) if arcs.ndim == 3 else [arcs] * (len(offsets) - 1)
    return torch.stack([chain_log_z(own, block) for own, block in zip(cut(nodes, offsets), blocks, strict=True)])


TYPES = SegmentTypes.of([3, 2, 1], [0, 2, 4], [1, 3, 5], 6)


def segments(seed, sizes):
    generator = torch.Generator().manual_seed(seed)
    tokens = sum(sizes)
    nodes = torch.randn(tokens, TYPES.cells, dtype=torch.float64, generator=generator)
    arcs = torch.randn(3, 3, dtype=torch.float64, generator=generator)
    return Segments(offsets_of(sizes), TYPES), nodes.requires_grad_(), arcs.requires_grad_()


def plain_segment_log_z(nodes, arcs, offsets):
    dense = nodes.new_full((len(nodes), 3, 3), -np.inf)
    size, kind = (torch.from_numpy(side) for side in TYPES.of_cells)
    dense[:, size - 1, kind] = nodes
    return torch.stack([segment_log_z(own, arcs) for own in cut(dense, offsets)])


KINDS = {
    "chains": (chains, plain_log_z),
    "blocks": (lambda seed, sizes: chains(seed, sizes, blocks=True), plain_log_z),
    "segments": (segments, plain_segment_log_z),
}
each_kind = pytest.mark.parametrize(("make", "plain"), KINDS.values(), ids=KINDS)


@each_kind
@settings(max_examples=25)
@given(seed=seeds, sizes=lengths)
def test_log_z_and_its_gradient_are_pytorchs_own(make, plain, seed, sizes):
    lattices, nodes, arcs = make(seed, sizes)
    weights = torch.linspace(0.5, 2.0, len(sizes), dtype=torch.float64)
    found, expected = log_partition(lattices, nodes, arcs), plain(nodes, arcs, lattices.offsets)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    if sum(sizes):
        own = torch.autograd.grad((weights * found).sum(), (nodes, arcs))
        theirs = torch.autograd.grad((weights * expected).sum(), (nodes, arcs), allow_unused=True)
        for mine, other in zip(own, theirs, strict=True):
            torch.testing.assert_close(mine, torch.zeros_like(mine) if other is None else other, rtol=1e-9, atol=1e-10)


@each_kind
def test_gradients_and_second_derivatives_are_differences(make, plain):
    lattices, nodes, arcs = make(1, [3, 0, 2, 1])
    assert gradcheck(lambda n, a: log_partition(lattices, n, a), (nodes, arcs))
    assert gradgradcheck(lambda n, a: log_partition(lattices, n, a), (nodes, arcs))
    assert gradcheck(lambda n, a: marginals(lattices, n, a), (nodes, arcs))


@each_kind
def test_a_loss_of_marginals_has_pytorchs_own_gradient(make, plain):
    lattices, nodes, arcs = make(2, [4, 2])
    found, _ = marginals(lattices, nodes, arcs)
    log_z = plain(nodes, arcs, lattices.offsets).sum()
    (expected,) = torch.autograd.grad(log_z, nodes, create_graph=True)
    torch.testing.assert_close(found, expected)
    generator = torch.Generator().manual_seed(3)
    h = torch.randn(nodes.shape, dtype=torch.float64, generator=generator)
    for mine, other in zip(
        torch.autograd.grad((h * found**2).sum(), (nodes, arcs)),
        torch.autograd.grad((h * expected**2).sum(), (nodes, arcs)),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-10)


PATHS = {"chains": [0, 2, 1, 1, 0], "blocks": [0, 2, 1, 1, 0], "segments": [0, 1, 4, 2, 3]}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_paths_are_linear_and_their_gradient_is_the_path(kind):
    lattices, nodes, arcs = KINDS[kind][0](4, [3, 2])
    path = np.array(PATHS[kind], np.int32)
    found = path_scores(lattices, nodes, arcs, path)
    own = torch.autograd.grad(found.sum(), (nodes, arcs), create_graph=True)
    together = (own[0] * nodes).sum() + (own[1] * arcs).sum()
    torch.testing.assert_close(together, found.sum())
    assert gradcheck(lambda n, a: path_scores(lattices, n, a, path), (nodes, arcs))
    assert gradgradcheck(lambda n, a: path_scores(lattices, n, a, path), (nodes, arcs))
    assert torch.all(found < log_partition(lattices, nodes, arcs))


def test_scores_of_tokens_add_up_over_segments():
    lattices, _, arcs = segments(5, [3, 1])
    rows = torch.arange(24, dtype=torch.float64).reshape(4, 6).requires_grad_()
    found = segment_scores(lattices, rows)
    sizes, kinds = TYPES.of_cells
    three = int(np.flatnonzero((sizes == 3) & (kinds == 0))[0])
    assert found[2, three] == rows[0, 0] + rows[1, 1] + rows[2, 1]
    assert found[1, three] == -np.inf
    small = (rows / 10).detach().requires_grad_()
    assert gradcheck(lambda r: log_partition(lattices, segment_scores(lattices, r), arcs), small)
    assert gradgradcheck(lambda r: log_partition(lattices, segment_scores(lattices, r), arcs), small)


@each_kind
def test_single_precision_in_single_precision_out(make, plain):
    lattices, nodes, arcs = make(6, [3, 2])
    found = log_partition(lattices, nodes.float(), arcs.float())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), log_partition(lattices, nodes, arcs), rtol=1e-5, atol=1e-5)


def test_what_is_forbidden_has_no_probability_and_no_gradient():
    lattices, nodes, arcs = chains(7, [4])
    with torch.no_grad():
        nodes[2, 1], arcs[0, 2] = -np.inf, -np.inf
    found, on_arcs = marginals(lattices, nodes, arcs)
    assert found[2, 1] == on_arcs[0, 2] == 0.0
    gradient = torch.autograd.grad((found**2).sum(), (nodes, arcs))
    assert gradient[0][2, 1] == gradient[1][0, 2] == 0.0
    assert all(torch.isfinite(one).all() for one in gradient)


def test_extreme_scores_have_finite_answers():
    lattices, nodes, arcs = chains(8, [5])
    found = log_partition(lattices, nodes * 1e4, arcs * 1e4)
    (gradient,) = torch.autograd.grad(found.sum(), nodes)
    assert torch.isfinite(found).all()
    assert torch.isfinite(gradient).all()


def test_what_is_wrong_is_said():
    lattices, nodes, arcs = chains(9, [2, 1])
    with pytest.raises(DataError, match="a score is NaN or"):
        log_partition(lattices, nodes * float("nan"), arcs)
    with pytest.raises(DataError, match=r"transitions of shape \(2, 3\)"):
        log_partition(lattices, nodes, arcs[:2])
    closed = torch.where(torch.arange(3)[:, None] == 2, -np.inf, nodes)
    with pytest.raises(NoLegalPathError, match="every label of token 1"):
        log_partition(lattices, closed, arcs)
    cells, scores, types = segments(9, [2])
    with pytest.raises(DataError, match=r"scores of segments have the shapes \(2, 5\)"):
        log_partition(cells, scores[:, :5], types)
    with pytest.raises(DataError, match="a score is NaN"):
        log_partition(cells, scores * float("nan"), types)
    with pytest.raises(NoLegalPathError, match="no legal path"):
        log_partition(cells, torch.full_like(scores, -np.inf), types)


def test_segments_that_would_begin_before_their_sentence_do_not_count():
    lattices, nodes, arcs = segments(10, [1, 2])
    with torch.no_grad():
        other = nodes.clone()
        other[0, TYPES.of_cells[0] > 1] = 5.0
    for mine, before in zip(marginals(lattices, other, arcs), marginals(lattices, nodes, arcs), strict=True):
        torch.testing.assert_close(mine, before)


@each_kind
def test_scores_that_change_before_the_second_derivative_are_noticed(make, plain):
    lattices, nodes, arcs = make(11, [3])
    moved = nodes.clone()
    (gradient,) = torch.autograd.grad(log_partition(lattices, moved, arcs).sum(), moved, create_graph=True)
    with torch.no_grad():
        moved += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (gradient**2).sum().backward()


class TestWhatDoesNotFit:
    """No number may reach a kernel unchecked."""

    TYPES = SegmentTypes.of([2, 1], [0, 2], [1, 3], 4)

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ([0, 1], "path has 2 tokens but offsets end at 5"),
            ([0, 1, 2, 3, 99], "path runs from 0 to 99, but there are 4 labels"),
            ([0, 1, 2, 2, 1 << 32], "but there are 4 labels"),
            ([0, 1, 2, 2, 2.5], "expected one dimension of integers"),
            ([1, 1, 1, 1, 1], "the path has a segment that there is not"),
        ],
    )
    def test_paths_of_segments(self, path, message):
        nodes, arcs = torch.zeros(5, self.TYPES.cells), torch.zeros(2, 2)
        with pytest.raises(DataError, match=message):
            path_scores(Segments([0, 3, 5], self.TYPES), nodes, arcs, np.array(path))

    @pytest.mark.parametrize("path", [[0, 1], [0, 1, 2, 3, 0], [0.0, 1.0, 2.0, 0.5, 1.0]])
    def test_paths_of_chains(self, path):
        with pytest.raises(DataError, match="path"):
            path_scores(Chains([0, 3, 5]), torch.zeros(5, 3), torch.zeros(3, 3), torch.tensor(path))

    @pytest.mark.parametrize("shape", [(3, 4), (5, 1)])
    def test_scores_of_labels(self, shape):
        with pytest.raises(DataError, match=r"scores of labels have the shape .*; expected \(5, 4\)"):
            segment_scores(Segments([0, 3, 5], self.TYPES), torch.zeros(shape))

    @pytest.mark.parametrize(
        ("offsets", "message"),
        [([0, 40, 5], "backwards"), ([1, 5], "start with 0"), ([0, 2.5], "integers"), ([], "start with 0")],
    )
    def test_offsets(self, offsets, message):
        for make in (Chains, lambda given: Segments(given, self.TYPES)):
            with pytest.raises(DataError, match=message):
                make(offsets)

    def test_offsets_may_be_a_tensor_or_a_list(self):
        nodes, arcs = torch.randn(5, 3), torch.randn(3, 3)
        found = [log_partition(Chains(given), nodes, arcs) for given in ([0, 3, 5], torch.tensor([0, 3, 5]))]
        torch.testing.assert_close(*found)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_losses_are_subtracted_in_double_precision(dtype):
    """log Z and S(y) are too large for half precision here, and their difference is not."""
    nodes, arcs = torch.full((2000, 3), 40.0, dtype=dtype, requires_grad=True), torch.zeros(3, 3, dtype=dtype)
    loss = path_losses(Chains([0, 2000]), nodes, arcs, np.zeros(2000, np.int32))
    assert loss.dtype == dtype
    assert float(loss.detach()) == pytest.approx(2000 * np.log(3.0), rel=0.01)
    loss.sum().backward()
    torch.testing.assert_close(nodes.grad[0].double(), torch.tensor([-2 / 3, 1 / 3, 1 / 3]).double(), rtol=1e-2, atol=0)
