"""What the kernels of an evaluation have to do at the least: arithmetic and bytes, counted on the data at hand, and the
time that takes on a machine with measured limits.

Arithmetic is counted in numbers: a multiply-add, a multiplication, an addition, a maximum, a comparison with what is
chosen by it, each is one for each number of a register. A division counts as one, too, though it takes longer; what
moves numbers within a register counts nothing. The time of arithmetic is its amount over the measured rate of
multiply-adds, as if all of it could go at that rate.

The time of memory is the sum over all that is read or written of bytes over a measured bandwidth. The bound is the
larger of both times. There are three ways to count:

`strict`: only what any way of doing it would need. Of forward-backward the multiply-adds of the three matrix products,
for the labels there are; scores are read and probabilities written once. Of scoring one addition for each number of a
row and one for each single weight. All bytes at the highest bandwidth of all sizes: as if all lay in the nearest cache.

`uniform`: everything that the algorithm does, for labels rounded up to whole registers. Rows are gathered at the
bandwidth of random rows in a table of that size, as if all of them were asked for alike often. Of single weights whole
cache lines are counted, and what is written only is read first. A number that stands alone takes the place of a whole
register.

`by use`: the same, but words have Zipf's law and so have rows. Those that are asked for most often stay in the nearest
cache: each row is gathered at the bandwidth of a table of the rows that are asked for at least as often.

For forward-backward the last two are the same. A machine that adds beside its multiply-adds may do better than these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.lanes import LANES
from trellis.lattice.kernels.scaled import GROUP
from trellis.objective.plain import PlainShard
from trellis.scoring.occurrences import Occurrences
from trellis.studies.roofline_limits import CHANGE, CHANGE_ROWS, READ, READ_ROWS, Limits

F64 = NDArray[np.float64]

STRICT, BY_USE, UNIFORM = "strict", "by use", "uniform"
WAYS = (STRICT, BY_USE, UNIFORM)
FORWARD_BACKWARD, SCORES, GRADIENT, ROWS = "forward-backward", "scores", "gradient", "rows"
KERNELS = (FORWARD_BACKWARD, SCORES, GRADIENT, ROWS)

# for each number of a position, in `kernels.in_step`
_EXP = 21  # lanes.exp: 1 for the bound below, 4 for n and f, 12 for the polynomial, 2 for 2^n, 1 for both, 1 for zeros
_ENTER = 4 + 1 + _EXP  # largest, smallest (turned round and chosen), less the largest, and its exponential
_FORWARD = 3  # times psi, times c, and their sum
_LEAVE = 4  # P, and r: two multiplications and what is chosen
_JOINS = 3  # sums or maxima over all of a register for each token, log2(LANES) registers each
_ALONE = 2  # for each token: 1 / sum, and the product of all c
# a group is swept over four times; rows that are read: psi, alpha and psi, alpha and psi; written: psi, alpha, psi
_GROUP_READ, _GROUP_WRITTEN = 5, 3

_NUMBER, _LABEL, _LINE = 8, 2, 64  # bytes


@dataclass(frozen=True)
class Move:
    """So many bytes in memory of a size, read, or changed: these are read and written. `random`: row by row in no
    order; then `each` may say the same for every row, F64[rows] bytes and F64[rows] sizes."""

    bytes: float
    size: float
    random: bool = False
    changed: bool = False
    each: tuple[F64, F64] | None = None

    @property
    def moved(self) -> float:
        return 2.0 * self.bytes if self.changed else self.bytes

    def seconds(self, way: str, limits: Limits, threads: int) -> float:
        kind = (CHANGE_ROWS if self.random else CHANGE) if self.changed else READ_ROWS if self.random else READ
        if way == BY_USE and self.each is not None:
            parts, sizes = self.each
            there_and_back = 2.0 if self.changed else 1.0
            return there_and_back * float((parts / limits.bandwidth(kind, sizes, threads)).sum())
        return self.moved / float(limits.bandwidth(kind, np.array(self.size), threads))


@dataclass(frozen=True)
class Load:
    """What a kernel has to do on all of the data. `least`, `least_bytes`: as counted by STRICT."""

    least: float
    least_bytes: float
    amount: float
    moves: tuple[Move, ...]

    def __add__(self, other: Load) -> Load:
        return Load(
            self.least + other.least,
            self.least_bytes + other.least_bytes,
            self.amount + other.amount,
            self.moves + other.moves,
        )

    @property
    def bytes(self) -> float:
        return sum(move.moved for move in self.moves)

    def seconds(self, way: str, limits: Limits, threads: int) -> tuple[float, float]:
        """Of arithmetic and of memory, each as if there were nothing but it."""
        if way == STRICT:
            return self.least / limits.rate(threads), self.least_bytes / limits.highest(threads)
        memory = sum(move.seconds(way, limits, threads) for move in self.moves)
        return self.amount / limits.rate(threads), memory


def loads_of(shard: PlainShard, shards: int) -> dict[str, Load]:
    """Of each kernel on one shard, where so many take turns: what is read once in a turn has left the caches."""
    scoring, at = shard.scoring, shard.at
    width, table = scoring.width, _NUMBER * scoring.width * scoring.rows_with(at)
    tokens = int(shard.offsets[-1])
    block = _NUMBER * width * tokens / max(1, len(shard.blocks))
    weights = _NUMBER * len(shard.index)
    tables = _tables(shard, shards)
    if at.groups is not None:
        sums = _NUMBER * width * at.groups.tokens
        for back in (False, True):
            tables += _sums(at.groups, width, table, sums, weights, shards, back)
    return {
        FORWARD_BACKWARD: _chains(np.diff(shard.offsets), scoring.layout.labels, width, block),
        SCORES: _sums(at, width, table, block, weights, shards),
        GRADIENT: _sums(at, width, table, block, weights, shards, back=True),
        ROWS: tables,
    }


def _chains(lengths: NDArray[np.int64], labels: int, width: int, block: float) -> Load:
    """Forward-backward on sentences of these lengths."""
    tokens, steps = int(lengths.sum()), int(np.maximum(lengths - 1, 0).sum())
    each = (_ENTER + _FORWARD + _LEAVE) * width + (_JOINS * int(math.log2(LANES)) + _ALONE) * LANES
    rows = float(_NUMBER * width * tokens)
    group = 2.0 * _NUMBER * width * GROUP * tokens / max(1, len(lengths))  # psi and alpha
    swept = Move(_GROUP_READ * rows, group), Move(_GROUP_WRITTEN * rows, group, changed=True)
    return Load(
        3.0 * steps * labels * width,
        2.0 * rows,
        3.0 * steps * width * width + tokens * each,
        (Move(rows, block), Move(rows, block, changed=True), *swept),
    )


def _sums(
    at: Occurrences, width: int, table: float, out: float, weights: float, shards: int, back: bool = False
) -> Load:
    """Scores of tokens, or sums of groups, and the way back. `table`, `out`, `weights`: bytes of all rows, of what they
    are added to in one go, and of single weights."""
    tokens, rows, singles = at.tokens, len(at.row), len(at.pair)
    row = float(_NUMBER * width)
    told = float(at.dense.nbytes + at.row.nbytes + at.run.nbytes + at.pair.nbytes + at.cell.nbytes)
    lines = float(_LINE * np.count_nonzero(np.diff(at.pair // (_LINE // _NUMBER), prepend=-1)))
    return Load(
        float(rows * width + singles),
        told + row * tokens + (2.0 if back else 1.0) * (row * rows + _NUMBER * singles),
        float(rows * width + singles * LANES),
        (
            Move(told, told * shards),
            Move(row * tokens, out, changed=not back),
            Move(row * rows, table, random=True, changed=back, each=_by_use(at.row, row)),
            Move(lines, weights, random=True, changed=back),
        ),
    )


def _by_use(row: NDArray[np.int32], size: float) -> tuple[F64, F64]:
    """Bytes asked for of every row, the most often first, and the size of all rows so far."""
    counts = np.sort(np.bincount(row))[::-1]
    counts = counts[counts > 0]
    return np.multiply(size, counts), np.multiply(size, np.arange(1.0, len(counts) + 1))


def _tables(shard: PlainShard, shards: int) -> Load:
    """Weights taken out of theta and put into rows; rows of the gradient emptied, filled by others, and put back into
    the order of weights. There is no arithmetic in it but that of groups."""
    scoring = shard.scoring
    weights, spread = float(_NUMBER * len(shard.index)), _NUMBER * float(scoring.sizes_of_rows.sum())
    rows = float(_NUMBER * scoring.width * scoring.rows)
    more = float(_NUMBER * scoring.width * scoring.rows_with(shard.at)) - rows
    index = shard.index // (_LINE // _NUMBER)
    lines = float(_LINE * np.count_nonzero(np.diff(index, prepend=-1)))
    theta = float(_NUMBER * (int(shard.index.max(initial=0)) + 1))
    told = float(shard.index.nbytes) + 2 * _LABEL * spread / _NUMBER  # which weights, and twice the labels in rows
    return Load(
        0.0,
        told + 3 * weights + 2 * spread + 3 * rows + more,
        0.0,
        (
            Move(told, told * shards),
            Move(lines, theta, random=True),
            Move(weights, weights, changed=True),  # taken
            Move(spread, weights),
            Move(rows, rows, changed=True),  # spread
            Move(rows + more, rows + more, changed=True),  # emptied
            Move(weights, weights, changed=True),
            Move(rows, rows + more),  # gathered
            Move(spread, weights, changed=True),
        ),
    )
