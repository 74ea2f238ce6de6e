"""What is in a model, for people to look at."""

from trellis.report.inspection import Inspection, TemplateCost, inspect

__all__ = ["Inspection", "TemplateCost", "inspect"]
