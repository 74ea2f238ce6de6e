"""`trellis bench peers`: other toolkits that install from PyPI, each on what it does, by turns.

`toolkits`: python-crfsuite, sklearn-crfsuite and chaine train and tag; `hmm`: hmmlearn; `chains`: torch-struct. Others
have comparisons of their own: CRFsuite `train`, `tag` and `features`, pytorch-crf `neural`, seqeval `score`, skweak
`weak`. Who is not installed is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from trellis.corpus import read_conll
from trellis.errors import SettingError
from trellis.studies import peer_hmmlearn, peer_toolkits, peer_torch_struct
from trellis.studies.contest import Contest
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

PARTS = {"toolkits": peer_toolkits.MODULES, "hmm": peer_hmmlearn.MODULES, "chains": peer_torch_struct.MODULES}
INSTALL = "pip install 'trellis[bench-peers]'"


@dataclass(frozen=True)
class Sizes:
    """`sentences` of the file, for `toolkits` and `hmm`; `batch`, `length` and `labels` of the scores for `chains`."""

    sentences: int = 1000
    iterations: int = 15
    states: int = 10
    steps: int = 5
    batch: int = 16
    length: int = 40
    labels: int = 22


@dataclass(frozen=True)
class PeersBench:
    """What was compared, by part; `versions`: of the peers; `missing`: those that are not installed."""

    task: Task
    machine: dict[str, Any]
    contests: dict[str, list[Contest]]
    versions: dict[str, str]
    missing: list[str]

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench peers --json`; ratios are the peer's time over Trellis'."""
        return {
            "benchmark": "peers",
            "machine": self.machine,
            "data": str(self.task.train),
            "features": self.task.features,
            **{part: {one.what: one.as_json() for one in contests} for part, contests in self.contests.items()},
            "versions": self.versions,
            "missing": self.missing,
        }


def bench_peers(
    task: Task,
    parts: Sequence[str] = tuple(PARTS),
    sizes: Sizes | None = None,
    repeat: int = 5,
    against: str | None = None,
    say: Say = lambda text: None,
) -> PeersBench:
    """One part after the other; in each all take turns. against: a peer that has to be there, and its part alone."""
    sizes = sizes or Sizes()
    check_counts(repeat=repeat, **vars(sizes))
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise SettingError(f"there is no part '{', '.join(unknown)}'; expected some of: {', '.join(PARTS)}")
    if against is not None:
        parts = [part for part, peers in PARTS.items() if against in peers]
        if not parts:
            names = [name for peers in PARTS.values() for name in peers]
            raise SettingError(f"no peer '{against}'; there are: {', '.join(names)}")
    here = machine()
    contests, missing = {}, []
    for part in parts:
        say(part)
        contests[part], without = _part(part, task, sizes, repeat, against)
        missing += without
    there = [name for part in parts for name in PARTS[part] if name not in missing]
    return PeersBench(task, here, contests, {name: version(name) for name in there}, missing)


def _part(part: str, task: Task, sizes: Sizes, repeat: int, against: str | None) -> tuple[list[Contest], list[str]]:
    if part == "toolkits":
        return peer_toolkits.toolkits(task, sizes.sentences, sizes.iterations, repeat, against)
    if part == "hmm":
        corpus = read_conll(task.train, columns=task.columns)
        corpus = corpus.slice(0, min(sizes.sentences, len(corpus)))
        return peer_hmmlearn.hidden_chains(corpus, sizes.states, sizes.steps, repeat, against)
    return peer_torch_struct.linear_chains(sizes.batch, sizes.length, sizes.labels, repeat, against)
