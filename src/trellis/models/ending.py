"""What is said at the end of a training that did not go as it should."""

from __future__ import annotations

import warnings
from typing import Any

from trellis.errors import ConvergenceWarning
from trellis.training import Outcome

_CALLER = 3  # of `fit`


def warn_of_scores(outcome: Outcome, training: str = "") -> None:
    """`training`: which one of several it was, with a colon."""
    if outcome.dev_score == 0.0:
        message = f"{training}the score on the development data never rose above 0; has it the same labels?"
        warnings.warn(message, stacklevel=_CALLER)


def warn_of_stop(outcome: Outcome, optimizer: Any, training: str = "") -> None:
    """If it did not come to its end. `training`: as above."""
    from trellis.optim import traits_of

    if outcome.converged or outcome.stopped_early:
        return
    if outcome.missed:
        epochs = "epoch" if outcome.missed == 1 else f"{outcome.missed} epochs"
        why = f"the last {epochs} led too far and left nothing behind; give a smaller step_size"
    elif outcome.stuck:
        why = "no step lowers the objective (extreme feature values?)"
    else:
        limit = traits_of(type(optimizer)).limit
        own = limit is not None and outcome.iterations >= getattr(optimizer, limit)
        why = f"raise {f'the option {limit}' if own else 'max_iter'} (now {outcome.iterations}) or tol"
    message = f"{training}training stopped after {outcome.iterations} iterations before it converged; {why}"
    warnings.warn(message, ConvergenceWarning, stacklevel=_CALLER)
