"""What an optimiser sees, keeps and offers. A new one is a file with these, and a line in the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


class Epoch(Protocol):
    """`theta` after an epoch of descent, its `average` over some moments, and the `loss` of each sentence before its
    own update, added up."""

    @property
    def theta(self) -> F64: ...
    @property
    def average(self) -> F64: ...
    @property
    def loss(self) -> float: ...


class Descent(Protocol):
    """An objective as stochastic gradient descent sees it."""

    @property
    def sentences(self) -> int: ...

    def best_step(self, theta: F64, steps: Sequence[float], rng: np.random.Generator) -> float: ...

    def epoch(
        self, theta: F64, step: float, decay: float, epoch: int, snapshots: int, rng: np.random.Generator
    ) -> Epoch:
        """All sentences once, with step sizes that fall from step * decay^epoch to step * decay^(epoch + 1)."""
        ...


class Passed(Protocol):
    """The vectors and stores of an update rule after an epoch, the average of the first vector over some moments, and
    what the rule counted."""

    @property
    def vectors(self) -> tuple[F64, ...]: ...
    @property
    def stores(self) -> tuple[NDArray[Any], ...]: ...
    @property
    def average(self) -> F64: ...
    @property
    def tally(self) -> tuple[float, ...]: ...


class Online(Protocol):
    """An objective's data as update rules see it. `length`: how many "tokens", "sentences" or "fours" there are."""

    @property
    def sentences(self) -> int: ...
    @property
    def labels(self) -> int: ...
    @property
    def width(self) -> int:
        """Labels, rounded up to whole vectors."""
        ...

    @property
    def counts(self) -> F64:
        """How often the attribute of each weight occurs in an epoch, or a transition is seen in the labels."""
        ...

    @property
    def squares(self) -> F64:
        """The mean of x^2 over the occurrences of each weight's attribute; 1 for transitions."""
        ...

    @property
    def shares(self) -> F64:
        """The part of the prior that a weight has in one of its updates, which are as many as its attribute occurs in
        an epoch, or for transitions as there are fours."""
        ...

    def length(self, axis: str) -> int: ...

    def stores_for(self, rule: type[Any]) -> tuple[F64, ...]:
        """Memory for the numbers that a rule keeps, all zeros; SettingError where that would be too much."""
        ...

    def bytes_for(self, rule: type[Any]) -> int:
        """How much memory that is."""
        ...

    def epoch(
        self,
        rule: Any,
        vectors: Sequence[F64],
        rng: np.random.Generator,
        stores: Sequence[NDArray[Any]] = (),
        snapshots: int = 0,
    ) -> Passed:
        """All sentences once, in an order drawn at random."""
        ...

    def trial(self, rule: Any, judge: Any, vectors: Sequence[F64], rng: np.random.Generator, sample: int) -> Passed:
        """The rule on a sample of sentences; its vectors, and what another rule then counts on another sample."""
        ...


class Rounds(Protocol):
    """`theta` after some rounds of boosting; of each round the `bound` of the loss after it and that `loss`,
    F64[rounds] both; the loss where they `start`; whether boosting has `ended`: no change of a weight promises more."""

    @property
    def theta(self) -> F64: ...
    @property
    def bound(self) -> F64: ...
    @property
    def loss(self) -> F64: ...
    @property
    def start(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...
    @property
    def ended(self) -> bool: ...


class Boosted(Protocol):
    """An objective as boosting sees it."""

    @property
    def tokens(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """Memory for all that boosting keeps."""
        ...

    def rounds(
        self, theta: F64, count: int, straight_from: float, uniform: bool, by: str, smoothing: float, search: bool
    ) -> Rounds:
        """So many rounds from theta, or fewer where boosting ends; what the rest means is in `optim.boosting`."""
        ...


class Objective(Protocol):
    """A function to minimise, f(theta) + l1 |theta|_1; where its data is and how it is computed is nobody's business
    here. All that is asked at a theta is asked of f alone, the part with a gradient."""

    @property
    def l1(self) -> float: ...

    @property
    def has_curvature(self) -> bool:
        """Whether the next two can be asked."""
        ...

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]: ...

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        """H(theta) direction, or what the loss has in place of H where that is not positive or does not exist; quick
        where theta was the last point asked about."""
        ...

    def hessian_diagonal(self, theta: F64) -> F64:
        """About the diagonal of H(theta): positive, good for scaling."""
        ...

    @property
    def l2(self) -> float:
        """Of the Gaussian prior, where there is no other but l1; else SettingError."""
        ...

    def online(self, marginals: bool = False) -> Online:
        """The same data for update rules, and for those that need marginals; SettingError where that is not
        possible."""
        ...

    def descent(self) -> Descent | None:
        """The same objective for stochastic gradient descent; None where that is not possible."""
        ...

    def boosting(self) -> Boosted:
        """The same objective for boosting, without its prior; SettingError where that is not possible."""
        ...


class State(Protocol):
    """Everything the next step depends on, and what the loop around it reads. A frozen dataclass of arrays, numbers,
    truth values, texts, None, tuples of these and other states, so that checkpoints can hold any of them; `STATES` has
    its class. Arrays of floats are finite, and as long as theta if they have one dimension. A state may also have
    `more`, numbers by name that belong into the log of a run."""

    @property
    def theta(self) -> F64: ...
    @property
    def value(self) -> float:
        """The whole objective at theta, with its l1 part; before the first evaluation a guess, or inf."""
        ...

    @property
    def gradient_norm(self) -> float: ...
    @property
    def iteration(self) -> int: ...
    @property
    def evaluations(self) -> int:
        """Values with gradients so far."""
        ...

    @property
    def products(self) -> int:
        """Hessian-vector products so far, and other work that takes about as long as one."""
        ...

    @property
    def converged(self) -> bool: ...
    @property
    def stuck(self) -> bool:
        """No step makes the objective smaller, and that is not because it is at its minimum."""
        ...


def is_over(state: State) -> bool:
    """Whether an optimiser has no more to do: it has converged, is stuck, or, where its state says so, has `finished`
    what it was asked for without either."""
    return state.converged or state.stuck or bool(getattr(state, "finished", False))


class Optimizer(Protocol):
    """Hyperparameters, and steps from one explicit state to the next. Its class may say more of it, see `traits_of`."""

    def start(self, objective: Objective, theta: F64) -> Any: ...

    def step(self, objective: Objective, state: Any) -> Any: ...

    def fraction_done(self, state: Any) -> float:
        """A guess from 0 to 1, for progress bars."""
        ...

    def usual_work(self, objective: Objective) -> float:
        """About how long it takes from zero to its end, over what L-BFGS takes that remembers ten pairs."""
        ...

    @property
    def vectors(self) -> int:
        """About how many arrays as long as theta it needs."""
        ...


def bytes_of(optimizer: Optimizer, objective: Objective, size: int) -> int:
    """About how much memory an optimiser needs for `size` weights: its vectors and, where it has a method `stored`,
    what that says it keeps beside them."""
    stored: Callable[[Objective], int] = getattr(optimizer, "stored", lambda objective: 0)
    return 8 * optimizer.vectors * size + stored(objective)


@dataclass(frozen=True)
class Traits:
    """`learns`: the losses that an optimiser can minimise, the first of which is meant where none is named; () for any.
    `uses_prior`: whether it knows of l2 and other priors. `is_online`: whether it asks for `Objective.online`; its
    iterations are then epochs, of which it makes a number that it has as a hyperparameter. `any_end`: whether it has no
    minimum to come to, so that an end after any number of iterations is as good as another. `limit`: the hyperparameter
    that says how much it does at most, and nothing else; its states count as much in `done`."""

    learns: tuple[str, ...]
    uses_prior: bool
    is_online: bool
    any_end: bool
    limit: str | None


def traits_of(kind: type[Any]) -> Traits:
    """From the class variables of the same names, where it has them."""
    return Traits(
        getattr(kind, "learns", ()),
        getattr(kind, "uses_prior", True),
        getattr(kind, "is_online", False),
        getattr(kind, "any_end", False),
        getattr(kind, "limit", None),
    )
