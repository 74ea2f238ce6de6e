"""What is in a model, for people to look at."""

from trellis.report.hidden import HiddenInspection, inspect_hidden
from trellis.report.inspection import Inspection, TemplateCost, inspect
from trellis.report.stages import inspect_stages
from trellis.report.supports import SupportInspection, inspect_supports

__all__ = [
    "HiddenInspection",
    "Inspection",
    "SupportInspection",
    "TemplateCost",
    "inspect",
    "inspect_hidden",
    "inspect_stages",
    "inspect_supports",
]
