"""Label models, by name. A new one is a file with its class, and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.errors import SettingError
from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.weak.models.contract import LabelModel
    from trellis.weak.models.dawid_skene import DawidSkene
    from trellis.weak.models.generative import Generative
    from trellis.weak.models.hmm import HMMAggregator
    from trellis.weak.models.linked import LinkedHMM
    from trellis.weak.models.majority import MajorityVote
    from trellis.weak.models.serial import load
    from trellis.weak.models.triplets import Triplets
    from trellis.weak.models.weighted import WeightedVote

MODELS = {
    "majority": "MajorityVote",
    "weighted": "WeightedVote",
    "dawid-skene": "DawidSkene",
    "generative": "Generative",
    "triplets": "Triplets",
    "hmm": "HMMAggregator",
    "linked-hmm": "LinkedHMM",
}

_HOMES = {
    "DawidSkene": "dawid_skene",
    "Generative": "generative",
    "HMMAggregator": "hmm",
    "LabelModel": "contract",
    "LinkedHMM": "linked",
    "MajorityVote": "majority",
    "Triplets": "triplets",
    "WeightedVote": "weighted",
    "load": "serial",
}

__all__ = [
    "MODELS",
    "DawidSkene",
    "Generative",
    "HMMAggregator",
    "LabelModel",
    "LinkedHMM",
    "MajorityVote",
    "Triplets",
    "WeightedVote",
    "label_model",
    "load",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)


def label_model(name: str) -> type[LabelModel]:
    """The class of a label model by its name."""
    if name not in MODELS:
        raise SettingError(f"there is no label model {name!r}; expected one of {', '.join(MODELS)}")
    found: type[LabelModel] = __getattr__(MODELS[name])
    return found
