"""A trained encoder: its shape and its numbers, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.features.inputs import Inputs
from trellis.jit import worthwhile
from trellis.labels import runs
from trellis.neural import plain
from trellis.neural.compiled import CompiledEncoder
from trellis.neural.shape import EncoderShape

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_AT_ONCE = 4096  # tokens: so many take some 30 MB
WORK = 10  # tokens of a linear chain that take as long as one here


@dataclass(frozen=True)
class Encoder:
    """`arrays`: see `shape`; `fixed: F32[words, embedding]`, vectors of words that were not in the training data, which
    are numbered behind those that were."""

    shape: EncoderShape
    arrays: dict[str, F32] = field(repr=False)
    fixed: F32 | None = field(default=None, repr=False)

    @classmethod
    def of(cls, shape: EncoderShape, vector: F64, fixed: F32 | None = None) -> Encoder:
        return cls(shape, shape.arrays(vector), fixed)

    @property
    def vector(self) -> F64:
        """All that was trained."""
        return self.shape.vector(self.arrays)

    def with_vector(self, vector: F64) -> Encoder:
        return replace(self, arrays=self.shape.arrays(vector))

    def scores(self, inputs: Inputs, offsets: I64) -> F64:
        """F64[tokens, labels]."""
        out = np.zeros((int(offsets[-1]), self.shape.labels))
        is_much = worthwhile(WORK * len(out))
        for first, last in runs(offsets, _AT_ONCE):
            a, b = int(offsets[first]), int(offsets[last])
            part, own = inputs.part(a, b), offsets[first : last + 1] - a
            words = self._vectors(part.ids[:, 0])
            if is_much:
                out[a:b] = self._compiled.scores(words, part, own)
            else:
                out[a:b] = plain.scores(self.shape, self.arrays, words, part, own)
        return out

    def _vectors(self, ids: I32) -> F32:
        """Those of words, F32[tokens, embedding]."""
        own = self.arrays["words"]
        if self.fixed is None:
            return own[ids]
        found, is_fixed = own[np.where(ids < len(own), ids, 0)], ids >= len(own)
        found[is_fixed] = self.fixed[ids[is_fixed] - len(own)]
        return found

    @cached_property
    def _compiled(self) -> CompiledEncoder:
        return CompiledEncoder(self.shape, self.arrays)
