"""A trained cascade as description and tensors, and back.

In the description `stages` has for each stage, lower ones first, its table of settings, the numbers of the stages that
it reads and what it reads of them, and the description of its model (see `models.serial`), whose tensors are under the
stage's number: 0.weights, 1.read.vocabulary, ...
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.cascade.believing import WIRES
from trellis.cascade.model import CascadeModel, TrainedStage
from trellis.cascade.packing import StageModel
from trellis.cascade.parting import check_columns
from trellis.cascade.stage import KINDS, Smooth, Stage
from trellis.cascade.wiring_serial import get_wiring, put_wiring
from trellis.errors import DamagedModelError, SettingError
from trellis.labels.encode import labels_of
from trellis.models import NeuralCRF, SemiCRF
from trellis.models.feature_files import Callables
from trellis.models.neural_chain import NeuralChain
from trellis.models.neural_serial import neural_description_of, neural_model_from
from trellis.models.segment_model import SegmentModel
from trellis.models.segment_serial import segment_description_of, segment_model_from
from trellis.models.serial import check_training, model_from, reading
from trellis.models.serial import description_of as chain_description_of
from trellis.models.settings import plain
from trellis.store import Tensors
from trellis.training import Outcome

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade

_NO_TRAINING: dict[str, Any] = {
    "objective": 0.0, "converged": True, "iterations": 0, "evaluations": 0, "stopped_early": False, "dev_score": None,
    "columns": [],
}  # fmt: skip


def description_of(cascade: Cascade) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the cascade."""
    model = cascade._model
    params = {name: plain(value) for name, value in cascade.get_params().items() if name not in ("stages", "threads")}
    params["frozen"] = cascade._frozen
    training = {
        "objective": float(cascade.objective_), "converged": cascade.converged_, "iterations": cascade.iterations_,
        "evaluations": cascade.evaluations_, "stopped_early": cascade.stopped_early_, "dev_score": cascade.dev_score_,
        "columns": cascade.columns_,
    }  # fmt: skip
    tables = {stage.target: stage.table() for stage in cascade.stages}
    stages: list[dict[str, Any]] = []
    tensors: Tensors = {}
    for s, stage in enumerate(model.stages):
        described, own = _writer(stage.model)(tables[stage.target]["model"], {}, _NO_TRAINING, stage.model)
        read: Tensors = {}
        wiring = None if stage.wiring is None else put_wiring(read, stage.wiring)
        tensors |= {f"{s}.{name}": values for name, values in own.items()}
        tensors |= {f"{s}.read.{name}": values for name, values in read.items()}
        table = tables[stage.target]
        stages.append({"table": table, "reads": list(stage.reads), "wiring": wiring, "model": described})
    how = {"wire": model.wire, "least": model.least, "paths": model.paths, "seed": model.seed}
    return {"model": "Cascade", "params": params, "training": training, "stages": stages, "how": how}, tensors


def cascade_from(
    kind: type[Cascade], description: dict[str, Any], tensors: Tensors, path: str | Path, functions: Callables
) -> Cascade:
    """The cascade, checked; one typed error for whatever does not fit."""
    if description.get("model") != "Cascade":
        raise DamagedModelError(
            f"{path}: a model of the kind {description.get('model')!r}, not Cascade; trellis.load reads any"
        )
    with reading(path):
        if set(description) != {"format", "model", "params", "training", "stages", "how"}:
            raise ValueError("entries of the description")
        params, training, how = description["params"], description["training"], description["how"]
        known = [name for name in kind._parameter_names() if name not in ("stages", "threads")]
        if type(params) is not dict or not set(params) <= set(known) or type(description["stages"]) is not list:
            raise ValueError("parameters")
        check_training(training)
        tensors, tables = dict(tensors), []
        stages: list[TrainedStage] = []
        for s, found in enumerate(description["stages"]):
            prefix = f"{s}."
            own = {name.removeprefix(prefix): tensors.pop(name) for name in list(tensors) if name.startswith(prefix)}
            table, stage = _stage(found, own, description["format"], stages, functions, path)
            tables.append(table)
            stages.append(stage)
        if tensors or not stages:
            raise ValueError("tensors of no stage")
        for stage in stages:
            check_columns(stage.model.features, stage.wiring, [one.target for one in stages])
        model = CascadeModel(tuple(stages), *_how(how, params))
        cascade = kind(stages=tables, **{**params, "frozen": tuple(params.get("frozen", ()))})
    try:
        cascade.check()
    except SettingError as error:
        raise DamagedModelError(f"{path}: the model's settings do not fit: {error}") from None
    outcome = Outcome(
        stages[-1].model.weights, training["objective"], training["iterations"], training["evaluations"],
        training["converged"], training["stopped_early"], False, 0.0, training["dev_score"],
    )  # fmt: skip
    cascade._adopt(model, outcome, training["columns"])
    return cascade


def _stage(
    found: Any, own: Tensors, version: int, lower: list[TrainedStage], functions: Callables, path: str | Path
) -> tuple[Stage, TrainedStage]:
    if type(found) is not dict or set(found) != {"table", "reads", "wiring", "model"}:
        raise ValueError("entries of a stage")
    table, reads = dict(found["table"]), found["reads"]
    target = table["target"]
    smooth: Any = functions.get(target) if table.pop("smooth") else None
    if found["table"]["smooth"] and not isinstance(smooth, Smooth):
        raise SettingError(f"stage '{target}' has a function of probabilities; give it again: "
                           f"load(..., functions={{'{target}': Smooth(...)}})")  # fmt: skip
    try:
        stage = Stage.of_table(table, smooth)
    except SettingError as error:
        raise ValueError(str(error)) from None
    if type(reads) is not list or not all(type(k) is int and 0 <= k < len(lower) for k in reads):
        raise ValueError("stages that are read")
    wiring = None
    if found["wiring"] is not None:
        read = {name.removeprefix("read."): own.pop(name) for name in list(own) if name.startswith("read.")}
        names = {lower[k].target: lower[k].labels for k in reads}
        wiring = get_wiring(read, found["wiring"], names, version, functions)
        if read or [lower[k].target for k in reads] != list(wiring.lower):
            raise ValueError("what is read")
    elif reads:
        raise ValueError("what is read")
    if sorted(lower[k].target for k in reads) != sorted(stage.reads):
        raise ValueError("what is read")
    described = {**found["model"], "format": version}
    more = (0, 0) if wiring is None else (wiring.attributes, wiring.arc_attributes)
    model: StageModel
    kind = KINDS[stage.model]
    if kind is SemiCRF:
        if more[1]:
            raise ValueError("attributes on transitions")
        _, _, model = segment_model_from(described, own, [], path, functions, more[0])
        labels = tuple(labels_of(model.kinds, "iob2"))
    else:
        read_model: Any = neural_model_from if kind is NeuralCRF else model_from
        _, _, model = read_model(described, own, [], path, functions, more)
        labels = model.labels
    curve = None if stage.smooth is None else stage.smooth.curve
    return stage, TrainedStage(str(target), model, labels, tuple(reads), wiring, curve)


def _writer(model: StageModel) -> Any:
    if isinstance(model, SegmentModel):
        return segment_description_of
    return neural_description_of if isinstance(model, NeuralChain) else chain_description_of


def _how(how: Any, params: dict[str, Any]) -> tuple[str, float, int, int]:
    """Which has to agree with the cascade's settings."""
    if type(how) is not dict or set(how) != {"wire", "least", "paths", "seed"}:
        raise ValueError("how stages are read")
    wire, least, paths, seed = how["wire"], how["least"], how["paths"], how["seed"]
    if wire not in WIRES or type(least) is not float or not 0.0 <= least < 0.5:
        raise ValueError("how stages are read")
    if type(paths) is not int or paths < 1 or type(seed) is not int or seed < 0:
        raise ValueError("how stages are read")
    said = params.get("k", paths) if wire == "kbest" else params.get("samples", paths)
    if wire != params.get("wire", wire) or seed != params.get("seed", seed) or paths != said:
        raise ValueError("how stages are read")
    if abs(least - params.get("least", least)) > 1e-90:
        raise ValueError("how stages are read")
    return wire, least, paths, seed
