"""Votes that a model has not learnt from: other labels, other functions' habits, gold labels of other types."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from synthetic import independent_votes

from trellis.errors import DataError, SettingError
from trellis.weak import choose
from trellis.weak.beside import scored
from trellis.weak.models import (
    MODELS,
    DawidSkene,
    Generative,
    HMMAggregator,
    MajorityVote,
    WeightedVote,
    label_model,
    load,
)
from trellis.weak.space import Space
from trellis.weak.votes import Votes


def segments(rows, types, functions="fgh", offsets=None):
    """Votes by name, _ to abstain, a row a token; of one sentence unless said otherwise."""
    space = Space.of_types(types)
    values = [[space.index.get(name, -1) for name in row.split()] for row in rows]
    cuts = np.array([0, len(rows)] if offsets is None else offsets)
    return Votes(np.array(values, np.int32), tuple(functions), space, cuts)


PEOPLE = ["B-PER B-PER _", "I-PER _ I-PER", "_ _ _", "B-LOC _ B-LOC", "_ _ _", "_ B-LOC _"] * 20


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("linked-hmm", "triplets")])
def test_gold_labels_of_types_that_no_function_votes_for_are_mistakes_and_change_no_other(name):
    model = label_model(name)().fit(segments(PEOPLE, ["LOC", "PER"]))
    said = model.best(segments(PEOPLE, ["LOC", "PER"]))
    wider = segments(PEOPLE, ["AAA", "LOC", "PER"])  # a type that is first by name: all numbers are others
    gold = np.array([wider.space.index[model.labels_[k]] for k in said], np.int32)
    assert model.evaluate(wider, gold).f1 == 1.0
    gold[2::6] = wider.space.index["B-AAA"]
    report = model.evaluate(wider, gold)
    assert report.precision == 1.0
    assert report.recall == pytest.approx(60 / 80)
    assert report.by_type["AAA"].correct == 0


def test_the_choice_does_not_depend_on_how_labels_are_numbered():
    rng = np.random.default_rng(0)
    votes, truth = independent_votes(rng, 3000, [0.9, 0.6, 0.5, 0.55, 0.8], (0.5, 0.3, 0.2))
    space = Space.of_labels(["0", *votes.labels])  # one that is never voted for
    dev = replace(votes, values=np.where(votes.values >= 0, votes.values + 1, -1), space=space)
    one, tried = choose(votes, (votes, truth))
    other, again = choose(votes, (dev, truth + 1))
    assert one.name == other.name
    assert [t.report.accuracy for t in tried] == [t.report.accuracy for t in again]


@pytest.mark.parametrize(
    ("gold", "said", "counts"),
    [
        ("B ? B O", "B I I O", (0, 0, 0)),  # both gold segments are beside what is not known
        ("B ?", "B I", (0, 0, 0)),
        ("B ? I", "B I I", (0, 0, 0)),
        ("O ? O B I", "O B O B I", (1, 1, 1)),
        ("B I O ? O", "B I O O O", (1, 1, 1)),
        ("B I O ?", "B O O B", (1, 1, 0)),
    ],
)
def test_spans_that_touch_tokens_whose_gold_label_is_not_known_do_not_count(gold, said, counts):
    labels, number = ("O", "B-PER", "I-PER"), {"O": 0, "B": 1, "I": 2, "?": -1}
    truth, best = (np.array([number[one] for one in row.split()], np.int32) for row in (gold, said))
    report = scored(best, truth, labels, np.array([0, len(best)]))
    per = report.by_type.get("PER")
    assert ((per.gold, per.predicted, per.correct) if per else (0, 0, 0)) == counts
    known = truth >= 0
    assert (report.tokens, report.correct_tokens) == (known.sum(), (truth == best)[known].sum())


def test_coarse_names_are_told_by_name_in_whatever_order():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 3000)
    noisy = [np.where(rng.random(3000) < 0.7, truth, rng.integers(0, 4, 3000)) for _ in range(4)]
    rows = np.stack([*noisy[:3], 4 + noisy[3] // 2], 1)
    coarse = {"AB": ["A", "B"], "CD": ["C", "D"]}
    votes = Votes.of_items(rows, list("ABCD"), coarse=coarse)
    turned = Votes.of_items(
        np.array([*range(4), 5, 4])[rows], list("ABCD"), coarse=dict(reversed(list(coarse.items())))
    )
    for name in [name for name in MODELS if name != "linked-hmm"]:
        model = label_model(name)().fit(votes)
        assert (model.best(votes) == model.best(turned)).all()
        assert np.allclose(model.probabilities(votes), model.probabilities(turned))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "linked-hmm"])
def test_a_coarse_label_for_all_there_is_can_be_learnt_and_kept(name, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    cast = [np.where(rng.random(500) < 0.8, truth, 1 - truth) for _ in range(3)]
    votes = Votes.of_items(np.stack([*cast, np.full(500, 2)], 1), ["A", "B"], coarse={"ALL": ["A", "B"]})
    model = label_model(name)().fit(votes)
    model.save(tmp_path / "m.trellis")
    assert (load(tmp_path / "m.trellis").probabilities(votes) == model.probabilities(votes)).all()


def test_what_only_a_poor_function_says_is_what_is_said():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    votes = Votes.of_items(np.stack([truth, truth, 1 - truth], 1), ["A", "B"])
    model = WeightedVote().fit(votes)
    assert model.predict(Votes.of_items(np.array([[-1, -1, 0], [-1, -1, 1]]), ["A", "B"])) == [["A"], ["B"]]


@pytest.mark.parametrize("kind", [DawidSkene, HMMAggregator])
def test_a_vote_never_cast_before_means_what_it_says(kind):
    rng = np.random.default_rng(1)
    rows = ["_ _ _ _"] * 12 + ["B-LOC B-LOC _ B-LOC"] * 4 + ["B-PER B-PER B-PER _"] * 3 + ["_ B-MISC _ B-MISC"]
    rows = [rows[k] for k in rng.integers(0, len(rows), 2000)]
    model = kind().fit(segments(rows, ["LOC", "MISC", "PER"], "fghi"))
    new = segments(["O O O O", "B-PER B-PER B-PER B-PER", "_ _ _ _"], ["LOC", "MISC", "PER"], "fghi")
    assert model.predict(new) == [["O", "B-PER", "O"]]
    chances = model.probabilities_of_types(new)
    assert chances[0, 0] > 0.99  # not MISC, the rarest
    assert model.evaluate(new, np.array([0, 5, 0])).accuracy == 1.0


@pytest.mark.parametrize("kind", [DawidSkene, HMMAggregator, Generative])
def test_names_that_the_model_does_not_know_are_said_and_not_heard(kind):
    model = kind().fit(segments(PEOPLE, ["LOC", "PER"]))
    with pytest.warns(UserWarning, match="votes for NEW, of which the model knows nothing, are not heard"):
        assert model.predict(segments(["B-NEW _ _", "_ _ _"], ["LOC", "NEW", "PER"])) == [["O", "O"]]


@pytest.mark.parametrize("kind", [Generative, DawidSkene])
def test_accuracies_and_balance_are_recovered_where_some_functions_know_coarse_labels_only(kind):
    rng = np.random.default_rng(3)
    many = 60_000
    truth = rng.choice(4, many, p=[0.15, 0.1, 0.15, 0.6])
    values = np.full((many, 5), -1)
    for j, right in enumerate((0.8, 0.7, 0.6, 0.76, 0.68)):
        own, ways = (truth, 4) if j < 3 else (np.where(truth == 3, 3, 4), 2)
        wrong = (truth + rng.integers(1, 4, many)) % 4 if ways == 4 else 7 - own
        values[:, j] = np.where(rng.random(many) < 0.7, np.where(rng.random(many) < right, own, wrong), -1)
    votes = Votes.of_items(values, ["a", "b", "c", "d"], coarse={"e": ["a", "b", "c"]})
    model = kind().fit(votes)
    true = [np.mean(votes.space.admits[values[v, j], truth[v]]) for j in range(5) for v in [values[:, j] >= 0]]
    assert np.allclose(list(model.learned_accuracy(votes).values()), true, atol=0.02)
    assert np.allclose(model.balance_, np.bincount(truth) / many, atol=0.02)
    majority = MajorityVote().fit(votes)
    assert model.evaluate(votes, truth).accuracy > majority.evaluate(votes, truth).accuracy + 0.01


def test_chances_of_a_vote_sum_to_one_under_every_label_with_coarse_names_too():
    values = np.array([[0, 4, 4], [1, 3, 4], [2, 4, 1], [3, -1, -1], [3, 3, 0]])
    votes = Votes.of_items(values, ["a", "b", "c", "d"], coarse={"e": ["a", "b", "c"]})
    model = Generative(structure="independent").fit(votes)
    table = np.exp(model._logs()).reshape(3, 6, 4)
    # f0 never says e, so saying it would come on top; f1 has e and d; f2 has e, a, b and d
    for j, names in enumerate([[0, 1, 2, 3, 4], [0, 4, 5], [0, 1, 2, 4, 5]]):
        assert np.allclose(table[j, names].sum(axis=0), 1.0)


def test_random_ties_are_the_same_when_votes_come_in_pieces():
    votes = Votes.of_items(np.array([[0, 1], [1, 0], [0, 1], [0, 2], [1, 2], [2, 0]] * 30), ["a", "b", "c"])
    model = MajorityVote("random", seed=7).fit(votes)
    whole = model.predict(votes)
    parts = [replace(votes.picked(np.arange(a, a + 20)), first=a) for a in range(0, 180, 20)]
    assert [one for part in parts for one in model.predict(part)] == whole
    assert len({*map(tuple, whole)}) == 3
    assert whole != MajorityVote("random", seed=8).fit(votes).predict(votes)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (MajorityVote("random", seed=-1), "seed is -1; expected a whole number from 0 to"),
        (MajorityVote("random", seed="x"), "seed is 'x'"),
        (DawidSkene(smoothing="x"), "smoothing is 'x'; expected a number"),
        (HMMAggregator(smoothing=None), "smoothing is None; expected a number"),
        (HMMAggregator(structure=5), "the structure is 5; expected 'independent'"),
        (Generative(structure=None), "the structure is None; expected 'independent'"),
        (WeightedVote(weights=[1]), r"weights are \[1\]; expected a table"),
    ],
)
def test_settings_that_cannot_be_are_refused(model, says):
    with pytest.raises(SettingError, match=says):
        model.fit(segments(PEOPLE, ["LOC", "PER"]))


@pytest.mark.parametrize("dev", [3, (3, 4), "xy", None])
def test_gold_labels_come_with_votes(dev):
    model = MajorityVote().fit(segments(PEOPLE, ["LOC", "PER"]))
    with pytest.raises(DataError, match="a pair of Votes and gold labels"):
        model.judged(dev)


def test_no_known_gold_label_is_no_score():
    votes = segments(PEOPLE, ["LOC", "PER"])
    with pytest.raises(DataError, match="no gold label is known; there is nothing to judge by"):
        DawidSkene().fit(votes, (votes, np.full(votes.tokens, -1)))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "linked-hmm"])
def test_items_of_which_nobody_says_anything_have_no_labels(name):
    votes = Votes.of_items(np.full((3, 4), -1), [])
    with pytest.raises(DataError, match=r"nothing to learn from|not known which labels there are"):
        label_model(name)().fit(votes)


def test_fits_say_whether_they_came_to_rest():
    votes = segments(PEOPLE, ["LOC", "PER"])
    model = DawidSkene().fit(votes)
    assert model.converged_
    assert model.iterations_ == len(model.climb_.objectives)
    assert model.objective_ == model.climb_.objectives[-1]
    assert MajorityVote().fit(votes).converged_
    assert MajorityVote().fit(votes).objective_ is None
    assert not HMMAggregator(max_iter=2, tol=None).fit(votes).converged_


@pytest.mark.parametrize("name", MODELS)
def test_one_model_answers_many_threads(name, segment_votes):
    votes, _ = segment_votes(5, sentences=60, links=1)
    model = label_model(name)().fit(votes)
    fresh = [replace(votes) for _ in range(16)]  # nothing of theirs is made yet
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(model.probabilities, fresh))
    assert all((one == model.probabilities(votes)).all() for one in found)
