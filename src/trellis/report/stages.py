"""What a cascade consists of, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trellis.cascade import Cascade
from trellis.cascade.model import TrainedStage
from trellis.cascade.plan import Plan
from trellis.corpus import Corpus
from trellis.features import Packed
from trellis.features.numbering import grouped
from trellis.features.template import Template
from trellis.models.neural_chain import NeuralChain
from trellis.models.segment_model import SegmentModel
from trellis.report.groups import Found, Group, of_chain, of_segments
from trellis.report.inspection import Inspection, encoder_of, inspection_of


def inspect_stages(cascade: Cascade, data: Corpus | None = None, top: int = 10) -> dict[str, Inspection]:
    """By target, lower stages first. A template that reads a lower stage is a group of attributes like others; with
    `data`, its `per_token` counts every label that is probable enough to be read."""
    model = cascade.model_
    packed: list[list[Packed]] = [[] for _ in model.stages]
    if data is not None:
        packed = model.answers(data, 1, lambda _, packed, offsets: packed)
    tokens = 0 if data is None else data.tokens
    return {stage.target: _inspected(stage, own, tokens, top) for stage, own in zip(model.stages, packed, strict=True)}


def _inspected(stage: TrainedStage, packed: Sequence[Packed], tokens: int, top: int) -> Inspection:
    model = stage.model
    if isinstance(model, NeuralChain):
        return replace(inspection_of(_found(stage), model.layout.size, packed, tokens, top), encoder=encoder_of(model))
    return inspection_of(_found(stage), len(model.weights), packed, tokens, top)


def _found(stage: TrainedStage) -> Found:
    """The stage's own attributes, and behind these what it reads."""
    model, wiring = stage.model, stage.wiring
    if isinstance(model, SegmentModel):
        found, tokens, labels = of_segments(model), model.layout.tokens, stage.labels
    else:
        linear = model.linear if isinstance(model, NeuralChain) else model
        found, tokens, labels = of_chain(linear), linear.layout, linear.labels
    if wiring is None:
        return found
    read = _read(
        wiring.labels, wiring.on_labels, "labels", model.features.attributes, tokens.pair_start, model.weights,
        wiring.names(), lambda k: labels[tokens.pair_label[k]],
    )  # fmt: skip
    if wiring.transitions:
        before, here = tokens.arc_sides
        read += _read(
            wiring.transitions, wiring.on_transitions, "transitions", model.features.arc_attributes, tokens.arc_start,
            model.weights[tokens.arcs_at :], wiring.arc_names(), lambda k: f"{labels[before[k]]} -> {labels[here[k]]}",
        )  # fmt: skip
    return replace(found, groups=[*found.groups, *read])


def _read(
    templates: tuple[Template, ...],
    plan: Plan,
    on: str,
    base: int,
    start: NDArray[np.int64],
    weights: NDArray[np.float64],
    names: list[str],
    label: Callable[[int], str],
) -> list[Group]:
    """A group for each group of templates that read lower stages, whose attributes are numbered from `base` on."""
    return [
        Group(
            " ".join(templates[k].text for k in members), on, base + int(plan.group_start[g]),
            base + int(plan.group_start[g + 1]), start, weights, lambda a: names[a - base], label,
        )
        for g, members in enumerate(grouped(templates))
    ]  # fmt: skip
