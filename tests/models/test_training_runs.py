"""`fit` with a checkpoint and a log: it goes on where it was, for the same data and settings, and says what it does."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from trellis import CRF, ConvergenceWarning, KernelPerceptron
from trellis.errors import CheckpointError, DamagedModelError, FileAccessError, SettingError
from trellis.optim import OPTIMIZERS, traits_of
from trellis.store import CheckpointFile

LISTS = ([[["a"], ["b"]], [["a"], ["c"]]], [["X", "Y"], ["X", "Z"]])


class Interrupting:
    """Stops training after an iteration, as Ctrl-C does."""

    def __init__(self, at):
        self.at = at

    def __call__(self, now):
        if now.iteration == self.at:
            raise KeyboardInterrupt


def interrupted(crf, *data, at=5, **more):
    with pytest.raises(KeyboardInterrupt):
        crf.fit(*data, progress=Interrupting(at), **more)


def saved(crf, folder, name="m"):
    crf.save(folder / name)
    return (folder / name).read_bytes()


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestResuming:
    @pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")  # bcfw takes its time
    @pytest.mark.parametrize("optimizer", OPTIMIZERS)
    @pytest.mark.parametrize("with_dev", [False, True])
    def test_gives_the_same_bytes(self, corpus, heldout, tmp_path, optimizer, with_dev):
        settings = {"target": "chunk", "optimizer": optimizer, "l2": 0.1}
        if optimizer == "boosting":  # a few rounds are an iteration, or there would be one
            settings["options"] = {"rounds": 60, "rounds_per_step": 10}
        dev = heldout if with_dev else None
        whole = CRF(**settings).fit(corpus, dev=dev)
        for at in {1, 2, whole.iterations_ // 2, whole.iterations_ - 1}:
            folder = tmp_path / f"{at}"
            interrupted(CRF(**settings), corpus, at=at, dev=dev, checkpoint=folder)
            again = CRF(**settings, threads=1).fit(corpus, dev=dev, checkpoint=folder, resume=True)
            assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")
            assert (again.iterations_, again.evaluations_) == (whole.iterations_, whole.evaluations_)

    @pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")
    @pytest.mark.parametrize("optimizer", OPTIMIZERS)
    def test_with_more_iterations_is_as_if_they_had_been_asked_for_at_once(self, corpus, tmp_path, optimizer):
        settings = {"target": "chunk", "optimizer": optimizer}
        if optimizer == "boosting":
            settings["options"] = {"rounds": 60, "rounds_per_step": 10}
        whole = CRF(**settings, max_iter=5).fit(corpus)
        CRF(**settings, max_iter=2).fit(corpus, checkpoint=tmp_path / "c")
        more = CRF(**settings, max_iter=5).fit(corpus, checkpoint=tmp_path / "c", resume=True)
        assert (more.iterations_, saved(more, tmp_path, "a")) == (whole.iterations_, saved(whole, tmp_path, "b"))

    @pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")
    @pytest.mark.parametrize("optimizer", [name for name, kind in OPTIMIZERS.items() if traits_of(kind).limit])
    def test_so_it_is_with_more_of_an_optimizer_s_own_measure(self, corpus, tmp_path, optimizer):
        limit = traits_of(OPTIMIZERS[optimizer]).limit
        times, more = (10, {"rounds_per_step": 10}) if limit == "rounds" else (1, {})

        def fit(limited_to, **where):
            options = {limit: times * limited_to, **more}
            return CRF("chunk", optimizer=optimizer, options=options).fit(corpus, **where)

        whole, folder = fit(4), tmp_path / "c"
        assert fit(1, checkpoint=folder).iterations_ == 1
        again = fit(4, checkpoint=folder, resume=True)
        assert again.iterations_ == whole.iterations_ > 1
        np.testing.assert_array_equal(again.model_.weights, whole.model_.weights)
        made = times * again.iterations_
        with pytest.raises(CheckpointError, match=f"has made {made} {limit}, and this is {limit}={times};"):
            fit(1, checkpoint=folder, resume=True)

    def test_rounds_that_fill_no_iteration_are_no_end(self, corpus, tmp_path):
        """Few rounds gain little, also far from the end."""

        def fit(rounds, **where):
            options = {"rounds": rounds, "rounds_per_step": 20}
            return CRF("chunk", optimizer="boosting", options=options, tol=0.1).fit(corpus, **where)

        fit(21, checkpoint=tmp_path / "c")
        assert fit(60, checkpoint=tmp_path / "c", resume=True).iterations_ == 1 + fit(60).iterations_

    def test_no_options_and_none_but_the_limit_are_the_same(self, corpus, tmp_path):
        perceptron = {"target": "chunk", "optimizer": "perceptron"}
        for options in (None, {}, {"epochs": 30}):
            CRF(**perceptron, options=options).fit(corpus, checkpoint=tmp_path / "c", resume=True)

    def test_again_and_again(self, corpus, tmp_path):
        whole = CRF("chunk").fit(corpus)
        for at in range(1, whole.iterations_, 4):
            interrupted(CRF("chunk"), corpus, at=at, checkpoint=tmp_path / "c", resume=True)
        again = CRF("chunk").fit(corpus, checkpoint=tmp_path / "c", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_of_lists_and_values_too(self, tmp_path):
        X = [[{"x": 0.5 * k, "w": str(k)} for k in range(n)] for n in (3, 5, 4)]
        y = [["P" if token["x"] > 1 else "N" for token in sentence] for sentence in X]
        whole = CRF(l2=0.01).fit(X, y)
        interrupted(CRF(l2=0.01), X, y, at=3, checkpoint=tmp_path / "c")
        again = CRF(l2=0.01).fit(X, y, checkpoint=tmp_path / "c", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    @pytest.mark.parametrize("optimizer", ["auto", "newton-cg"])
    def test_of_a_loss_that_begins_from_another_s_solution(self, corpus, tmp_path, optimizer):
        self.check_same_bytes({"loss": "exp", "optimizer": optimizer, "l2": 0.1}, corpus, tmp_path)

    def test_with_sentence_weights(self, corpus, tmp_path):
        weights = 0.5 + np.arange(len(corpus)) % 3
        folder = self.check_same_bytes({}, corpus, tmp_path, sample_weight=weights)
        with pytest.raises(CheckpointError, match="from other training data"):
            CRF("chunk").fit(corpus, sample_weight=weights[::-1], checkpoint=folder, resume=True)

    def test_with_labels_known_in_part(self, corpus, tmp_path):
        labels = corpus.sentences("chunk")
        part = [[None if (s + t) % 3 == 0 else label for t, label in enumerate(row)] for s, row in enumerate(labels)]
        part[0][1] = {"B-NP", "I-NP"}
        folder = self.check_same_bytes({}, corpus, tmp_path, y=part)
        with pytest.raises(CheckpointError, match="from other training data"):
            CRF("chunk").fit(corpus, labels, checkpoint=folder, resume=True)

    def check_same_bytes(self, settings, corpus, folder, **data):
        """Interrupted early and late; returns the folder of a checkpoint."""
        whole = CRF("chunk", **settings).fit(corpus, **data)
        for at in {1, whole.iterations_ - 1}:
            kept = folder / f"{at}"
            interrupted(CRF("chunk", **settings), corpus, at=at, checkpoint=kept, **data)
            again = CRF("chunk", **settings, threads=1).fit(corpus, checkpoint=kept, resume=True, **data)
            assert saved(again, folder, "a") == saved(whole, folder, "b")
            assert (again.iterations_, again.evaluations_) == (whole.iterations_, whole.evaluations_)
        return kept

    def test_a_finished_training_is_at_its_end_at_once(self, corpus, tmp_path):
        whole = CRF("chunk").fit(corpus, checkpoint=tmp_path / "c")
        before = (tmp_path / "c" / "training.checkpoint").read_bytes()
        seen = []
        again = CRF("chunk").fit(corpus, checkpoint=tmp_path / "c", resume=True, progress=seen.append)
        assert seen == []
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")
        assert len((tmp_path / "c" / "training.checkpoint").read_bytes()) == len(before)

    def test_more_iterations(self, corpus, tmp_path):
        with pytest.warns(ConvergenceWarning):
            CRF("chunk", max_iter=4).fit(corpus, checkpoint=tmp_path / "c")
        again = CRF("chunk").fit(corpus, checkpoint=tmp_path / "c", resume=True)
        assert saved(again, tmp_path, "a") == saved(CRF("chunk").fit(corpus), tmp_path, "b")

    def test_more_patience(self, corpus, heldout, tmp_path):
        settings = {"target": "chunk", "tol": 1e-10}
        CRF(**settings, patience=1).fit(corpus, dev=heldout, checkpoint=tmp_path / "c")
        again = CRF(**settings, patience=6).fit(corpus, dev=heldout, checkpoint=tmp_path / "c", resume=True)
        whole = CRF(**settings, patience=6).fit(corpus, dev=heldout)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_without_a_checkpoint_begins_and_says_so(self, corpus, tmp_path, caplog):
        with caplog.at_level(logging.INFO, "trellis"):
            CRF("chunk").fit(corpus, checkpoint=tmp_path / "c", resume=True)
        assert f"no checkpoint in {tmp_path / 'c'}; training starts afresh" in caplog.messages

    def test_from_a_warm_start(self, corpus, heldout, tmp_path):
        start = CRF("chunk", l2=5.0).fit(heldout)
        whole = CRF("chunk").fit(corpus, start=start)
        interrupted(CRF("chunk"), corpus, start=start, checkpoint=tmp_path / "c")
        again = CRF("chunk").fit(corpus, start=start, checkpoint=tmp_path / "c", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")
        with pytest.raises(CheckpointError, match="began from other weights"):
            CRF("chunk").fit(corpus, checkpoint=tmp_path / "c", resume=True)


@pytest.fixture(scope="module")
def folder(corpus, heldout, tmp_path_factory):
    """The checkpoint of an interrupted training."""
    folder = tmp_path_factory.mktemp("run")
    interrupted(CRF("chunk", l2=1.0), corpus, dev=heldout, checkpoint=folder)
    return folder


class TestBelonging:
    @pytest.mark.parametrize(
        ("other", "message"),
        [
            ({"l2": 2.0}, r"was made with l2=1.0, this is l2=2.0"),
            ({"tol": 1e-3}, r"was made with tol=1e-05, this is tol=0.001"),
            ({"seed": 7}, r"was made with seed=0, this is seed=7"),
            ({"min_count": 2}, r"was made with min_count=1, this is min_count=2"),
            ({"all_pairs": True}, r"was made with all_pairs=False, this is all_pairs=True"),
            ({"tag_dictionary": 5}, r"was made with tag_dictionary=None, this is tag_dictionary=5"),
            ({"features": "word[0]"}, r"was made with other features or from other training data"),
            ({"target": "pos", "features": "word[0]"}, r"was made from other training data"),
            ({"max_iter": 4}, r"is at iteration 5, beyond max_iter=4"),
            ({"patience": 3}, r"was made with patience=10, this is patience=3; it may be raised"),
        ],
    )
    def test_other_settings_are_refused_by_name(self, corpus, heldout, folder, other, message):
        before = (folder / "training.checkpoint").read_bytes()
        with pytest.raises(CheckpointError, match=message):
            CRF(**{"target": "chunk", **other}).fit(corpus, dev=heldout, checkpoint=folder, resume=True)
        assert (folder / "training.checkpoint").read_bytes() == before

    def test_options_are_compared_one_by_one_as_they_count(self, corpus, tmp_path):
        def fit(optimizer="arow", **more):
            return CRF("chunk", optimizer=optimizer, **more).fit(corpus, checkpoint=tmp_path, resume=True)

        fit(options={"epochs": 2})
        fit(options={"epochs": 2, "gamma": 100.0})  # as if it were not given
        fit(l2=3.0)  # which means nothing to it
        with pytest.raises(
            CheckpointError, match=r"was made with option gamma=100.0, this is option gamma=5.0; resume"
        ):
            fit(options={"gamma": 5.0})
        with pytest.raises(CheckpointError, match="the checkpoint was made by a crf, this is a kernel-perceptron; res"):
            KernelPerceptron("chunk").fit(corpus, checkpoint=tmp_path, resume=True)

    @pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")
    @pytest.mark.parametrize("names", [("arow", "lbfgs"), ("lbfgs", "arow"), ("newton-cg", "eg"), ("boosting", "sgd")])
    def test_the_state_of_another_optimizer_is_refused(self, corpus, tmp_path, names):
        for name in names:
            CRF("chunk", optimizer=name, max_iter=1).fit(corpus, checkpoint=tmp_path / name)
        first, second = (CheckpointFile(tmp_path / name) for name in names)
        description, tensors = second.read()
        first.write({**first.read()[0], "state": description["state"]}, tensors)
        with pytest.raises(DamagedModelError, match="which is not of its optimizer; delete it and train from the"):
            CRF("chunk", optimizer=names[0], max_iter=2).fit(corpus, checkpoint=tmp_path / names[0], resume=True)

    def test_other_data_is_refused(self, corpus, heldout, make_corpus, folder):
        def going_on(data, **more):
            CRF("chunk").fit(data, checkpoint=folder, resume=True, **more)

        with pytest.raises(CheckpointError, match="was made from other training data"):
            going_on(corpus.slice(0, 50), dev=heldout)
        words = [["dog"] * len(sentence) for sentence in corpus.sentences("word")]
        changed = corpus.with_column("word", type(corpus).from_lists({"w": words})["w"])
        with pytest.raises(CheckpointError, match="was made with other features or from other training data"):
            going_on(changed, dev=heldout)
        with pytest.raises(CheckpointError, match="was made with other development data"):
            going_on(corpus, dev=make_corpus(5, seed=9))
        with pytest.raises(CheckpointError, match="was made with development data, this is without"):
            going_on(corpus)

    def test_threads_are_nobody_s_business(self, corpus, heldout, folder, tmp_path):
        (tmp_path / "training.checkpoint").write_bytes((folder / "training.checkpoint").read_bytes())
        CRF("chunk", threads=1, max_iter=2000).fit(corpus, dev=heldout, checkpoint=tmp_path, resume=True)

    def test_one_that_is_there_is_never_overwritten(self, corpus, folder):
        before = (folder / "training.checkpoint").read_bytes()
        with pytest.raises(CheckpointError, match=r"there is a checkpoint already; go on .* or delete it"):
            CRF("chunk").fit(corpus, checkpoint=folder)
        assert (folder / "training.checkpoint").read_bytes() == before

    def test_a_damaged_one_is_refused(self, corpus, heldout, folder, tmp_path):
        raw = bytearray((folder / "training.checkpoint").read_bytes())
        raw[-9] ^= 1
        (tmp_path / "training.checkpoint").write_bytes(raw)
        with pytest.raises(DamagedModelError, match="checksum does not match its content; delete it and train"):
            CRF("chunk").fit(corpus, dev=heldout, checkpoint=tmp_path, resume=True)


class TestMisuse:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"checkpoint": 5}, "checkpoint is 5; expected the name of a folder"),
            ({"checkpoint": ""}, "checkpoint is ''; expected the name of a folder"),
            ({"log": 5}, "log is 5; expected the name of a file"),
            ({"checkpoint": "x", "resume": "yes"}, "resume is 'yes'; expected True or False"),
        ],
    )
    def test_names_that_are_none(self, wrong, message):
        with pytest.raises(SettingError, match=message):
            CRF().fit([[["a"]]], [["A"]], **wrong)

    def test_resume_needs_a_folder(self):
        with pytest.raises(SettingError, match="resume has no meaning without a folder"):
            CRF().fit(*LISTS, resume=True)
        with pytest.raises(SettingError, match="checkpoint_every has no meaning without a folder"):
            CRF().fit(*LISTS, checkpoint_every=2)

    @pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
    def test_checkpoint_every_is_a_number_of_iterations(self, tmp_path, every):
        with pytest.raises(SettingError, match="checkpoint_every is"):
            CRF().fit(*LISTS, checkpoint=tmp_path, checkpoint_every=every)

    def test_places_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(FileAccessError, match="cannot be a folder"):
            CRF().fit(*LISTS, checkpoint=tmp_path / "file")
        with pytest.raises(FileAccessError, match="does not exist"):
            CRF().fit(*LISTS, log=tmp_path / "no" / "log")

    @pytest.mark.parametrize("seed", [-1, 1.0, None, 1 << 63, True])
    def test_a_seed_is_a_whole_number(self, seed):
        with pytest.raises(SettingError, match="seed is"):
            CRF(seed=seed).fit(*LISTS)

    def test_warm_start_is_yes_or_no(self):
        with pytest.raises(SettingError, match="warm_start is 1; expected True or False"):
            CRF(warm_start=1).fit(*LISTS)


class TestLog:
    def test_has_a_line_for_the_start_each_iteration_and_the_end(self, corpus, heldout, tmp_path):
        crf = CRF("chunk", l2=0.5).fit(corpus, dev=heldout, log=tmp_path / "log")
        start, *iterations, end = lines(tmp_path / "log")
        assert (start["event"], end["event"]) == ("start", "end")
        assert start["settings"]["l2"] == 0.5
        assert (start["sentences"], start["tokens"]) == (len(corpus), corpus.tokens)
        assert start["weights"] == crf.model_.layout.size
        assert start["expected_seconds"] > 0
        assert [line["iteration"] for line in iterations] == list(range(1, crf.iterations_ + 1))
        assert set(iterations[0]) == {
            "event", "iteration", "objective", "gradient_norm", "evaluations", "products", "dev_score", "seconds",
            "active",
        }  # fmt: skip
        assert max(line["dev_score"] for line in iterations) == crf.dev_score_ == end["dev_score"]
        assert end["objective"] == crf.objective_
        assert end["active"] == np.count_nonzero(crf.model_.weights)

    @pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")
    def test_has_what_else_an_optimizer_knows(self, corpus, tmp_path):
        CRF("chunk", optimizer="eg", options={"epochs": 4, "gap_every": 2}).fit(corpus, log=tmp_path / "log")
        _, *iterations, end = lines(tmp_path / "log")
        assert [line["gap"] is None for line in iterations] == [True, False, True, False]
        assert iterations[3]["gap"] == pytest.approx(iterations[3]["objective"] - iterations[3]["dual"])
        assert iterations[1]["dual"] < iterations[3]["dual"] < iterations[3]["objective"] == end["objective"]

    def test_goes_on_when_training_does(self, corpus, tmp_path):
        interrupted(CRF("chunk"), corpus, at=4, checkpoint=tmp_path, log=tmp_path / "log")
        crf = CRF("chunk").fit(corpus, checkpoint=tmp_path, resume=True, log=tmp_path / "log")
        found = lines(tmp_path / "log")
        events = [line["event"] for line in found if line["event"] != "iteration"]
        assert events == ["start", "interrupted", "resume", "end"]
        iterations = [line["iteration"] for line in found if line["event"] == "iteration"]
        assert iterations == list(range(1, crf.iterations_ + 1))
        assert next(line for line in found if line["event"] == "resume")["iteration"] == 4

    def test_changes_nothing(self, corpus, tmp_path):
        with_log = CRF("chunk").fit(corpus, log=tmp_path / "log")
        assert saved(with_log, tmp_path, "a") == saved(CRF("chunk").fit(corpus), tmp_path, "b")


def test_an_estimate_is_logged_before_training_starts(corpus, caplog):
    seen = []
    with caplog.at_level(logging.INFO, "trellis"):
        CRF("chunk").fit(corpus, progress=seen.append)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("training will take about 1 s and ")
    assert all(now.seconds_left >= 0 for now in seen)


def test_progress_counts_weights_that_are_not_zero(corpus):
    seen = []
    crf = CRF("chunk").fit(corpus, progress=seen.append)
    assert seen[-1].active == np.count_nonzero(crf.model_.weights)
    assert seen[-1].products >= 0
