"""Templates that read lower stages in plain NumPy: see `expand_kernels`, which does the same with a compiler.

For small inputs, and for the choices that the annotation makes, of which attributes are numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.plan import Lower, Plan
from trellis.labels import first_tokens

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

NODE, ARC, EDGE, PAIR, SAME = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Choices:
    """Choices of lower labels for one template: at which token, their code, weight and probability; `label`, `before`,
    `mode`: of the last part; `times`, `over: I64[n, parts so far]`."""

    token: I64
    code: I64
    weight: F64
    p: F64
    label: I64
    before: I64
    mode: I64
    times: I64
    over: I64

    def taken(self, which: Any) -> Choices:
        return Choices(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def expand_plainly(
    lower: Lower, plan: Plan, context: I32, offsets: I64, least: float, inner: bool
) -> dict[str, NDArray[Any]]:
    """The lists of `Monomials`."""
    parts = int(np.diff(plan.first).max(initial=1))
    columns: list[list[NDArray[Any]]] = [[] for _ in range(6)]
    for n in range(len(plan.first) - 1):
        found = choices(lower, plan, n, context, offsets, least, inner)
        a, b = int(plan.group_start[plan.group[n]]), int(plan.group_start[plan.group[n] + 1])
        at = np.searchsorted(plan.codes[a:b], found.code)
        known = plan.codes[a:b].take(at, mode="clip") == found.code if b > a else np.zeros(len(at), bool)
        found, at = found.taken(known), at[known]
        missing = np.full((len(at), parts - found.times.shape[1]), -1, np.int64)
        for column, values in zip(
            columns,
            (
                found.token, a + at, found.weight, found.p,
                np.concatenate([found.times, missing], axis=1), np.concatenate([found.over, missing], axis=1),
            ),
            strict=True,
        ):  # fmt: skip
            column.append(values)
    token, ids, weight, p, times, over = map(np.concatenate, columns)
    order = np.argsort(token, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(token, minlength=int(offsets[-1])))]).astype(np.int64)
    return {
        "start": start, "ids": ids[order].astype(np.int32), "weight": weight[order], "p": p[order],
        "times": times[order].astype(np.int32), "over": over[order].astype(np.int32),
    }  # fmt: skip


def choices(lower: Lower, plan: Plan, n: int, context: I32, offsets: I64, least: float, inner: bool) -> Choices:
    """All that template n finds, whether it has an attribute or not."""
    token = np.flatnonzero(~first_tokens(offsets)) if inner else np.arange(int(offsets[-1]))
    code = np.zeros(len(token), np.int64)
    if plan.context[n] >= 0:
        seen = context[token, plan.context[n]].astype(np.int64)
        token, code = token[seen >= 0], plan.context_radix[n] * seen[seen >= 0]
    none, ones = np.zeros((len(token), 0), np.int64), np.ones(len(token))
    unset = np.full(len(token), -1)
    so_far = Choices(token, code, ones, ones, unset, unset, np.full(len(token), EDGE), none, none)
    for x in range(int(plan.first[n]), int(plan.first[n + 1])):
        so_far = _joined(so_far, lower, plan, x, x > plan.first[n], offsets, least)
    return so_far


def _joined(so_far: Choices, lower: Lower, plan: Plan, x: int, has_before: bool, offsets: I64, least: float) -> Choices:
    """Part x joins."""
    stage, row = int(plan.stage[x]), int(plan.row[x])
    place = so_far.token + row
    sentence = np.searchsorted(offsets, so_far.token, side="right") - 1
    a, b = offsets[sentence], offsets[sentence + 1]
    with_last = has_before and plan.stage[x - 1] == stage
    behind = with_last and plan.row[x - 1] == row - 1 and bool(lower.chained[stage])
    of_pairs = bool(plan.pair[x])
    mode = np.where((behind or of_pairs) & (place > a), ARC if behind else PAIR, NODE)
    if with_last and plan.row[x - 1] == row:
        mode[:] = SAME
    mode = np.where((place < a) | (place >= b), EDGE, mode)
    inside = np.clip(place, 0, max(0, int(offsets[-1]) - 1))
    on_arcs = (mode == ARC) | (mode == PAIR)
    low = np.where(on_arcs, lower.arc_start[stage, inside], lower.node_start[stage, inside])
    high = np.where(on_arcs, lower.arc_start[stage, inside + 1], lower.node_start[stage, inside + 1])
    count = np.where(mode == SAME, 1, np.where(mode == EDGE, 0 if of_pairs else 1, high - low))
    which = np.repeat(np.arange(len(place)), count)
    entry = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(len(which))
    grown, mode, place, a, b = so_far.taken(which), mode[which], place[which], a[which], b[which]
    label, p, divisor = np.empty(len(which), np.int64), np.ones(len(which)), np.full(len(which), -1)
    edge, node, arc, pair, same = (mode == kind for kind in (EDGE, NODE, ARC, PAIR, SAME))
    before = np.full(len(which), -1)
    label[edge] = lower.labels[stage] + np.where(place < a, a - place - 1, plan.reach + place - b)[edge]
    label[node], p[node] = lower.label[entry[node]], lower.node_p[entry[node]]
    either = arc | pair
    label[either], p[either] = lower.here[entry[either]], lower.arc_p[entry[either]]
    before[either] = lower.before[entry[either]]
    label[same], before[same] = grown.label[same], grown.before[same]
    keep = ~arc
    keep[arc] = lower.before[entry[arc]] == grown.label[arc]
    divisor[keep & arc] = _nodes_of(lower, stage, place[keep & arc] - 1, grown.label[keep & arc])
    keep &= ~arc | (divisor >= 0)
    chance = grown.p * p
    chance[keep & arc] /= lower.node_p[divisor[keep & arc]]
    times = np.where(node, entry, np.where(either, len(lower.node_p) + entry, -1))
    earlier = grown.times.copy()
    if earlier.shape[1]:
        earlier[arc & (grown.mode == NODE), -1] = -1  # P(i) P(i, j) / P(i)
    over = np.where(arc & (grown.mode != NODE), divisor, -1)
    joined = Choices(
        grown.token, grown.code, grown.weight, chance, label, before, mode,
        np.concatenate([earlier, times[:, None]], axis=1), np.concatenate([grown.over, over[:, None]], axis=1),
    )  # fmt: skip
    first = place <= a
    kept = keep & (chance > least)
    return _digits(joined.taken(kept), plan, x, int(lower.labels[stage]), first[kept])


def _nodes_of(lower: Lower, stage: int, place: I64, label: I64) -> I64:
    """The listed nodes of labels."""
    start = lower.node_start[stage]
    count = start[place + 1] - start[place]
    which = np.repeat(np.arange(len(place)), count)
    entry = np.repeat(start[place] - (np.cumsum(count) - count), count) + np.arange(len(which))
    right = lower.label[entry] == label[which]
    out = np.full(len(place), -1)
    out[which[right]] = entry[right]
    return out


def _digits(found: Choices, plan: Plan, x: int, labels: int, first: NDArray[np.bool_]) -> Choices:
    """Labels become digits, maybe several each, or none. `first`: at the first token of a sentence."""
    row = plan.table[x] + found.label
    if plan.pair[x]:
        row = row + np.where(first, labels, found.before) * labels
    count = plan.table_start[row + 1] - plan.table_start[row]
    which = np.repeat(np.arange(len(row)), count)
    place = np.repeat(plan.table_start[row] - (np.cumsum(count) - count), count) + np.arange(len(which))
    out = found.taken(which)
    return Choices(
        out.token, out.code + plan.radix[x] * plan.digit[place], out.weight * plan.weight[place], out.p, out.label,
        out.before, out.mode, out.times, out.over,
    )  # fmt: skip
