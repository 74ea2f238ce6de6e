"""What cells are trained on, which there are, and figures and verdicts from their outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import Column
from trellis.studies.altun.cells import HYPERBOLIC, L1, L2, NONE, Cell, Moment, Outcome
from trellis.studies.altun.claims import HOLDS, MIXED, NO, UNKNOWN, judge
from trellis.studies.altun.measures import (
    along_the_way,
    share,
    spread,
    under_noise,
    under_noise_chosen,
    with_prior,
    with_share,
)
from trellis.studies.altun.methods import LOSSES, METHODS
from trellis.studies.altun.paper import PAPER, of_paper
from trellis.studies.altun.plan import GRIDS, PARTS, Scope, cells_of, cells_to_choose_from, noisy_cells, tried
from trellis.studies.altun.results import Study
from trellis.studies.altun.runs import settings_of
from trellis.studies.altun.tables import of_sparseness, percent
from trellis.studies.altun.tasks import KINDS, flipped, load_tasks, training_data


@pytest.fixture(scope="module")
def tasks():
    return load_tasks(None, quick=True)


def test_a_share_of_the_labels_becomes_another_one():
    labels = Column(np.arange(1000, dtype=np.int32) % 7, list("abcdefg"))
    found = {share: flipped(labels, share, 3) for share in (0.0, 0.05, 0.2)}
    changed = {share: np.flatnonzero(column.ids != labels.ids) for share, column in found.items()}
    assert [len(each) for each in changed.values()] == [0, 50, 200]
    assert set(changed[0.05]) <= set(changed[0.2])  # more noise adds to less
    assert np.array_equal(found[0.05].ids[changed[0.05]], found[0.2].ids[changed[0.05]])
    assert set(found[0.2].ids.tolist()) == set(range(7))
    assert np.array_equal(flipped(labels, 0.2, 3).ids, found[0.2].ids)
    assert not np.array_equal(flipped(labels, 0.2, 4).ids, found[0.2].ids)


def test_all_other_labels_are_as_likely():
    labels = Column(np.zeros(30_000, np.int32), list("abc"))
    counts = np.bincount(flipped(labels, 1.0, 0).ids, minlength=3)
    assert counts[0] == 0
    assert counts[1] == pytest.approx(15_000, abs=400)


def test_smaller_corpora_are_parts_of_larger_ones(tasks):
    task = tasks["ner"]
    words = {
        size: [
            tuple(sentence)
            for sentence in training_data(task, Cell("ner", "s1", "log", sentences=size), 0).sentences("word")
        ]
        for size in (20, 60, None)
    }
    assert [len(each) for each in words.values()] == [20, 60, 150]
    assert set(words[20]) <= set(words[60]) <= set(words[None])


def test_noise_changes_labels_and_nothing_else(tasks):
    task = tasks["ner"]
    clean, noisy = (training_data(task, Cell("ner", "s2", "log", noise=noise), 0) for noise in (0.0, 0.1))
    assert noisy.sentences("word") == clean.sentences("word")
    pairs = zip(clean[task.target].values(), noisy[task.target].values(), strict=True)
    assert sum(a != b for a, b in pairs) == round(0.1 * clean.tokens)


def test_priors_are_chosen_on_data_that_is_not_trained_on(tasks):
    assert tasks["ner"].has_dev_file
    assert tasks["ptb"].has_dev_file
    pos = tasks["pos"]
    assert not pos.has_dev_file
    assert len(pos.fit) + len(pos.dev) == len(pos.train)
    assert all(cell.held_out for cell in tried("pos", "s1", "log", 4))
    assert not any(cell.held_out for cell in tried("ner", "s1", "log", 4))


def test_settings_are_those_of_method_and_cell(tasks):
    limits = {"max_iter": 300, "tol": 1e-3}
    found = settings_of(tasks["pos"], Cell("pos", "s2", "exp", L2, 0.5), METHODS["exp"], limits)
    assert (found["features"], found["loss"], found["l2"], found["optimizer"]) == ("altun-s2", "exp", 0.5, "auto")
    assert found["tag_dictionary"] == 5
    sparse = settings_of(tasks["ner"], Cell("ner", "s3", "log", L1, 0.5), METHODS["log"], limits)
    assert (sparse["l1"], sparse["l2"], sparse["tag_dictionary"]) == (0.5, 0.0, None)
    none = settings_of(tasks["ner"], Cell("ner", "s3", "log", NONE), METHODS["log"], limits)
    assert none["l2"] == 0.0
    boosted = settings_of(tasks["pos"], Cell("pos", "s1", "boosting", NONE), METHODS["boosting"], limits)
    assert "loss" not in boosted
    assert "l2" not in boosted
    assert boosted["patience"] == boosted["max_iter"] <= 300


SCOPE = Scope((("ner", 8000), ("pos", 8000), ("ptb", 900)), (300, 1000), (0.0, 0.1), 2)


def test_what_priors_are_chosen_from_comes_first_and_only_where_it_is_needed():
    assert cells_to_choose_from(["priors"], SCOPE) == []
    first = cells_to_choose_from(["noise"], SCOPE)
    assert {(cell.task, cell.features) for cell in first} == {("ner", "s2")}
    assert {cell.method for cell in first} == set(LOSSES)
    assert {cell.method for cell in cells_to_choose_from(["methods"], SCOPE)} == {"log", "exp"}


def test_cells_that_parts_share_are_run_once():
    def chosen(*which):
        return 0.5

    apart = [cells_of([part], SCOPE, chosen) for part in PARTS]
    together = cells_of(list(PARTS), SCOPE, chosen)
    assert len(together) == len(set(together)) < sum(map(len, apart))
    assert set(together) == {cell for part in apart for cell in part}
    assert not any(cell.task == "ptb" and cell.sentences == 1000 for cell in together)  # it has fewer


def outcome(cell, score, dev=None, active=10, seconds=1.0, moments=()):
    return Outcome(cell, score, score, dev, 1.0, 1, 1, True, seconds, seconds, 100, active, 50, 9, 10, 100, moments)


def study_of(*outcomes):
    return Study({"quick": False}, {}, {}, SCOPE, tuple(outcomes))


def losses(scores, task="ner", features="s2"):
    """Outcomes from which priors are chosen: the second strength is best, and has this score."""
    found = []
    for method, score in zip(LOSSES, scores, strict=False):
        cells = tried(task, features, method, 2)
        found += [outcome(cells[0], 0.1, 0.5), outcome(cells[1], score, 0.6)]
    return found


def test_the_prior_with_the_best_score_on_held_out_data_is_chosen():
    study = study_of(*losses([0.7]))
    assert study.chosen("ner", "s2", "log") == METHODS["log"].grid[1]
    assert study.result("ner", "s2", "log").score == 0.7
    cells = tried("ner", "s1", "log", 2)
    alike = study_of(*(outcome(cell, 0.3, 0.6) for cell in cells))
    assert alike.chosen("ner", "s1", "log") == max(cell.strength for cell in cells)  # the simplest model
    assert study.result("ner", "s3", "log") is None
    assert study.result("ner", "s2", "perceptron") is None


def test_of_each_kind_of_prior_the_best_strength_is_compared():
    cells = {prior: [Cell("ner", "s3", "log", prior, strength, 300) for strength in GRIDS[prior]] for prior in GRIDS}
    scores = {L2: (0.60, 0.62), L1: (0.61, 0.50), HYPERBOLIC: (0.615, 0.5), NONE: (0.55,)}
    found = [
        outcome(cell, score, score - 0.01)
        for prior in GRIDS
        for cell, score in zip(cells[prior], scores[prior], strict=False)
    ]
    study = study_of(*found)
    assert with_prior(study, "ner", L2, 300).score == 0.62
    assert with_prior(study, "ner", L1, 300).score == 0.61
    assert with_prior(study, "ner", L2, None) is None
    verdicts = {each.claim.key: each for each in judge(study)}
    assert verdicts["prior"].here == "ner 300 +7.00"
    assert verdicts["prior"].verdict == HOLDS
    assert verdicts["priors"].here == "ner 300 1.00"
    assert verdicts["prior-small"].verdict == UNKNOWN


def test_noise_is_judged_with_the_old_prior_and_with_a_new_one():
    clean = losses([0.75, 0.70])
    study = study_of(*clean)
    for method, scores in (("log", (0.70, 0.72)), ("exp", (0.40, 0.69))):
        cells = noisy_cells(SCOPE, method, 0.1, study.chosen)
        study = study_of(*study.outcomes, *(outcome(c, s, s) for c, s in zip(cells, scores, strict=True)))
    assert under_noise(study, "exp", 0.1).score == 0.40
    assert under_noise_chosen(study, "exp", 0.1).score == 0.69
    assert under_noise_chosen(study, "exp", 0.0).score == 0.70
    judged = {each.claim.key: each for each in judge(study)}["noise"]
    assert judged.here == "10%, prior as without noise +25.00; 10%, prior chosen anew -2.00"
    assert judged.verdict == MIXED


def test_losses_and_features_are_judged_by_points():
    study = study_of(*losses([0.60, 0.59, 0.57, 0.58], features="s1"), *losses([0.70, 0.68, 0.69, 0.71]))
    assert spread(study, "ner", "s1") == pytest.approx(3.0)
    judged = {each.claim.key: each for each in judge(study)}
    assert judged["features"].here == "ner s1 to s2 +9.00"
    assert judged["features"].verdict == HOLDS
    assert judged["losses"].here == "ner s1 3.00; ner s2 3.00"
    assert judged["losses"].verdict == HOLDS  # the paper's own are 3.19 and 2.45
    assert judged["figures"].here == "ner s1 +0.08; ner s2 +0.25"


def test_perceptron_and_boosting_are_judged_beside_what_they_approximate():
    outcomes = losses([0.60, 0.58], features="s1")
    for method, score, active in (("perceptron", 0.59, 90), ("boosting", 0.50, 12)):
        outcomes.append(outcome(Cell("ner", "s1", method, NONE), score, active=active, seconds=30.0))
    judged = {each.claim.key: each for each in judge(study_of(*outcomes))}
    assert (judged["perceptron"].here, judged["perceptron"].verdict) == ("ner s1 -1.00", HOLDS)
    assert (judged["boosting"].here, judged["boosting"].verdict) == ("ner s1 -8.00", HOLDS)
    assert (judged["sparse"].here, judged["sparse"].verdict) == ("ner s1 12.0%", HOLDS)
    assert judged["slow"].here == "ner s1 30.0 times"
    better = study_of(*losses([0.60], features="s1"), outcome(Cell("ner", "s1", "perceptron", NONE), 0.65))
    assert {each.claim.key: each for each in judge(better)}["perceptron"].verdict == NO


def test_boosting_is_followed_where_there_is_something_to_score_on():
    moments = (Moment(1, 0.1, 5, 9.0, 0.3), Moment(2, 0.2, 8, 8.0, 0.4))
    last = outcome(Cell("pos", "s1", "boosting", NONE), 0.8)
    held_out = outcome(Cell("pos", "s1", "boosting", NONE, held_out=True), 0.7, 0.7, moments=moments)
    study = study_of(last, held_out)
    assert along_the_way(study, "pos", "s1", "boosting") is held_out
    assert study.result("pos", "s1", "boosting") is last
    assert along_the_way(study, "pos", "s2", "boosting") is None
    assert share(last) == 10.0


def test_outcomes_survive_the_file():
    moments = (Moment(1, 0.1, 5, 9.0, 0.3),)
    study = study_of(outcome(Cell("ner", "s1", "boosting", NONE), 0.7, 0.6, moments=moments), *losses([0.5]))
    assert Study.from_json(study.as_json()) == study


def test_a_star_is_for_trainings_that_were_stopped():
    done = outcome(Cell("ner", "s1", "log"), 0.5)
    assert percent(done) == "50.00"
    assert percent(Outcome(**{**vars(done), "converged": False})) == "50.00*"
    assert percent(None) == "-"


def test_the_papers_tables():
    assert of_paper("ner", "s3", "pointwise-exp") == 73.82
    assert of_paper("ptb", "s2", "boosting") == of_paper("pos", "s2", "boosting") == 94.92
    assert of_paper("pos", "s1", "perceptron") is None
    assert all(of_paper(task, features, loss) for task in KINDS for features in PAPER[task] for loss in LOSSES)
    assert all(KINDS[task].features[: len(PAPER[task])] == tuple(PAPER[task]) for task in KINDS)
    assert of_paper("ptb", "s3", "log") is None


def test_the_best_moment_with_a_share_of_the_weights():
    moments = [Moment(1, 1.0, 4, 9.0, 0.3), Moment(2, 2.0, 9, 8.0, 0.5), Moment(3, 3.0, 30, 7.0, 0.4)]
    run = outcome(Cell("ner", "s1", "boosting", NONE), 0.5, moments=tuple(moments))
    assert [with_share(run, most) for most in (3.0, 4.0, 10.0, 100.0)] == [None, moments[0], moments[1], moments[1]]
    table = of_sparseness(study_of(run), ["ner", "pos"])
    assert "S1 | 30.00 | 50.00 | 50.00 | 50.00 | 9.0 |" in table


def test_sets_that_the_paper_has_not_are_judged_apart():
    better, worse = [0.9] * 4, [0.8] * 4
    parts = [*losses(worse, "ptb", "s1"), *losses(better, "ptb", "s2"), *losses(worse, "ptb", "s3")]
    verdicts = {each.claim.key: each.verdict for each in judge(study_of(*parts))}
    assert (verdicts["features"], verdicts["features-more"]) == (HOLDS, NO)
