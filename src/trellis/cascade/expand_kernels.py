"""Templates that read lower stages: at each token, one attribute for each choice of lower labels that is probable.

The parts of a template are taken one after the other, ordered by stage, then by place, and a choice of labels so far
goes on with

    node    a label at a place by itself: P(label)
    arc     a label behind the label before it, of a chain: P(before, label) / P(before)
    pair    two neighbouring labels at once, for functions of both: P(before, label)
    same    the label that was taken already: 1
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

NODE, ARC, EDGE, PAIR, SAME = 0, 1, 2, 3, 4


@kernel
def expand(
    lower: Array,
    plan: Array,
    context: Array,
    offsets: Array,
    least: float,
    inner: bool,
    start: Array,
    ids: Array,
    weight: Array,
    p: Array,
    times: Array,
    over: Array,
) -> int:
    """Lists what there is at each token, start: I64[tokens + 1]: ids: I32[n], the attributes' weights F64[n], their
    probabilities F64[n], and the numbers of nodes, or of arcs behind all nodes, that multiply and divide: times, over:
    I32[n, parts], -1 for none. `inner`: first tokens have none. context: I32[tokens, columns].

    Returns how many there are; where that is more than there is room for, the rest is not written.

    Arrays are taken out of their tuples first: to do so at every token would cost more than all the rest.
    """
    node_start, node_label, node_p = lower.node_start, lower.label, lower.node_p
    arc_start, arc_before, arc_here, arc_p = lower.arc_start, lower.before, lower.here, lower.arc_p
    chained, labels = lower.chained, lower.labels
    part_first, part_stage, part_row, part_radix = plan.first, plan.stage, plan.row, plan.radix
    part_table, table_start, table_digit, table_weight = plan.table, plan.table_start, plan.digit, plan.weight
    of_pairs = plan.pair
    group_of, context_of, context_radix = plan.group, plan.context, plan.context_radix
    group_start, codes, reach = plan.group_start, plan.codes, plan.reach
    most = times.shape[1]
    entry, end, mode = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    label, digit, digit_end = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    code, chance, factor = np.empty(most, np.int64), np.empty(most), np.empty(most)
    divisor, earlier = np.empty(most, np.int64), np.empty(most, np.int64)  # earlier: the label before
    nodes, room, found = len(node_p), len(ids), 0
    onward = most_onward(node_start, node_label, arc_start, arc_before, arc_p, chained)
    start[0] = 0
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        for t in range(a, b):
            for n in range(len(part_first) - 1):
                if inner and t == a:
                    break
                base, last = part_first[n], part_first[n + 1] - 1 - part_first[n]
                first_code = 0
                if context_of[n] >= 0:
                    seen = context[t, context_of[n]]
                    if seen < 0:
                        continue
                    first_code = seen * context_radix[n]
                low, high = group_start[group_of[n]], group_start[group_of[n] + 1]
                k = 0
                entry[0] = -2  # not yet begun
                while k >= 0:
                    x = base + k
                    place = t + part_row[x]
                    if entry[k] == -2:
                        stage = part_stage[x]
                        digit[k] = digit_end[k] = 0
                        with_last = k > 0 and part_stage[x - 1] == stage
                        if place < a or place >= b:
                            mode[k] = EDGE
                            label[k] = labels[stage] + (a - place - 1 if place < a else reach + place - b)
                            entry[k], end[k] = -1, 0 if of_pairs[x] else 1
                        elif with_last and part_row[x - 1] == part_row[x]:
                            mode[k] = SAME
                            entry[k], end[k] = -1, 1
                        elif (with_last and place > a and part_row[x - 1] == part_row[x] - 1 and chained[stage]) or (
                            of_pairs[x] and place > a
                        ):
                            mode[k] = ARC if with_last and part_row[x - 1] == part_row[x] - 1 else PAIR
                            entry[k], end[k] = arc_start[stage, place] - 1, arc_start[stage, place + 1]
                            if mode[k] == ARC:
                                d = entry[k - 1]
                                if mode[k - 1] != NODE:
                                    here = node_start[stage, place]
                                    d = place_of(node_label, node_start[stage, place - 1], here, label[k - 1])
                                divisor[k] = d
                                if d >= 0 and chance[k - 1] * onward[d] / node_p[d] > least:  # arcs rise by `before`
                                    entry[k] = first_from(arc_before, entry[k] + 1, end[k], label[k - 1]) - 1
                                else:
                                    entry[k] = end[k]
                        else:
                            mode[k] = NODE
                            entry[k], end[k] = node_start[stage, place] - 1, node_start[stage, place + 1]
                    digit[k] += 1
                    if digit[k] >= digit_end[k]:
                        entry[k] += 1
                        if mode[k] == ARC and entry[k] < end[k] and arc_before[entry[k]] != label[k - 1]:
                            entry[k] = end[k]
                        if entry[k] >= end[k]:
                            k -= 1
                            continue
                        e = entry[k]
                        so_far = chance[k - 1] if k > 0 else 1.0
                        if mode[k] == NODE:
                            label[k], chance[k] = node_label[e], so_far * node_p[e]
                        elif mode[k] == PAIR:
                            label[k], chance[k] = arc_here[e], so_far * arc_p[e]
                        elif mode[k] == SAME:
                            label[k], chance[k] = label[k - 1], so_far
                        elif mode[k] == ARC:
                            label[k], chance[k] = arc_here[e], so_far * arc_p[e] / node_p[divisor[k]]
                        else:
                            chance[k] = so_far
                        earlier[k] = -1
                        if mode[k] == ARC or mode[k] == PAIR:
                            earlier[k] = arc_before[e]
                        elif mode[k] == SAME:
                            earlier[k] = earlier[k - 1]
                        row = part_table[x] + label[k]
                        if of_pairs[x]:
                            count = labels[part_stage[x]]
                            row += (earlier[k] if place > a else count) * count
                        digit[k], digit_end[k] = table_start[row], table_start[row + 1]
                        if not chance[k] > least:
                            digit[k] = digit_end[k]
                        if digit[k] >= digit_end[k]:
                            continue
                    code[k] = (code[k - 1] if k > 0 else first_code) + part_radix[x] * table_digit[digit[k]]
                    factor[k] = table_weight[digit[k]] * (factor[k - 1] if k > 0 else 1.0)
                    if k < last:
                        k += 1
                        entry[k] = -2
                        continue
                    attribute = place_of(codes, low, high, code[k])
                    if attribute < 0:
                        continue
                    if found < room:
                        ids[found], weight[found], p[found] = attribute, factor[k], chance[k]
                        for m in range(most):
                            times[found, m] = over[found, m] = -1
                        for m in range(k + 1):
                            if mode[m] == NODE:
                                times[found, m] = entry[m]
                            elif mode[m] == PAIR:
                                times[found, m] = nodes + entry[m]
                            elif mode[m] == ARC:
                                times[found, m] = nodes + entry[m]
                                if mode[m - 1] == NODE:  # P(i) P(i, j) / P(i)
                                    times[found, m - 1] = -1
                                else:
                                    over[found, m] = divisor[m]
                    found += 1
            start[t + 1] = found
    return found


@part
def most_onward(
    node_start: Array, node_label: Array, arc_start: Array, arc_before: Array, arc_p: Array, chained: Array
) -> Array:
    """The most probable arc out of each node, F64[nodes], 0 where none is listed: no choice goes on with more."""
    most = np.zeros(len(node_label))
    for stage in range(len(chained)):
        if not chained[stage]:
            continue
        for t in range(1, arc_start.shape[1] - 1):
            d, end = node_start[stage, t - 1], node_start[stage, t]
            for e in range(arc_start[stage, t], arc_start[stage, t + 1]):
                while d < end and node_label[d] < arc_before[e]:
                    d += 1
                if d < end and node_label[d] == arc_before[e] and arc_p[e] > most[d]:
                    most[d] = arc_p[e]
    return most


@part
def place_of(codes: Array, low: int, high: int, code: int) -> int:
    """The place of a code among codes[low:high], which rise; -1 for none."""
    place = first_from(codes, low, high, code)
    return place if place < high and codes[place] == code else -1


@part
def first_from(values: Array, low: int, high: int, value: int) -> int:
    """The first place in values[low:high], which rise, of `value` or more."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
