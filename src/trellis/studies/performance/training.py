"""Sections on training and tagging."""

from __future__ import annotations

from typing import Any

from trellis.report.markdown import table
from trellis.studies.performance import texts
from trellis.studies.performance.section import (
    Section,
    Values,
    compared,
    data_of,
    faster,
    megabytes,
    middle,
    percent,
    seconds,
    threads,
    times,
)


def train(found: Values) -> Section:
    names = {
        "evaluation": "an evaluation *",
        "iteration": "an iteration of L-BFGS",
        "prepare": "file to features",
        "setup": "features to the first evaluation",
    }
    rows = {name: found[key] for key, name in names.items()}
    data, counts = found["data"], found["parameters"]
    about = (
        f"{data_of(data)}: {data['sentences']:,} sentences, {data['tokens']:,} tokens, features `{found['features']}`, "
        f"l2 = {found['l2']:g}; {counts['trellis']:,} weights (CRFsuite {counts['crfsuite']:,})."
    )
    parts = [texts.TRAIN, about, compared(rows), f"\\* {found['evaluation']['note']}", _memory(found["memory"])]
    more = faster({key: found[key] for key in ("iteration", "prepare")})
    if found["objective"] is not None:
        full = found["objective"]
        parts.append(_full(full))
        more["to convergence"] = full["ratio"]["seconds"]
    return Section(parts, {f"train: {name}": ratio for name, ratio in more.items()})


def _memory(memory: Values) -> str:
    rows = []
    for name, key in (("at its peak", "peak_bytes"), ("above importing it", "growth_bytes")):
        ratio = memory["ratio"][key.partition("_")[0]]
        rows.append([name, megabytes(memory["crfsuite"][key]), megabytes(memory["trellis"][key]), times(ratio)])
    return table(["memory", "CRFsuite", "Trellis", "CRFsuite / Trellis"], rows)


def _full(full: Values) -> str:
    peer, own = full["crfsuite"], full["trellis"]
    rows = [
        ["objective", f"{peer['objective']:,.2f}", f"{own['objective']:,.2f}", ""],
        ["evaluations", str(peer["evaluations"]), str(own["evaluations"]), ""],
        ["optimisation", seconds(peer["optimisation"]), seconds(own["optimisation"]),
         times(full["ratio"]["optimisation"])],
        ["file to model", seconds(peer["seconds"]), seconds(own["seconds"]), times(full["ratio"]["seconds"])],
    ]  # fmt: skip
    return table(["to convergence", "CRFsuite", "Trellis", ""], rows)


def tag(found: Values) -> Section:
    data = found["data"]
    rows = {"file to labels": found["tag"]}
    speeds = [["CRFsuite", f"{found['tokens_per_second']['crfsuite']['median']:,.0f}"]]
    for n, speed in found["tokens_per_second"]["trellis"].items():
        speeds.append([f"Trellis, {threads(n)}", f"{speed['median']:,.0f}"])
    about = (
        f"{data_of(data)}: {data['sentences']:,} sentences, {data['tokens']:,} tokens; both give "
        f"{percent(found['agreement'])} of the tokens the same label."
    )
    parts = [texts.TAG, about, compared(rows), table(["", "tokens a second"], speeds), _memory(found["memory"])]
    return Section(parts, {f"tag: {name}": ratio for name, ratio in faster(rows).items()})


def features(found: Values) -> Section:
    data, ner = found["data"], found["ner"]
    about = (
        f"{data_of(data)}, {data['tokens']:,} tokens: `{found['features']}` makes {found['attributes']:,} attributes; "
        f"the {ner['templates']} templates of `ner` make {ner['attributes']:,} and are compared with a Python function "
        "that makes them as strings."
    )
    peers = compared({"file to features": found["prepare"]})
    strings = compared({"corpus to features of `ner`": ner}, "Python", "python")
    more = {**faster({"file to features": found["prepare"]}), **faster({"features of ner": ner})}
    return Section([texts.FEATURES, about, peers, strings], {f"features: {name}": r for name, r in more.items()})


def optimum(found: Values) -> Section:
    rows, best = [], {}
    for name, gaps in found["runs"].items():
        for gap, reached in gaps.items():
            made = [_count(reached[what]) for what in ("evaluations", "products")]
            ratio = None if name == "crfsuite" else reached["ratio"]
            rows.append([name, gap, seconds(middle(reached["seconds"])), *made, times(ratio)])
            if ratio is not None and gap == "0.001":
                best[f"optimum within {gap}: {name}"] = ratio
    about = (
        f"{data_of(found['data'])}, `{found['features']}`, l2 = {found['l2']:g}, {threads(found['threads'])}; the "
        f"optimum is {found['optimum']:,.4f}."
    )
    heads = ["", "gap", "seconds", "evaluations", "products", "times as fast as CRFsuite"]
    return Section([texts.OPTIMUM, about, table(heads, rows)], best)


def _count(counts: list[int | None]) -> str:
    known = sorted({count for count in counts if count is not None})
    return "-" if not known else str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"


def online(found: Values) -> Section:
    rows, best = [], {}
    for name, runs in found["crfsuite"].items():
        rows.append([f"CRFsuite, {name}", *_run(runs), ""])
    for name, own in found["trellis"].items():
        rows.append([name, *_run(own["runs"]), times(own["ratio"]["train"])])
        if own["ratio"]["train"] is not None:
            best[f"online: {name}"] = own["ratio"]["train"]
    heads = ["", "epochs", "training", "from the file", "score", "times as fast"]
    return Section([texts.ONLINE, f"{data_of(found['data'])}, `{found['features']}`.", table(heads, rows)], best)


def _run(runs: list[dict[str, Any]]) -> list[str]:
    train, text = (middle([run[what] for run in runs]) for what in ("train", "text"))
    return [str(runs[-1]["epochs"]), seconds(train), seconds(text), percent(runs[-1]["score"])]


def products(found: Values) -> Section:
    rows = [[name, seconds(taken["best"]), seconds(taken["median"])] for name, taken in found["seconds"].items()]
    ratios = [[name, f"{ratio:.2f}"] for name, ratio in found["ratio"].items()]
    about = f"{data_of(found['data'])}, `{found['features']}`, {threads(found['threads'])}."
    both = table(["", "best", "median"], rows), table(["of the best times", ""], ratios)
    return Section([texts.PRODUCTS, about, *both], {})


def segments(found: Values) -> Section:
    fixed, slope = found["fixed"], found["slope"]
    rows = [
        [longest, seconds(taken["best"]), seconds(taken["median"]), seconds(fixed + slope * int(longest))]
        for longest, taken in found["seconds"].items()
    ]
    about = (
        f"{data_of(found['data'])}, `{found['features']}`, {threads(found['threads'])}: {seconds(fixed)} and "
        f"{seconds(slope)} for each token of the longest segment; {100 * found['departure']:.0f} % off at most."
    )
    return Section([texts.SEGMENTS, about, table(["longest", "best", "median", "on a line"], rows)], {})


def pruning(found: Values) -> Section:
    rows = [
        [name, seconds(run["seconds"]), percent(run["score"]), str(run["evaluations"]), f"{run['labels']:.1f}",
         percent(run["lost"])]
        for name, run in (("pruned", found["pruned"]), ("not pruned", found["whole"]))
    ]  # fmt: skip
    about = (
        f"{data_of(found['data'])}, {found['tokens']:,} tokens, `{found['features']}`, order {found['order']}, "
        f"{threads(found['threads'])}: {times(found['ratio'])} as fast with pruning."
    )
    heads = ["", "training", "score", "evaluations", "labels a token", "lost"]
    return Section([texts.PRUNING, about, table(heads, rows)], {})


def cascade(found: Values) -> Section:
    rows = [[f"stage `{name}`", seconds(taken["median"])] for name, taken in found["stages"].items()]
    rows += [["all as one", seconds(found["joint"]["median"])]]
    rows += [["a product with the Hessian of all", seconds(found["product"]["median"])]]
    about = (
        f"{found['sentences']:,} sentences, {found['tokens']:,} tokens: all as one take {times(found['ratio'])} as "
        "long as the stages by themselves"
    )
    memory = found["memory_ratio"]
    about += "." if memory is None else f", and {times(memory)} the memory."
    return Section([texts.CASCADE, about, table(["", "median"], rows)], {})
