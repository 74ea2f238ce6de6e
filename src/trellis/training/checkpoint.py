"""Checkpoints: a run as description and tensors, what it was made from, and when to write it down."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from trellis.errors import CheckpointError, DamagedModelError
from trellis.optim import traits_of
from trellis.training.loop import Best, Run
from trellis.training.states import Reader, Tensors, Writer

F64 = NDArray[np.float64]
Fingerprint = dict[str, Any]  # name -> a digest, or the value itself where it is short

_LEAST_SECONDS = 10.0  # of work between two checkpoints
_SHARE = 0.01  # of the time may go into writing


@dataclass(frozen=True)
class Checkpoint:
    """A run, whether it was at its end, the `patience` it had, and what it was made from."""

    run: Run
    finished: bool
    patience: int
    fingerprint: Fingerprint

    def parts(self) -> tuple[dict[str, Any], Tensors]:
        """As files hold it."""
        run, writer = self.run, Writer()
        best = run.best
        description = {
            "state": writer.write(run.state),
            "best": None if best is None else writer.write((best.theta, best.value, best.score, best.iteration)),
            "seconds": writer.write(run.seconds),
            "finished": self.finished,
            "patience": self.patience,
            "fingerprint": self.fingerprint,
        }
        return description, writer.tensors

    @classmethod
    def from_parts(
        cls, description: dict[str, Any], tensors: Tensors, this: Fingerprint, size: int | None, path: object
    ) -> Checkpoint:
        """Checks everything, first that it is of `this` training; `size`: the number of weights there should be, None
        for any."""
        if type(description.get("fingerprint")) is dict:
            _refuse(compared(description["fingerprint"], this), path)
        try:
            if set(description) != {"state", "best", "seconds", "finished", "patience", "fingerprint"}:
                raise ValueError("entries of the description")
            reader = Reader(tensors, size)
            state, best = reader.state(description["state"]), None
            if description["best"] is not None:
                best = Best(*reader.read(description["best"], tuple[F64, float, float, int]))
                if not (best.value > -math.inf and math.isfinite(best.score) and best.iteration >= 0):
                    raise ValueError("best development score")
            reader.check_all_used()
            seconds = reader.read(description["seconds"], float)
            patience = reader.read(description["patience"], int)
            finished, fingerprint = reader.read(description["finished"], bool), description["fingerprint"]
            if not (math.isfinite(seconds) and seconds >= 0 and patience >= 1 and type(fingerprint) is dict):
                raise ValueError("record of the run")
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise DamagedModelError(
                f"{path}: the checkpoint's parts do not fit together ({error}); delete it and train from the beginning"
            ) from None
        return cls(Run(state, best, seconds), finished, patience, fingerprint)

    def check_stops(self, max_iter: int, patience: int, path: object) -> None:
        """Refuses to go on where a training that was never interrupted would have stopped before."""
        if self.run.state.iteration > max_iter:
            _refuse([f"is at iteration {self.run.state.iteration}, beyond max_iter={max_iter}"], path)
        if self.run.best is not None and patience < self.patience:
            _refuse([f"was made with patience={self.patience}, this is patience={patience}; it may be raised"], path)


def reopened(run: Run, optimizer: Any, path: object) -> Run:
    """A run that an optimiser had finished because of its own limit goes on where that has been raised since. Refuses
    the state of another kind of optimiser."""
    limit, state = traits_of(type(optimizer)).limit, run.state
    if type(state) is not get_type_hints(optimizer.start)["return"]:
        raise DamagedModelError(
            f"{path}: the checkpoint has a {type(state).__name__}, which is not of its optimizer; delete it and train "
            "from the beginning"
        )
    if limit is None:
        return run
    most = getattr(optimizer, limit)
    if state.done > most:
        _refuse([f"has made {state.done} {limit}, and this is {limit}={most}"], path)
    return replace(run, state=replace(state, finished=False)) if state.finished and state.done < most else run


def _refuse(differences: list[str], path: object) -> None:
    if differences:
        what = "; it ".join(differences)
        raise CheckpointError(f"{path}: the checkpoint {what}; resume with what it was made with, or delete it")


# what stands for digests in messages, which would tell nobody anything
_SOURCES = {
    "labels": "was made from other training data",
    "attributes": "was made with other features or from other training data",
    "constraints": "was made under other constraints",
    "layout": "was made with other weights",
    "seen": "was made from other words or columns",
    "dev": "was made with other development data",
    "start": "began from other weights (a warm start, or vectors)",
}


def compared(made: Fingerprint, this: Fingerprint) -> list[str]:
    """What differs, said of what was made: `was made with l2=1.0, this is l2=2.0`."""
    out: list[str] = []
    for name in [*this, *(name for name in made if name not in this)]:
        old, new = made.get(name), this.get(name)
        if old == new:
            continue
        if name == "model type":
            return [f"was made by a {old}, this is a {new}"]
        if name not in _SOURCES:
            out.append(f"was made with {name}={old!r}, this is {name}={new!r}")
        elif name == "dev" and old is None:
            out.append("was made without development data, this is with some")
        elif name == "dev" and new is None:
            out.append("was made with development data, this is without")
        elif not out:  # what follows from other settings or other labels need not be said again
            out.append(_SOURCES[name])
    return out


class Schedule:
    """Writes now and then: every so many iterations, or else so seldom that it takes about a hundredth of the time."""

    def __init__(self, write: Callable[[Run, bool], None], every: int | None = None):
        self._write, self._every = write, every
        self._next = time.perf_counter() + _LEAST_SECONDS
        self._written: tuple[Callable[[], Run | None], bool] = (lambda: None, False)

    def after_iteration(self, run: Run) -> None:
        due = time.perf_counter() >= self._next if self._every is None else run.state.iteration % self._every == 0
        if due:
            self._write_now(run, False)

    def at_end(self, run: Run, finished: bool) -> None:
        self._write_now(run, finished)

    def _write_now(self, run: Run, finished: bool) -> None:
        if self._written[0]() is run and self._written[1] == finished:
            return
        began = time.perf_counter()
        self._write(run, finished)
        # weakly: the state of a large model would take its memory twice
        self._written, now = (weakref.ref(run), finished), time.perf_counter()
        self._next = now + max(_LEAST_SECONDS, (now - began) / _SHARE)
