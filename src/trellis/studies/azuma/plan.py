"""Which cases belong to which part of the study."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.errors import SettingError
from trellis.studies.azuma.cases import Case

WIRES = ("onebest", "marginal", "joint")
PARTS = {
    "table": "Table 2: three systems, features as printed and with vocabularies that leave the token itself out",
    "pairs": "the same with a weight for every attribute and label, as the paper has it",
    "folds": "joint training that reads lower stages as if they had not seen the sentence",
    "margin": "a loss that asks for a margin, chosen on sentences held out of the training data",
    "held-out": "the same on sentences of the training data that are left out there: none of it was looked at before",
    "wires": "all kinds of wires, jackknifed ones too, and without pairs on transitions",
    "sizes": "smaller training data",
    "layers": "parts of speech for some of the sentences only",
    "product": "one CRF over product labels",
    "presets": "stronger features",
    "ud": "three stages over Universal Dependencies",
    "cost": "time and memory of an evaluation",
}
MAIN = "left-out"
TABLE = (
    "table1",
    "table1-all",
    "left-out",
    "left-out-all",
    "margin",
    "presets",
    "presets-all",
)  # systems beside the paper's
NEW = ("table1-all", "left-out-all", "presets-all")  # systems that are tried on sentences not looked at before
FOLDS = 5


def cases_of(part: str, sizes: Sequence[int], annotated: Sequence[int], ud_sentences: int | None) -> list[Case]:
    if part == "table":
        return [Case(system, wire) for system in (MAIN, "table1") for wire in ("gold", *WIRES)]
    if part == "pairs":
        return [
            Case(system, wire) for system in ("left-out-all", "table1-all", "presets-all") for wire in ("gold", *WIRES)
        ]
    if part == "folds":
        return [Case(system, wire, FOLDS) for system in TABLE if system != "margin" for wire in ("marginal", "joint")]
    if part == "margin":
        folded = [Case("margin", wire, jackknife=FOLDS) for wire in ("marginal", "joint")]
        return [Case("margin", wire) for wire in ("gold", *WIRES[:2])] + folded
    if part == "held-out":
        return [case for system in NEW for case in held_out(system)]
    if part == "wires":
        others = [Case(MAIN, wire) for wire in ("kbest", "sample")]
        folded = [Case(MAIN, wire, jackknife=FOLDS) for wire in ("onebest", "marginal")]
        plain = [Case("nodes", wire) for wire in ("gold", *WIRES)]
        return [*others, *folded, *plain, Case("light", "joint")]
    if part == "sizes":
        return [Case(MAIN, wire, sentences=size) for size in sizes for wire in WIRES]
    if part == "layers":
        return [Case(MAIN, wire, annotated=count) for count in annotated for wire in WIRES]
    if part == "product":
        return [Case(MAIN, "product")]
    if part == "presets":
        folded = [Case("presets", wire, jackknife=FOLDS) for wire in ("onebest", "marginal")]
        return [Case("presets", wire) for wire in ("gold", *WIRES)] + folded
    if part == "ud":
        return [Case("ud", wire, sentences=ud_sentences) for wire in WIRES]
    return []


def compared_cases(annotated: Sequence[int]) -> list[list[Case]]:
    """Whose differences are tested, each with each of its group."""
    systems = [group for system in TABLE for group in compared_in(system)]
    systems += [held_out(system) for system in NEW]
    return [*systems, *([Case(MAIN, wire, annotated=count) for wire in WIRES] for count in annotated)]


def compared_in(system: str) -> list[list[Case]]:
    """The paper's three; and the last of them with folds, with the first, and with the second with folds."""
    folded = [Case(system, wire, jackknife=FOLDS) for wire in ("marginal", "joint")]
    return [[Case(system, wire) for wire in WIRES], [Case(system, "onebest"), folded[1]], folded]


def held_out(system: str) -> list[Case]:
    """The paper's first two, and the second and third with folds."""
    plain = [Case(system, wire, held_out=True) for wire in ("onebest", "marginal")]
    return plain + [Case(system, wire, FOLDS, held_out=True) for wire in ("marginal", "joint")]


def check_parts(parts: Sequence[str]) -> None:
    for part in parts:
        if part not in PARTS:
            raise SettingError(f"there is no part '{part}'; there are: {', '.join(PARTS)}")
