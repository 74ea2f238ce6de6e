"""Lattices as functions of PyTorch: log Z with marginals as its gradient, and covariances as the gradient of those.

    d log Z_s / d score_e = P_s(e)                       the marginals
    d (sum_s w_s E_s[H]) / d score_e = w_s Cov_s[H, 1_e]   the covariance pass (MATH section 4), so that losses of
                                                         marginals, and the Hessian of log Z, cost one pass more

Scores may be of any device and of single precision; lattices are solved here, in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from trellis.errors import DataError
from trellis.neural.lattices import Lattices, Segments, Solved

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


def log_partition(lattices: Lattices, nodes: Tensor, arcs: Tensor) -> Tensor:
    """log Z of each sentence, [sentences]; can be differentiated twice."""
    out: Tensor = _applied(_LogPartition, lattices, nodes, arcs)
    return out


def marginals(lattices: Lattices, nodes: Tensor, arcs: Tensor) -> tuple[Tensor, Tensor]:
    """P of nodes, and of arcs as far as sentences share them added up; can be differentiated once."""
    own, shared = array_of(nodes), array_of(arcs)
    lattices.check(own, shared)
    solved = lattices.solve(own, shared)
    weights = torch.ones(len(solved.log_z), dtype=nodes.dtype, device=nodes.device)
    found: tuple[Tensor, Tensor] = _applied(_Expected, solved, nodes, arcs, weights)
    return found


def path_scores(lattices: Lattices, nodes: Tensor, arcs: Tensor, path: I32 | Tensor) -> Tensor:
    """S(y) of one path a sentence, [sentences]; the path: a label for each token, whole numbers."""
    own = array_of(nodes)
    lattices.check(own, array_of(arcs))
    if isinstance(path, Tensor) and (path.is_floating_point() or path.is_complex()):
        raise DataError(f"the path is of the type {path.dtype}; expected whole numbers")
    checked = lattices.check_path(own, path.detach().cpu().numpy() if isinstance(path, Tensor) else path)
    out: Tensor = _applied(_PathSums, lattices, checked, nodes, arcs)
    return out


def path_losses(lattices: Lattices, nodes: Tensor, arcs: Tensor, path: I32 | Tensor) -> Tensor:
    """log Z - S(y), [sentences]: minus the log of P(y), subtracted in double precision whatever the scores are of."""
    own, shared = (_scores(one).to("cpu", torch.float64) for one in (nodes, arcs))
    found = log_partition(lattices, own, shared) - path_scores(lattices, own, shared, path)
    return found.to(nodes.device, nodes.dtype)


def segment_scores(lattices: Segments, rows: Tensor) -> Tensor:
    """Scores of the labels of tokens, [tokens, labels], added up over segments, [tokens, cells]."""
    if not isinstance(lattices, Segments):
        raise DataError(f"segment_scores are of Segments, not of {type(lattices).__name__}")
    out: Tensor = _applied(_OnSegments, lattices, rows)
    return out


class _LogPartition(Function):
    @staticmethod
    def forward(ctx: Any, lattices: Lattices, nodes: Tensor, arcs: Tensor) -> Tensor:
        own, shared = array_of(nodes), array_of(arcs)
        lattices.check(own, shared)
        ctx.solved = lattices.solve(own, shared)
        ctx.save_for_backward(nodes, arcs)
        return _tensor(ctx.solved.log_z, nodes)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, Tensor, Tensor]:
        nodes, arcs = ctx.saved_tensors
        return None, *_applied(_Expected, ctx.solved, nodes, arcs, given[0])


class _Expected(Function):
    """sum_s w_s P_s(e), as a function of scores and weights."""

    @staticmethod
    def forward(ctx: Any, solved: Solved, nodes: Tensor, arcs: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        ctx.solved, ctx.weights = solved, array_of(weights)
        ctx.save_for_backward(nodes, arcs)  # so that PyTorch notices if they are changed before they are asked again
        found = solved.expected(ctx.weights)
        return _tensor(found[0], nodes), _tensor(found[1], arcs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: Tensor) -> tuple[None, Tensor, Tensor, Tensor]:
        _ = ctx.saved_tensors
        on_nodes, on_arcs, expectation = ctx.solved.covariance(array_of(given[0]), array_of(given[1]), ctx.weights)
        return None, _tensor(on_nodes, given[0]), _tensor(on_arcs, given[1]), _tensor(expectation, given[0])


class _PathSums(Function):
    """Linear in the scores; its transpose is `_OnPath`."""

    @staticmethod
    def forward(ctx: Any, lattices: Lattices, path: I32, nodes: Tensor, arcs: Tensor) -> Tensor:
        ctx.of, ctx.shapes = (lattices, path), (tuple(nodes.shape), tuple(arcs.shape))
        return _tensor(lattices.path_sums(array_of(nodes), array_of(arcs), path), nodes)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, None, Tensor, Tensor]:
        return None, None, *_applied(_OnPath, *ctx.of, ctx.shapes, given[0])


class _OnPath(Function):
    @staticmethod
    def forward(ctx: Any, lattices: Lattices, path: I32, shapes: Any, weights: Tensor) -> tuple[Tensor, Tensor]:
        ctx.of = lattices, path
        on_nodes, on_arcs = lattices.on_path(path, array_of(weights), *shapes)
        return _tensor(on_nodes, weights), _tensor(on_arcs, weights)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, None, None, Tensor]:
        return None, None, None, _applied(_PathSums, *ctx.of, *given)


class _OnSegments(Function):
    """Linear; its transpose is `_OnLabels`."""

    @staticmethod
    def forward(ctx: Any, lattices: Segments, rows: Tensor) -> Tensor:
        ctx.lattices = lattices
        return _tensor(lattices.on_segments(array_of(rows)), rows)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, Tensor]:
        return None, _applied(_OnLabels, ctx.lattices, given[0])


class _OnLabels(Function):
    @staticmethod
    def forward(ctx: Any, lattices: Segments, cells: Tensor) -> Tensor:
        ctx.lattices = lattices
        return _tensor(lattices.on_labels(array_of(cells)), cells)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[None, Tensor]:
        found = segment_scores(ctx.lattices, given[0])
        return None, torch.where(torch.isfinite(found), found, 0.0)  # where no segment can be, none was added


def _applied(function: Any, *arguments: Any) -> Any:
    return function.apply(*arguments)


def array_of(tensor: Tensor) -> F64:
    """Scores in double precision, here."""
    array: F64 = np.ascontiguousarray(_scores(tensor).detach().cpu().to(torch.float64).numpy())
    return array


def _scores(tensor: Tensor) -> Tensor:
    """DataError for what are none."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise DataError(f"scores are of the type {kind}; expected a tensor of PyTorch with floats")
    return tensor


def _tensor(array: F64, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to(like.device, like.dtype)
