"""Models that have scores but no probabilities: what cannot be asked of them, though their lattices would answer.

Scores that were learnt from mistakes or margins say which path is the best, not by how much: exp(score) over its sum
is a number between 0 and 1 and no more. Nor can they be learnt from labels that are not certain.
"""

from __future__ import annotations

import inspect
from typing import Any

from trellis.errors import SettingError


class Improbable:
    """To be named before a `ProbableTagger`. The best labels, with constraints or near the best, are still there."""

    def predict_marginals(self, *given: Any, **named: Any) -> Any:
        raise self._without("marginals")

    def predict_kbest(self, *given: Any, **named: Any) -> Any:
        raise self._without("k best labellings with their probabilities")

    def predict_spans(self, *given: Any, **named: Any) -> Any:
        raise self._without("spans with a probability")

    def predict_candidates(self, *given: Any, **named: Any) -> Any:
        raise self._without("probable spans")

    def predict_posterior(self, *given: Any, **named: Any) -> Any:
        raise self._without("posterior labels")

    def sample(self, *given: Any, **named: Any) -> Any:
        raise self._without("samples")

    def entropy(self, *given: Any, **named: Any) -> Any:
        raise self._without("entropy")

    def log_probability(self, *given: Any, **named: Any) -> Any:
        raise self._without("probabilities of labels")

    def _without(self, what: str) -> SettingError:
        kind = type(self).__name__
        return SettingError(f"a {kind} has scores but no probabilities, so it has no {what}; use a CRF for these")


def learns_soft(learner: Any) -> bool:
    """Whether a tagger (classifier) can be fitted to soft labels."""
    return "soft" in inspect.signature(learner.fit).parameters and not isinstance(learner, Improbable)
