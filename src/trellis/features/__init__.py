"""Columns -> attributes -> packed ids."""

from trellis.features.arrays import Given, offsets_of
from trellis.features.given import GivenFeatures
from trellis.features.packed import Packed
from trellis.features.presets import PRESETS, templates_for
from trellis.features.templates import TemplateFeatures

__all__ = ["PRESETS", "Given", "GivenFeatures", "Packed", "TemplateFeatures", "offsets_of", "templates_for"]
