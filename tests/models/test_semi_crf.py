"""Semi-Markov CRFs."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from trellis import CRF, Constraints, SemiCRF, load
from trellis.corpus import Corpus
from trellis.errors import CheckpointError, DataError, SettingError
from trellis.labels import illegal
from trellis.labels.encode import encoded
from trellis.metrics.segments import segments

FEATURES = "word[-1:1] + pos[0]"
SPANS = "surface + lower + shape + words + length"


def trained(corpus, **settings):
    return SemiCRF("chunk", FEATURES, **{"segments": SPANS, **settings}).fit(corpus)


@pytest.fixture(scope="module")
def semi(corpus):
    return trained(corpus)


def rows_of(corpus, column):
    values = corpus[column].values()
    return [values[a:b] for a, b in pairwise(corpus.offsets.tolist())]


def test_it_learns_and_its_labels_are_well_formed(semi, heldout):
    assert semi.score(heldout) > 0.95
    ids = semi.predict_ids(heldout)
    assert not len(illegal(semi.classes_, ids, heldout.offsets, "iob2"))


def test_probabilities_sum_to_one_and_agree_with_the_lattice(semi, heldout):
    for row in semi.predict_marginals(heldout):
        np.testing.assert_allclose(row.sum(axis=1), 1.0)
    model = semi.model_
    chain = model.chain(model.pack(heldout), heldout.offsets)
    rows = np.concatenate(semi.predict_marginals(heldout))
    np.testing.assert_allclose(rows, chain.solve().label_marginals(), atol=1e-9)


def test_with_segments_of_one_token_it_is_a_crf():
    """All weights of a chain of labels are there then."""
    rng = np.random.default_rng(0)
    words = [[str(rng.integers(5)) for _ in range(rng.integers(1, 6))] for _ in range(30)]
    labels = [[{"0": "B-X", "1": "B-Y"}.get(word, "O") for word in row] for row in words]
    corpus = Corpus.from_lists({"word": words, "tag": labels})
    semi = SemiCRF("tag", "word[-1:1]", segments="", tol=1e-8).fit(corpus)
    crf = CRF("tag", "word[-1:1]", tol=1e-8).fit(corpus)
    assert semi.objective_ == pytest.approx(crf.objective_, rel=1e-5)
    names = [semi.classes_.index(label) for label in crf.classes_]
    for found, expected in zip(semi.predict_marginals(corpus), crf.predict_marginals(corpus), strict=True):
        np.testing.assert_allclose(found[:, names], expected, atol=1e-3)


def test_a_saved_model_answers_the_same(semi, heldout, tmp_path):
    semi.save(tmp_path / "m")
    for again in (load(tmp_path / "m"), pickle.loads(pickle.dumps(semi))):
        assert again.predict(heldout) == semi.predict(heldout)
        assert again.get_params() == semi.get_params()


def test_lists_of_phrases_are_in_the_model_file(corpus, heldout, tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("Ann\nthe dog\n")
    crf = trained(corpus, segments=f"gazetteer({path}) + length")
    crf.save(tmp_path / "m")
    path.unlink()
    assert load(tmp_path / "m").predict(heldout) == crf.predict(heldout)


def check_constraints(semi, short):
    """In the labels of the model's own encoding: as if paths were chosen and weighed afterwards."""
    last = semi.classes_[-1]
    rules = [
        Constraints(penalties={last: 1.5, "O": -0.5}),
        Constraints(allowed=[[None, {last, "O"}, None]] * len(short)),
        Constraints(allowed=[[semi.classes_[1], None, None]] * len(short), penalties={last: -1.0}),
    ]
    every = semi.predict_kbest(short, 10_000)
    for rule in rules:
        for found, own in zip(semi.predict_kbest(short, 10_000, rule), every, strict=True):
            left = {}
            for path in own:
                choices = (rule.allowed or [[None] * 3])[0]
                if all(one is None or label == one or (isinstance(one, set) and label in one)
                       for one, label in zip(choices, path.labels, strict=True)):  # fmt: skip
                    more = sum((rule.penalties or {}).get(label, 0.0) for label in path.labels)
                    left[tuple(path.labels)] = np.exp(path.log_probability + more)
            total = sum(left.values())
            assert len(found) == len(left)
            for path in found:
                assert np.exp(path.log_probability) == pytest.approx(left[tuple(path.labels)] / total)


@pytest.mark.parametrize("encoding", ["io", "iob1", "ioe2", "bioes", "bilou"])
def test_other_encodings_come_out_as_they_went_in(corpus, heldout, encoding):
    def rewritten(data):
        labels = data["chunk"]
        found = segments(labels.ids, labels.strings, data.offsets)
        ids, names = encoded(*found, ["NP", "VP"], data.offsets, encoding)
        values = [names[i] for i in ids.tolist()]
        chunk = [values[a:b] for a, b in pairwise(data.offsets.tolist())]
        return Corpus.from_lists({"word": rows_of(data, "word"), "pos": rows_of(data, "pos"), "chunk": chunk})

    semi = trained(rewritten(corpus))
    report = semi.evaluate(rewritten(heldout))
    assert report.f1 > 0.9
    assert report.accuracy > 0.9
    assert not len(illegal(semi.classes_, semi.predict_ids(heldout), heldout.offsets, encoding))
    short = Corpus.from_lists({name: [row[:3] for row in rows_of(heldout, name)[:4]] for name in ("word", "pos")})
    if semi.model_.encoding == "iob1":
        with pytest.raises(SettingError, match="segments beside its own"):
            semi.predict_marginals(short)
        return
    check_constraints(semi, short)
    for constraints in (None, Constraints(penalties={"O": 1.0})):
        paths = semi.predict_kbest(short, 10_000, constraints)
        for rows, found in zip(semi.predict_marginals(short, constraints), paths, strict=True):
            wanted = np.zeros(rows.shape)
            for path in found:
                ids = [semi.classes_.index(label) for label in path.labels]
                wanted[np.arange(len(ids)), ids] += np.exp(path.log_probability)
            np.testing.assert_allclose(rows, wanted, atol=1e-9)


def test_no_segment_is_longer_than_it_may_be(corpus, heldout):
    with pytest.warns(UserWarning, match="longer than"):
        semi = trained(corpus, longest={"NP": 2})
    start, end, kind = segments(semi.predict_ids(heldout), semi.classes_, heldout.offsets)
    assert (end - start)[kind == 0].max() == 2
    with pytest.raises(SettingError, match="XP"):
        trained(corpus, longest={"XP": 2})


@pytest.mark.parametrize("loss", ["log", "exp", "pointwise-log", "softmax-margin"])
def test_other_losses(corpus, heldout, loss):
    assert trained(corpus, loss=loss, tol=1e-3).score(heldout) > 0.9


def test_newton_finds_the_same_minimum(corpus, semi):
    assert trained(corpus, optimizer="newton-cg").objective_ == pytest.approx(semi.objective_, rel=1e-3)


def test_labels_known_in_part(corpus, heldout):
    rng = np.random.default_rng(0)
    y = [[None if rng.random() < 0.3 else label for label in row] for row in rows_of(corpus, "chunk")]
    semi = SemiCRF("chunk", FEATURES, segments="length", longest=4).fit(corpus, y)
    assert semi.score(heldout) > 0.9


def test_soft_labels(corpus, heldout):
    names = sorted(set(corpus["chunk"].values()))
    soft = [np.where(np.array(row)[:, None] == names, 0.9, 0.1 / (len(names) - 1)) for row in rows_of(corpus, "chunk")]
    semi = SemiCRF("chunk", FEATURES, segments="length", longest=4).fit(corpus, soft=soft, labels=names)
    assert semi.score(heldout) > 0.9


def test_lists_of_attributes(corpus, heldout):
    X = [[{"w": word} for word in row] for row in rows_of(corpus, "word")]
    semi = SemiCRF().fit(X, rows_of(corpus, "chunk"))
    assert (
        semi.score([[{"w": word} for word in row] for row in rows_of(heldout, "word")], rows_of(heldout, "chunk")) > 0.7
    )


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"segments": "surfaces"}, "surface, lower"),
        ({"longest": 0}, "longest"),
        ({"optimizer": "perceptron"}, "order 1"),
        ({"features": "word[0] + transitions(pos[0])"}, "transitions"),
        ({"target": "pos"}, "use a CRF"),
    ],
)
def test_what_does_not_fit_is_refused(corpus, settings, match):
    with pytest.raises(SettingError, match=match):
        SemiCRF(**{"target": "chunk", "features": FEATURES, **settings}).fit(corpus)


def test_threads_change_nothing(corpus, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 50)
    assert len({trained(corpus, threads=n).model_.weights.tobytes() for n in (1, 2)}) == 1


def test_checkpoints(corpus, semi, tmp_path):
    first = SemiCRF("chunk", FEATURES, segments=SPANS).fit(corpus, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(first.model_.weights, semi.model_.weights)
    with pytest.raises(CheckpointError, match="semicrf"):
        CRF("chunk", FEATURES).fit(corpus, checkpoint=tmp_path / "c", resume=True)


def test_the_command_line(corpus, heldout, tmp_path):
    from click.testing import CliRunner

    from trellis.cli.app import app

    for name, data in (("train", corpus), ("test", heldout)):
        rows = zip(*(rows_of(data, column) for column in ("word", "pos", "chunk")), strict=True)
        text = "\n".join("".join(" ".join(token) + "\n" for token in zip(*row, strict=True)) for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = CliRunner().invoke(
        app,
        ["train", str(tmp_path / "train"), "--columns", "word,pos,chunk", "--model", str(tmp_path / "m"),
         "--model-type", "semi-crf", "--features", FEATURES, "--segments", SPANS, "--longest", "5"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, ["eval", str(tmp_path / "m"), str(tmp_path / "test"), "--json"])
    assert run.exit_code == 0, run.output
    assert '"f1"' in run.output


def test_a_gazetteer_may_have_types_that_training_never_meets(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("LOC\tParis\nLOC\tLyon\nZZZ\tTokyo\n")
    train = Corpus.from_lists({"word": [["in", "Paris"], ["Lyon", "is"]] * 5, "ner": [["O", "B-L"], ["B-L", "O"]] * 5})
    semi = SemiCRF("ner", "word[0]", segments=f"length + gazetteer({path})").fit(train)
    assert len(semi.predict(Corpus.from_lists({"word": [["in", "Tokyo", "Paris"]]}))[0]) == 3


def test_in_io_no_segment_follows_one_of_its_type():
    """Labels could not tell the two from one."""
    words = [["a", "b"], ["a", "a"], ["b", "a"], ["b"]]
    labels = [["I-X", "O"], ["I-X", "I-X"], ["O", "I-X"], ["O"]]
    train = Corpus.from_lists({"word": words * 3, "y": labels * 3})
    semi = SemiCRF("y", "word[0]", segments="length").fit(train)
    assert semi.model_.encoding == "io"
    for paths, rows in zip(semi.predict_kbest(train, 100), semi.predict_marginals(train), strict=True):
        assert len({tuple(path.labels) for path in paths}) == len(paths)
        assert sum(np.exp(path.log_probability) for path in paths) == pytest.approx(1.0)
        assert rows[0, semi.classes_.index("I-X")] == pytest.approx(
            sum(np.exp(path.log_probability) for path in paths if path.labels[0] == "I-X")
        )
    best = semi.predict_kbest(train, 1)
    of_best = semi.log_probability(train, [paths[0].labels for paths in best])
    np.testing.assert_allclose(of_best, [paths[0].log_probability for paths in best], atol=1e-9)


def test_where_all_segments_are_too_long_there_is_nothing_to_learn():
    with pytest.warns(UserWarning, match="1 of 1"), pytest.raises(DataError, match="longer than `longest` allows"):
        SemiCRF(longest=1).fit([[["a"], ["b"]]], [["B-X", "I-X"]])


def test_the_likeliest_soft_labels_need_not_be_well_formed():
    soft = [np.array([[0.4, 0.1, 0.5], [0.2, 0.6, 0.2]])]
    semi = SemiCRF().fit([[["a"], ["b"]]], soft=soft, labels=["B-X", "I-X", "O"])
    assert semi.model_.encoding == "iob2"
