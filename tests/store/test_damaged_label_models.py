"""Files of label models that are not exactly what was written are refused with one typed error; what is read answers as
what was saved."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from changes import changed, put, replacing, setting, without
from sklearn.base import clone

import trellis
from trellis import CRF
from trellis.errors import DamagedModelError, ModelFileError, NewerModelError, SettingError
from trellis.store import from_bytes, to_bytes
from trellis.weak.models import MODELS, HMMAggregator, MajorityVote, Triplets, WeightedVote, label_model, load
from trellis.weak.space import Space
from trellis.weak.votes import Votes

TYPES = Space.of_types(["PER", "LOC"], {"WHO": ["PER"], "ENT": ["PER", "LOC"]})  # coarse ones not in alphabetical order
LABELS = Space.of_labels(["x", "y", "w"], {"xy": ["x", "y"], "any": ["x", "y", "w"]})
ONE = Space.of_types(["X"])
GROUPED = ("dawid-skene", "generative", "triplets", "hmm", "linked-hmm")


def votes_in(space, seed=1, tokens=40):
    """Of four functions, two of which say the same, nearly, and of two that link."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, len(space.names), (tokens, 4)).astype(np.int32)
    values[1:, 2] = values[1:, 0]
    links = rng.integers(-1, 2, (tokens, 2)).astype(np.int8)
    offsets = np.array([0, 5, 5, 6, 20, tokens])
    return Votes(values, ("f", "g", "h", "é"), space, offsets, links, ("l", "m"), abstain=("?", "ABSTAIN"))


def fitted(name, where, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that votes at random do not lead far
        return label_model(name)(**settings).fit(votes_in(where))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def loading(folder):
    """Loads bytes as a label model."""

    def read(data):
        (folder / "m").write_bytes(data)
        return load(folder / "m")

    return read


@pytest.fixture(scope="module")
def raw(folder):
    """By name: the file of a model of every kind, all of one space, and a few of others."""
    models = {name: fitted(name, TYPES) for name in MODELS}
    models |= {f"{name} of labels": fitted(name, LABELS) for name in ("majority", "weighted", "linked-hmm")}
    models["io"] = fitted("hmm", TYPES, space="io")
    models["ignored"] = fitted("dawid-skene", TYPES, abstention="ignored")
    models["given"] = fitted("generative", LABELS, structure=[["h", "é"]], abstention="alike")
    models["weights"] = fitted("weighted", TYPES, weights={"g": 0.5, "é": 2})
    return {name: saved(model, folder) for name, model in models.items()}


def saved(model, folder):
    model.save(folder / "saved")
    return (folder / "saved").read_bytes()


def answers_or_is_refused(loading, data):
    """Never anything else: probabilities, or one typed error."""
    try:
        model = loading(data)
    except DamagedModelError:
        return False
    votes = votes_in(model.space_, seed=3)
    if model.functions_ == votes.functions and model.linkers_ == votes.linkers:
        chances = model.probabilities(votes)
        assert np.isfinite(chances).all()
        assert np.allclose(chances.sum(axis=1), 1.0)
        model.predict(votes)
    return True


def test_the_files_themselves_are_fine(raw, loading):
    for data in raw.values():
        assert changed(data, lambda *_: None) == data
        assert answers_or_is_refused(loading, data)
    assert "joint.0" in from_bytes(raw["hmm"])[1]  # a group was found


VARIANTS = {
    **{name: (name, {}) for name in MODELS},
    **{f"{name}, groups given": (name, {"structure": [("é", "g"), ["f"]]}) for name in GROUPED},
    "dawid-skene without silence": ("dawid-skene", {"abstention": "ignored", "anchor": np.float32(3)}),
    "generative, alike": ("generative", {"abstention": "alike", "structure": "independent"}),
    "hmm, io": ("hmm", {"space": "io", "smoothing": np.int64(2)}),
    "linked-hmm, io": ("linked-hmm", {"space": "io", "tol": None, "max_iter": np.int32(3)}),
    "majority at random": ("majority", {"ties": "random", "seed": np.uint8(7)}),
    "weights given": ("weighted", {"weights": {"h": np.float64(0.25), "f": np.int16(2)}}),
}


class TestRoundTrip:
    @pytest.fixture(params=VARIANTS.values(), ids=VARIANTS.keys())
    def model(self, request):
        name, settings = request.param
        return fitted(name, TYPES, **settings)

    def test_answers_are_the_same_to_the_last_bit(self, model, folder, loading):
        again, new = loading(saved(model, folder)), votes_in(TYPES, seed=2)
        assert np.array_equal(again.probabilities(new), model.probabilities(new))
        assert again.predict(new) == model.predict(new)
        assert again.learned_accuracy(new) == model.learned_accuracy(new)
        assert again.majority_.predict(new) == model.majority_.predict(new)

    def test_what_was_learnt_is_there(self, model, folder, loading):
        again = loading(saved(model, folder))
        kept = {name for name in model.__dict__ if name.endswith("_")}
        assert {name for name in again.__dict__ if name.endswith("_")} == kept
        for name in kept - {"majority_", "beside_", "emissions_"}:
            found, before = getattr(again, name), getattr(model, name)
            assert np.array_equal(found, before) if isinstance(before, np.ndarray) else found == before, name
        assert (again.labels_, again.own_labels) == (model.labels_, model.own_labels)

    def test_settings_are_those_given_as_json_has_them(self, model, folder, loading):
        def plain(value):
            if isinstance(value, tuple | list):
                return [plain(one) for one in value]
            return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value

        params = loading(saved(model, folder)).get_params()
        assert params == plain(model.get_params())
        assert all(type(value).__module__ == "builtins" for value in params.values())

    def test_saved_again_it_is_the_same_file(self, model, folder, loading):
        data = saved(model, folder)
        assert saved(loading(data), folder) == data

    def test_pickles_and_copies(self, model):
        new = votes_in(TYPES, seed=2)
        for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
            assert type(again) is type(model)
            assert again.get_params() == model.get_params()
            assert np.array_equal(again.probabilities(new), model.probabilities(new))
            assert again.beside_ == model.beside_

    def test_clones_have_learnt_nothing(self, model):
        assert clone(model).get_params() == model.get_params()
        assert not hasattr(clone(model), "own_space_")
        assert pickle.loads(pickle.dumps(clone(model))).get_params() == model.get_params()

    def test_majority_vote_beside_it_is_a_model_too(self, model, folder, loading):
        new = votes_in(TYPES, seed=2)
        assert loading(saved(model.majority_, folder)).predict(new) == model.majority_.predict(new)
        assert pickle.loads(pickle.dumps(model.majority_)).predict(new) == model.majority_.predict(new)


def test_models_of_labels_come_back_too(folder, loading):
    new = votes_in(LABELS, seed=2)
    for name in MODELS:
        model = fitted(name, LABELS)
        assert np.array_equal(loading(saved(model, folder)).probabilities(new), model.probabilities(new))


def test_segments_that_votes_already_have_by_type_only(folder, loading):
    votes = votes_in(TYPES).in_io()
    for name in ("majority", "generative", "hmm"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = label_model(name)().fit(votes)
        assert np.array_equal(loading(saved(model, folder)).probabilities(votes), model.probabilities(votes))


class TestWhatCannotBeSaved:
    @pytest.mark.parametrize(
        ("name", "settings"),
        [
            ("dawid-skene", {"abstention": "ignored"}),
            ("dawid-skene", {"structure": "independent"}),
            ("generative", {"trust": 1.5}),
            ("hmm", {"max_iter": 0}),
            ("hmm", {"space": "io"}),
            ("weighted", {"weights": {"f": 1e9}}),
            ("weighted", {"weights": {"f": {1, 2}}}),
            ("majority", {"seed": "no number"}),
            ("majority", {"seed": float("nan")}),
        ],
    )
    def test_settings_that_are_not_those_of_fit(self, name, settings, tmp_path):
        model = fitted(name, TYPES).set_params(**settings)
        with pytest.raises(SettingError, match="fit it again"):
            model.save(tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_what_failed_to_learn(self, tmp_path):
        model = Triplets()
        with pytest.raises(SettingError, match="three functions"):
            model.fit(votes_in(TYPES).only(["f", "g"]))
        with pytest.raises((SettingError, trellis.errors.NotFittedError)):
            model.save(tmp_path / "m")

    def test_a_model_of_a_name_that_nobody_knows(self, tmp_path):
        class Own(MajorityVote):
            name = "own"

        model = Own().fit(votes_in(TYPES))
        with pytest.raises(SettingError, match="no label model 'own'"):
            model.save(tmp_path / "m")
        assert copy.deepcopy(model).predict(votes_in(TYPES)) == model.predict(votes_in(TYPES))


class TestOtherKinds:
    def test_trellis_load_says_what_reads_label_models(self, raw, tmp_path):
        (tmp_path / "label.model").write_bytes(raw["hmm"])
        with pytest.raises(ModelFileError, match=r"is a label model.*trellis\.weak\.load"):
            trellis.load(tmp_path / "label.model")
        with pytest.raises(DamagedModelError):
            CRF.load(tmp_path / "label.model")

    def test_taggers_are_no_label_models(self, small_model, tmp_path):
        small_model.save(tmp_path / "m")
        with pytest.raises(ModelFileError, match=r"no label model; trellis\.load"):
            load(tmp_path / "m")


@pytest.fixture(scope="module", params=list(MODELS))
def tiny(request, folder):
    """Of one type, with a group and few steps."""
    votes = Votes(
        np.array([[0, 0, 0, -1], [1, 1, -1, 1], [2, 2, 2, 0], [-1, -1, 1, 1]], np.int32),
        ("a", "b", "c", "d"), ONE, np.array([0, 3, 4]), np.array([[-1], [0], [1], [-1]], np.int8), ("l",),
    )  # fmt: skip
    if request.param in GROUPED:
        model = label_model(request.param)(structure=[["a", "b"]], max_iter=2, tol=None)
    else:
        model = label_model(request.param)()
    return saved(model.fit(votes), folder)


def test_every_truncation(tiny, loading):
    for length in range(len(tiny)):
        with pytest.raises(DamagedModelError):
            loading(tiny[:length])


def test_every_changed_byte(tiny, loading):
    for at in range(len(tiny)):
        for mask in (0x01, 0x80):
            data = bytearray(tiny)
            data[at] ^= mask
            with pytest.raises((DamagedModelError, NewerModelError)):
                loading(bytes(data))


def also(name, values):
    return lambda _, tensors: tensors.update({name: np.asarray(values)})


def swapped(name, a=0, b=1):
    def change(_, tensors):
        tensors[name][[a, b]] = tensors[name][[b, a]]

    return change


def renamed(old, new):
    return lambda _, tensors: tensors.update({new: tensors.pop(old)})


NO_NUMBERS = {"as text": "1", "true": True, "null": None, "a list": [1], "negative": -1, "too large": 10**400}
COMMON = {
    "an entry more": put("more", value=1),
    "no settings": without("settings"),
    "no functions": without("functions"),
    "no space": without("space"),
    "no record of learning": without("converged"),
    "a format without label models": put("format", value=2),
    "a model of no kind": put("model", value="nonsense"),
    "a model of a number": put("model", value=1),
    "a model of a list": put("model", value=["hmm"]),
    "a setting more": put("settings", "more", value=1),
    "settings as a list": put("settings", value=[]),
    "functions that are none": put("functions", value=[]),
    "functions as text": put("functions", value="fghé"),
    "functions that are numbers": put("functions", value=[1, 2, 3, 4]),
    "a function twice": put("functions", value=["f", "g", "h", "f"]),
    "functions by name": put("functions", value={"f": 1}),
    "a linker twice": put("linkers", value=["l", "l"]),
    "a linker that is a function": put("linkers", value=["l", "f"]),
    "linkers as text": put("linkers", value="lm"),
    "nothing that stands for no vote": without("abstain"),
    "what stands for no vote as text": put("abstain", value="_"),
    "what stands for no vote as a number": put("abstain", value=[0]),
    "no labels": put("space", "labels", value=[]),
    "labels that are numbers": put("space", "labels", value=[0, 1, 2, 3, 4]),
    "a label twice": put("space", "labels", value=["O", "B-LOC", "I-LOC", "B-LOC", "I-LOC"]),
    "a label too few": put("space", "labels", value=["O", "B-LOC", "I-LOC", "B-PER"]),
    "a type too few": put("space", "labels", value=["O", "B-LOC", "I-LOC"]),
    "O not first": put("space", "labels", value=["B-LOC", "I-LOC", "O", "B-PER", "I-PER"]),
    "I before B": put("space", "labels", value=["O", "I-LOC", "B-LOC", "B-PER", "I-PER"]),
    "labels of another encoding": put("space", "labels", value=["O", "S-LOC", "I-LOC", "B-PER", "I-PER"]),
    "labels that are no segments": put("space", "labels", value=["O", "a", "b", "c", "d"]),
    "another encoding": put("space", "encoding", value="io"),
    "an unknown encoding": put("space", "encoding", value="bilou"),
    "an encoding that is a list": put("space", "encoding", value=["iob2"]),
    "no encoding": without("space", "encoding"),
    "a space that is none": put("space", value=["O"]),
    "a space with more": put("space", "more", value=1),
    "coarse labels by name": put("space", "coarse", value={"B-ENT": ["B-PER"]}),
    "a coarse label of nothing": put("space", "coarse", 0, value=["B-WHO", []]),
    "a coarse label of an unknown one": put("space", "coarse", 0, value=["B-WHO", ["B-MISC"]]),
    "a coarse label of a coarse one": put("space", "coarse", 0, value=["B-WHO", ["B-ENT"]]),
    "a coarse label of text": put("space", "coarse", 0, value=["B-WHO", "B-PER"]),
    "a coarse label of three parts": put("space", "coarse", 0, value=["B-WHO", ["B-PER"], 1]),
    "a coarse label that is a label": put("space", "coarse", 0, value=["B-PER", ["B-PER"]]),
    "a coarse label twice": put("space", "coarse", 0, value=["I-WHO", ["B-PER"]]),
    "a coarse label of no type": put("space", "coarse", 0, value=["O-WHO", ["B-PER"]]),
    "a coarse label that is a number": put("space", "coarse", 0, value=[1, ["B-PER"]]),
    "a tensor that is not known": also("more", [1.0]),
    "no votes of the majority": lambda _, t: t.pop("majority"),
    "a negative number of votes": setting("majority", -1.0),
    "votes that are not a number": setting("majority", np.nan),
    "a label without votes of the majority": replacing("majority", lambda v: v[:-1]),
    "converged as a number": put("converged", value=1),
}  # fmt: skip
NAMES = {
    "a function too few": put("functions", value=["f", "g", "h"]),
    "a function too many": put("functions", value=["f", "g", "h", "é", "i"]),
}
LEARNT = NAMES | {
    "no record of learning": put("converged", value=None),
    "no steps": lambda _, t: t.pop("objectives"),
    "converged before the first step": replacing("objectives", lambda v: v[:1]),
    "not one step": replacing("objectives", lambda v: v[:0]),
    "an objective that is infinite": setting("objectives", -np.inf),
    "objectives as a table": replacing("objectives", lambda v: v[None]),
    "a function in no group": setting("groups.members", 1),
    "a function out of range": setting("groups.members", 4),
    "a negative function": setting("groups.members", -1),
    "members not in order": swapped("groups.members"),
    "groups not in order": swapped("groups.members", 0, 3),
    "a group of none": setting("groups.sizes", 0, at=-1),
    "groups whose sizes wrap around": replacing("groups.sizes", lambda v: np.array([2**63 - 1, 2**63 - 1, 6])),
    "a group of a negative size": replacing("groups.sizes", lambda v: np.array([5, -1])),
    "groups too few": replacing("groups.sizes", lambda v: v[:-1]),
    "a structure that nobody knows": put("settings", "structure", value="nonsense"),
    "a structure without the group": put("settings", "structure", value="independent"),
    "a structure of other groups": put("settings", "structure", value=[["f", "g"]]),
    "a structure of another order": put("settings", "structure", value=[["h", "f"]]),
    "a structure of an unknown function": put("settings", "structure", value=[["f", "i"]]),
    "a structure with a function twice": put("settings", "structure", value=[["f", "h"], ["f"]]),
    "a structure of numbers": put("settings", "structure", value=[[0, 2]]),
    "a structure of lists of lists": put("settings", "structure", value=[[["f"], ["h"]]]),
    "a structure of names": put("settings", "structure", value=["f", "h"]),
    "a structure that is a number": put("settings", "structure", value=1),
    "a structure by name": put("settings", "structure", value={}),
    "no structure": put("settings", "structure", value=None),
    "max_iter 0": put("settings", "max_iter", value=0),
    "max_iter as a float": put("settings", "max_iter", value=5.0),
    **{f"max_iter {what}": put("settings", "max_iter", value=v) for what, v in NO_NUMBERS.items() if v != 10**400},
    **{f"tol {what}": put("settings", "tol", value=v) for what, v in NO_NUMBERS.items() if what != "null"},
}  # fmt: skip
BALANCE = {
    "a frequency of 0": lambda _, t: t.update(balance=np.array([1.0, 0.0, 0.0])),
    "a negative frequency": lambda _, t: t.update(balance=np.array([1.0, 0.5, -0.5])),
    "frequencies that do not sum to 1": replacing("balance", lambda v: v * 1.001),
    "frequencies whose sum no number can hold": replacing("balance", lambda v: np.full_like(v, 1e308)),
    "frequencies of too few labels": replacing("balance", lambda v: np.full(2, 0.5)),
    "frequencies that are not numbers": replacing("balance", lambda v: v * np.nan),
}
EMISSIONS = {
    "an impossible outcome": setting("logs", -np.inf, at=(0, 0)),
    "an outcome that is no number": setting("logs", np.nan, at=(0, 0)),
    "an outcome more than certain": setting("logs", 0.1, at=(0, 0)),
    "an outcome less than the least": setting("logs", -800.0, at=(0, 0)),
    "outcomes that do not sum to 1": replacing("logs", lambda v: v * 1.0001),
    "outcomes of all but one label right": lambda _, t: t["logs"].__setitem__((slice(None), 1), -1.0),
    "outcomes of certainty": replacing("logs", np.zeros_like),
    "an outcome too few": replacing("logs", lambda v: v[:-1]),
    "a label too few in outcomes": replacing("logs", lambda v: v[:, :-1]),
    "outcomes of single precision": replacing("logs", lambda v: v.astype(np.float32)),
    "outcomes of one function that do not sum to 1": replacing("alone", lambda v: v - 0.01),
    "an outcome of one function that is no number": setting("alone", np.nan, at=(-1, -1)),
    "an outcome of one function too many": replacing("alone", lambda v: np.concatenate([v, v[:1]])),
    "no outcomes of functions": replacing("alone", lambda v: v[:0]),
    "a joint vote out of range": setting("joint.0", 99, at=(-1, -1)),
    "a joint vote of less than silence": setting("joint.0", -2, at=(0, 0)),
    "joint votes not in order": swapped("joint.0"),
    "a joint vote twice": lambda _, t: t["joint.0"].__setitem__(1, t["joint.0"][0]),
    "a joint vote too few": replacing("joint.0", lambda v: v[:-1]),
    "no joint votes": replacing("joint.0", lambda v: v[:0]),
    "joint votes of three": replacing("joint.0", lambda v: np.concatenate([v, v[:, :1]], axis=1)),
    "joint votes of another group": renamed("joint.0", "joint.1"),
    "joint votes of a function by itself": also("joint.1", np.zeros((1, 1), np.int32)),
    "joint votes as long numbers": replacing("joint.0", lambda v: v.astype(np.int64)),
}  # fmt: skip
CHAIN = {
    "a sentence that begins within a segment": lambda _, t: t.update(start=np.full(5, 0.2)),
    "a beginning that is impossible": lambda _, t: t.update(start=np.array([0.5, 0.5, 0.0, 0.0, 0.0])),
    "beginnings that do not sum to 1": replacing("start", lambda v: 2 * v),
    "a beginning too few": replacing("start", lambda v: v[:-1]),
    "a transition that is illegal": lambda _, t: t["follow"].__setitem__(0, 0.2),
    "a transition that is impossible": lambda _, t: t["follow"].__setitem__(0, [0.5, 0.5, 0.0, 0.0, 0.0]),
    "a negative transition": lambda _, t: t["follow"].__setitem__(0, [1.0, 0.5, 0.0, -0.5, 0.0]),
    "transitions that do not sum to 1": replacing("follow", lambda v: v / 2),
    "transitions whose sum no number can hold": replacing("follow", lambda v: np.where(v > 0, 1e308, 0.0)),
    "transitions as a list": replacing("follow", np.ravel),
    "transitions of too few labels": replacing("follow", lambda v: v[:4, :4]),
    "no transitions": lambda _, t: t.pop("follow"),
    "a space that nobody knows": put("settings", "space", value="bilou"),
    "a space of types": put("settings", "space", value="io"),
    "a space that is none": put("settings", "space", value=None),
    **{f"anchor {what}": put("settings", "anchor", value=value) for what, value in NO_NUMBERS.items()},
    **{f"smoothing {what}": put("settings", "smoothing", value=value) for what, value in NO_NUMBERS.items()},
    "smoothing 0": put("settings", "smoothing", value=0.0),
}  # fmt: skip
TOTALS = {
    "a negative total": setting("totals", -1.0),
    "a total that is infinite": setting("totals", np.inf),
    "a total too few": replacing("totals", lambda v: v[:-1]),
}
RIGHT = {
    "never right": setting("right", 0.0),
    "always right": setting("right", 1.0),
    "right more often than always": setting("right", 1.5),
    "right how often is no number": setting("right", np.nan),
    "right too few": replacing("right", lambda v: v[:-1]),
}
BAD = {
    "majority": COMMON | TOTALS | {
        "ties of no kind": put("settings", "ties", value="nonsense"),
        "ties of a list": put("settings", "ties", value=["first"]),
        "a negative seed": put("settings", "seed", value=-1),
        "a seed of a fraction": put("settings", "seed", value=0.5),
        "a seed by name": put("settings", "seed", value={"a": 1}),
        "a record of learning": put("converged", value=True),
        "steps": also("objectives", [1.0, 2.0]),
    },
    "majority of labels": {
        "ties that are O": put("settings", "ties", value="outside"),
        "an encoding": put("space", "encoding", value="iob2"),
    },
    "weighted": COMMON | NAMES | TOTALS | {
        "a weight that is infinite": setting("weights", np.inf),
        "weights whose sum no number can hold": replacing("weights", lambda v: np.full_like(v, 1e308)),
        "a weight too few": replacing("weights", lambda v: v[:-1]),
        "weights as whole numbers": replacing("weights", lambda v: v.astype(np.int64)),
    },
    "weights": {
        "a weight given that is not the one there": put("settings", "weights", "g", value=0.25),
        "a weight that is not the one given": setting("weights", 0.25, at=1),
        "a weight of an unknown function": put("settings", "weights", "i", value=0.25),
        "a weight as text": put("settings", "weights", "g", value="0.5"),
        "a weight that is none": put("settings", "weights", "g", value=None),
        "a weight too large": put("settings", "weights", "g", value=10**400),
        "weights as a list": put("settings", "weights", value=[0.5]),
        "weights as an empty list": put("settings", "weights", value=[]),
        "weights that are false": put("settings", "weights", value=False),
    },
    "dawid-skene": COMMON | LEARNT | BALANCE | EMISSIONS | {
        "silence that is to be ignored": put("settings", "abstention", value="ignored"),
        "abstention of no kind": put("settings", "abstention", value="alike"),
        "abstention of a list": put("settings", "abstention", value=["modelled"]),
        **{f"anchor {what}": put("settings", "anchor", value=v) for what, v in NO_NUMBERS.items() if what != "null"},
        **{f"smoothing {what}": put("settings", "smoothing", value=value) for what, value in NO_NUMBERS.items()},
        "smoothing 0": put("settings", "smoothing", value=0.0),
    },
    "ignored": BALANCE | EMISSIONS | {
        "silence that is to be heard": put("settings", "abstention", value="modelled"),
        "silence that tells something": setting("logs", -0.5, at=(0, 0)),
        "silence of one function that tells something": setting("alone", -0.5, at=(0, 0)),
    },
    "generative": COMMON | LEARNT | BALANCE | RIGHT | {
        "never votes": setting("votes", 0.0, at=(0, 0)),
        "always votes": setting("votes", 1.0, at=(0, 0)),
        "votes that are no number": setting("votes", np.nan, at=(1, 1)),
        "votes of too few functions": replacing("votes", lambda v: v[:-1]),
        "votes the other way round": replacing("votes", lambda v: v.T),
        "abstention of no kind": put("settings", "abstention", value="modelled"),
        "prior 0": put("settings", "prior", value=0),
        "trust 0": put("settings", "trust", value=0),
        "trust 1": put("settings", "trust", value=1),
        **{f"prior {what}": put("settings", "prior", value=value) for what, value in NO_NUMBERS.items()},
        **{f"trust {what}": put("settings", "trust", value=value) for what, value in NO_NUMBERS.items()},
    },
    "given": {
        "learned groups that stand last": put("settings", "structure", value="learned"),
        "no group": put("settings", "structure", value=[]),
    },
    "triplets": COMMON | LEARNT | BALANCE | RIGHT | {
        "worse than chance": setting("right", 0.2),
        "one label to choose from": setting("ways", 1),
        "more labels than there are": setting("ways", 4),
        "ways of a label each": replacing("ways", lambda v: np.repeat(v, 3)),
    },
    "hmm": COMMON | LEARNT | EMISSIONS | CHAIN | {"links": also("links", np.full((2, 2, 3), 1 / 3))},
    "linked-hmm": COMMON | LEARNT | EMISSIONS | CHAIN | {
        "a link that is impossible": lambda _, t: t["links"].__setitem__((0, 0), [0.5, 0.5, 0.0]),
        "a negative link": lambda _, t: t["links"].__setitem__((0, 0), [1.0, 0.5, -0.5]),
        "links that do not sum to 1": replacing("links", lambda v: v / 2),
        "links of one linker": replacing("links", lambda v: v[:1]),
        "links of two outcomes": replacing("links", lambda v: np.full((2, 2, 2), 0.5)),
        "no links": lambda _, t: t.pop("links"),
        "no linkers": lambda d, t: (d.update(linkers=[]), t.update(links=np.zeros((0, 2, 3)))),
        "a linker too few": put("linkers", value=["l"]),
        "a model that hears no links": put("model", value="hmm"),
    },
    "io": {"a space of segments": put("settings", "space", value="iob2")},
}  # fmt: skip
TABLE = {f"{name}: {what}": (name, change) for name, changes in BAD.items() for what, change in changes.items()}


@pytest.mark.parametrize(("name", "change"), TABLE.values(), ids=TABLE.keys())
def test_parts_that_do_not_fit_are_refused(raw, loading, name, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw[name], change))


def test_two_functions_are_no_triplets(raw, loading):
    def change(description, tensors):
        description["functions"] = ["f", "g"]
        tensors |= {"right": tensors["right"][:2], "groups.members": np.arange(2), "groups.sizes": np.ones(2, np.int64)}

    with pytest.raises(DamagedModelError, match="number of functions"):
        loading(changed(raw["triplets"], change))


@pytest.mark.parametrize("name", MODELS)
def test_a_setting_too_few(raw, loading, name):
    for missing in from_bytes(raw[name])[0]["settings"]:
        with pytest.raises(DamagedModelError, match="names of settings"):
            loading(changed(raw[name], without("settings", missing)))


@pytest.mark.parametrize("name", MODELS)
def test_the_name_of_another_model(raw, loading, name):
    for other in set(MODELS) - {name}:
        with pytest.raises(DamagedModelError):
            loading(changed(raw[name], put("model", value=other)))


@pytest.mark.parametrize("name", [*MODELS, "ignored", "given"])
class TestEveryTensor:
    def test_missing_or_of_another_kind(self, raw, loading, name):
        data = raw[name]
        for tensor, values in from_bytes(data)[1].items():
            with pytest.raises(DamagedModelError):
                loading(changed(data, lambda _, tensors, tensor=tensor: tensors.pop(tensor)))
            for other in ("f8", "f4", "i8", "i4", "u2", "u1"):
                if values.dtype != np.dtype(other):
                    kind = np.zeros(values.shape, other)
                    with pytest.raises(DamagedModelError):
                        loading(changed(data, replacing(tensor, lambda _, kind=kind: kind)))
            with pytest.raises(DamagedModelError):
                loading(changed(data, replacing(tensor, lambda v: v[None])))

    def test_too_short_or_too_long(self, raw, loading, name):
        data = raw[name]
        for tensor, values in from_bytes(data)[1].items():
            for new in (values[:-1], np.concatenate([values, values[-1:]])):
                accepted = answers_or_is_refused(loading, changed(data, replacing(tensor, lambda _, new=new: new)))
                assert not accepted or tensor == "objectives", tensor  # one more step need not be wrong

    def test_with_any_number_in_it(self, raw, loading, name):
        data = raw[name]
        for tensor, values in from_bytes(data)[1].items():
            for at in range(0, values.size, 1 + values.size // 6):
                for new in extremes(values):
                    place = np.unravel_index(at, values.shape)
                    answers_or_is_refused(loading, changed(data, setting(tensor, new, at=place)))

    def test_full_of_one_number(self, raw, loading, name):
        data = raw[name]
        for tensor, values in from_bytes(data)[1].items():
            for new in extremes(values):
                answers_or_is_refused(
                    loading, changed(data, replacing(tensor, lambda v, new=new: np.full_like(v, new)))
                )


def extremes(values):
    if values.dtype.kind == "f":
        return 0.0, 5e-324, 0.5, 1.0, 1e100, 1e308, -1e308, -745.0
    kind = np.iinfo(values.dtype)
    return kind.min, kind.max, 0, 1


def test_probabilities_as_small_as_numbers_get_are_added_up_all_the_same(raw, loading):
    """Every outcome but the last of each function, every transition but the one to O: nearly impossible."""

    def change(description, tensors):
        description["settings"]["structure"] = "independent"
        tensors |= {"groups.sizes": np.ones(4, np.int64), "groups.members": np.arange(4)}
        del tensors["joint.0"]
        outcomes = len(TYPES.names) + 1
        tensors["alone"][:] = -745.0
        tensors["alone"][outcomes - 1 :: outcomes] = 0.0
        tensors["logs"] = tensors["alone"].copy()
        for name in ("start", "follow"):
            tensors[name] = np.where(tensors[name] > 0, 5e-324, 0.0)
            tensors[name][..., 0] = 1.0

    assert answers_or_is_refused(loading, changed(raw["hmm"], change))
    assert answers_or_is_refused(loading, changed(raw["linked-hmm"], change))


def test_sizes_that_are_claimed_take_no_memory_and_no_time(raw, tmp_path):
    """A megabyte that would be tables of terabytes, in a process that may not have these."""
    description, tensors = from_bytes(raw["hmm"])
    types = [f"T{j}" for j in range(100_000)]
    description["space"] |= {"labels": list(Space.of_types(types).labels), "coarse": []}
    functions = [f"f{j}" for j in range(100_000)]
    (tmp_path / "labels").write_bytes(to_bytes(description, tensors))
    description = from_bytes(raw["weights"])[0]
    description |= {"functions": functions, "settings": {"weights": dict.fromkeys(functions, 1.0)}}
    tensors = {**from_bytes(raw["weights"])[1], "weights": np.ones(100_000)}
    (tmp_path / "functions").write_bytes(to_bytes(description, tensors))
    script = (
        "import resource, sys, trellis\nfrom trellis.weak.models import load\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "assert len(load(sys.argv[2]).functions_) == 100_000\n"
        "try:\n    load(sys.argv[1])\n"
        "except trellis.errors.DamagedModelError:\n    print('refused')"
    )
    paths = [tmp_path / "labels", tmp_path / "functions"]
    done = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, timeout=60)
    assert done.stdout == "refused\n", done.stderr


def test_given_weights_that_are_too_much_are_not_saved(tmp_path):
    model = WeightedVote({"f": 1e308, "g": 1e308})
    with np.errstate(all="ignore"), pytest.raises(SettingError):
        model.fit(votes_in(TYPES)).save(tmp_path / "m")


def test_a_model_with_nothing_but_defaults_is_quick_to_copy():
    assert copy.deepcopy(HMMAggregator()).get_params() == HMMAggregator().get_params()
