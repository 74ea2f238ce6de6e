"""The page that is written about a study: the paper's table beside our figures, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from trellis.report.markdown import page, table
from trellis.studies.azuma import texts
from trellis.studies.azuma.cases import Case, Outcome
from trellis.studies.azuma.claims import SHOWN, SHOWN_ENDS, claims_table
from trellis.studies.azuma.comparing import between
from trellis.studies.azuma.paper import NAMES, TABLE_2
from trellis.studies.azuma.pictures import plots_of
from trellis.studies.azuma.plan import (
    ALL_PAIRS,
    FOLDS,
    MAIN,
    WIRES,
    beside_plain,
    compared_in,
    folded,
    held_out,
    with_folds,
)
from trellis.studies.azuma.results import Study
from trellis.studies.azuma.scores import percent, score_table
from trellis.studies.azuma.systems import LIGHT, SYSTEMS


def write_page(study: Study, images: str) -> str:
    """`images`: what stands before the names of plots in links."""
    plots = plots_of(study)
    return page(
        "# Multilayer sequence labeling",
        texts.INTRO,
        texts.QUICK if study.settings["quick"] else "",
        _about(study),
        "## Table 2",
        texts.READ,
        "" if study.settings["quick"] else texts.CHOSEN,
        _table_2(study, SHOWN),
        texts.CLAIMS if study.tests else "",
        claims_table(study, SHOWN),
        texts.WHY,
        "" if study.settings["quick"] else texts.LABELS,
        _tests(study, [group for system in SHOWN for group in compared_in(system)]),
        *_section("## Labels that say where a chunk ends", _ends(study)),
        *_section("## Once more, on other sentences", _held_out(study)),
        "## Where errors come from",
        texts.TRACED,
        _errors(study),
        *_section("## What is read of the lower stage", _wires(study)),
        *_section("## Less to learn from", _sizes(study)),
        *(f"![Learning curves]({images}{name})" for name in plots),
        *_section("## Parts of speech for some sentences", _layers(study)),
        *_section("## One CRF over product labels", _product(study)),
        *_section("## Stronger features", _presets(study)),
        *_section("## Three stages", _ud(study)),
        *_section("## What it costs", _cost(study)),
        "## Again",
        texts.AGAIN,
    )


def _section(heading: str, text: str) -> list[str]:
    return [heading, text] if text else []


def _about(study: Study) -> str:
    seconds = {wire: _seconds(study, MAIN, wire) for wire in WIRES}
    if any(found is None for found in seconds.values()):
        return ""
    total = sum(found for found in seconds.values() if found is not None)
    cores = study.machine.get("cores")
    return (
        f"Trained on {cores} cores; the three systems of the table with left-out vocabularies took "
        f"{total / 60:.1f} minutes together ({', '.join(f'{NAMES[w]} {s:.0f} s' for w, s in seconds.items())})."
    )


def _seconds(study: Study, system: str, wire: str) -> float | None:
    found = study.of(Case(system, wire))
    return None if found is None else found.seconds


def _table_2(study: Study, systems: Mapping[str, str]) -> str:
    rows = []
    for wire in WIRES:
        pos, chunk = TABLE_2[wire]
        row = [NAMES[wire], f"{pos} / {chunk}"]
        rows.append([*row, *(_both(study.of(Case(system, wire))) for system in systems)])
    for cases in zip(*map(folded, systems), strict=True):
        if any(study.of(case) for case in cases):
            rows.append([_name(cases[0]), "", *(_both(study.of(case)) for case in cases)])
    rows.append(["told the right parts of speech", "", *(_ceiling(study.of(Case(s, "gold"))) for s in systems)])
    return table(["parts of speech / chunks", "paper", *systems.values()], rows)


def _name(case: Case) -> str:
    return f"{NAMES[case.wire]}, {case.jackknife} folds" if case.jackknife else NAMES[case.wire]


def _both(found: Outcome | None) -> str:
    return f"{percent(found, 'pos', 'accuracy')} / {percent(found, 'chunk', 'f1')}" if found else ""


def _ceiling(found: Outcome | None) -> str:
    return f"- / {percent(found, 'chunk', 'f1')}" if found else ""


def _tests(study: Study, groups: Sequence[Sequence[Case]]) -> str:
    rows, found = [], study.tests or {}
    for first, second in (pair for group in groups for pair in combinations(group, 2)):
        key = between(first, second)
        if key in found:
            rows.append([key, *(_difference(found[key][target]) for target in ("pos", "chunk"))])
    if not rows:
        return ""
    return page(
        "Points of the second over the first, the middle 95 % of 10,000 paired bootstrap samples of sentences, and "
        "McNemar's p for tokens:",
        table(["", "parts of speech", "chunks"], rows),
    )


def _difference(test: Mapping[str, Any]) -> str:
    ends = f"{100 * test['low']:+.2f} to {100 * test['high']:+.2f}"
    return f"{100 * test['difference']:+.2f} ({ends}), p = {test['p']:.3f}; McNemar {test['mcnemar']['p']:.3f}"


def _held_out(study: Study) -> str:
    groups = [held_out(system) for system in ALL_PAIRS]
    rows = [[_name(cases[0]), *(_both(study.of(case)) for case in cases)] for cases in zip(*groups, strict=True)]
    if not any(cell for _, *cells in rows for cell in cells):
        return ""
    found = table(["parts of speech / chunks", *(SHOWN[system] for system in ALL_PAIRS)], rows)
    return page(texts.HELD_OUT, found, _tests(study, groups))


def _ends(study: Study) -> str:
    if not any(study.of(case) for system in SHOWN_ENDS for case in with_folds(system)):
        return ""
    return page(
        texts.ENDS,
        "" if study.settings["quick"] else texts.ENDS_CHOSEN,
        _table_2(study, SHOWN_ENDS),
        claims_table(study, SHOWN_ENDS),
        "" if study.settings["quick"] else texts.ENDS_FOUND,
        _tests(study, [group for system in SHOWN_ENDS for group in (*compared_in(system), *beside_plain(system))]),
    )


def _errors(study: Study) -> str:
    rows = []
    for system in (*SHOWN, *SHOWN_ENDS):
        for wire in WIRES:
            found = study.of(Case(system, wire))
            if found is None or not found.errors:
                continue
            e = found.errors
            share = f"{100 * e['traced'] / max(1, e['all']):.0f} %"
            name = f"{SYSTEMS[system].title}: {NAMES[wire]}"
            rows.append([name, f"{e['all']:,}", f"{e['traced']:,}", share, f"{e['new']:,}"])
    return table(["", "wrong", "traced back", "share", "new"], rows) if rows else ""


def _wires(study: Study) -> str:
    wires = ("gold", "onebest", "kbest", "sample", "marginal", "joint")
    rows = [(f"`{wire}`", Case(MAIN, wire)) for wire in wires]
    rows += [(f"`{wire}`, {FOLDS} folds", Case(MAIN, wire, jackknife=FOLDS)) for wire in WIRES]
    rows += [(f"`{wire}`, no pairs on transitions", Case("nodes", wire)) for wire in ("gold", *WIRES)]
    rows.append((f"`joint`, the upper stage's loss times {LIGHT}", Case("light", "joint")))
    found = score_table(study, "wire", rows)
    return page("Features with vocabularies that leave the token itself out.", found) if found else ""


def _sizes(study: Study) -> str:
    sizes = sorted({o.case.sentences for o in study.outcomes if o.case.system == MAIN and o.case.sentences})
    rows = []
    for size in [*sizes, None]:
        cells = [percent(study.of(Case(MAIN, wire, sentences=size)), "chunk", "f1") for wire in WIRES]
        if any(cells):
            rows.append([f"{size:,}" if size else "all", *cells])
    return page("F1 of chunks:", table(["sentences", *(NAMES[wire] for wire in WIRES)], rows)) if rows else ""


def _layers(study: Study) -> str:
    counts = sorted({outcome.case.annotated for outcome in study.outcomes if outcome.case.annotated})
    cases = [[Case(MAIN, wire, annotated=count) for wire in WIRES] for count in counts]
    rows = [(f"{case.annotated:,}: {NAMES[case.wire]}", case) for group in cases for case in group]
    found = score_table(study, "sentences with parts of speech", rows)
    return page(texts.LAYERS, found, _tests(study, cases)) if found else ""


def _product(study: Study) -> str:
    found, joint = study.of(Case(MAIN, "product")), study.of(Case(MAIN, "joint"))
    if found is None:
        return ""
    text = (
        f"Every pair of a part of speech and a chunk label that occurs is one label of a single CRF, pruned by order 0 "
        f"(0.001): {percent(found, 'pos', 'accuracy')} / {percent(found, 'chunk', 'f1')} with "
        f"{found.weights:,} weights, in {found.seconds:.0f} s."
    )
    if joint is not None:
        text += (
            f" The cascade: {percent(joint, 'pos', 'accuracy')} / {percent(joint, 'chunk', 'f1')} with "
            f"{joint.weights:,} weights, in {joint.seconds:.0f} s."
        )
    return text


def _presets(study: Study) -> str:
    rows = [(f"`{wire}`", Case("presets", wire)) for wire in ("gold", *WIRES)]
    rows += [(f"`{wire}`, {FOLDS} folds", Case("presets", wire, jackknife=FOLDS)) for wire in WIRES]
    found = score_table(study, "wire", rows)
    return page(texts.PRESETS, found) if found else ""


def _ud(study: Study) -> str:
    rows = []
    for outcome in study.outcomes:
        if outcome.case.system == "ud":
            scores = [percent(outcome, target, "accuracy") for target in ("upos", "xpos", "feats")]
            rows.append([f"`{outcome.case.wire}`", *scores])
    if not rows:
        return ""
    count = next(o.case.sentences for o in study.outcomes if o.case.system == "ud")
    return page(
        f"UD English EWT, {'all' if count is None else f'{count:,}'} training sentences: `xpos` reads `upos`, and "
        "`feats` both. Accuracy on test data:",
        table(["wire", "upos", "xpos", "feats"], rows),
    )


def _cost(study: Study) -> str:
    if study.cost is None:
        return ""
    cost = study.cost
    own = " + ".join(f"{1e3 * times['best']:.0f} ms ({name})" for name, times in cost["stages"].items())
    nodes, arcs = cost["listed"]
    text = (
        f"One value with its gradient on one thread, {cost['tokens']:,} tokens: the stages by themselves {own}, both "
        f"as one {1e3 * cost['joint']['best']:.0f} ms, {cost['ratio']:.2f} times as long (the paper: a constant "
        f"factor). A product with the Hessian takes {1e3 * cost['product']['best']:.0f} ms. Of the lower stage's "
        f"lattice {nodes:.1f} labels and {arcs:.1f} pairs are probable enough to be read for each token; of these one "
        "more number is kept, what the upper stage says of them."
    )
    if cost["memory_ratio"] is not None:
        peaks = [cost[which]["peak_bytes"] / 2**20 for which in ("apart", "together")]
        text += f" Peak memory of a process: {peaks[0]:.0f} MB by themselves, {peaks[1]:.0f} MB as one."
    return text
