"""What a user names: features, scoring, lattice, loss and optimiser put together.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.models.constraints import Constraints
    from trellis.models.crf import CRF
    from trellis.models.hmm import HMM
    from trellis.models.kernel_perceptron import KernelPerceptron
    from trellis.models.lattice_crf import LatticeCRF
    from trellis.models.local_classifier import LocalClassifier
    from trellis.models.neural_crf import NeuralCRF
    from trellis.models.registry import ITEM_TYPES, MODEL_TYPES, MODELS, load
    from trellis.models.scored_hmm import ScoredHMM
    from trellis.models.semi_crf import SemiCRF
    from trellis.models.sequential_classifier import SequentialClassifier
    from trellis.models.soft_labels import SoftLabels
    from trellis.models.structured_perceptron import StructuredPerceptron
    from trellis.models.structured_svm import StructuredSVM
    from trellis.models.tagger import Tagger
    from trellis.models.text_classifier import TextClassifier

_HOMES = {
    "CRF": "crf",
    "Constraints": "constraints",
    "HMM": "hmm",
    "ITEM_TYPES": "registry",
    "KernelPerceptron": "kernel_perceptron",
    "LatticeCRF": "lattice_crf",
    "LocalClassifier": "local_classifier",
    "MODELS": "registry",
    "MODEL_TYPES": "registry",
    "NeuralCRF": "neural_crf",
    "ScoredHMM": "scored_hmm",
    "SemiCRF": "semi_crf",
    "SequentialClassifier": "sequential_classifier",
    "SoftLabels": "soft_labels",
    "StructuredPerceptron": "structured_perceptron",
    "StructuredSVM": "structured_svm",
    "Tagger": "tagger",
    "TextClassifier": "text_classifier",
    "load": "registry",
}

__all__ = [
    "CRF",
    "HMM",
    "ITEM_TYPES",
    "MODELS",
    "MODEL_TYPES",
    "Constraints",
    "KernelPerceptron",
    "LatticeCRF",
    "LocalClassifier",
    "NeuralCRF",
    "ScoredHMM",
    "SemiCRF",
    "SequentialClassifier",
    "SoftLabels",
    "StructuredPerceptron",
    "StructuredSVM",
    "Tagger",
    "TextClassifier",
    "load",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
