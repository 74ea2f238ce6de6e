"""Templates that read lower stages: at each token, one attribute for each choice of lower labels that is probable.

The parts of a template are taken one after the other, ordered by stage, then by place, and a choice of labels so far
goes on with

    node    a label at a place by itself: P(label)
    arc     a label behind the label before it, of a chain: P(before, label) / P(before)
    edge    a place beyond the ends of the sentence, which has a name of its own: 1

as long as its probability is more than `least`. (It never rises.) Of each choice that gets to its end and has an
attribute, the numbers that its probability is a product of are listed: those that multiply and those that divide.
`lower` and `plan` are those of `plan.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

Array = Any

NODE, ARC, EDGE = 0, 1, 2


@kernel
def expand(
    lower: Array,
    plan: Array,
    context: Array,
    offsets: Array,
    least: float,
    inner: bool,
    fill: bool,
    start: Array,
    ids: Array,
    weight: Array,
    p: Array,
    times: Array,
    over: Array,
) -> None:
    """Counts what there is at each token into start[t + 1]; or with `fill`, once that has been added up, writes
    ids: I32[n], the attributes' weights F64[n], their probabilities F64[n], and the numbers of nodes, or of arcs behind
    all nodes, that multiply and divide: times, over: I32[n, parts], -1 for none. `inner`: first tokens have none.
    context: I32[tokens, columns]."""
    most = 1
    for n in range(len(plan.first) - 1):
        most = max(most, plan.first[n + 1] - plan.first[n])
    entry, end, mode = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    label, digit, digit_end = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    code, chance, factor = np.empty(most, np.int64), np.empty(most), np.empty(most)
    part_p = np.empty(most)  # of what was taken last
    divisor = np.empty(most, np.int64)
    nodes = len(lower.node_p)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        for t in range(a + int(inner), b):
            found, write = 0, start[t]
            for n in range(len(plan.first) - 1):
                base, last = plan.first[n], plan.first[n + 1] - 1 - plan.first[n]
                first_code = 0
                if plan.context[n] >= 0:
                    seen = context[t, plan.context[n]]
                    if seen < 0:
                        continue
                    first_code = seen * plan.context_radix[n]
                k = 0
                _begin(lower, plan, base, k, t, a, b, mode, label, entry, end, digit, digit_end)
                while k >= 0:
                    if not _advance(lower, plan, base, k, t, mode, label, entry, end, digit, digit_end, part_p):
                        k -= 1
                        continue
                    x = base + k
                    chance[k] = part_p[k] * (chance[k - 1] if k > 0 else 1.0)
                    divisor[k] = -1
                    if mode[k] == ARC:
                        e = _node_of(lower, plan.stage[x], t + plan.row[x] - 1, label[k - 1])
                        divisor[k] = e
                        chance[k] /= lower.node_p[e]
                    if not chance[k] > least:
                        continue
                    code[k] = (code[k - 1] if k > 0 else first_code) + plan.radix[x] * plan.digit[digit[k]]
                    factor[k] = plan.weight[digit[k]] * (factor[k - 1] if k > 0 else 1.0)
                    if k < last:
                        k += 1
                        _begin(lower, plan, base, k, t, a, b, mode, label, entry, end, digit, digit_end)
                        continue
                    attribute = _attribute_of(plan, plan.group[n], code[k])
                    if attribute < 0:
                        continue
                    if fill:
                        w = write + found
                        ids[w], weight[w], p[w] = attribute, factor[k], chance[k]
                        for m in range(times.shape[1]):
                            times[w, m] = over[w, m] = -1
                        for m in range(k + 1):
                            if mode[m] == NODE:
                                times[w, m] = entry[m]
                            elif mode[m] == ARC:
                                times[w, m] = nodes + entry[m]
                                if mode[m - 1] == NODE:  # P(i) P(i, j) / P(i)
                                    times[w, m - 1] = -1
                                else:
                                    over[w, m] = divisor[m]
                    found += 1
            if not fill:
                start[t + 1] = found


@part
def _begin(
    lower: Array, plan: Array, base: int, k: int, t: int, a: int, b: int, mode: Array, label: Array,
    entry: Array, end: Array, digit: Array, digit_end: Array,
) -> None:  # fmt: skip
    """Gets ready to go through the labels of part k of a template at token t of the sentence a..b."""
    x = base + k
    stage, place = plan.stage[x], t + plan.row[x]
    digit[k] = digit_end[k] = 0
    if place < a or place >= b:
        mode[k] = EDGE
        beyond = a - place - 1 if place < a else plan.reach + place - b
        entry[k], end[k], label[k] = -1, 1, lower.labels[stage] + beyond
        return
    behind = k > 0 and plan.stage[x - 1] == stage and plan.row[x - 1] == plan.row[x] - 1 and place > a
    if behind and lower.chained[stage]:
        mode[k] = ARC
        entry[k], end[k] = lower.arc_start[stage, place] - 1, lower.arc_start[stage, place + 1]
    else:
        mode[k] = NODE
        entry[k], end[k] = lower.node_start[stage, place] - 1, lower.node_start[stage, place + 1]


@part
def _advance(
    lower: Array, plan: Array, base: int, k: int, t: int, mode: Array, label: Array,
    entry: Array, end: Array, digit: Array, digit_end: Array, part_p: Array,
) -> bool:  # fmt: skip
    """Goes on to the next label of part k, or its next digit; false when there is none."""
    digit[k] += 1
    while digit[k] >= digit_end[k]:
        entry[k] += 1
        if entry[k] >= end[k]:
            return False
        e = entry[k]
        if mode[k] == EDGE:
            part_p[k] = 1.0
        elif mode[k] == NODE:
            label[k], part_p[k] = lower.label[e], lower.node_p[e]
        else:
            if lower.before[e] != label[k - 1]:
                continue
            label[k], part_p[k] = lower.here[e], lower.arc_p[e]
        row = plan.table[base + k] + label[k]
        digit[k], digit_end[k] = plan.table_start[row], plan.table_start[row + 1]
    return True


@part
def _node_of(lower: Array, stage: int, place: int, label: int) -> int:
    """The listed node of a label."""
    for e in range(lower.node_start[stage, place], lower.node_start[stage, place + 1]):
        if lower.label[e] == label:
            return e
    return -1


@part
def _attribute_of(plan: Array, group: int, code: int) -> int:
    """The place of a code among those of a group, -1 for none."""
    low, high = plan.group_start[group], plan.group_start[group + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if plan.codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and plan.codes[low] == code else -1
