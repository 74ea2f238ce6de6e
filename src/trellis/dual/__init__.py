"""Labels scored by training tokens instead of weights of attributes: kernels, support tokens, epochs in the dual."""

from trellis.dual.events import Coefficients, Events
from trellis.dual.examples import DualExamples, Progression
from trellis.dual.kernel import Polynomial
from trellis.dual.supports import Supports, rows

__all__ = ["Coefficients", "DualExamples", "Events", "Polynomial", "Progression", "Supports", "rows"]
