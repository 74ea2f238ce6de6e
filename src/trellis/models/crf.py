"""Conditional random field: a chain of labels whose probability depends on the data, with every setting there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trellis.models.chain_tagger import ChainTagger
from trellis.models.settings import USUAL_L2

if TYPE_CHECKING:
    from trellis.features import Choice


class CRF(ChainTagger):
    """A chain of labels whose probability depends on the data: a conditional random field.

    target: the column to predict (for a corpus; lists bring their labels as `y`).
    features: a preset (`chunking`), a template file, or template lines.
    loss: log, exp, pointwise-log, pointwise-exp, hinge or softmax-margin (see docs/training.md); None for the
    optimizer's own if it has one, such as the perceptron, and log for all others.
    optimizer: auto, lbfgs, owlqn, cg or newton-cg; sentence by sentence sgd, adagrad, saga, eg, perceptron, pa, arow,
    mira or bcfw; weight by weight boosting. options: its own settings by name, e.g. {"memory": 50}.
    l2: 1/sigma^2 of a Gaussian prior; the penalty is l2/2 * |theta|^2.
    l1: the penalty l1 * |theta|_1, under which many weights are 0; needs the optimizer owlqn, which auto takes, or
    adagrad.
    hyperbolic: strength of a prior between the two, with the penalty of l1 for large weights and that of l2 near 0.
    costs: what a mistake costs, one number or a dict of them by the token's label, 1 where not named; for hinge and
    softmax-margin their margin, for the pointwise losses the weight of a token.
    min_count: attributes that occur less often in training are left out.
    hash_size: number attributes by a hash into so many places rather than keep them all (see docs/features.md).
    tag_dictionary: words seen at least so often may only have the labels they were seen with, in training and after.
    order: how many labels before its own the label of a token depends on; 0 for none. Above 1 there are weights for the
    tuples of labels seen, up to that length.
    prune: labels whose probability in a chain of lower order (0, 1, ...) is less than this are left out before the next
    order is trained or asked; 0.001 is a good number where there are hundreds of labels, or an order above 1. None: no
    label is left out.
    encoding: only well-formed sequences of this encoding of segments are possible, in training and after (no I-X after
    O in iob2): its name, or auto for the one that the labels are of.
    only_seen: labels may only follow each other as they do in training: pairs, and longer tuples up to the order. By
    default what was not seen scores 0.
    all_pairs, all_transitions: weights for every (attribute, label) and every transition, not only those seen.
    partial: in the target column `?` is a token whose label is not known and `A|B` one that is A or B.
    warm_start: a further `fit` begins with the weights of the last one, by the names of attributes and labels.
    seed: of whatever optimisers draw at random.
    threads: how many to use; None for all. Results do not depend on it.

    After `fit`: `classes_`, `columns_` (of the training file, by position), `objective_` (regularised, summed over the
    corpus), `converged_`, `iterations_`, `evaluations_`, `seconds_`, with a dev set `stopped_early_`, `dev_score_`, and
    `pruning_`, what each order of pruning left and lost.
    """

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        loss: str | None = None,
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        l2: float = USUAL_L2,
        l1: float = 0.0,
        hyperbolic: float = 0.0,
        costs: float | Mapping[str, float] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        order: int = 1,
        prune: float | None = None,
        encoding: str | None = None,
        only_seen: bool = False,
        all_pairs: bool = False,
        all_transitions: bool = False,
        partial: bool = False,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.loss = loss
        self.optimizer = optimizer
        self.options = options
        self.l2 = l2
        self.l1 = l1
        self.hyperbolic = hyperbolic
        self.costs = costs
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.order = order
        self.prune = prune
        self.encoding = encoding
        self.only_seen = only_seen
        self.all_pairs = all_pairs
        self.all_transitions = all_transitions
        self.partial = partial
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads
