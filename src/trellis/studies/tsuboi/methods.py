"""The methods that are compared. A new one is an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trellis.optim import EG, LBFGS, SGD, Auto, NewtonCG, Optimizer
from trellis.report.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Style

SOME = 4000  # sentences kept by the paper's middle variant
_NEVER = 1e-14  # a `tol` so small that the gradient alone says when to stop
_ENDLESS = 10**9  # epochs
ONLINE_PASSES = 200  # the paper's


@dataclass(frozen=True)
class Method:
    """`optimizer(gradient_tol)` makes it; `style` is that of its lines. `cache` and `hvp` are the objective's.
    `filled`: after how many iterations it holds as much memory as it ever will. `exact`: whether `state.value` is the
    objective, as opposed to a sum of losses along an epoch of descent, in the place of which the objective is then
    computed outside the clock. `paper`: whether it is one of the paper's; `batch`: as opposed to its online methods,
    which have no end of their own and are stopped after `most_passes`."""

    key: str
    name: str
    style: Style
    optimizer: Callable[[float], Optimizer]
    cache: int | str = 0
    hvp: str = "kept"
    filled: int = 2
    exact: bool = True
    paper: bool = True
    batch: bool = True
    most_passes: int | None = None

    def fits(self, sentences: int) -> bool:
        """The paper leaves out a cache that is larger than the corpus."""
        return isinstance(self.cache, str) or self.cache < sentences


def all_methods(some: int = SOME) -> dict[str, Method]:
    """By key, in the order in which they are run. Newton-CG has warm colours and solid lines, L-BFGS cold colours and
    broken lines, online methods lines of dashes and dots."""
    sgd = partial(_online, SGD, averaged=False)
    newton, online = partial(_made, NewtonCG), partial(Method, exact=False, batch=False, most_passes=ONLINE_PASSES)
    fifty, ten, five = (partial(_made, LBFGS, memory=m) for m in (50, 10, 5))
    methods = [
        Method("ncg-all", "NCG(c=ALL)", Style(VERMILLION, "-", "o", 2.2), newton, cache="all"),
        Method("ncg-some", f"NCG(c={some})", Style(ORANGE, "-", "s"), newton, cache=some),
        Method("ncg-0", "NCG(c=0)", Style(PURPLE, "-", "^"), newton),
        Method("ncg-ad", "NCG(AD)", Style(GREY, "-", "x"), newton, hvp="ad"),
        Method("lbfgs-50", "L-BFGS(m=50)", Style(BLUE, "--", "D"), fifty, filled=52),
        Method("lbfgs-10", "L-BFGS(m=10)", Style(GREEN, "--", "v"), ten, filled=12),
        Method("lbfgs-5", "L-BFGS(m=5)", Style(SKY, "--", "<"), five, filled=7),
        online("sgd-inverse", "SGD(1/k)", Style(ORANGE, "-.", ">"), partial(sgd, schedule="inverse")),
        online("sgd-exponential", "SGD(alpha^k)", Style(SKY, "-.", "p"), partial(sgd, schedule="exponential")),
        # the gap, which the paper does not look at, would take an evaluation an epoch
        online("eg", "EG", Style(GREEN, "-.", "P"), partial(_online, EG, gap_every=_ENDLESS)),
        Method(
            "auto", "auto (ours)", Style(BLACK, ":", "*"), partial(_made, Auto), filled=20, exact=False, paper=False
        ),
    ]
    return {method.key: method for method in methods}


def _made(kind: type[Any], gradient_tol: float, **options: Any) -> Optimizer:
    optimizer: Optimizer = kind(tol=_NEVER, gradient_tol=gradient_tol, **options)
    return optimizer


def _online(kind: type[Any], gradient_tol: float, **options: Any) -> Optimizer:
    """These look at no gradient of the whole, and go on for as long as they are let."""
    optimizer: Optimizer = kind(tol=_NEVER, epochs=_ENDLESS, **options)
    return optimizer
