"""Columns -> attributes -> packed ids."""

from trellis.features.arrays import Given, offsets_of
from trellis.features.choose import Choice, callables_of, templates_for
from trellis.features.expression import Features
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
    "callables_of",
    "offsets_of",
    "templates_for",
]
