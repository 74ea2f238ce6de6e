"""Which cases belong to which part of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trellis.errors import SettingError
from trellis.studies.azuma.cases import Case

WIRES = ("onebest", "marginal", "joint")
PARTS = {
    "table": "Table 2: three systems, features as printed and with vocabularies that leave the token itself out",
    "pairs": "the same with a weight for every attribute and label, as the paper has it",
    "folds": "joint training that reads lower stages as if they had not seen the sentence",
    "held-out": "all pairs and folds, trained without the last fifth of the training data and tried on it",
    "margin": "a loss that asks for a margin, chosen on sentences held out of the training data",
    "ends": "all pairs and folds with labels that say where a chunk ends, too (BIOES)",
    "wires": "all kinds of wires, jackknifed ones too, and without pairs on transitions",
    "sizes": "smaller training data",
    "layers": "parts of speech for some of the sentences only",
    "product": "one CRF over product labels",
    "presets": "stronger features",
    "ud": "three stages over Universal Dependencies",
    "cost": "time and memory of an evaluation",
}
MAIN = "left-out"
# systems beside the paper's, and those of them that have weights for all pairs and the log loss
TABLE = ("table1", "table1-all", "left-out", "left-out-all", "margin", "presets", "presets-all")
# systems with BIOES, and what they are with the corpus's labels (but that margin has another l2)
ENDS = {"table1-bioes": "table1-all", "left-out-bioes": "left-out-all", "margin-bioes": "margin"}
ALL_PAIRS = ("left-out-all", "table1-all", "presets-all")
FOLDS = 5


def cases_of(part: str, sizes: Sequence[int], annotated: Sequence[int], ud_sentences: int | None) -> list[Case]:
    if part == "table":
        return [Case(system, wire) for system in (MAIN, "table1") for wire in ("gold", *WIRES)]
    if part == "pairs":
        return [Case(system, wire) for system in ALL_PAIRS for wire in ("gold", *WIRES)]
    if part == "folds":
        return [case for system in TABLE for case in folded(system)]
    if part == "margin":
        return with_folds("margin")
    if part == "ends":
        return [case for system in ENDS for case in with_folds(system)]
    if part == "held-out":
        return [case for system in ALL_PAIRS for case in held_out(system)]
    if part == "wires":
        others = [Case(MAIN, wire) for wire in ("kbest", "sample")]
        unseen = [Case(MAIN, wire, jackknife=FOLDS) for wire in ("onebest", "marginal")]
        plain = [Case("nodes", wire) for wire in ("gold", *WIRES)]
        return [*others, *unseen, *plain, Case("light", "joint")]
    if part == "sizes":
        return [Case(MAIN, wire, sentences=size) for size in sizes for wire in WIRES]
    if part == "layers":
        return [Case(MAIN, wire, annotated=count) for count in annotated for wire in WIRES]
    if part == "product":
        return [Case(MAIN, "product")]
    if part == "presets":
        unseen = [Case("presets", wire, jackknife=FOLDS) for wire in ("onebest", "marginal")]
        return [Case("presets", wire) for wire in ("gold", *WIRES)] + unseen
    if part == "ud":
        return [Case("ud", wire, sentences=ud_sentences) for wire in WIRES]
    return []


def compared_cases(annotated: Sequence[int]) -> list[list[Case]]:
    """Whose differences are tested, each with each of its group."""
    systems = [group for system in (*TABLE, *ENDS) for group in compared_in(system)]
    systems += [held_out(system) for system in ALL_PAIRS]
    systems += [group for system in ENDS for group in beside_plain(system)]
    return [*systems, *([Case(MAIN, wire, annotated=count) for wire in WIRES] for count in annotated)]


def compared_in(system: str) -> list[list[Case]]:
    """The paper's three; and the last of them with folds, with the first, and with the second with folds."""
    both = folded(system)
    return [[Case(system, wire) for wire in WIRES], [Case(system, "onebest"), both[1]], both]


def beside_plain(system: str) -> list[list[Case]]:
    """Each case with BIOES after the same one with the corpus's labels."""
    return [[replace(case, system=ENDS[system]), case] for case in with_folds(system)]


def held_out(system: str) -> list[Case]:
    """The paper's first two, and the second and third with folds."""
    plain = [Case(system, wire, held_out=True) for wire in ("onebest", "marginal")]
    return plain + [replace(case, held_out=True) for case in folded(system)]


def with_folds(system: str) -> list[Case]:
    """What a column of the table has where joint training is with folds alone."""
    return [*(Case(system, wire) for wire in ("gold", "onebest", "marginal")), *folded(system)]


def folded(system: str) -> list[Case]:
    return [Case(system, wire, jackknife=FOLDS) for wire in ("marginal", "joint")]


def check_parts(parts: Sequence[str]) -> None:
    for part in parts:
        if part not in PARTS:
            raise SettingError(f"there is no part '{part}'; there are: {', '.join(PARTS)}")
