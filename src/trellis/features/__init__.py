"""Columns -> attributes -> packed ids.

For features written in Python, the functions of the feature language are here by name:

    from trellis.features import columns, shape, suffix
    word, pos = columns("word", "pos")
    features = word[-1:1] + suffix(word, 2, 3)[0] + shape(word)[0] + (pos[-1] & pos[0])
"""

from collections.abc import Callable
from functools import partial

from trellis.features.arrays import Given, offsets_of
from trellis.features.choose import Choice, callables_of, preset, templates_for
from trellis.features.expression import Columnar, Features, bag, call, column, columns, transitions
from trellis.features.functions import FUNCTIONS
from trellis.features.given import GivenFeatures
from trellis.features.kind import Batch, FeatureKind
from trellis.features.packed import Packed
from trellis.features.presets import PRESETS
from trellis.features.reading import Reading
from trellis.features.tag_dictionary import TagDictionary
from trellis.features.templates import TemplateFeatures

__all__ = [
    "PRESETS",
    "Batch",
    "Choice",
    "FeatureKind",
    "Features",
    "Given",
    "GivenFeatures",
    "Packed",
    "Reading",
    "TagDictionary",
    "TemplateFeatures",
    "bag",
    "callables_of",
    "column",
    "columns",
    "offsets_of",
    "preset",
    "templates_for",
    "transitions",
]


def __getattr__(name: str) -> Callable[..., Columnar]:
    """The functions of the feature language: `suffix(word, 1, 2, 3)`."""
    if name not in FUNCTIONS:
        raise AttributeError(f"trellis.features has no '{name}'; its functions are: {', '.join(FUNCTIONS)}")
    return partial(call, name)


def __dir__() -> list[str]:
    return [*__all__, *FUNCTIONS]
