"""The paper's figures, in percent: task -> feature set -> method."""

from __future__ import annotations

_POS = {
    "s1": {"log": 94.91, "exp": 94.57, "pointwise-log": 94.90, "pointwise-exp": 94.66, "boosting": 89.42},
    "s2": {"log": 95.68, "exp": 95.25, "pointwise-log": 95.71, "pointwise-exp": 95.31, "boosting": 94.92},
}  # Table 1; boosting is in section 6
_NER = {
    "s1": {"log": 59.92, "exp": 59.68, "pointwise-log": 56.73, "pointwise-exp": 58.26},
    "s2": {"log": 69.75, "exp": 67.30, "pointwise-log": 68.28, "pointwise-exp": 69.51},
    "s3": {"log": 73.62, "exp": 72.11, "pointwise-log": 73.17, "pointwise-exp": 73.82},
}  # Table 2
_NER_METHODS = {
    "s1": {"perceptron": 59.77, "boosting": 48.23},
    "s2": {"perceptron": 69.29, "boosting": 66.11},
    "s3": {"perceptron": 72.97, "boosting": 71.07},
}  # Table 3

PAPER = {
    "ner": {features: {**_NER[features], **_NER_METHODS[features]} for features in _NER},
    "pos": _POS,
    "ptb": _POS,
}


def of_paper(task: str, features: str, method: str) -> float | None:
    """None where the paper has no such figure."""
    return PAPER[task].get(features, {}).get(method)
