"""What asking took, and what it may take: requests, tokens, cost; and what became of the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from threading import Condition
from typing import Any

from trellis.errors import BudgetError

_MILLION = 1e6


class Stopped(Exception):
    """Not asked."""


@dataclass
class Usage:
    """`texts` were `asked` about, found `from_cache`, or `repeated`: the same as another that was asked about, or
    empty. `requests` were sent, `retries` of them again after a failure. `estimated`: for how many of the requests
    tokens are estimated, as the server does not say. `cost` by the prices given, None without them. `abstained`:
    texts by reason, `dropped`: spans by reason."""

    texts: int = 0
    asked: int = 0
    from_cache: int = 0
    repeated: int = 0
    requests: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: int = 0
    cost: float | None = None
    abstained: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_line(self) -> str:
        """All of it, for people."""
        parts = [f"{self.texts:,} texts, {self.from_cache:,} of them from the cache"]
        parts.append(f"{self.requests:,} requests" + (f" ({self.retries:,} again)" if self.retries else ""))
        about = "about " if self.estimated else ""
        parts.append(f"{about}{self.input_tokens:,} tokens in, {self.output_tokens:,} out")
        if self.cost is not None:
            parts.append(f"cost {about}{self.cost:.4f}")
        for what, many in (("abstained", self.abstained), ("spans dropped", self.dropped)):
            if many:
                parts.append(f"{what}: {reasons(many)}")
        return "; ".join(parts)


def reasons(many: Mapping[str, int]) -> str:
    """`no answer 3, unknown label 1`, the most frequent first."""
    return ", ".join(f"{what} {count:,}" for what, count in sorted(many.items(), key=lambda one: (-one[1], one[0])))


class Meter:
    """Counts, from several threads, and says when the budget is used up.

    What a request costs is known when it is answered. So that none goes over max_cost, whatever its size and however
    many are under way, each is taken to cost as much as its question and the dearest answer so far, and no less than
    the dearest so far of both; the first is waited for, as nothing is known of answers then.
    """

    def __init__(
        self, prices: tuple[float, float] | None, max_cost: float | None = None, max_requests: int | None = None
    ):
        self._prices, self._max_cost, self._max_requests = prices, max_cost, max_requests
        self._usage = Usage(cost=None if prices is None else 0.0)
        self._dearest: float | None = None  # question and answer
        self._dearest_answer = 0.0
        self._under_way: list[int] = []  # tokens of their questions, about
        self._changed = Condition()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_changed"} | {"_under_way": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._changed = Condition()

    @property
    def usage(self) -> Usage:
        """As it is now."""
        with self._changed:
            return deepcopy(self._usage)

    @contextmanager
    def request(self, again: bool, stopped: Callable[[], bool], given: int) -> Iterator[None]:
        """One of about so many tokens is sent, and waited for; BudgetError if it may not be, Stopped if none is wanted
        any more by then."""
        with self._changed:
            while self._max_cost is not None and self._dearest is None and self._under_way:
                self._changed.wait()
            if stopped():
                raise Stopped
            self._check(given)
            self._usage.requests += 1
            self._usage.retries += again
            self._under_way.append(given)
        try:
            yield
        finally:
            with self._changed:
                self._under_way.remove(given)
                self._changed.notify_all()

    def _check(self, given: int) -> None:
        now = self._usage
        if self._max_requests is not None and now.requests >= self._max_requests:
            raise BudgetError(f"{now.requests:,} requests are made, as many as max_requests allows")
        if self._max_cost is None or now.cost is None:
            return
        if now.cost >= self._max_cost:
            raise BudgetError(f"{now.cost:.4f} is spent, max_cost is {self._max_cost:g}")
        others, another = sum(map(self._expected, self._under_way)), self._expected(given)
        if now.cost + others + another > self._max_cost:
            spent = f"{now.cost:.4f} is spent"
            if self._under_way:
                spent += f", {len(self._under_way)} requests under way may take {others:.4f}"
            raise BudgetError(f"{spent}, and another one {another:.4f}; max_cost is {self._max_cost:g}")

    def _expected(self, given: int) -> float:
        assert self._prices is not None  # without prices there is no max_cost
        return max(self._prices[0] * given / _MILLION + self._dearest_answer, self._dearest or 0.0)

    def tokens(self, given: int, made: int, estimated: bool) -> None:
        """What one answer took."""
        with self._changed:
            now = self._usage
            now.input_tokens += given
            now.output_tokens += made
            now.estimated += estimated
            if self._prices is not None:
                a, b = self._prices
                now.cost = (a * now.input_tokens + b * now.output_tokens) / _MILLION
                self._dearest = max(self._dearest or 0.0, (a * given + b * made) / _MILLION)
                self._dearest_answer = max(self._dearest_answer, b * made / _MILLION)

    def count(self, **more: int) -> None:
        """More texts: all, asked, from_cache or repeated."""
        with self._changed:
            for name, many in more.items():
                setattr(self._usage, name, getattr(self._usage, name) + many)

    def settle(self, abstained: Counter[str], dropped: Counter[str]) -> None:
        with self._changed:
            for counts, more in ((self._usage.abstained, abstained), (self._usage.dropped, dropped)):
                for what, many in more.items():
                    counts[what] = counts.get(what, 0) + many
