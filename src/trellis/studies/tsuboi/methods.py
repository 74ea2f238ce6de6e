"""The methods that are compared. A new one is an entry here, and a style in `pictures`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trellis.optim import LBFGS, Auto, NewtonCG, Optimizer

SOME = 4000  # sentences kept by the paper's middle variant
_NEVER = 1e-14  # a `tol` so small that the gradient alone says when to stop


@dataclass(frozen=True)
class Method:
    """`optimizer(gradient_tol)` makes it. `cache` and `hvp` are the objective's. `filled`: after how many iterations it
    holds as much memory as it ever will. `exact`: whether `state.value` is the objective, as opposed to a sum of losses
    along an epoch of descent, in the place of which the objective is then computed outside the clock. `paper`: whether
    it is one of the paper's."""

    key: str
    name: str
    optimizer: Callable[[float], Optimizer]
    cache: int | str = 0
    hvp: str = "kept"
    filled: int = 2
    exact: bool = True
    paper: bool = True

    def fits(self, sentences: int) -> bool:
        """The paper leaves out a cache that is larger than the corpus."""
        return isinstance(self.cache, str) or self.cache < sentences


def all_methods(some: int = SOME) -> dict[str, Method]:
    """By key, in the order in which they are run."""
    newton = partial(_made, NewtonCG)
    methods = [
        Method("ncg-all", "NCG(c=ALL)", newton, cache="all"),
        Method("ncg-some", f"NCG(c={some})", newton, cache=some),
        Method("ncg-0", "NCG(c=0)", newton),
        Method("ncg-ad", "NCG(AD)", newton, hvp="ad"),
        *(
            Method(f"lbfgs-{m}", f"L-BFGS(m={m})", partial(_made, LBFGS, memory=m), filled=m + 2)
            for m in (50, 10, 5)
        ),
        Method("auto", "auto (ours)", partial(_made, Auto), filled=20, exact=False, paper=False),
    ]  # fmt: skip
    return {method.key: method for method in methods}


def _made(kind: type[Any], gradient_tol: float, **options: Any) -> Optimizer:
    optimizer: Optimizer = kind(tol=_NEVER, gradient_tol=gradient_tol, **options)
    return optimizer
