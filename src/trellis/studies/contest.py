"""The same work by Trellis and by peers, of which some may not be installed."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from trellis.errors import SettingError
from trellis.studies.clock import Times, by_turns


@dataclass(frozen=True)
class Contest:
    """`what` was done, on data of these `sizes`; times by name, those of Trellis and those of peers."""

    what: str
    sizes: dict[str, Any]
    own: dict[str, Times]
    peers: dict[str, Times]

    def ratio(self, peer: str, own: str | None = None) -> float:
        """The peer's time over Trellis', by the medians; Trellis' first entry if none is named."""
        return self.peers[peer].median / self.own[own or next(iter(self.own))].median

    def as_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            **self.sizes,
            "trellis": {name: times.as_json() for name, times in self.own.items()},
            "peers": {name: times.as_json() for name, times in self.peers.items()},
            "ratio": {peer: {own: self.ratio(peer, own) for own in self.own} for peer in self.peers},
        }


def contest(
    what: str,
    sizes: dict[str, Any],
    own: Mapping[str, Callable[[], Any]],
    peers: Mapping[str, Callable[[], Any]],
    rounds: int,
) -> Contest:
    """All by turns, after each of them once to warm up."""
    with quiet():
        times = by_turns({**own, **peers}, rounds)
    return Contest(what, sizes, {name: times[name] for name in own}, {name: times[name] for name in peers})


def found(peers: Mapping[str, str], insisted: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The modules of those peers that are installed, by name, and the names of those that are not. peers: name on PyPI
    -> module; insisted: one that has to be there."""
    modules: dict[str, Any] = {}
    for name, module in peers.items():
        with quiet():
            try:
                modules[name] = import_module(module)
            except ImportError:
                if name == insisted:
                    raise SettingError(f"the peer {name} is not installed; pip install {name}") from None
    return modules, [name for name in peers if name not in modules]


@contextmanager
def quiet() -> Iterator[None]:
    """Warnings of peers are theirs, and so is what they log."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
