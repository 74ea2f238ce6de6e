"""`trellis bench weak`: a hidden Markov model of votes, fitted by EM, against skweak's on the same votes."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus.fetch_store import corpus_folder
from trellis.errors import SettingError
from trellis.labels import read_segments, segment_types
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine
from trellis.studies.task import check_counts
from trellis.weak import HMMAggregator, Votes
from trellis.weak.beside import scored

I32 = NDArray[np.int32]
Say = Callable[[str], None]

INSTALL = "pip install 'trellis[bench-weak]', or pip install skweak"
_DATA = "weak-ncbi-disease"
_NAME = "aggregated"  # of the spans that skweak's model writes


@dataclass(frozen=True)
class WeakBench:
    """`heard`: how many tokens skweak learns from: it leaves out sentences without a vote, Trellis does not. `f1`: of
    exact segments against gold labels, on the same votes. Of skweak None where it is not installed."""

    sentences: int
    tokens: int
    heard: int
    functions: int
    iterations: int
    machine: dict[str, Any]
    trellis: Times
    peer: Times | None
    f1: dict[str, float] | None

    @property
    def ratio(self) -> float | None:
        """skweak's time over Trellis', by the medians."""
        return None if self.peer is None else self.peer.median / self.trellis.median

    def as_json(self) -> dict[str, Any]:
        """The first part of the JSON object of `trellis bench weak --json`."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "tokens_skweak_learns_from": self.heard,
            "functions": self.functions,
            "iterations": self.iterations,
            "trellis": self.trellis.as_json(),
            "skweak": None if self.peer is None else self.peer.as_json(),
            "ratio": self.ratio,
            "f1": self.f1,
            "machine": self.machine,
        }


def default_votes() -> Path:
    """NCBI-disease's training part with the votes of five functions, where it is kept on this machine."""
    home = os.environ.get("TRELLIS_DATA")
    for folder in [*([Path(home) / _DATA] if home else []), corpus_folder(_DATA)]:
        if (folder / "train.txt").is_file():
            return folder / "train.txt"
    raise SettingError(f"no data given, and there is no $TRELLIS_DATA/{_DATA}/train.txt; name a file with votes")


def bench_weak(
    votes: Votes,
    words: Sequence[str],
    gold: I32 | None = None,
    iterations: int = 50,
    rounds: int = 5,
    repeat: int = 1,
    against: str | None = None,
    say: Say = lambda text: None,
) -> WeakBench:
    """Fits both by so many EM iterations, `rounds` times ours and `repeat` times skweak's, spread evenly.

    words [tokens]; gold: labels as numbers of the labels voted for, -1 where not known. against: "skweak" to insist
    on it; with None it is left out where it is not installed. What skweak is given, spaCy's documents with spans, is
    made before its clock runs; it cannot tell a vote for O from an abstention.
    """
    check_counts(iterations=iterations, rounds=rounds, repeat=repeat)
    if against not in (None, "skweak"):
        raise SettingError(f"no peer '{against}'; there is: skweak")
    if votes.space.encoding is None or votes.space.coarse:
        raise SettingError("the comparison is of votes for segments, such as B-Disease, none of them coarse")
    here = machine()
    peer = _Skweak.of(votes, words, iterations)
    if peer is None and against is not None:
        raise SettingError(f"the peer skweak is not installed; {INSTALL}")
    works: dict[str, tuple[int, Callable[[], Any]]] = {"trellis": (rounds, partial(_ours, votes, iterations))}
    if peer is not None:
        works["skweak"] = (repeat, peer.fit)
        peer.warm_up()
    say("warming up")
    model = _ours(votes, iterations)
    times = _spread(works, say)
    f1 = None
    if gold is not None:
        f1 = {"trellis": model.evaluate(votes, gold).headline}
        if peer is not None:
            f1["skweak"] = scored(peer.best(), gold, votes.labels, votes.offsets).headline
    fired = np.diff(np.append(0, np.cumsum(votes.fired))[votes.offsets]) > 0
    return WeakBench(
        len(votes),
        votes.tokens,
        int(np.diff(votes.offsets)[fired].sum()),
        len(votes.functions),
        iterations,
        here,
        times["trellis"],
        times.get("skweak"),
        f1,
    )


def _ours(votes: Votes, iterations: int) -> HMMAggregator:
    return HMMAggregator(max_iter=iterations, tol=None).fit(votes)


def _spread(works: Mapping[str, tuple[int, Callable[[], Any]]], say: Say) -> dict[str, Times]:
    """Each work as often as it says, the runs of each spread evenly over the whole time."""
    turns = sorted(((k + 0.5) / runs, name, k) for name, (runs, _) in works.items() for k in range(runs))
    found: dict[str, list[float]] = {name: [] for name in works}
    for _, name, k in turns:
        runs, work = works[name]
        say(f"{name}: round {k + 1} of {runs}")
        found[name].append(timed(work)[1])
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}


class _Skweak:
    """skweak's model, and the votes as it takes them."""

    def __init__(self, make: Callable[..., Any], docs: list[Any], votes: Votes, iterations: int):
        self.make, self.docs, self.votes, self.iterations = make, docs, votes, iterations

    @classmethod
    def of(cls, votes: Votes, words: Sequence[str], iterations: int) -> _Skweak | None:
        """None if it is not installed."""
        with _quiet():
            try:
                make = import_module("skweak.generative").HMM
            except ImportError:
                return None
        return cls(make, _documents(votes, words), votes, iterations)

    def warm_up(self) -> None:
        self._fitted(1)

    def fit(self) -> None:
        self.model = self._fitted(self.iterations)

    def best(self) -> I32:
        """Its labels, as numbers of those voted for."""
        labels = np.zeros(self.votes.tokens, np.int32)
        index = self.votes.space.index
        with _quiet():
            for doc, first in zip(self.docs, self.votes.offsets.tolist(), strict=False):
                for span in self.model(doc).spans[_NAME]:
                    labels[first + span.start : first + span.end] = index[f"I-{span.label_}"]
                    labels[first + span.start] = index[f"B-{span.label_}"]
        return labels

    def _fitted(self, iterations: int) -> Any:
        """By exactly so many iterations, which a tolerance of minus infinity sees to."""
        model = self.make(_NAME, segment_types(self.votes.labels), prefixes="BIO")
        with _quiet() as said:
            model.fit(self.docs, n_iter=iterations, tol=-math.inf)
        ran = said.getvalue().count("Starting iteration")
        if ran != iterations:
            raise SettingError(f"skweak says that it ran {ran} iterations, not {iterations}; expected skweak 0.3.3")
        return model


def _documents(votes: Votes, words: Sequence[str]) -> list[Any]:
    """spaCy's: one for each sentence, in it a group of spans for each function."""
    spacy, tokens = import_module("spacy"), import_module("spacy.tokens")
    with _quiet():
        vocab = spacy.blank("en").vocab
    types, docs = segment_types(votes.labels), []
    for a, b in pairwise(votes.offsets.tolist()):
        doc = tokens.Doc(vocab, words=list(words[a:b]))
        for j, function in enumerate(votes.functions):
            said = np.maximum(votes.values[a:b, j], 0)  # O where it abstains
            found = zip(*read_segments(said, votes.labels, [0, b - a]), strict=True)
            doc.spans[function] = [tokens.Span(doc, int(s), int(e), label=types[kind]) for s, e, kind in found]
        docs.append(doc)
    return docs


@contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """Keeps what a peer prints, and its warnings, from the terminal."""
    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield said
