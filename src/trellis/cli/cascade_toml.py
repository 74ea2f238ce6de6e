"""`trellis train --show-config` of a cascade: a TOML file with every setting of it and of its stages."""

from __future__ import annotations

import inspect
from typing import Any

import click

from trellis.cli import config
from trellis.cli.cascade import OPTIONS, given_in, own_settings, stage_settings, stages_of
from trellis.cli.toml import knob

_ABOUT = {
    "wire": "What upper stages see of lower ones: gold, onebest, kbest, sample, marginal or joint.",
    "k": "Paths for kbest.",
    "samples": "Paths for sample.",
    "least": "Labels that are less probable are not read (marginal, joint).",
    "jackknife": "Folds: upper stages, and jointly lower ones, learn as if lower ones had not seen the sentence.",
    "schedule": "Joint training of all stages together, or of each in its turn (alternate).",
    "rounds": "Turns of each stage with alternate.",
    "frozen": "Targets of stages that joint training leaves as they are.",
}
_ABOUT_STAGES = {
    "target": "The column to predict.",
    "features": "A preset, a template file (CRF++, Wapiti), or an expression such as "
    "'word[-1:1] + suffix(word, 3)[0]'.",
    "reads": "Targets of lower stages.",
    "model": "crf, semi-crf or neural-crf.",
    "weight": "How much the stage's loss counts in joint training.",
    "options": 'The optimizer\'s own settings: { memory = 50 }, or "memory=50".',
    "costs": 'Cost of a mistake (margin, pointwise): 2.0, or by the token\'s label, { "B-NP" = 2.0 }.',
}
# options of the command that are of joint training alone
_ABOUT_JOINT = {
    "optimizer": "Of joint training: auto, lbfgs, cg, newton-cg or sgd.",
    "options": "Of joint training: the optimizer's own settings, memory=50.",
    "patience": "Of joint training: iterations without a better score on dev.",
    "max_iter": "Of joint training: most iterations.",
    "tol": "Of joint training: stop when ten iterations gain less than this share.",
}
# what is shown where no stage was given: fit for the columns word, pos and chunk
_COLUMNS = "word,pos,chunk"
_STAGES: list[dict[str, Any]] = [
    {"target": "pos", "features": "pos"},
    {"target": "chunk", "features": "chunking", "reads": ["pos"]},
]


def as_toml(ctx: click.Context) -> str:
    """Every knob with its meaning and its value: those of the command; then the cascade's; then each stage's."""
    mine = given_in(ctx)
    columns = ctx.params["columns"] if mine.stages else ctx.params["columns"] or _COLUMNS
    lines = [config.as_toml(ctx, OPTIONS, {"columns": columns}, _ABOUT_JOINT)]
    settings = mine.all_settings
    for name, default in own_settings().items():
        lines += knob(name, settings.get(name, default), _ABOUT[name])
    helps = {p.name: getattr(p, "help", None) or "" for p in ctx.command.params} | _ABOUT_STAGES
    for table in [stage.table() for stage in stages_of(mine)] or _STAGES:
        lines += ["[[stage]]", ""]
        for name, default in stage_settings(str(table.get("model", "crf"))).items():
            value = table.get(name, None if default is inspect.Parameter.empty else default)
            lines += knob(name, value, helps.get(name, ""))
    return "\n".join(lines)
