"""What a label model believes of whole labellings, spelt as its labels are.

Most label models say how probable types are, where a run of a type is one segment. Spelt in IOB2 that is

    P(I-X at t) = P(X before and here)      P(B-X at t) = P(X here) - P(X before and here)

and, as the label at t depends on those before it only by the type at t - 1,

    P(a at t-1, b at t) = P(a at t-1) P(type of b here | type of a before)      where b may follow a, else 0.

The type before is X with b = I-X, and another with b = B-X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.labels.encoding import split
from trellis.weak.models.contract import LabelModel
from trellis.weak.space import Space, as_io
from trellis.weak.votes import Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def has_pairs(model: LabelModel) -> bool:
    """Whether it says more of neighbours than of each token by itself."""
    return not model.independent or model.own_space_.encoding != model.space_.encoding


def path_labels(model: LabelModel, votes: Votes) -> tuple[F64, F64]:
    """P(label) of each token, F64[tokens, labels], and how often one label is expected to follow another,
    F64[sentences, labels, labels]; both of `model.labels_`."""
    spelling, labels = _Spelling(model.space_, model.own_space_), len(model.labels_)
    rows, pairs = [np.zeros((0, labels))], np.zeros((len(votes), labels, labels))
    done = 0
    for nodes, arcs, offsets in model.walks(votes):
        found = spelling.nodes(nodes, _stays(arcs), offsets)
        some = np.flatnonzero(np.diff(offsets))  # sentences with tokens
        behind = np.where(first_tokens(offsets)[:, None, None], 0.0, spelling.arcs(nodes, arcs, found))
        pairs[done + some] = np.add.reduceat(behind, offsets[some]) if len(some) else 0.0
        rows.append(found)
        done += len(offsets) - 1
    return np.concatenate(rows), pairs


def label_rows(model: LabelModel, votes: Votes) -> F64:
    """The first of these alone."""
    if not has_pairs(model):
        return model.probabilities(votes)
    spelling = _Spelling(model.space_, model.own_space_)
    if model.independent:  # which needs no pairs of different types
        nodes = model.probabilities(votes)
        stays = np.zeros_like(nodes)
        stays[1:] = nodes[:-1] * nodes[1:]
        return spelling.nodes(nodes, stays, votes.offsets)
    found = (spelling.nodes(nodes, _stays(arcs), offsets) for nodes, arcs, offsets in model.walks(votes))
    return np.concatenate([np.zeros((0, len(model.labels_))), *found])


def _stays(arcs: F64) -> F64:
    """How probable each type is before and here, F64[tokens, types]; nothing of use at first tokens."""
    stays: F64 = np.einsum("tkk->tk", arcs)
    return stays


class _Spelling:
    """Of types -> of IOB2, where these are not the same; nodes: F64[tokens, types], arcs: F64[tokens, types, types],
    stays: their diagonals."""

    def __init__(self, space: Space, own: Space):
        self.same = own.encoding == space.encoding
        if not self.same:
            self.kind = np.array([own.index[as_io(label)] for label in space.labels])
            self.prefix = np.array([split(label)[0] for label in space.labels])

    def nodes(self, nodes: F64, stays: F64, offsets: I64) -> F64:
        if self.same:
            return nodes
        kind, prefix = self.kind, self.prefix
        inner = ~first_tokens(offsets)
        stays = np.where(inner[:, None], stays, 0.0)
        begins = np.maximum(nodes - stays, 0.0)
        return np.where(prefix == "O", nodes[:, kind], np.where(prefix == "B", begins[:, kind], stays[:, kind]))

    def arcs(self, nodes: F64, arcs: F64, found: F64) -> F64:
        """`found`: the nodes as they are spelt. Nothing of use at first tokens."""
        if self.same:
            return arcs
        before = np.concatenate([np.zeros((1, nodes.shape[1])), nodes[:-1]])
        given = np.divide(arcs, before[:, :, None], out=np.zeros_like(arcs), where=before[:, :, None] > 0.0)
        earlier = np.concatenate([np.zeros((1, found.shape[1])), found[:-1]])
        may = _may_follow(self.kind, self.prefix)
        spelt: F64 = given[:, self.kind[:, None], self.kind]
        spelt *= earlier[:, :, None]
        spelt *= may
        return spelt


def _may_follow(kind: I64, prefix: NDArray[np.str_]) -> BOOL:
    """BOOL[labels before, labels], as runs of a type are spelt."""
    same = kind[:, None] == kind
    return np.asarray((prefix == "O") | np.where(prefix == "I", same, ~same))
