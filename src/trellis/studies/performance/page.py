"""The page: a section for each benchmark there is a result of, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from trellis.errors import DataError
from trellis.files import read_bytes, write_atomically
from trellis.report.markdown import page
from trellis.studies.folder import make_folder
from trellis.studies.performance import growth, peers, roofline, texts, training
from trellis.studies.performance.pictures import draw_bars
from trellis.studies.performance.results import Result, loads, machines
from trellis.studies.performance.section import Picture, Section, Values

# by the name of the benchmark, in the order of the page
SECTIONS: dict[str, tuple[str, Callable[[Values], Section]]] = {
    "train": ("Training", training.train),
    "optimum": ("To the optimum", training.optimum),
    "tag": ("Tagging", training.tag),
    "features": ("Features", training.features),
    "online": ("Online learners", training.online),
    "peers": ("Other toolkits", peers.peers),
    "neural": ("CRFs over encoders", peers.neural),
    "weak": ("Weak supervision", peers.weak),
    "score": ("Scores", peers.score),
    "roofline": ("How near the machine's limits", roofline.roofline),
    "products": ("Products with the Hessian", training.products),
    "scaling": ("How cost grows", growth.scaling),
    "pruning": ("Pruning", training.pruning),
    "segments": ("Whole segments", training.segments),
    "cascade": ("Cascades", training.cascade),
    "memory": ("Memory", growth.memory),
    "startup": ("The first seconds", growth.startup),
}


def write_page(results: Sequence[Result], output: Path, tried: Path | None = None) -> list[Path]:
    """Writes the page, and its plots into a folder of its name beside it; `tried`: Markdown that is taken over as it
    is. Returns all files that were written."""
    told = "" if tried is None else read_bytes(tried).decode("utf-8")
    made = [(name, section) for name in SECTIONS for section in _sections(name, results)]
    folder = make_folder(output.parent / output.stem)
    painted: list[Path] = []

    def shown(picture: Picture) -> str:
        names = [path.stem for path in painted]
        number = next(k for k in range(1, len(names) + 2) if _numbered(picture.name, k) not in names)
        path = folder / f"{_numbered(picture.name, number)}.png"
        picture.paint(path)
        painted.append(path)
        return f"![{picture.what}]({output.stem}/{path.name})"

    faster = {name: ratio for _, section in made for name, ratio in section.faster.items()}
    title = "times as fast as the peer, logarithmic"
    parts = ["# Performance", texts.INTRO, *_about(results)]
    if faster:
        bars = Picture("overview", "How many times as fast", partial(draw_bars, faster, title))
        parts += [texts.OVERVIEW, shown(bars)]
    before = None
    for name, section in made:
        parts += [f"## {SECTIONS[name][0]}"] if name != before else []
        parts += [part if isinstance(part, str) else shown(part) for part in section.parts]
        before = name
    parts += ["## What was tried", told] if told else []
    parts += ["## Again", texts.AGAIN]
    write_atomically(output, page(*parts).encode())
    return [output, *painted]


def _sections(name: str, results: Sequence[Result]) -> list[Section]:
    made = []
    for result in results:
        if result.name == name:
            try:
                made.append(SECTIONS[name][1](result.values))
            except (KeyError, TypeError, IndexError, AttributeError) as error:
                what = f"this is no result of `trellis bench {name}` as this version writes it"
                raise DataError(f"{what} ({type(error).__name__}: {error}); run it again", result.file) from None
    return made


def check_known(results: Sequence[Result]) -> None:
    """Refuses results that have no section."""
    for result in results:
        if result.name not in SECTIONS:
            raise DataError(
                f"no section for the benchmark '{result.name}'; there are: {', '.join(SECTIONS)}", result.file
            )
        if not isinstance(result.values.get("machine"), dict):
            raise DataError("the result does not say on what machine; run it again", result.file)


def _about(results: Sequence[Result]) -> list[str]:
    found = machines(results)
    load = loads(results)
    if not found:
        return []
    text = f"Measured on {found[0]}." if len(found) == 1 else "Measured on:\n\n" + "\n".join(f"- {m}" for m in found)
    busy = f"Load of the machine before the benchmarks began: {min(load):.1f} to {max(load):.1f}." if load else ""
    return [text, busy]


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"
