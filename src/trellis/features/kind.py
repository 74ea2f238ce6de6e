"""What a model asks of its features, of whatever kind they are."""

from __future__ import annotations

from typing import Any, Protocol

from trellis.corpus import Corpus
from trellis.features.arrays import Given
from trellis.features.packed import Packed
from trellis.features.reading import Reading

Batch = Corpus | Reading | Given


class FeatureKind(Protocol):
    """Learnt features. Attributes of labels and attributes of transitions are numbered apart."""

    @property
    def attributes(self) -> int: ...

    @property
    def arc_attributes(self) -> int: ...

    def translated(self, data: Batch) -> Any:
        """The data in the form that `transform` takes quickest, whole, before it is cut into parts. DataError for data
        of another kind than these features read."""
        ...

    def transform(self, data: Any, first: int = 0) -> Packed:
        """The data in attribute numbers, -1 for what was never seen. Errors in lists count sentences from `first`."""
        ...

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        ...

    def arc_names(self) -> list[str]:
        """The name of every attribute of transitions, by number."""
        ...
