"""Columns -> attributes -> packed ids.

For features written in Python, the functions of the feature language are here by name:

    from trellis.features import columns, shape, suffix
    word, pos = columns("word", "pos")
    features = word[-1:1] + suffix(word, 2, 3)[0] + shape(word)[0] + (pos[-1] & pos[0])

What is needed only to write features, not to use a model, is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trellis.features.arrays import Given, offsets_of
from trellis.features.functions import FUNCTIONS
from trellis.features.given import GivenFeatures
from trellis.features.kind import Batch, FeatureKind
from trellis.features.packed import Packed
from trellis.features.reading import Reading
from trellis.features.tag_dictionary import TagDictionary
from trellis.features.templates import TemplateFeatures

if TYPE_CHECKING:
    from trellis.features.choose import Choice, callables_of, preset, templates_for
    from trellis.features.expression import Features, bag, column, columns, transitions
    from trellis.features.presets import PRESETS

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

_WHEN_ASKED = {
    "choose": ("Choice", "callables_of", "preset", "templates_for"),
    "expression": ("Features", "bag", "column", "columns", "transitions"),
    "presets": ("PRESETS",),
}


def __getattr__(name: str) -> Any:
    for module, names in _WHEN_ASKED.items():
        if name in names:
            return getattr(import_module(f"trellis.features.{module}"), name)
    if name in FUNCTIONS:
        from trellis.features.calls import function

        return function(name)
    from trellis.features.hints import instead

    known = [*FUNCTIONS, *(one for names in _WHEN_ASKED.values() for one in names)]
    raise AttributeError(f"trellis.features has no '{name}'; {instead(name, 'names', known)}")


def __dir__() -> list[str]:
    return [*__all__, *FUNCTIONS]
