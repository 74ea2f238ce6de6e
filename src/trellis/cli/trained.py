"""What `trellis train` says of a training that has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.cli.choosing import is_cascade
from trellis.cli.console import amount, say


def report(tagger: Any, model: str, dev: str | None, seconds: float) -> None:
    """For people, in a line or two."""
    labels: object = len(tagger.classes_)
    what = ""
    if is_cascade(tagger):
        labels = " + ".join(str(len(one)) for one in tagger.classes_.values())
        last = list(tagger.outcomes_)[-1]
        what = "joint training: " if _joint(tagger) is not None else f"stage '{last}': "
    say(
        f"{what}objective {amount(tagger.objective_)} after {tagger.iterations_} iterations; {labels} labels, "
        f"{tagger.model_.summary}; wrote {model} ({Path(model).stat().st_size / 1e6:.1f} MB) "
        f"in {seconds:.1f} s"
    )
    if tagger.dev_score_ is not None:
        ended = "stopped early" if tagger.stopped_early_ else "ended"
        say(f"best score on {dev}: {100 * tagger.dev_score_:.2f}; training {ended}, the best weights were kept")


def as_json(tagger: Any, model: str, seconds: float) -> dict[str, object]:
    """For scripts."""
    found: dict[str, object] = {
        **_of(tagger, "_"),
        "seconds": seconds,
        "parameters": len(tagger.model_.weights),
        "active": int((tagger.model_.weights != 0).sum()),
        "model": model,
        "dev_score": tagger.dev_score_,
    }
    if is_cascade(tagger):
        joint = _joint(tagger)
        found["stages"] = {name: _of(one) for name, one in tagger.outcomes_.items() if one is not joint}
        found["joint"] = None if joint is None else _of(joint)
    return found


def ended_well(tagger: Any) -> bool:
    """Whether training reached its goal: of a cascade every one."""
    if is_cascade(tagger):
        return all(one.converged or one.stopped_early for one in tagger.outcomes_.values())
    return bool(tagger.converged_ or tagger.stopped_early_)


def _joint(cascade: Any) -> Any:
    """How joint training ended, if there was one; the stages before it are told apart by their targets."""
    last = list(cascade.outcomes_)[-1]
    return cascade.outcomes_[last] if last not in cascade.targets_ else None


def _of(outcome: Any, end: str = "") -> dict[str, object]:
    return {name: getattr(outcome, name + end) for name in ("objective", "evaluations", "iterations", "converged")}
