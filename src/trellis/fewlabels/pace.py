"""How long the rest of several trainings takes, told from those that are done: by the token that is learnt from."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from trellis.training.estimate import roughly_seconds


class Pace:
    """Tells what is being done, and about how long the rest takes once something is."""

    def __init__(self, progress: Callable[[str], None] | None, tokens: float):
        """tokens: of all trainings together."""
        self._progress, self._all, self._done, self._began = progress, tokens, 0.0, perf_counter()

    def tell(self, what: str) -> None:
        if self._progress is None:
            return
        left = max(0.0, self._all - self._done)
        if self._done:
            what += f"; about {roughly_seconds((perf_counter() - self._began) * left / self._done)} left"
        self._progress(what)

    def trained(self, tokens: float) -> None:
        self._done += tokens
