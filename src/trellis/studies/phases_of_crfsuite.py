"""CRFsuite's processes of `trellis bench memory`. Like `crfsuite`, they import nothing of ours that is large."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.studies import crfsuite
from trellis.studies.crfsuite import Pattern
from trellis.studies.phases import Marks

IMPORT, READ, TRAINED, OPENED, TAGGED = "import", "corpus and features", "training", "model", "tagging"


def train(
    marks: str, path: str, patterns: Sequence[Pattern], target: int, c2: float, iterations: int, model: str
) -> None:
    """From a file to a model file. Sentences are read and appended one by one: that is one phase."""
    crfsuite.require_pycrfsuite()
    phase = Marks(marks)
    phase.end_of(IMPORT)
    trainer, _ = crfsuite.new_trainer(c2, iterations)
    crfsuite.fill(trainer, path, patterns, target)
    phase.end_of(READ)
    trainer.train(model)
    phase.end_of(TRAINED)


def tag(marks: str, model: str, path: str, patterns: Sequence[Pattern]) -> None:
    """From a file to labels as strings, all of them kept."""
    crfsuite.require_pycrfsuite()
    phase = Marks(marks)
    phase.end_of(IMPORT)
    tagger = crfsuite.open_tagger(model)
    phase.end_of(OPENED)
    labels = crfsuite.tag(tagger, path, crfsuite.string_builder(patterns))
    phase.end_of(TAGGED)
    del labels
