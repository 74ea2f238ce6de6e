"""Settings of a cascade that were given and that its wire makes no use of."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli.cascade import given_in, is_given, own_settings

# of joint training; a stage by itself has its own
_OF_STAGES = ("optimizer", "options", "max_iter", "tol", "patience")
_USED_WITH = {
    "k": ("kbest",),
    "samples": ("sample",),
    "least": ("marginal", "joint"),
    "schedule": ("joint",),
    "rounds": ("joint",),
}


def unused(ctx: click.Context, cascade: Any, from_start: bool) -> str | None:
    """What to warn of, in one line. `from_start`: training begins with another model's weights."""
    joint = cascade.wire == "joint" and (len(cascade.stages) > 1 or from_start)
    wire = cascade.wire if joint or cascade.wire != "joint" else "joint, which needs two stages"
    found = []
    neural = [stage.target for stage in cascade.stages if stage.model == "neural-crf"]
    idle = [name for name in _OF_STAGES if not joint and _is_set(ctx, name)]
    if idle:
        takes = [stage.target for stage in cascade.stages if stage.target not in neural]
        example = f"; give it to stages: --set {takes[0]}.{idle[0]}={ctx.params[idle[0]]}" if takes else ""
        found.append(f"{', '.join(idle)} (of joint training{example})")
    idle = [name for name in ("options", "tol") if joint and neural and _is_set(ctx, name)]
    if idle:
        found.append(f"{', '.join(idle)} (encoders have epochs: --set {neural[-1]}.epochs=15)")
    given, defaults = given_in(ctx).all_settings, own_settings()
    for name, wires in _USED_WITH.items():
        used = joint if wires == ("joint",) else cascade.wire in wires
        if name == "rounds" and joint and cascade.schedule != "alternate":
            used, wires = False, ("schedule=alternate",)
        if not used and name in given and given[name] != defaults[name]:
            found.append(f"{name} (for {' and '.join(wires)})")
    return f"not used with the wire {wire}: {'; '.join(found)}" if found else None


def _is_set(ctx: click.Context, name: str) -> bool:
    """To something else than what it is anyway."""
    default = next(p.default for p in ctx.command.params if p.name == name)
    return is_given(ctx, name) and ctx.params[name] != default
