"""What every label model is: votes in, probabilities of the true labels out.

A model is fitted to votes alone. Labels known for some other votes (`dev`) only tell how good it is, beside majority
vote: a model that does not beat that is not worth its trouble, and says so.
"""

from __future__ import annotations

import itertools
import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, NotFittedError, SettingError
from trellis.labels import by_sentence, convert
from trellis.metrics import Report
from trellis.models.base import Estimator
from trellis.store import from_bytes, to_bytes
from trellis.weak.beside import Beside, check_dev, scored
from trellis.weak.conflicts import spoken
from trellis.weak.em import Climb
from trellis.weak.models.walks import Walk, independent_walks
from trellis.weak.space import Space
from trellis.weak.votes import ABSTAINS, Votes

if TYPE_CHECKING:
    from trellis.weak.models.majority import MajorityVote

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
Dev = tuple[Votes, I32]  # votes, and gold labels as numbers of the labels voted for, -1 where not known

_log = logging.getLogger("trellis")


class LabelModel(Estimator):
    """Subclasses learn in `_learn` and answer in `_probabilities`, both in the space that `_in_own_space` says; what
    they learnt is in `_learnt` (arrays) for the model file, and comes back by `_restore`."""

    name: ClassVar[str]
    needs_votes: ClassVar[bool] = True
    hears_links: ClassVar[bool] = False
    independent: ClassVar[bool] = True  # tokens, given the votes; a model that knows better has `_walks` of its own

    functions_: tuple[str, ...]
    linkers_: tuple[str, ...]
    space_: Space  # of the votes
    own_space_: Space  # of the probabilities: IO for segments, unless a model says otherwise
    abstain_: tuple[str, ...]  # what stood for no vote
    majority_: MajorityVote  # majority vote of the same votes, to be compared with
    beside_: Beside | None
    climb_: Climb | None  # how learning went, where it goes step by step

    def fit(self, votes: Votes, dev: Dev | None = None) -> Self:
        """Learns from votes. dev: other votes with their gold labels, I32[tokens] as numbers of the labels voted for
        (-1: not known), to be judged by beside majority vote."""
        self.learn(votes)
        if dev is not None:
            return self.judged(dev)
        self._compare(votes, None)
        return self

    def learn(self, votes: Votes) -> Self:
        """As `fit`, without a word about how good the model is."""
        check_votes(votes)
        if not votes.functions:
            raise SettingError("there is no labeling function that votes; linking functions alone say no label")
        if self.needs_votes and not votes.voted.any():
            raise DataError(
                f"every one of {len(votes.functions)} functions abstains on all {votes.tokens:,} tokens; there is "
                "nothing to learn from"
            )
        if not votes.labels:
            raise DataError(
                "no function votes, so it is not known which labels there are; say what the truth can be: labels "
                "(--labels)"
            )
        from trellis.weak.models.majority import majority_beside

        own = self._in_own_space(votes)
        self.functions_, self.linkers_ = votes.functions, votes.linkers if self.hears_links else ()
        self.space_, self.own_space_, self.abstain_ = votes.space, own.space, votes.abstain
        self.climb_ = None
        try:
            self._learn(own)
        except BaseException:
            del self.own_space_  # half fitted is not fitted
            raise
        self._warn_of_what_nobody_tells(own)
        self.majority_ = majority_beside(self, votes)
        self.beside_ = None
        return self

    def judged(self, dev: Dev) -> Self:
        """Says how good the model is on votes with gold labels, beside majority vote; warns if it is no better."""
        self._compare(*check_dev(dev))
        return self

    def evaluate(self, votes: Votes, gold: I32) -> Report:
        """The scores of what the model says of votes; gold: numbers of votes.labels, -1 where not known. Labels that
        the model does not know are never said, so they are mistakes."""
        votes, gold = check_dev((votes, gold))
        labels = tuple(dict.fromkeys([*votes.labels, *self.labels_]))
        number = {label: i for i, label in enumerate(labels)}
        said = np.array([number[label] for label in self.labels_], np.int32)[self.best(votes)]
        return scored(said, gold, labels, votes.offsets)

    def heard(self, votes: Votes) -> Votes:
        """What the model hears of votes: of functions and labels that it knows, as `own_labels` has them."""
        return self._fitting(votes)

    def probabilities(self, votes: Votes) -> F64:
        """P(label | votes), F64[tokens, labels], for the labels `own_labels`."""
        return self._probabilities(self._fitting(votes))

    def walks(self, votes: Votes) -> Iterator[Walk]:
        """How probable labels and pairs of labels are, `own_labels`, for runs of sentences one after the other."""
        return self._walks(self._fitting(votes))

    def best(self, votes: Votes) -> I32:
        """The labels I32[tokens] as numbers of `labels_`: IOB2 where they are of segments."""
        return self._spelt(self._decoded(self._fitting(votes)), votes)

    def predict(self, votes: Votes) -> list[list[str]]:
        """The labels of each sentence."""
        found = [self.labels_[i] for i in self.best(votes).tolist()]
        return [found[a:b] for a, b in itertools.pairwise(votes.offsets.tolist())]

    def predict_marginals(self, votes: Votes) -> list[F64]:
        """The probabilities of each sentence, F64[tokens, labels] each; see `own_labels`."""
        return by_sentence(self.probabilities(votes), votes.offsets)

    @property
    def labels_(self) -> tuple[str, ...]:
        """What `predict` says."""
        self._check_fitted()
        return self.space_.labels

    @property
    def converged_(self) -> bool:
        """Whether learning stood still at its end; True where it is no matter of steps."""
        self._check_fitted()
        return self.climb_ is None or self.climb_.converged

    @property
    def iterations_(self) -> int | None:
        self._check_fitted()
        return None if self.climb_ is None else self.climb_.iterations

    @property
    def objective_(self) -> float | None:
        """Log-likelihood of the votes plus log prior, at the end of learning."""
        self._check_fitted()
        return None if self.climb_ is None else self.climb_.objectives[-1]

    @property
    def own_labels(self) -> tuple[str, ...]:
        """The columns of `probabilities`."""
        self._check_fitted()
        return self.own_space_.labels

    def probabilities_of_types(self, votes: Votes) -> F64:
        """P(label | votes) as columns of votes.in_io().labels, F64[tokens, labels], whatever space the model has; 0 for
        what it does not know."""
        chances = self.probabilities(votes)
        to = votes.in_io().space
        table = np.zeros((len(self.own_labels), len(to.labels)))
        for k, label in enumerate(self.own_space_.spelt_in_io):
            if label in to.labels:
                table[k, to.index[label]] = 1.0
        return np.asarray(chances @ table)

    def learned_accuracy(self, votes: Votes) -> dict[str, float | None]:
        """How often each function is right, as far as the model knows: the mean, over its votes, of the probability of
        the labels (of segments: types) it votes for. None for one that never votes."""
        own, chances = votes.only(self.functions_).in_io(), self.probabilities_of_types(votes)
        out: dict[str, float | None] = {}
        for j, name in enumerate(own.functions):
            where = np.flatnonzero(own.voted[:, j])
            right = (own.space.admits[own.values[where, j]] * chances[where]).sum(axis=1)
            out[name] = float(right.mean()) if len(where) else None
        return out

    def save(self, path: str | Path) -> None:
        """Writes the model file, whole or not at all."""
        from trellis.weak.models.serial import save

        self._check_fitted()
        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        """Pickles and copies are model files, as of every estimator."""
        from trellis.weak.models.serial import serialised

        file = to_bytes(*serialised(self)) if hasattr(self, "own_space_") else None
        return {"params": self.get_params(), "file": file, "beside": getattr(self, "beside_", None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from trellis.weak.models.serial import restored

        self.__dict__.update(state["params"])
        if state["file"] is not None:
            loaded = restored(*from_bytes(state["file"]), "pickle", type(self))
            self.__dict__.update({**loaded.__dict__, **state["params"], "beside_": state["beside"]})

    def _learn(self, votes: Votes) -> None:
        raise NotImplementedError

    def _probabilities(self, votes: Votes) -> F64:
        raise NotImplementedError

    def _walks(self, votes: Votes) -> Iterator[Walk]:
        return independent_walks(self._probabilities(votes), votes.offsets, len(self.labels_))

    def _decoded(self, votes: Votes) -> I32:
        """The labels of the own space; of labels that are equally probable, the one that is more frequent."""
        chances = self._probabilities(votes)
        order = np.argsort(-self._frequency(), kind="stable")
        best = chances.max(axis=1, keepdims=True)
        near = chances[:, order] >= best * (1.0 - 1e-9)
        return np.asarray(order[near.argmax(axis=1)], np.int32)

    def _frequency(self) -> F64:
        """How frequent labels are, as far as the model knows, F64[labels]."""
        raise NotImplementedError

    def _learnt(self) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        raise NotImplementedError

    def _in_own_space(self, votes: Votes) -> Votes:
        return votes.in_io()

    def _check_fitted(self) -> None:
        if not hasattr(self, "own_space_"):
            raise NotFittedError(f"this {type(self).__name__} has learnt nothing yet; call fit")

    def _fitting(self, votes: Votes) -> Votes:
        """Votes with the functions and names that the model knows."""
        self._check_fitted()
        check_votes(votes)
        missing = [name for name in self.functions_ if name not in votes.functions]
        if missing:
            raise DataError(
                f"the model knows the function {missing[0]!r}, which does not vote here; there are: "
                f"{', '.join(votes.functions)}"
            )
        foreign = set(votes.functions) - set(self.functions_)
        if foreign:
            warnings.warn(f"the model does not know {', '.join(sorted(foreign))}; not heard", stacklevel=4)
        own = self._in_own_space(votes.only(self.functions_))
        if own.space == self.own_space_ and own.names == self.own_space_.names:  # coarse names in the same order
            return own
        table = [self.own_space_.index.get(name, ABSTAINS) for name in own.names]
        values = np.array([*table, ABSTAINS], np.int32)[own.values]
        unknown = (values == ABSTAINS) & own.voted
        if unknown.any():
            called = spoken(own.space)
            which = sorted({called[i] for i in np.unique(own.values[unknown]).tolist()})
            warnings.warn(
                f"votes for {', '.join(which)}, of which the model knows nothing, are not heard", stacklevel=4
            )
        return replace(own, values=values, space=self.own_space_)

    def _spelt(self, ids: I32, votes: Votes) -> I32:
        """Labels of the own space -> of the votes' space: runs of a type become segments."""
        if self.own_space_.encoding == self.space_.encoding:
            return ids
        written, names = convert(ids, self.own_labels, votes.offsets, "iob2", encoding="io")
        return np.array([self.space_.index[name] for name in names], np.int32)[written]

    def _warn_of_what_nobody_tells(self, own: Votes) -> None:
        """Labels of which only coarse names are voted cannot be told apart."""
        by_type = own.in_io()
        used = np.bincount(by_type.values[by_type.voted], minlength=len(by_type.names)) > 0
        called = dict(zip(by_type.names, spoken(by_type.space), strict=True))
        for name, members in by_type.space.coarse.items():
            told = [one for one in members if used[by_type.space.index[one]]]
            if used[by_type.space.index[name]] and not told:
                names = ", ".join(called[one] for one in members)
                warnings.warn(
                    f"{called[name]} is voted for, but no function tells {names} apart; where it is right, the choice "
                    "among them is a guess",
                    stacklevel=4,
                )

    def _compare(self, votes: Votes, gold: I32 | None) -> None:
        self.beside_ = Beside.of(self, self.majority_, votes, gold)
        _log.info("%s", self.beside_.as_text())
        for text in self.beside_.warnings():
            warnings.warn(text, stacklevel=3)


def check_believed(model: object, votes: object) -> None:
    """That they are a label model and votes, in this order."""
    if not isinstance(model, LabelModel):
        raise SettingError(f"the model is a {type(model).__name__}; expected a fitted label model, and then the votes")
    check_votes(votes)


def check_votes(votes: object) -> None:
    if not isinstance(votes, Votes):
        raise DataError(f"votes are of the type {type(votes).__name__}; expected Votes: weak.apply makes them")
