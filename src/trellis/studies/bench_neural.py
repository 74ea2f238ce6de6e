"""`trellis bench neural`: loss and gradient of a CRF over an encoder's scores, against pytorch-crf."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from trellis.errors import SettingError
from trellis.neural import require_torch
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine

Say = Callable[[str], None]

_CLOSE = 1e-3  # what losses and gradients in single precision may differ by, as a share


@dataclass(frozen=True)
class NeuralBench:
    """Both take turns; `loss`: what each says of the same scores and labels, `apart`: by how much their gradients
    differ at most, over the largest number in them; times by the number of PyTorch's threads."""

    sizes: dict[str, int]
    machine: dict[str, Any]
    loss: tuple[float, float]
    apart: float
    trellis: dict[int, Times]
    peer: dict[int, Times]

    @property
    def ratios(self) -> dict[int, float]:
        """pytorch-crf's time over Trellis', by the medians."""
        return {threads: self.peer[threads].median / own.median for threads, own in self.trellis.items()}

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench neural --json`."""
        return {
            "benchmark": "neural",
            **self.sizes,
            "machine": self.machine,
            "loss": {"trellis": self.loss[0], "pytorch-crf": self.loss[1]},
            "gradients_differ_by": self.apart,
            "trellis": {str(n): times.as_json() for n, times in self.trellis.items()},
            "pytorch-crf": {str(n): times.as_json() for n, times in self.peer.items()},
            "ratio": {str(n): ratio for n, ratio in self.ratios.items()},
        }


def bench_neural(
    sentences: int,
    length: int,
    labels: int,
    repeat: int,
    threads: list[int],
    shortest: int | None = None,
    say: Say = lambda text: None,
) -> NeuralBench:
    """Sentences of `length` tokens, or of random lengths from `shortest` on, one of them as long; random scores and
    labels."""
    shortest = length if shortest is None else shortest
    if not 1 <= shortest <= length:
        raise SettingError(f"the shortest sentence has {shortest} tokens; expected 1 to {length}, the length")
    require_torch()
    try:
        theirs: Any = import_module("torchcrf")
    except ImportError:
        raise SettingError("this compares with pytorch-crf: pip install pytorch-crf") from None
    import torch

    from trellis.neural import ChainCRF

    torch.manual_seed(0)
    scores = torch.randn(sentences, length, labels, requires_grad=True)
    gold = torch.randint(labels, (sentences, length))
    lengths = torch.randint(shortest, length + 1, (sentences,))
    lengths[0] = length
    mask = torch.arange(length) < lengths[:, None]
    own, peer = ChainCRF(labels), theirs.CRF(labels, batch_first=True)
    assert own.start is not None
    assert own.end is not None
    with torch.no_grad():
        own.transitions.copy_(peer.transitions)
        own.start.copy_(peer.start_transitions)
        own.end.copy_(peer.end_transitions)
    sides: dict[str, tuple[Callable[[], Any], list[Any]]] = {
        "trellis": (lambda: own(scores, gold, mask).sum(), [own.transitions, own.start, own.end]),
        "peer": (
            lambda: -peer(scores, gold, mask),
            [peer.transitions, peer.start_transitions, peer.end_transitions],
        ),
    }

    def work(name: str) -> tuple[float, list[Any]]:
        loss, weights = sides[name]
        value = loss()
        return float(value.detach()), list(torch.autograd.grad(value, [scores, *weights]))

    before = torch.get_num_threads()
    times: dict[str, dict[int, list[float]]] = {name: {n: [] for n in threads} for name in sides}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pytorch-crf's own
            found = {name: work(name) for name in sides}
            for n in threads:
                torch.set_num_threads(n)
                for round_ in range(repeat):
                    say(f"{n} threads: round {round_ + 1} of {repeat}")
                    for name in sides:
                        times[name][n].append(timed(partial(work, name))[1])
    finally:
        torch.set_num_threads(before)
    (loss, ours), (peers, other) = found["trellis"], found["peer"]
    apart = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(ours, other, strict=True))
    if abs(loss - peers) > _CLOSE * abs(peers) or apart > _CLOSE:
        raise SettingError(f"the two do not agree: losses {loss} and {peers}, gradients apart by {apart:.1e}")
    both = {name: {n: Times(tuple(all_)) for n, all_ in own.items()} for name, own in times.items()}
    sizes = {"sentences": sentences, "length": length, "shortest": shortest, "labels": labels, "repeat": repeat}
    return NeuralBench(sizes, machine(), (loss, peers), apart, both["trellis"], both["peer"])
