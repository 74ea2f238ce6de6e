"""Columns -> attributes -> packed ids."""

from trellis.features.given import GivenFeatures, offsets_of
from trellis.features.packed import Packed
from trellis.features.presets import PRESETS, templates_for
from trellis.features.tag_dictionary import TagDictionary
from trellis.features.templates import TemplateFeatures

__all__ = ["PRESETS", "GivenFeatures", "Packed", "TagDictionary", "TemplateFeatures", "offsets_of", "templates_for"]
