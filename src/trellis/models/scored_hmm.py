"""v3 of the ladder: a hidden Markov model whose tables hold scores in place of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.models.crf import CRF

if TYPE_CHECKING:
    from trellis.features.template import Template


def of_own_token(template: Template) -> bool:
    """Whether a template looks at nothing but the token itself."""
    return template.on_labels and all(part.row == 0 and not part.absolute for part in template.parts)


class ScoredHMM(CRF):
    """Emissions and transitions as in an `HMM`, but they are scores, learnt by a loss rather than by counting:

        Score(x, y) = sum_t s_emission(x_t, y_t) + s_transition(y_(t-1), y_t)

    All settings are as for a `CRF`, but of the features only those are used that look at the token itself: no score
    sees a neighbouring word. The score of a sentence's first label is that of the feature `is_first`. (Sentences that
    are given as lists of attributes are taken as they are.)
    """

    _sees = staticmethod(of_own_token)
