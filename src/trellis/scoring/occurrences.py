"""What tokens have, as the loops of the scoring room read it, and as those read it that go token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.segments import gathered

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

RUN = 64  # tokens whose single weights are one list: a list for each token ends too soon for the processor to foresee
_FEW = 256  # labels whose numbers fit into a byte


@dataclass(frozen=True)
class ByToken:
    """Token t has rows `row[dense[t]:dense[t + 1]]` and single weights `pair[sparse[t]:sparse[t + 1]]` with their
    labels, U8 if these fit; values are empty when all are 1."""

    dense: I32
    row: NDArray[Any]
    row_value: F64
    sparse: I32
    pair: I32
    label: NDArray[Any]
    pair_value: F64


@dataclass(frozen=True)
class Occurrences:
    """Token t has rows `row[dense[t]:dense[t + 1]]`, U16 if these fit; tokens RUN c to RUN (c + 1) together have single
    weights `pair[run[c]:run[c + 1]]`, each with the cell of these tokens' scores that it is added to, (t mod RUN) width
    + label, U16 if these fit. Values are empty when all are 1. What tokens have in common may be in `groups`, the same
    once more: rows from `first_group` on are sums of what the groups have."""

    width: int
    dense: I32
    row: NDArray[Any]
    row_value: F64
    run: I32
    pair: I32
    cell: NDArray[Any]
    pair_value: F64
    first_group: int = 0
    groups: Occurrences | None = None

    @property
    def tokens(self) -> int:
        return len(self.dense) - 1

    @property
    def arrays(self) -> tuple[I32, NDArray[Any], F64, I32, I32, NDArray[Any], F64]:
        return self.dense, self.row, self.row_value, self.run, self.pair, self.cell, self.pair_value

    def by_token(self) -> ByToken:
        """Every token with all that it has."""
        owner, label = self._singles()
        if self.groups is None:
            return ByToken(
                self.dense, self.row, self.row_value, _ends(owner, self.tokens), self.pair, label, self.pair_value
            )
        first, groups = self.first_group, self.groups
        in_groups = groups.by_token()
        of_groups = self.row >= first
        # of each row: itself, or what its group has
        start = np.concatenate([np.arange(first), first + groups.dense.astype(np.int64)])
        items = np.concatenate([np.arange(first, dtype=np.int32), groups.row])
        row_start, rows = gathered(start, self.row.astype(np.int64))
        token = np.repeat(np.arange(self.tokens), np.diff(self.dense))[of_groups]
        number = self.row[of_groups].astype(np.int64) - first
        pair_start, pairs = gathered(in_groups.sparse.astype(np.int64), number)
        owner = np.concatenate([owner, np.repeat(token, np.diff(pair_start))])
        order = np.argsort(owner, kind="stable")
        return ByToken(
            row_start[self.dense].astype(np.int32),
            items[rows].astype(self.row.dtype),
            self.row_value,
            _ends(owner, self.tokens),
            np.concatenate([self.pair, groups.pair[pairs]])[order],
            np.concatenate([label, in_groups.label[pairs]])[order],
            self.pair_value,
        )

    def _singles(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The token and the label of each single weight."""
        token, label = np.divmod(self.cell, self.cell.dtype.type(self.width))
        run = np.repeat(np.arange(len(self.run) - 1), np.diff(self.run))
        return run * RUN + token, label.astype(np.uint8 if self.width <= _FEW else np.uint16)


def _ends(owner: NDArray[np.int64], tokens: int) -> I32:
    """Where those of each token begin, in a list of all."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=tokens))]).astype(np.int32)
