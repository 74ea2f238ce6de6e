"""Models by name: of types on the command line, of kinds in files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from trellis.errors import DamagedModelError, ModelFileError
from trellis.features.functions.contract import check_functions
from trellis.models.crf import CRF
from trellis.models.feature_files import Callables
from trellis.models.hmm import HMM
from trellis.models.kernel_perceptron import KernelPerceptron
from trellis.models.lattice_crf import LatticeCRF
from trellis.models.local_classifier import LocalClassifier
from trellis.models.neural_crf import NeuralCRF
from trellis.models.scored_hmm import ScoredHMM
from trellis.models.semi_crf import SemiCRF
from trellis.models.sequential_classifier import SequentialClassifier
from trellis.models.structured_perceptron import StructuredPerceptron
from trellis.models.structured_svm import StructuredSVM
from trellis.models.tagger import Tagger
from trellis.models.text_classifier import TextClassifier
from trellis.store import read_model

# what `trellis train --model-type` knows: the rungs of the ladder first (docs/ladder.md)
MODEL_TYPES: dict[str, type[Tagger[Any]]] = {
    "local-classifier": LocalClassifier,
    "sequential-classifier": SequentialClassifier,
    "hmm": HMM,
    "scored-hmm": ScoredHMM,
    "crf": CRF,
    "structured-perceptron": StructuredPerceptron,
    "structured-svm": StructuredSVM,
    "semi-crf": SemiCRF,
    "neural-crf": NeuralCRF,
    "kernel-perceptron": KernelPerceptron,
}
# the same for items that are classified as a whole
ITEM_TYPES: dict[str, type] = {"text-classifier": TextClassifier}
# every kind that a file may hold; rooms above add theirs
_KINDS: tuple[type, ...] = (*MODEL_TYPES.values(), LatticeCRF, *ITEM_TYPES.values())
MODELS: dict[str, Any] = {kind.__name__: kind for kind in _KINDS}
_ABOVE = {"Cascade": "trellis.cascade"}  # what is imported when a file asks for it


def load(path: str | Path, functions: Callables | None = None) -> Any:
    """Reads a model file of any kind. Features with functions of your own need these again, by name."""
    functions = {} if functions is None else functions
    check_functions(functions)
    description, tensors = read_model(path)
    if description.get("type") == "label-model":
        raise ModelFileError(f"{path}: is a label model, which reads votes of functions; trellis.weak.load reads it")
    kind = description.get("model")
    if isinstance(kind, str) and kind in _ABOVE:
        import_module(_ABOVE[kind])
    if not isinstance(kind, str) or kind not in MODELS:
        raise DamagedModelError(f"{path}: a model of the unknown kind {kind!r}; known: {', '.join(MODELS)}")
    return MODELS[kind]._from_serialised(description, tensors, path=path, functions=functions)
