"""The experiments, one case after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trellis.corpus import Corpus
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.comparing import BETWEEN, compared
from trellis.studies.azuma.plan import MAIN, PARTS, cases_of, check_parts, compared_cases
from trellis.studies.azuma.results import Study
from trellis.studies.azuma.runs import Data, run_case
from trellis.studies.azuma.systems import SYSTEMS
from trellis.studies.clock import now
from trellis.studies.corpora import file_of, is_there, read_part
from trellis.studies.folder import check_alike, plain_settings
from trellis.studies.machine import machine
from trellis.training.estimate import roughly_seconds

Say = Callable[[str], None]

_WORK = {"joint": 5.0, "sample": 3.0, "kbest": 3.0, "product": 6.0}  # about, of what `onebest` takes


@dataclass(frozen=True)
class Settings:
    """`parts` of the study to run; `sizes`: of smaller training data; `annotated`: how many sentences have parts of
    speech, in the part about that; `ud_sentences`: of Universal Dependencies."""

    quick: bool = False
    parts: Sequence[str] = tuple(PARTS)
    threads: int | None = None
    tol: float = 1e-4
    max_iter: int = 500
    sizes: Sequence[int] = (250, 500, 1000, 2000, 4000)
    annotated: Sequence[int] = (250, 1000)
    ud_sentences: int | None = 4000
    seed: int = 0

    def __post_init__(self) -> None:
        check_parts(self.parts)


def quick_settings(settings: Settings) -> Settings:
    """All that there is, but so small that its figures mean nothing."""
    return replace(settings, quick=True, max_iter=5, sizes=(40,), annotated=(10,), ud_sentences=40)


def run_study(
    data: Path | None,
    settings: Settings,
    folder: Path,
    say: Say = lambda text: None,
    keep: Callable[[Study], None] | None = None,
    earlier: Study | None = None,
) -> Study:
    """`keep` is given what has been found so far, after every case. The cases of an earlier study are not run again."""
    plain = plain_settings(settings)
    if earlier is not None:
        check_alike(plain, earlier.settings, ("parts", "sizes", "annotated", "threads"))
    keep = keep or (lambda study: None)
    study = Study(plain, machine()) if earlier is None else replace(earlier, settings=plain)
    cases = [
        case
        for part in settings.parts
        for case in cases_of(part, settings.sizes, settings.annotated, settings.ud_sentences)
    ]
    corpora = _load({SYSTEMS[case.system].corpus for case in cases}, data, settings.quick)
    for name in {SYSTEMS[case.system].corpus for case in cases} - set(corpora):
        say(f"{name} is not here; its part is left out")
    missing = [c for c in dict.fromkeys(cases) if study.of(c) is None and SYSTEMS[c.system].corpus in corpora]
    done, seconds, before = 0.0, 0.0, None
    for k, case in enumerate(missing):
        left = sum(map(_work, missing[k:]))
        guess = f", about {roughly_seconds(seconds / done * left)} left" if done else ""
        say(f"{case.key} ({k + 1} of {len(missing)}{guess})")
        began = now()
        before = run_case(case, corpora[SYSTEMS[case.system].corpus], settings, folder, before)
        study = study.with_outcome(before.outcome)
        keep(study)
        done, seconds = done + _work(case), seconds + now() - began
    if "cost" in settings.parts and study.cost is None:
        study = replace(study, cost=_cost(data, settings, say))
        keep(study)
    say("comparing systems")
    groups = compared_cases(settings.annotated)
    ran = [[case for case in group if study.of(case) is not None] for group in groups]
    found = {key: test for group in ran for key, test in compared(group, folder).items()}
    fresh = {case.key for case in missing}
    kept = {key: test for key, test in (study.tests or {}).items() if not fresh & set(key.split(BETWEEN))}
    study = replace(study, tests={**kept, **found})  # earlier predictions may be gone
    keep(study)
    return study


def _work(case: Case) -> float:
    return _WORK.get(case.wire, 1.0) * (case.jackknife + 1) * (case.sentences or 9000)


def _load(names: set[str], data: Path | None, quick: bool) -> Mapping[str, Data]:
    found = {}
    for name in names:
        if name == "conll2000" or is_there(name, data, quick):
            train, test = (read_part(name, part, data, quick) for part in ("train", "test"))
            found[name] = Data(*(_as_three(corpus) if name == "ud-en-ewt" else corpus for corpus in (train, test)))
    return found


def _as_three(corpus: Corpus) -> Corpus:
    """The sample corpus in place of Universal Dependencies, in quick runs."""
    if "upos" in corpus.columns:
        return corpus
    columns = {"word": corpus["word"], "upos": corpus["pos"], "xpos": corpus["chunk"], "feats": corpus["entity"]}
    return Corpus(columns, corpus.offsets)


def _cost(data: Path | None, settings: Settings, say: Say) -> dict[str, object]:
    from trellis.corpus.sample import sample_path
    from trellis.studies.bench_cascade import bench_cascade

    at_hand = settings.quick and data is None
    file = sample_path("train") if at_hand else file_of("conll2000", "train.txt", data)
    columns = ["word", "pos", "chunk", "_"] if at_hand else ["word", "pos", "chunk"]
    stages = SYSTEMS[MAIN].stages(settings.tol)
    few = 60 if settings.quick else None
    result = bench_cascade(file, columns, stages, 2 if settings.quick else 5, few, 30, not settings.quick, say)
    return result.as_json()
