"""Files of hidden Markov models and of sequential classifiers that are not exactly what was written are refused with
one typed error."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
from changes import changed, put, replacing, setting, without

from trellis import CRF, HMM, SequentialClassifier
from trellis.corpus import Corpus
from trellis.errors import DamagedModelError, DataError, NewerModelError, NoLegalPathError
from trellis.store import from_bytes, put_strings, to_bytes

WORDS = {"word": [["a", "b", "C"], ["b", "é"], ["a", "b"]], "tag": [["X", "Y", "Z"], ["Y", "X"], ["Z", "Y"]]}
LONGER = {"word": [["a", "b", "C", "a"], ["b", "é", "b"]], "tag": [["X", "Y", "Z", "X"], ["Y", "X", "Y"]]}
TEXT = Corpus.from_lists({"word": [["a", "b", "q"], [], ["Q", "1984"], ["é"] * 20]})


def saved(model, folder):
    model.save(folder / "m")
    return (folder / "m").read_bytes()


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    model = HMM("tag", suffix=1, smoothing=0.5).fit(Corpus.from_lists(WORDS))
    return saved(model, tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def raw_of_order_2(tmp_path_factory):
    model = HMM("tag", order=2, suffix=0).fit(Corpus.from_lists(WORDS), raw=[["a", "d"], ["b", "d", "C"]])
    return saved(model, tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def sequential(tmp_path_factory):
    model = SequentialClassifier("tag", "word[-1:0]", order=2, beam=2).fit(Corpus.from_lists(LONGER))
    return saved(model, tmp_path_factory.mktemp("store"))


def answers_or_is_refused(loading, data):
    """Never anything else: probabilities, or one typed error, sooner or later."""
    try:
        model = loading(data)
    except DamagedModelError:
        return False
    try:
        model.predict(TEXT)
        for nodes in model.predict_marginals(TEXT):
            assert np.isfinite(nodes).all()
            assert np.allclose(nodes.sum(axis=1), 1.0)
    except (NoLegalPathError, DataError):  # whatever is impossible
        pass
    return True


def test_the_files_themselves_are_fine(raw, raw_of_order_2, sequential, loading):
    for data in (raw, raw_of_order_2, sequential):
        assert loading(data).classes_ == ["X", "Y", "Z"]
        assert changed(data, lambda *_: None) == data
        assert answers_or_is_refused(loading, data)
    assert {"class_seen", "rare", "every"} <= set(from_bytes(raw)[1])
    assert "pairs" in from_bytes(raw_of_order_2)[1]


def test_every_truncation(raw, loading):
    for length in range(len(raw)):
        with pytest.raises(DamagedModelError):
            loading(raw[:length])


def test_every_changed_byte(raw, loading):
    for at in range(len(raw)):
        for mask in (0x01, 0x80):
            data = bytearray(raw)
            data[at] ^= mask
            with pytest.raises((DamagedModelError, NewerModelError)):
                loading(bytes(data))


def test_accidents_to_sequential_classifiers(sequential, loading):
    for at in range(0, len(sequential), 7):
        data = bytearray(sequential)
        data[at] ^= 0x10
        for one in (sequential[:at], bytes(data)):
            with pytest.raises((DamagedModelError, NewerModelError)):
                loading(one)


BAD_AMOUNTS = {
    f"{name} {what}": setting(name, value)
    for name in ("emissions", "first", "last", "follow", "mean", "class_seen", "rare", "every")
    for what, value in {"negative": -1.0, "not a number": np.nan, "infinite": np.inf}.items()
}
TOO_MUCH = {
    f"{name} whose sum no number can hold": replacing(name, lambda v: np.full_like(v, 1e308))
    for name in ("emissions", "first", "last", "follow", "mean", "class_seen", "rare", "every")
}
BAD = BAD_AMOUNTS | TOO_MUCH | {
    "counts of two kinds whose sum no number can hold": lambda _, t: (
        setting("first", 1.5e308)(_, t), setting("follow", 1.5e308)(_, t)
    ),
    "more labels of a word than there are": setting("emission_counts", 4),
    "fewer labels of a word than there are": setting("emission_counts", 0),
    "counts that move labels to the next word": lambda _, t: t["emission_counts"].__setitem__(slice(0, 2), [0, 3]),
    "a word too few": replacing("emission_counts", lambda v: v[:-1]),
    "a word too many": replacing("emission_counts", lambda v: np.append(v, v[:1] * 0)),
    "a label of a word out of range": setting("emission_labels", 3),
    "labels of a word that do not ascend": lambda _, t: t["emission_labels"].__setitem__(slice(0, 2), [2, 0]),
    "a label of a word twice": lambda _, t: t["emission_labels"].__setitem__(slice(0, 2), [2, 2]),
    "a label of a class out of range": setting("class_labels", 3),
    "a class too few": replacing("class_counts", lambda v: v[:-1]),
    "a transition out of range": setting("follow_at", 9, at=-1),
    "a negative transition": setting("follow_at", -1),
    "transitions that do not ascend": replacing("follow_at", lambda v: v[::-1].copy()),
    "a transition twice": replacing("follow_at", lambda v: np.repeat(v[:1], len(v))),
    "a transition without a count": replacing("follow", lambda v: v[:-1]),
    "a count without a transition": replacing("follow_at", lambda v: v[:-1]),
    "first labels too few": replacing("first", lambda v: v[:-1]),
    "last labels too many": replacing("last", lambda v: np.append(v, 0.0)),
    "a mean without the end": replacing("mean", lambda v: v[:-1]),
    "a mean that is no distribution": replacing("mean", lambda v: 2 * v),
    "a mean of nothing": replacing("mean", lambda v: 0 * v),
    "rare words that are no distribution": replacing("rare", lambda v: v / 2),
    "frequencies that are no distribution": replacing("every", lambda v: v + 1.0),
    "a label of rare words that no word has": replacing("every", lambda _: np.array([1.0, 0.0, 0.0])),
    "transitions as a table": replacing("follow", lambda v: v[None]),
    "pairs for order 1": lambda _, t: t.update({"pairs": np.full(9, 1 / 3)}),
    "a tensor that is not known": lambda _, t: t.update({"weights": np.ones(1)}),
    "classes but not how frequent labels are": lambda _, t: t.pop("rare"),
    "no hidden chain": without("hidden"),
    "a hidden chain that is none": put("hidden", value=[1, 0.5]),
    "a hidden chain with more": put("hidden", "more", value=1),
    "order 0": put("hidden", "order", value=0),
    "order 2 in a file of order 1": put("hidden", "order", value=2),
    "order 3": put("hidden", "order", value=3),
    "order true": put("hidden", "order", value=True),
    "order as a float": put("hidden", "order", value=1.0),
    "a negative strength": put("hidden", "strength", value=-1.0),
    "a strength that is a whole number": put("hidden", "strength", value=1),
    "a strength that is text": put("hidden", "strength", value="1"),
    "a lattice beside": put("lattice", value={"order": 1, "pruning": None, "constraints": None}),
    "a parameter out of range": put("params", "rare", value=0),
    "a parameter of another model": put("params", "l2", value=1.0),
    "a model of another kind": put("model", value="CRF"),
    "templates of two columns": put("features", "templates", 1, value="U1:%short_shape[0,pos]"),
}  # fmt: skip


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_parts_that_do_not_fit_are_refused(raw, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw, change))


def many_labels(description, tensors):
    """A chain of order 2 with 257 labels, all sizes right."""
    labels = 257
    put_strings(tensors, "labels", [f"L{j}" for j in range(labels)])
    tensors |= {"first": np.ones(labels), "last": np.ones(labels), "mean": np.full(labels + 1, 1 / (labels + 1))}
    tensors |= {"pairs": np.full(labels**2, 1 / labels), "rare": np.full(labels, 1 / labels)}
    tensors |= {"every": np.full(labels, 1 / labels), "follow_at": np.zeros(0, np.int64), "follow": np.zeros(0)}


BAD_OF_ORDER_2 = {
    "a transition out of range": setting("follow_at", 4 * 3 * 3, at=-1),
    "order 1 in a file of order 2": put("hidden", "order", value=1),
    "order 3": put("hidden", "order", value=3),
    "no pairs": lambda _, t: t.pop("pairs"),
    "a pair too few": replacing("pairs", lambda v: v[:-1]),
    "pairs as a table": replacing("pairs", lambda v: v.reshape(3, 3)),
    "a negative pair": setting("pairs", -0.5),
    "pairs that are no distributions": replacing("pairs", lambda v: 2 * v),
    "one pair that is too frequent": setting("pairs", 1.5),
    "a pair that is not a number": setting("pairs", np.nan),
    "an end that is more than certain": lambda _, t: t.update({"mean": np.array([0.0, 0.0, 0.0, 2.0])}),
    "more labels than order 2 has room for": many_labels,
}


@pytest.mark.parametrize("change", BAD_OF_ORDER_2.values(), ids=BAD_OF_ORDER_2.keys())
def test_parts_of_order_2_that_do_not_fit_are_refused(raw_of_order_2, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw_of_order_2, change))


OTHER_FEATURES = {
    "hashed": {"features": "word[0] + suffix(word, 1)[0]", "hash_size": 7},
    "on transitions": {"features": "word[0] + transitions(word[0])"},
    "several templates in one": {"features": "word[0] + bag(word[-1:1])"},
    "with a tag dictionary": {"features": "word[0]", "tag_dictionary": 1},
    "of nothing": {"features": "U0\nU1:%x[0,word]"},
}


@pytest.mark.parametrize("settings", OTHER_FEATURES.values(), ids=OTHER_FEATURES.keys())
def test_features_of_other_models_are_refused(raw, loading, settings, tmp_path):
    """The features of a CRF in place of those of the words, with as many words and classes as they would mean."""
    description, tensors = from_bytes(saved(CRF("tag", **settings).fit(Corpus.from_lists(WORDS)), tmp_path))
    own, kept = from_bytes(raw)
    for name in [name for name in kept if name.startswith(("vocabulary", "label_", "resource"))]:
        del kept[name]
    taken = ("vocabulary", "label_", "transition_key", "dictionary", "resource")
    kept |= {name: values for name, values in tensors.items() if name.startswith(taken)}
    own["features"] = description["features"]
    with pytest.raises(DamagedModelError, match="HMM"):
        loading(to_bytes(own, kept))


def test_attributes_as_given_are_no_words(raw, loading):
    description, tensors = from_bytes(raw)
    tensors = {name: values for name, values in tensors.items() if not name.startswith(("vocabulary", "label_"))}
    put_strings(tensors, "attributes", ["a", "b"])
    description["features"] = {"kind": "given"}
    with pytest.raises(DamagedModelError, match="features of an HMM"):
        loading(to_bytes(description, tensors))


BAD_SEQUENTIAL = {
    "order 0": put("lattice", "order", value=0),
    "order 1 with triples": put("lattice", "order", value=1),
    "order 3 without quadruples": put("lattice", "order", value=3),
    "pruning": put("lattice", "pruning", value={"threshold": 0.1, "most": [1, 1]}),
    "a label of a triple out of range": setting("tuples.3", 3),
    "triples that do not ascend": replacing("tuples.3", lambda v: np.concatenate([v[3:6], v[:3], v[6:]])),
    "a triple that is cut off": replacing("tuples.3", lambda v: v[:-1]),
    "a weight that is not finite": setting("weights", np.nan),
    "a weight too few": replacing("weights", lambda v: v[:-1]),
    "beam 0": put("params", "beam", value=0),
    "a beam that is text": put("params", "beam", value="2"),
    "a beam that is a list": put("params", "beam", value=[2]),
    "explore -1": put("params", "explore", value=-1),
    "a parameter of another model": put("params", "all_transitions", value=False),
    "a model of another kind": put("model", value="LocalClassifier"),
    "a tensor that is not known": lambda _, t: t.update({"follow": np.ones(1)}),
}


@pytest.mark.parametrize("change", BAD_SEQUENTIAL.values(), ids=BAD_SEQUENTIAL.keys())
def test_parts_of_sequential_classifiers_that_do_not_fit_are_refused(sequential, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(sequential, change))


def test_order_0_of_a_sequential_classifier_though_all_sizes_are_right(sequential, loading, tmp_path):
    local = from_bytes(saved(CRF("tag", "word[-1:0]", order=0).fit(Corpus.from_lists(WORDS)), tmp_path))
    description = {**copy.deepcopy(from_bytes(sequential)[0]), "lattice": local[0]["lattice"]}
    with pytest.raises(DamagedModelError, match="order of a sequential classifier"):
        loading(to_bytes(description, local[1]))


def test_a_beam_may_be_wider_than_there_are_histories_but_not_than_time_allows(sequential, loading):
    assert loading(changed(sequential, put("params", "beam", value=10_000))).predict(TEXT)
    with pytest.raises(DamagedModelError, match="beam"):
        loading(changed(sequential, put("params", "beam", value=10**12)))


class TestEveryTensor:
    @pytest.fixture(params=["raw", "raw_of_order_2"])
    def data(self, request):
        return request.getfixturevalue(request.param)

    def test_missing_or_of_another_kind(self, data, loading):
        for name, values in from_bytes(data)[1].items():
            with pytest.raises(DamagedModelError):
                loading(changed(data, lambda _, tensors, name=name: tensors.pop(name)))
            for other in ("f8", "i8", "i4", "u2", "u1"):
                if values.dtype != np.dtype(other):
                    with pytest.raises(DamagedModelError):
                        loading(changed(data, replacing(name, lambda v, other=other: v.astype(other))))
            with pytest.raises(DamagedModelError):
                loading(changed(data, replacing(name, lambda v: v[None])))

    def test_too_short_or_too_long(self, data, loading):
        for name, values in from_bytes(data)[1].items():
            for new in (values[:-1], np.append(values, values[-1:]), np.append(values, np.zeros(1, values.dtype))):
                if len(new) != len(values):
                    accepted = answers_or_is_refused(loading, changed(data, replacing(name, lambda _, new=new: new)))
                    assert not accepted or name.endswith(".offsets"), name  # one more string need not be wrong

    def test_with_any_number_in_it(self, data, loading):
        for name, values in from_bytes(data)[1].items():
            for at in range(0, len(values), 1 + len(values) // 6):
                for new in extremes(values, at):
                    answers_or_is_refused(loading, changed(data, setting(name, new, at=at)))

    def test_full_of_one_number(self, data, loading):
        for name, values in from_bytes(data)[1].items():
            if values.dtype.kind == "f":
                for new in (0.0, 5e-324, 1e-300, 1e300):
                    answers_or_is_refused(loading, changed(data, replacing(name, lambda v, n=new: np.full_like(v, n))))


def extremes(values, at):
    if values.dtype.kind == "f":
        return 0.0, 5e-324, 0.5, 1e100, 1e308
    kind = np.iinfo(values.dtype)
    return kind.min, kind.max, int(values[at]) ^ 1


def test_sizes_that_are_claimed_take_no_memory(raw, tmp_path):
    """A few kilobytes that would be tables of gigabytes, in a process that may not have these."""
    description, tensors = from_bytes(raw)
    tensors = dict(tensors)
    put_strings(tensors, "labels", [f"L{j}" for j in range(4000)])
    (tmp_path / "m").write_bytes(to_bytes({**description, "hidden": {"order": 2, "strength": 1.0}}, tensors))
    script = (
        "import resource, sys, trellis\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "try:\n    trellis.load(sys.argv[1])\n"
        "except trellis.errors.DamagedModelError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "m"], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stderr
