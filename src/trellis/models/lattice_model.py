"""A trained model of lattices that are given node by node: features of nodes and arcs, and weights. Immutable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, NoLegalPathError
from trellis.features import FeatureKind, GivenFeatures, Packed
from trellis.features.arc_columns import ArcColumns
from trellis.features.lattices import Lattices
from trellis.lattice.explicit import ExplicitLattice

if TYPE_CHECKING:
    from trellis.scoring.explicit import ExplicitLayout, LatticeData

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
Answer = TypeVar("Answer")

ArcFeatures = GivenFeatures | ArcColumns

_BATCH = 1 << 18  # nodes and arcs answered at a time by one thread


@dataclass(frozen=True)
class LatticeModel:
    """`weights: F64[layout.size]`; `arcs`: the features of arcs, None for none."""

    labels: tuple[str, ...]
    features: FeatureKind
    arcs: ArcFeatures | None
    layout: ExplicitLayout
    weights: F64

    def batches(self, data: Lattices, threads: int, answer: Callable[[ExplicitLattice], Answer]) -> list[Answer]:
        """Cuts the data into batches and answers their lattices on threads, in order."""
        return self.placed_batches(data, threads, lambda lattice, node: answer(lattice))

    def placed_batches(
        self, data: Lattices, threads: int, answer: Callable[[ExplicitLattice, int], Answer]
    ) -> list[Answer]:
        """The same for answers that ask for the number of their first node."""

        def one(first: int, batch: Lattices) -> Answer:
            try:
                return answer(self.lattice(batch, first), int(data.offsets[first]))
            except NoLegalPathError as error:
                where = "" if error.sentence is None else f"lattice {first + error.sentence + 1}"
                raise NoLegalPathError(where + error.what) from None

        batches = list(data.batches(_BATCH))
        if threads <= 1 or len(batches) <= 1:
            return [one(*batch) for batch in batches]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one, *zip(*batches, strict=True)))

    def lattice(self, data: Lattices, first: int = 0) -> ExplicitLattice:
        """With the scores of the model; errors count lattices from `first`."""
        nodes, arcs = self.packed(data, first)
        return self.scored(nodes, arcs)

    def packed(self, data: Lattices, first: int = 0) -> tuple[Packed, LatticeData]:
        """Attributes in the numbers of the model."""
        from trellis.scoring.explicit import ArcAttributes, LatticeData

        labels = data.labels.translated({label: j for j, label in enumerate(self.labels)})
        for v in np.flatnonzero(labels < 0)[:1].tolist():
            s, name = first + int(data.owners[v]) + 1, data.labels.strings[data.labels.ids[v]]
            has = ", ".join(self.labels)
            raise DataError(f"lattice {s}: the label '{name}', which the model does not know; it has: {has}")
        with of_lattices("node"):
            nodes = self.features.transform(self.features.translated(data.nodes), first)
        with of_lattices("arc"):
            arcs = arcs_of(self.arcs, data, first)
        return nodes, LatticeData(data.shape, labels, ArcAttributes(arcs.indptr, arcs.ids, arcs.values))

    def scored(self, nodes: Packed, data: LatticeData) -> ExplicitLattice:
        from trellis.scoring.explicit import arc_entries, node_entries

        of_nodes = node_entries(self.layout.pairs, data.labels, nodes.indptr, nodes.ids, nodes.values)
        of_arcs = arc_entries(self.layout, data)
        shape = data.shape
        return ExplicitLattice(
            of_nodes.scores(self.weights, 0, len(data.labels)),
            of_arcs.scores(self.weights, 0, len(shape.source)),
            shape.offsets,
            shape,
        )

    @property
    def summary(self) -> str:
        return f"{self.layout.size:,} weights"

    def with_weights(self, weights: F64) -> LatticeModel:
        return replace(self, weights=weights)


@contextmanager
def of_lattices(what: str) -> Iterator[None]:
    """Errors about attributes count sentences and tokens from 1; lattices have nodes and arcs, counted from 0."""
    try:
        yield
    except DataError as error:
        found = re.fullmatch(r"sentence (\d+), token (\d+): (?:a token's )?(.*)", str(error), re.DOTALL)
        if found is None:
            raise
        raise DataError(f"lattice {found[1]}, {what} {int(found[2]) - 1}: {found[3]}") from None


def arcs_of(features: ArcFeatures | None, data: Lattices, first: int = 0) -> Packed:
    """The attributes of arcs in the numbers of the features."""
    if features is None:
        return Packed(np.zeros(len(data.shape.source) + 1, np.int64), np.zeros(0, np.int32))
    if isinstance(features, ArcColumns):
        if not isinstance(data.nodes, Corpus):
            raise DataError("the model's arcs read columns of nodes; these lattices have lists of attributes")
        return features.transform(data.nodes, data.shape.source.astype(np.int64), data.shape.heads)
    if data.arcs is None:
        return arcs_of(None, data)
    return features.transform(data.arcs, first)
