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


def path_labels(model: LabelModel, votes: Votes) -> tuple[F64, F64]:
    """P(label) of each token, F64[tokens, labels], and how often one label is expected to follow another,
    F64[sentences, labels, labels]; both of `model.labels_`."""
    space, own = model.space_, model.own_space_
    labels = len(space.labels)
    rows, pairs = [np.zeros((0, labels))], np.zeros((len(votes), labels, labels))
    done = 0
    for nodes, arcs, offsets in model.walks(votes):
        if own.encoding != space.encoding:
            nodes, arcs = _spelt(nodes, arcs, offsets, space, own)
        inner = ~first_tokens(offsets)
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        np.add.at(pairs, done + sentence[inner], arcs[inner])
        rows.append(nodes)
        done += len(offsets) - 1
    return np.concatenate(rows), pairs


def _spelt(nodes: F64, arcs: F64, offsets: I64, space: Space, own: Space) -> tuple[F64, F64]:
    """Of types -> of IOB2: nodes F64[tokens, types], arcs F64[tokens, types, types]."""
    kind = np.array([own.index[as_io(label)] for label in space.labels])
    prefix = np.array([split(label)[0] for label in space.labels])
    inner = ~first_tokens(offsets)
    stays = np.where(inner[:, None], np.einsum("tkk->tk", arcs), 0.0)  # the same type before and here
    begins = np.maximum(nodes - stays, 0.0)
    found = np.where(prefix == "O", nodes[:, kind], np.where(prefix == "B", begins[:, kind], stays[:, kind]))
    before = np.concatenate([np.zeros((1, nodes.shape[1])), nodes[:-1]])
    given = np.divide(arcs, before[:, :, None], out=np.zeros_like(arcs), where=before[:, :, None] > 0.0)
    earlier = np.concatenate([np.zeros((1, found.shape[1])), found[:-1]])
    spelt = earlier[:, :, None] * given[:, kind][:, :, kind] * _may_follow(kind, prefix)
    spelt[~inner] = 0.0
    return found, spelt


def _may_follow(kind: I64, prefix: NDArray[np.str_]) -> BOOL:
    """BOOL[labels before, labels], as runs of a type are spelt."""
    same = kind[:, None] == kind
    return np.asarray((prefix == "O") | np.where(prefix == "I", same, ~same))
