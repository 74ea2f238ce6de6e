"""Cascades: several labelings of the same text, upper ones reading lower ones (Azuma & Matsumoto 2011)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.answering import Answering
from trellis.cascade.believing import WIRES
from trellis.cascade.joint_settings import JointSettings, check_joint
from trellis.cascade.model import CascadeModel
from trellis.cascade.stage import Stage, in_order
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.features import TemplateFeatures, callables_of
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.feature_files import Callables
from trellis.models.filed import Filed, Serialised
from trellis.models.settings import check_probability, check_settings, is_count
from trellis.training import Outcome, Progress

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

SCHEDULES = ("together", "alternate")
_MANY = 1_000_000  # paths, or rounds, that nobody wants


class Cascade(Answering, Filed):
    """Stages that label the same text, where upper ones read what lower ones believe.

    stages: `Stage`s, in any order.
    wire: what an upper stage sees of a lower one: gold (its annotation), onebest (its best labels), kbest (its k best
    paths), sample (paths drawn at random), marginal (how probable each label is), or joint: the same, and the lower
    stage also learns from the mistakes that it leads the upper one to.
    k, samples: how many paths, for kbest and sample.
    least: what is less probable is not read.
    jackknife: upper stages learn from lower ones that have not seen the sentence, and in joint training these learn so
    themselves: the training data are cut into so many folds, at most one for each sentence (0: off; not for gold).
    Sentences are folded as they stand; shuffle them if they are in order. In joint training lower stages must be CRFs
    without only_seen and tag_dictionary.
    schedule: whether joint training is of all stages together, or in turns (alternate), of each stage `rounds` times.
    frozen: targets of stages (or one of them) that joint training leaves as they are.
    optimizer, options, max_iter, tol, patience: of joint training; stages have their own.
    seed, threads: as for `CRF`.

    After `fit`: `model_`, `outcomes_` (of each training by itself), `objective_`, `iterations_`, `evaluations_` of the
    last training, `converged_` (whether all did), `seconds_` in all, and `columns_`.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        wire: str = "joint",
        k: int = 10,
        samples: int = 100,
        least: float = 1e-4,
        jackknife: int = 0,
        schedule: str = "together",
        rounds: int = 2,
        frozen: str | Sequence[str] = (),
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.stages = stages
        self.wire = wire
        self.k = k
        self.samples = samples
        self.least = least
        self.jackknife = jackknife
        self.schedule = schedule
        self.rounds = rounds
        self.frozen = frozen
        self.optimizer = optimizer
        self.options = options
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.seed = seed
        self.threads = threads

    def fit(
        self,
        X: Corpus,
        *,
        dev: Corpus | None = None,
        start: Cascade | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on a corpus with a column for each stage's target.

        dev: training stops when the last stage's score there no longer rises (in its own training, each stage's).
        start: a trained cascade whose weights to begin with, by the names of stages, attributes and labels; joint
        training then begins with these at once.
        The rest is as for `CRF.fit`; each training keeps its checkpoint and its log under the name of its stage, or
        `joint`.
        """
        from trellis.cascade.development import check_development
        from trellis.cascade.learning import Learning
        from trellis.models.keeping import Keeping
        from trellis.models.recipe import optimizer_of

        began = time.perf_counter()
        stages = self.check()
        if not isinstance(X, Corpus):
            raise DataError(f"a cascade learns from a corpus with columns (read_conll), not from {type(X).__name__}")
        begun = None if start is None else _model_of(start)
        if begun is not None and self.jackknife and self.wire == "joint":
            raise SettingError("folds know nothing of what a start has learned; leave jackknife or start out")
        if dev is not None:
            at_once = begun is not None and self.wire == "joint"
            check_development(dev, [stage.target for stage in (stages[-1:] if at_once else stages)])
        keeping = Keeping(checkpoint, resume, checkpoint_every, log, progress)
        learning = Learning(self, stages, X, dev, keeping, begun)
        outcomes = {}
        if start is None or self.wire != "joint":
            found = learning.stage_by_stage()
            outcomes = {stage.target: outcome for stage, outcome in zip(stages, found, strict=True)}
        if self.wire == "joint":
            learning.model = replace(learning.model, wire="joint")
            if len(stages) > 1 or start is not None:
                outcomes["joint"] = learning.together()
        self.outcomes_ = outcomes
        last = list(outcomes.values())[-1]
        self._adopt(learning.model, last, list(X.file_columns or X.columns), outcomes.values())
        self.seconds_ = time.perf_counter() - began
        for name, outcome in outcomes.items():
            settings: Any = self._settings if name == "joint" else next(s for s in stages if s.target == name)
            estimator = settings if name == "joint" else settings.estimator(self.seed, None)
            training = "joint training: " if name == "joint" else f"stage '{name}': "
            warn_of_scores(outcome, training)
            warn_of_stop(outcome, optimizer_of(estimator), training)
        return self

    def _adopt(
        self, model: CascadeModel, outcome: Outcome, columns: list[str], outcomes: Iterable[Outcome] | None = None
    ) -> None:
        """`outcome`: of the last training; `outcomes`: of all of them."""
        self.model_ = model
        self.columns_ = columns
        self.objective_ = outcome.objective
        self.converged_ = outcome.converged if outcomes is None else all(one.converged for one in outcomes)
        self.iterations_ = outcome.iterations
        self.evaluations_ = outcome.evaluations
        self.seconds_ = outcome.seconds
        self.stopped_early_ = outcome.stopped_early
        self.dev_score_ = outcome.dev_score

    # files

    def _serialised(self) -> Serialised:
        from trellis.cascade.serial import description_of

        return description_of(self)

    @classmethod
    def _from_serialised(cls, description: Any, tensors: Any, path: str | Path, functions: Callables) -> Self:
        from trellis.cascade.serial import cascade_from

        cascade: Any = cascade_from(cls, description, tensors, path, functions)
        return cast(Self, cascade)

    def _functions(self) -> Callables:
        found: dict[str, Any] = {stage.target: stage.smooth for stage in self.stages if stage.smooth is not None}
        for stage in self._model.stages:
            context = None if stage.wiring is None else stage.wiring.context
            for features in (stage.model.features, context):
                found.update(features.functions if isinstance(features, TemplateFeatures) else {})
        return found

    # settings

    @property
    def _frozen(self) -> list[str]:
        return [self.frozen] if isinstance(self.frozen, str) else list(self.frozen)

    @property
    def _settings(self) -> JointSettings:
        return JointSettings(self)

    def check(self) -> list[Stage]:
        """The stages, lower ones first; SettingError for what does not fit."""
        check_settings(self)
        if not isinstance(self.stages, Sequence) or not self.stages:
            raise SettingError(f"stages is {shown(self.stages)}; expected a list of trellis.Stage")
        for stage in self.stages:
            if not isinstance(stage, Stage):
                raise SettingError(f"stages has {shown(stage)}; expected trellis.Stage('target', ...)")
        if self.wire not in WIRES:
            raise SettingError(f"wire is {shown(self.wire)}; expected {', '.join(WIRES)}")
        for name in ("k", "samples", "rounds"):
            if not is_count(getattr(self, name)) or getattr(self, name) > _MANY:
                raise SettingError(
                    f"{name} is {shown(getattr(self, name))}; expected a whole number from 1 to {_MANY:,}"
                )
        if check_probability("least", self.least) >= 0.5:
            raise SettingError(f"least is {self.least!r}; expected a small probability, below 0.5")
        if self.jackknife != 0 and not (is_count(self.jackknife) and self.jackknife > 1):
            raise SettingError(f"jackknife is {shown(self.jackknife)}; expected a whole number, 2 folds or more, or 0")
        names = [stage.target for stage in self.stages]
        for name in self._frozen:
            if name not in names:
                raise SettingError(f"frozen names '{name}', which no stage predicts; there are: {', '.join(names)}")
        if self._frozen and self.wire != "joint":
            raise SettingError(f"frozen is for joint training, and the wire is '{self.wire}'; leave it out")
        if set(names) <= set(self._frozen):
            raise SettingError("frozen names all stages, and joint training needs one to train; leave one out")
        if self.jackknife and self.wire == "gold":
            raise SettingError("jackknife has no meaning with the wire 'gold'; leave it out")
        if self.jackknife and not any(stage.reads for stage in self.stages):
            raise SettingError("jackknife is for stages that read others, and none does; leave it out, or give `reads`")
        if self.schedule not in SCHEDULES:
            raise SettingError(f"schedule is {shown(self.schedule)}; expected {' or '.join(SCHEDULES)}")
        ordered = in_order(self.stages)
        for stage in self.stages:
            if stage.smooth is not None and any(stage.target in callables_of(one.features) for one in self.stages):
                raise SettingError(f"a function of features has the name of the stage '{stage.target}'; rename it")
        if self.wire == "joint":
            check_joint(self)
        return ordered


def _model_of(start: object) -> CascadeModel:
    if not isinstance(start, Cascade):
        raise SettingError(f"start is {shown(start)}; expected a trained Cascade (trellis.load reads one)")
    return start._model
