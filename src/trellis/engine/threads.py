"""Shards on threads of this process. Kernels release the GIL, so threads are enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import NDArray

from trellis.engine.turns import asked_in_order
from trellis.errors import SettingError
from trellis.jit import threads_available
from trellis.objective import L2, PlainShard, Prior, Shard

if TYPE_CHECKING:
    from trellis.engine.boosting import Boosting
    from trellis.engine.descent import Descent
    from trellis.engine.online import Online

F64 = NDArray[np.float64]

_SMALL, _LARGE = 1e-6, 1e6


class ThreadedObjective:
    """The sum of all shards' losses plus the prior. Optimisers see this and nothing below it.

    One question at a time: shards use their memory again. `l1` is the strength of the part |theta|_1, which is the
    optimiser's to add. `cache`: of how many sentences lattices are kept solved for Hessian-vector products. These come
    from solved lattices (`hvp="kept"`) or from algorithmic differentiation of forward-backward (`hvp="ad"`), which
    keeps nothing and is there to be compared with.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        size: int,
        prior: Prior,
        threads: int | None = None,
        l1: float = 0.0,
        cache: int | str = 0,
        hvp: str = "kept",
    ):
        self.shards = list(shards)
        self.size = size
        self.prior = prior
        self.l1 = l1
        self._pool = ThreadPoolExecutor(min(threads or threads_available(), max(1, len(self.shards))))
        self._kept_at: F64 | None = None
        self._descent: Descent | None = None
        self._online: Online | None = None
        self._boosting: Boosting | None = None
        self._by_duals = _is_ad(hvp)
        if self._by_duals:
            _check_duals(self.shards, cache)
        left = sum(shard.sentences for shard in self.shards) if cache == "all" else int(cache)
        self.forget()
        for shard in self.shards:
            shard.keeping = min(left, shard.sentences)
            left -= shard.keeping

    def value(self, theta: F64) -> float:
        """The regularised objective, summed over the corpus, without its l1 part."""
        values: list[float] = []
        asked_in_order(self._pool, self.shards, lambda shard: shard.value(theta), lambda _, own: values.append(own))
        return sum(values) + self.prior.value(theta)

    def gradient(self, theta: F64) -> F64:
        """Its gradient, F64[size]."""
        return self.value_and_gradient(theta)[1]

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """Both at once, for little more than one of them."""
        self._kept_at = None  # until all of it is there
        self._descent = None  # whoever asks for gradients has come to the end of it
        value, gradient = self._sum(lambda shard: shard.value_and_gradient(theta))
        self._kept_at = theta.copy() if any(shard.keeping for shard in self.shards) else None
        self.prior.add_gradient(theta, gradient)
        return value + self.prior.value(theta), gradient

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        """The curvature at theta times a direction, F64[size]. What is kept of another point is done anew first."""
        keeps = any(shard.keeping for shard in self.shards)
        if keeps and (self._kept_at is None or not np.array_equal(theta, self._kept_at)):
            self.value_and_gradient(theta)
        scale = _power_of_two(direction)
        along = direction if scale == 1.0 else direction / scale
        if self._by_duals:
            product = self._sum(lambda shard: (0.0, cast(PlainShard, shard).dual_hessian_vector(theta, along)))[1]
        else:
            product = self._sum(lambda shard: (0.0, shard.hessian_vector(theta, along)))[1]
        if scale != 1.0:
            product *= scale
        product += self.prior.diagonal(theta) * direction
        return product

    def hessian_diagonal(self, theta: F64) -> F64:
        """About the diagonal of the curvature at theta, F64[size]."""
        diagonal = self._sum(lambda shard: (0.0, shard.hessian_diagonal(theta)))[1]
        diagonal += self.prior.diagonal(theta)
        return diagonal

    def _sum(self, ask: Callable[[Shard], tuple[float, F64]]) -> tuple[float, F64]:
        """What the shards answer, added up in their order."""
        values, total = [], np.zeros(self.size)

        def add(shard: Shard, answer: tuple[float, F64]) -> None:
            values.append(answer[0])
            shard.add_to(total, answer[1])

        if all(shard.answers_stay for shard in self.shards):
            for shard, answer in zip(self.shards, list(self._pool.map(ask, self.shards)), strict=True):
                add(shard, answer)
        else:
            asked_in_order(self._pool, self.shards, ask, add)
        return sum(values), total

    def descent(self) -> Descent | None:
        """The same objective for stochastic gradient descent; None where that is not possible."""
        from trellis.objective.descent import can_descend

        plain = [shard for shard in self.shards if isinstance(shard, PlainShard) and can_descend(shard)]
        if not isinstance(self.prior, L2) or self.l1 or len(plain) < len(self.shards) or not plain:
            return None
        from trellis.engine.descent import Descent

        if self._descent is None:
            self._descent = Descent(plain, self.size, self.prior.l2)
        return self._descent

    @property
    def has_curvature(self) -> bool:
        """Whether products and the diagonal can be asked for."""
        return all(shard.has_curvature for shard in self.shards)

    @property
    def l2(self) -> float:
        """Of the Gaussian prior, where there is no other but l1."""
        if not isinstance(self.prior, L2):
            raise SettingError("learners by single sentences know no hyperbolic prior; use lbfgs or auto")
        return self.prior.l2

    def online(self, marginals: bool = False) -> Online:
        """The same data for update rules, one sentence after the other."""
        from trellis.engine.online import Online
        from trellis.objective.online import why_not_online

        why = why_not_online(self.shards, marginals)
        if why is not None:
            raise SettingError(f"this optimizer cannot learn with {why}; use lbfgs or auto")
        if self._online is None:
            self._online = Online([shard for shard in self.shards if isinstance(shard, PlainShard)], self.size)
        return self._online

    def boosting(self) -> Boosting:
        """The same objective for boosting, without its prior; SettingError where that is not possible."""
        if self._boosting is None:
            from trellis.engine.boosting import Boosting
            from trellis.objective.boosting import check_boosting

            self._boosting = Boosting(check_boosting(self.shards), self.size)
        return self._boosting

    def forget(self) -> None:
        """Drops what is kept for Hessian-vector products."""
        self._kept_at = None
        for shard in self.shards:
            shard.forget()

    def close(self) -> None:
        self._pool.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _power_of_two(direction: F64) -> float:
    """About its largest number, if that is far from 1: single precision has less room than directions may need."""
    largest = float(np.abs(direction).max(initial=0.0))
    if _SMALL <= largest <= _LARGE or not 0.0 < largest < math.inf:
        return 1.0
    return math.ldexp(0.5, math.frexp(largest)[1])


def _is_ad(hvp: str) -> bool:
    if hvp not in ("kept", "ad"):
        raise SettingError(f"hvp is {hvp!r}; expected 'kept' or 'ad'")
    return hvp == "ad"


def _check_duals(shards: Sequence[Shard], cache: int | str) -> None:
    """Whether all shards can differentiate forward-backward."""
    if not all(isinstance(shard, PlainShard) and shard.has_duals for shard in shards):
        raise SettingError(
            "hvp='ad' is for the loss 'log' without a tag dictionary or attributes on transitions; use hvp='kept'"
        )
    if cache:
        raise SettingError(f"hvp='ad' keeps no lattices, but cache is {cache!r}; use hvp='kept', or cache=0")
