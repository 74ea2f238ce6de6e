"""Trellis: sequence labelling, from rules or gold labels to fast, trustworthy taggers.

Names are imported when they are first used, so that `import trellis` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.cascade import Cascade, Smooth, Stage, load
    from trellis.corpus import Corpus, read_conll, sample_corpus, write_conll
    from trellis.errors import ConvergenceWarning, TrellisError
    from trellis.features.lattices import Arc, Lattice, Lattices, Node
    from trellis.features.lexicon import Lexicon, unspaced
    from trellis.fewlabels import augmented
    from trellis.metrics import evaluate
    from trellis.models import (
        CRF,
        HMM,
        Constraints,
        KernelPerceptron,
        LatticeCRF,
        LocalClassifier,
        NeuralCRF,
        ScoredHMM,
        SemiCRF,
        SequentialClassifier,
        SoftLabels,
        StructuredPerceptron,
        StructuredSVM,
        TextClassifier,
    )

__version__ = "0.1.0"

_HOMES = {
    "Arc": "trellis.features.lattices",
    "CRF": "trellis.models",
    "Cascade": "trellis.cascade",
    "Constraints": "trellis.models",
    "ConvergenceWarning": "trellis.errors",
    "Corpus": "trellis.corpus",
    "HMM": "trellis.models",
    "KernelPerceptron": "trellis.models",
    "Lattice": "trellis.features.lattices",
    "LatticeCRF": "trellis.models",
    "Lattices": "trellis.features.lattices",
    "Lexicon": "trellis.features.lexicon",
    "Node": "trellis.features.lattices",
    "LocalClassifier": "trellis.models",
    "NeuralCRF": "trellis.models",
    "ScoredHMM": "trellis.models",
    "StructuredPerceptron": "trellis.models",
    "StructuredSVM": "trellis.models",
    "SemiCRF": "trellis.models",
    "SequentialClassifier": "trellis.models",
    "Smooth": "trellis.cascade",
    "SoftLabels": "trellis.models",
    "Stage": "trellis.cascade",
    "TextClassifier": "trellis.models",
    "TrellisError": "trellis.errors",
    "augmented": "trellis.fewlabels",
    "evaluate": "trellis.metrics",
    "load": "trellis.cascade",
    "read_conll": "trellis.corpus",
    "sample_corpus": "trellis.corpus",
    "unspaced": "trellis.features.lexicon",
    "write_conll": "trellis.corpus",
}

__all__ = [
    "CRF",
    "HMM",
    "Arc",
    "Cascade",
    "Constraints",
    "ConvergenceWarning",
    "Corpus",
    "KernelPerceptron",
    "Lattice",
    "LatticeCRF",
    "Lattices",
    "Lexicon",
    "LocalClassifier",
    "NeuralCRF",
    "Node",
    "ScoredHMM",
    "SemiCRF",
    "SequentialClassifier",
    "Smooth",
    "SoftLabels",
    "Stage",
    "StructuredPerceptron",
    "StructuredSVM",
    "TextClassifier",
    "TrellisError",
    "augmented",
    "evaluate",
    "load",
    "read_conll",
    "sample_corpus",
    "unspaced",
    "write_conll",
]

__getattr__, __dir__ = lazily(__name__, {name: home.removeprefix("trellis.") for name, home in _HOMES.items()})
