"""`trellis bench memory`: how memory grows from phase to phase, each system in processes of its own.

Both train on the same file, with the same features of words, to a model file, and tag the file with it. Growth is
counted from a process that has imported the system (and, for Trellis, has all kernels) and has no data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.corpus import write_conll
from trellis.errors import SettingError
from trellis.studies import crfsuite
from trellis.studies.growing import LABEL, WINDOW, WORD, Text, of_tokens, with_labels
from trellis.studies.machine import machine
from trellis.studies.memory import quotient
from trellis.studies.phases import Phases, run_in_phases
from trellis.studies.phases_of_crfsuite import IMPORT
from trellis.studies.phases_of_ours import WARM
from trellis.studies.process import run_apart
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

_OURS, _PEERS = "trellis.studies.phases_of_ours", "trellis.studies.phases_of_crfsuite"


@dataclass(frozen=True)
class MemoryBench:
    """`steps`: Trellis' training one step after the other; `fit`: as users train; `crfsuite...` None where it is not
    installed."""

    text: Text
    machine: dict[str, Any]
    sentences: int
    tokens: int
    labels: int
    iterations: int
    threads: int
    steps: Phases
    fit: Phases
    tag: Phases
    crfsuite_train: Phases | None
    crfsuite_tag: Phases | None

    @property
    def ratio(self) -> dict[str, float | None]:
        """CRFsuite's growth over Trellis'."""
        pairs = {"train": (self.crfsuite_train, self.fit), "tag": (self.crfsuite_tag, self.tag)}
        return {what: quotient(peer.growth if peer else None, own.growth) for what, (peer, own) in pairs.items()}

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench memory --json`."""
        own = {"steps": self.steps, "train": self.fit, "tag": self.tag}
        peer = {"train": self.crfsuite_train, "tag": self.crfsuite_tag}
        return {
            "benchmark": "memory",
            "machine": self.machine,
            "data": {
                "files": list(map(str, self.text.files)), "target": self.text.target,
                "sentences": self.sentences, "tokens": self.tokens, "labels": self.labels,
            },
            "features": WINDOW.split("\n"),
            "iterations": self.iterations,
            "threads": self.threads,
            "trellis": {what: phases.as_json() for what, phases in own.items()},
            "crfsuite": {what: None if phases is None else phases.as_json() for what, phases in peer.items()},
            "growth_bytes": {
                "trellis": {what: phases.growth for what, phases in own.items()},
                "crfsuite": {what: None if phases is None else phases.growth for what, phases in peer.items()},
            },
            "ratio": self.ratio,
        }  # fmt: skip


def bench_memory(
    text: Text,
    tokens: int | None = None,
    classes: int = 22,
    iterations: int = 5,
    threads: int = 2,
    against: str | None = None,
    say: Say = lambda text: None,
) -> MemoryBench:
    """One process after the other. tokens: so many, or all there are; against: "crfsuite" to insist on it."""
    counts = {"classes": classes, "iterations": iterations, "threads": threads}
    check_counts(**counts, **({} if tokens is None else {"tokens": tokens}))
    with_peer = crfsuite_is_there(against)
    here = machine()
    say("reading")
    corpus = text.read()
    corpus = with_labels(corpus if tokens is None else of_tokens(corpus, tokens), classes)
    sizes = len(corpus), corpus.tokens, len(corpus[LABEL].strings)
    train = tag = None
    with tempfile.TemporaryDirectory() as folder:
        file, own, peer = (str(Path(folder) / name) for name in ("train.txt", "own", "peer"))
        Path(file).write_bytes(write_conll(corpus))
        del corpus
        task = Task(Path(file), (WORD, LABEL), LABEL, WINDOW)
        given = [WORD, LABEL], LABEL, WINDOW, task.c2
        say("loading kernels")
        run_apart("trellis.studies.ours:warm_up", *given[:3])  # a process that compiles holds more
        say("Trellis, step by step")
        steps = run_in_phases(f"{_OURS}:by_steps", WARM, file, *given, iterations, threads)
        say("Trellis, training")
        fit = run_in_phases(f"{_OURS}:fit", WARM, file, *given, iterations, threads, own)
        say("Trellis, tagging")
        tagging = run_in_phases(f"{_OURS}:tag", WARM, own, file, *given, threads)
        if with_peer:
            say("CRFsuite, training")
            train = run_in_phases(f"{_PEERS}:train", IMPORT, file, task.patterns(), 1, task.c2, iterations, peer)
            say("CRFsuite, tagging")
            tag = run_in_phases(f"{_PEERS}:tag", IMPORT, peer, file, task.patterns())
    return MemoryBench(text, here, *sizes, iterations, threads, steps, fit, tagging, train, tag)


def crfsuite_is_there(against: str | None) -> bool:
    """Whether to compare with it: refuses other peers, and who insists on it where it is not installed."""
    if against not in (None, "crfsuite"):
        raise SettingError(f"no peer '{against}'; there is: crfsuite")
    try:
        crfsuite.require_pycrfsuite()
    except SettingError:
        if against is not None:
            raise
        return False
    return True
