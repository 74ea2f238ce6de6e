"""Features that a user has already made: tokens as lists or dicts of attributes, or sentences as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Integral

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features.arrays import LISTS, Given, Singles, kind_of, pack_matrices
from trellis.features.items import KnownNames, NewNames, pack_items
from trellis.features.kind import Batch
from trellis.features.packed import Packed
from trellis.features.reading import Reading

CONSTANT = "constant"


class GivenFeatures:
    """Learnt attribute names, numbered in order of first appearance.

    The columns of matrices are named "0", "1", ... and all of them have a name, also those that are always zero: so a
    column's number is its attribute's, and a model file needs nothing but the names. Where each row is an item,
    there is one more behind them, `constant`, which all rows have: else nothing would say how frequent labels are.
    """

    def __init__(self, strings: Sequence[str]):
        self.strings = list(strings)

    @property
    def attributes(self) -> int:
        return len(self.strings)

    @cached_property
    def index(self) -> KnownNames:
        """name -> number."""
        return KnownNames({name: number for number, name in enumerate(self.strings)})

    @cached_property
    def are_columns(self) -> bool:
        """Whether matrices can be read: attribute j has the name of column j."""
        return all(name == str(number) for number, name in enumerate(self.strings[: self._columns]))

    @property
    def _columns(self) -> int:
        """How many attributes are columns."""
        return len(self.strings) - (self.strings[-1:] == [CONSTANT])

    @classmethod
    def learn(cls, sentences: Given, min_count: int = 1) -> tuple[GivenFeatures, Packed]:
        """Numbers the attributes that occur in at least `min_count` tokens, and the sentences in these numbers.

        The rest has no number and is left out of the sentences; columns of matrices keep their numbers.
        """
        if not isinstance(min_count, Integral) or min_count < 1:
            raise SettingError(f"min_count is {min_count!r}; expected a whole number >= 1")
        if kind_of(sentences) == LISTS:
            index = NewNames()
            packed = pack_items(sentences, index)
            names = list(index)
        else:
            packed, width = pack_matrices(sentences)
            names = [str(column) for column in range(width)]
            if isinstance(sentences, Singles):
                packed, names = packed.with_constant(width), [*names, CONSTANT]
        if min_count == 1:
            return cls(names), packed
        frequent = packed.tokens_with(len(names)) >= min_count
        if kind_of(sentences) == LISTS:
            number = np.where(frequent, np.cumsum(frequent) - 1, -1)
            names = [name for name, kept in zip(names, frequent.tolist(), strict=True) if kept]
        else:
            number = np.where(frequent, np.arange(len(names)), -1)
        return cls(names), packed.renumbered(number.astype(np.int32))

    @property
    def arc_attributes(self) -> int:
        return 0

    def translated(self, data: Batch) -> Given:
        """The data as it is; a corpus is refused."""
        if isinstance(data, Corpus | Reading):
            raise DataError("this model was trained on lists of attributes; it was given a corpus")
        return data

    def transform(self, sentences: Given, first: int = 0) -> Packed:
        """Sentences in the learnt numbers; what was never seen is -1. Errors count sentences from `first`."""
        if kind_of(sentences) == LISTS:
            return pack_items(sentences, self.index, first)
        if not self.are_columns:
            raise DataError("this model was trained on attributes with names (lists or dicts); it was given matrices")
        packed, width = pack_matrices(sentences, self._columns, first)
        return packed if width == self.attributes else packed.with_constant(width)

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        return list(self.strings)

    def arc_names(self) -> list[str]:
        """No attribute of transitions can be given."""
        return []
