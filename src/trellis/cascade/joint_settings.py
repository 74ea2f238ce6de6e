"""A cascade's settings as joint training looks at them, and what it cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.errors import SettingError
from trellis.models.recipe import loss_name, optimizer_of

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade

JOINT = ("auto", "lbfgs", "newton-cg", "cg", "sgd")


class JointSettings:
    """See `Fitting`."""

    loss: str | None = None
    l1 = 0.0
    l2 = 1.0
    hyperbolic = 0.0

    def __init__(self, cascade: Cascade):
        self._cascade = cascade

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cascade, name)

    def get_params(self) -> dict[str, Any]:
        params = self._cascade.get_params()
        tables = [stage.table() for stage in self._cascade.stages]
        return {**params, "frozen": self._cascade._frozen, "stages": tables, "l2": self.l2}


def check_joint(cascade: Cascade) -> None:
    """SettingError for what joint training cannot do, before hours are spent on the stages."""
    optimizer = optimizer_of(JointSettings(cascade))
    if cascade.optimizer not in JOINT:
        raise SettingError(
            f"a cascade cannot be trained jointly with the optimizer '{cascade.optimizer}'; use {', '.join(JOINT)}"
        )
    if cascade.optimizer == "sgd" and (cascade._frozen or cascade.schedule == "alternate"):
        what = "no stages that are frozen" if cascade._frozen else "not the schedule 'alternate'"
        raise SettingError(f"sgd trains all stages together, and knows {what}; use auto, lbfgs, cg or newton-cg")
    if getattr(optimizer, "hvp", None) == "ad":
        raise SettingError("hvp='ad' is for a single CRF; products with the joint Hessian are exact, leave it out")
    _check_encoders(cascade)
    for stage in cascade.stages:
        estimator = stage.estimator(0, None)
        if estimator.optimizer == "boosting" or loss_name(estimator) == "perceptron":
            raise SettingError(
                f"stage '{stage.target}': the optimizer '{estimator.optimizer}' has a loss and no prior, and joint "
                "training could not go on with that; use lbfgs or auto, or another wire"
            )
        if estimator.l1 > 0:
            raise SettingError(f"stage '{stage.target}': joint training knows no l1; use l2, or another wire")
    read = {name for stage in cascade.stages for name in stage.reads}
    for stage in cascade.stages:
        if not cascade.jackknife or stage.target not in read:
            continue
        limits = [name for name in ("only_seen", "tag_dictionary") if stage.settings.get(name)]
        if stage.model != "crf" or limits:
            what = "are of the model crf" if stage.model != "crf" else f"are without {limits[0]}"
            raise SettingError(
                f"stage '{stage.target}': jackknife in joint training is for lower stages that {what}; use the wire "
                "marginal, or leave jackknife out"
            )


def _check_encoders(cascade: Cascade) -> None:
    """With an encoder somewhere, joint training goes by Adam, which knows less than other optimisers."""
    neural = [stage.target for stage in cascade.stages if stage.model == "neural-crf"]
    if not neural:
        return
    for is_given, what in (
        (cascade.optimizer != "auto", f"the optimizer '{cascade.optimizer}'"),
        (bool(cascade._frozen), "stages that are frozen"),
        (cascade.schedule == "alternate", "the schedule 'alternate'"),
        (bool(cascade.jackknife), "jackknife"),
        (any(stage.settings.get("hyperbolic") for stage in cascade.stages), "the prior hyperbolic"),
    ):
        if is_given:
            raise SettingError(
                f"stage '{neural[0]}' has an encoder, with which all stages are trained together by Adam, and that "
                f"knows no {what.removeprefix('the ')}; leave it out, or use the wire marginal"
            )
