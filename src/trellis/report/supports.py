"""What a model with support tokens consists of: how many there are, and the strongest."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trellis.corpus import Corpus
from trellis.models import KernelPerceptron
from trellis.report.inspection import Strong, largest, names_of


@dataclass(frozen=True)
class StrongSupport:
    """A training token by its attributes, and its coefficient for a label."""

    attributes: list[str]
    label: str
    coefficient: float


@dataclass(frozen=True)
class SupportInspection:
    """`strongest` coefficients and `transitions`, largest first. With data, `per_token`: how many attributes of a token
    the model knows."""

    labels: list[str]
    attributes: int
    supports: int
    coefficients: int
    kernel: dict[str, Any]
    strongest: list[StrongSupport]
    transitions: list[Strong]
    per_token: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def inspect_supports(perceptron: KernelPerceptron, data: Corpus | None = None, top: int = 10) -> SupportInspection:
    """Looks into a trained model; with `data`, also how much of that its features know."""
    model = perceptron.model_
    supports, labels, moves = model.supports, list(model.labels), model.transitions.ravel()
    strongest = largest(supports.coefficients, top)
    support = np.searchsorted(supports.start, strongest, side="right") - 1
    found = []
    for s, p in zip(support.tolist(), strongest.tolist(), strict=True):
        ids = supports.packed.ids[supports.packed.indptr[s] : supports.packed.indptr[s + 1]].tolist()
        names = names_of(model.features, ids)
        found.append(StrongSupport(names, labels[supports.label[p]], float(supports.coefficients[p])))
    known = None
    if data is not None and data.tokens:
        known = float(np.count_nonzero(model.pack(data).ids >= 0)) / data.tokens
    return SupportInspection(
        labels,
        supports.attributes,
        supports.size,
        len(supports.coefficients),
        asdict(supports.kernel),
        found,
        [Strong(labels[k // len(labels)], labels[k % len(labels)], float(moves[k])) for k in largest(moves, top)],
        known,
    )
