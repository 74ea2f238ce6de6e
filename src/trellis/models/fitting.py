"""What surrounds the training of a model: checkpoints, the log, the estimate, progress."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis import __version__
from trellis.errors import CheckpointError, DataError, SettingError
from trellis.memory import given_back
from trellis.models.fingerprint import fingerprint
from trellis.models.recipe import begun
from trellis.models.settings import is_count, plain
from trellis.store import CheckpointFile, RunLog
from trellis.training import Checkpoint, Fingerprint, Outcome, Progress, Run, Schedule, has_ended, reopened, train
from trellis.training.estimate import Estimate, array_bytes, estimate, refined, usual_evaluations

if TYPE_CHECKING:
    from trellis.engine import ThreadedObjective
    from trellis.objective import Examples, Order
    from trellis.optim import Optimizer

F64 = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_LOGGED = ("iteration", "objective", "gradient_norm", "evaluations", "products", "dev_score", "seconds", "active")
_IS = {"checkpoint": "folder", "log": "file"}


class Settings(Protocol):
    """Those of an estimator that are looked at here."""

    l1: float
    l2: float
    tol: float
    max_iter: int
    patience: int
    seed: int

    def get_params(self) -> dict[str, Any]: ...


class Trainable(Protocol):
    """A model in training."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def layout(self) -> Any: ...


class HeldOut(Protocol):
    """Development data: the score of weights there, and what it is made of."""

    @property
    def content(self) -> object: ...

    @property
    def tokens(self) -> int: ...

    def __call__(self, theta: F64, /) -> float: ...


@dataclass(frozen=True)
class _Restoring:
    """Development data that are shown weights in another order than theirs."""

    held_out: HeldOut
    order: Order

    @property
    def content(self) -> object:
        return self.held_out.content

    @property
    def tokens(self) -> int:
        return self.held_out.tokens

    def __call__(self, theta: F64, /) -> float:
        return self.held_out(self.order.restored(theta))


class Fitting:
    """One call of `fit`: where it is written down, and who hears of it."""

    def __init__(
        self,
        estimator: Settings,
        checkpoint: str | Path | None,
        resume: bool,
        checkpoint_every: int | None,
        log: str | Path | None,
        progress: Callable[[Progress], None] | None,
    ):
        for name, path in (("checkpoint", checkpoint), ("log", log)):
            if path is not None and not (isinstance(path, str | Path) and str(path)):
                raise SettingError(f"{name} is {path!r}; expected the name of a {_IS[name]}")
        if not isinstance(resume, bool):
            raise SettingError(f"resume is {resume!r}; expected True or False")
        if checkpoint is None and (resume or checkpoint_every is not None):
            name = "resume" if resume else "checkpoint_every"
            raise SettingError(f"{name} has no meaning without a folder for the checkpoint; give checkpoint too")
        if checkpoint_every is not None and not is_count(checkpoint_every):
            raise SettingError(f"checkpoint_every is {checkpoint_every!r}; expected a whole number of iterations >= 1")
        self._estimator, self._progress, self._every, self._resume = estimator, progress, checkpoint_every, resume
        self._file = None if checkpoint is None else CheckpointFile(checkpoint)
        self._log = None if log is None else RunLog(log, append=resume)
        self._made_from: Fingerprint = {}
        self._sizes: dict[str, int] = {}
        self._expected: float | None = None  # seconds
        self._written: int | None = None  # iteration
        if self._file is not None:
            self._file.prepare()
            if not resume and self._file.path.exists():
                raise CheckpointError(
                    f"{self._file.path}: there is a checkpoint already; go on from it with resume=True (--resume), "
                    "or delete it to start afresh"
                )

    def describe_as(self, sizes: dict[str, int], made_from: Callable[[], Fingerprint]) -> None:
        """The same for trainings of another kind; `made_from` is asked if it is needed."""
        self._sizes = sizes
        if self._file is not None:
            self._made_from = made_from()

    def describe(
        self,
        model: Trainable,
        examples: Examples,
        dev: HeldOut | None,
        theta: F64,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Notes what the training is made from, while it is all there. `more`: settings beside the estimator's."""
        layout = model.layout
        self._sizes = {
            "sentences": len(examples.offsets) - 1,
            "tokens": len(examples.gold),
            "labels": len(model.labels),
            "attributes": layout.attributes,
            "weights": len(theta),
        }
        if self._file is not None:
            content = None if dev is None else dev.content
            kind, params = type(self._estimator).__name__.lower(), {**self._estimator.get_params(), **(more or {})}
            self._made_from = fingerprint(kind, params, model.labels, examples, layout, content, theta)

    def minimised(
        self,
        shards: Sequence[Any],
        prior: Any,
        optimizer: Optimizer,
        theta: F64,
        dev: HeldOut | None,
        data: Sequence[object],
        threads: int,
    ) -> Outcome:
        """Trains on shards, from theta, to weights that are numbers."""
        from trellis.engine import ThreadedObjective
        from trellis.objective import L2, Shard, order_by_appearance
        from trellis.optim import traits_of

        # other priors may be about certain weights, boosting goes by their numbers, and cascades have other shards
        any_order = isinstance(prior, L2) and traits_of(type(optimizer)).uses_prior
        any_order = any_order and all(isinstance(shard, Shard) for shard in shards)
        order = order_by_appearance(shards, len(theta)) if any_order else None
        if order is not None:
            theta, dev = order.of(theta), None if dev is None else _Restoring(dev, order)
            self._made_from |= {"order of weights": "by appearance"} if self._file is not None else {}
        keeps = {name: getattr(optimizer, name) for name in ("cache", "hvp") if hasattr(optimizer, name)}
        l1 = self._estimator.l1
        with given_back(), ThreadedObjective(shards, len(theta), prior, threads, l1, **keeps) as objective:
            outcome = self.train(objective, optimizer, theta, dev, data)
        if not (np.isfinite(outcome.theta).all() and math.isfinite(outcome.objective)):
            raise DataError("training led to weights that are no numbers; are there extreme feature values?")
        return outcome if order is None else replace(outcome, theta=order.restored(outcome.theta))

    def train(
        self,
        objective: Any,
        optimizer: Any,
        theta: F64,
        dev: HeldOut | None,
        data: Sequence[object] = (),
    ) -> Outcome:
        """Trains from theta, or goes on where an interrupted training was. `objective`: what the optimiser works on;
        `data`: what is in memory beside it."""
        from trellis.optim import traits_of

        settings, resumed = self._estimator, self._resumed(objective, optimizer, len(theta))
        theta = self._begun(objective, optimizer, theta) if resumed is None else theta
        log = self._log
        with nullcontext() if log is None else closing(log):
            guess = self._estimate(objective, optimizer, theta, dev, data, resumed, log is not None)
            if log is not None:
                log.write(*self._first_line(resumed, guess))
            keeper = None if self._file is None else Schedule(self._write, self._every)
            try:
                outcome = train(
                    objective, optimizer, theta, settings.max_iter, dev, settings.patience, self._report(log),
                    keeper, resumed, warm=bool(theta.any()),
                )  # fmt: skip
            except KeyboardInterrupt:
                if log is not None:
                    log.write("interrupted", {"checkpoint": self._written})
                if self._written:  # iteration 0 is the start
                    _LOG.info("interrupted; iteration %d is kept, go on with resume=True (--resume)", self._written)
                raise
            if traits_of(type(optimizer)).any_end and not outcome.stuck:
                outcome = replace(outcome, converged=True)
            outcome = self._ended(objective, outcome)
            if log is not None:
                log.write("end", self._last_line(outcome))
        return outcome

    def _begun(self, objective: ThreadedObjective, optimizer: Optimizer, theta: F64) -> F64:
        return begun(objective, optimizer, theta, self._estimator.seed)

    def _ended(self, objective: Any, outcome: Outcome) -> Outcome:
        """What came of it, in a training that has to look at it once more."""
        return outcome

    def _resumed(self, objective: Any, optimizer: Any, size: int | None) -> Run | None:
        if self._file is None or not self._resume:
            return None
        found, path = self._file.read(), self._file.path
        if found is None:
            _LOG.info("no checkpoint in %s; training starts afresh", path.parent)
            return None
        checkpoint = Checkpoint.from_parts(*found, self._made_from, size, path)
        checkpoint.check_stops(self._estimator.max_iter, self._estimator.patience, path)
        run = reopened(checkpoint.run, optimizer, path)
        if has_ended(run, self._estimator.max_iter, self._estimator.patience):
            _LOG.info("training had ended at iteration %d; nothing is left to do (%s)", run.state.iteration, path)
        else:
            _LOG.info("training goes on from iteration %d (%s)", run.state.iteration, path)
        return run

    def _write(self, run: Run, finished: bool) -> None:
        assert self._file is not None
        checkpoint = Checkpoint(run, finished, self._estimator.patience, self._made_from)
        self._file.write(*checkpoint.parts())
        self._written = run.state.iteration

    def _report(self, log: RunLog | None) -> Callable[[Progress], None] | None:
        if log is None and self._progress is None:
            return None

        def report(now: Progress) -> None:
            if log is not None:
                values = asdict(now)
                log.write("iteration", {**{name: values[name] for name in _LOGGED}, **now.more})
            if self._progress is not None:
                left = refined(now.seconds, now.fraction, self._expected)
                self._progress(replace(now, seconds_left=left))

        return report

    def _is_heard(self, resumed: Run | None, wanted: bool) -> bool:
        """Whether there is something to estimate, and somebody to be told."""
        settings = self._estimator
        ended = resumed is not None and has_ended(resumed, settings.max_iter, settings.patience)
        return not ended and (wanted or _LOG.isEnabledFor(logging.INFO))

    def _estimate(
        self,
        objective: ThreadedObjective,
        optimizer: Optimizer,
        theta: F64,
        dev: HeldOut | None,
        data: Sequence[object],
        resumed: Run | None,
        wanted: bool,
    ) -> Estimate | None:
        """None when nobody would hear of it: it costs an evaluation."""
        from trellis.optim import bytes_of

        settings = self._estimator
        if not self._is_heard(resumed, wanted):
            return None
        done = 0.0 if resumed is None else optimizer.fraction_done(resumed.state)
        usual = usual_evaluations(self._sizes["tokens"], settings.l2 + settings.l1, settings.tol, settings.max_iter)
        usual *= optimizer.usual_work(objective)
        for shard in objective.shards[:1]:  # loads the kernels
            shard.value_and_gradient(theta)
        guess = estimate(
            lambda: objective.value_and_gradient(theta),
            None if dev is None else lambda: dev(theta),
            (1.0 - done) * usual,
            lambda: array_bytes(objective.shards, *data, dev) + bytes_of(optimizer, objective, len(theta)),
        )
        self._expected = guess.seconds if resumed is None else resumed.seconds + guess.seconds
        _LOG.info("training will take %s", guess)
        return guess

    def _first_line(self, resumed: Run | None, guess: Estimate | None) -> tuple[str, dict[str, Any]]:
        settings = {name: plain(value) for name, value in self._estimator.get_params().items()}
        return ("start" if resumed is None else "resume"), {
            "trellis": __version__,
            "settings": settings,
            **self._sizes,
            "iteration": 0 if resumed is None else resumed.state.iteration,
            "expected_seconds": None if guess is None else guess.seconds,
            "expected_bytes": None if guess is None else guess.bytes,
        }

    def _last_line(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "iterations": outcome.iterations,
            "objective": outcome.objective,
            "evaluations": outcome.evaluations,
            "products": outcome.products,
            "converged": outcome.converged,
            "stopped_early": outcome.stopped_early,
            "stuck": outcome.stuck,
            "dev_score": outcome.dev_score,
            "seconds": outcome.seconds,
            "active": int(np.count_nonzero(outcome.theta)),
        }
