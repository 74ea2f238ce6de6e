"""What a hidden Markov model is said to consist of adds up; chains under other names are looked at as a CRF is."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from trellis import CRF, HMM, LocalClassifier, SequentialClassifier, StructuredPerceptron
from trellis.cli.inspect import inspect as command
from trellis.corpus import write_conll
from trellis.errors import SettingError
from trellis.report import inspect, inspect_hidden

FEATURES = "word[-1:1] + pos[0]"


@pytest.fixture(scope="module", params=[1, 2])
def hmm(request, corpus):
    return HMM(target="pos", order=request.param, suffix=2, rare=100).fit(corpus)


def run(model, tmp_path, *arguments):
    model.save(tmp_path / "m")
    return CliRunner().invoke(command, [str(tmp_path / "m"), *map(str, arguments)], catch_exceptions=False).stdout


class TestHidden:
    def test_labels_have_their_commonest_words(self, hmm, corpus):
        found, labels = inspect_hidden(hmm, top=3), corpus["pos"].values()
        assert sum(one.count for one in found.by_label) == corpus.tokens
        for one in found.by_label:
            assert one.count == labels.count(one.label)
            assert one.share == pytest.approx(one.count / corpus.tokens)
            words = [w for w, label in zip(corpus["word"].values(), labels, strict=True) if label == one.label]
            most = sorted({words.count(word) for word in words}, reverse=True)
            assert one.words[0].count == most[0]
            assert all(words.count(word.name) == word.count for word in one.words)
        counts = [one.count for one in found.by_label]
        assert counts == sorted(counts, reverse=True)

    def test_transitions_are_counted_with_the_ends_of_sentences(self, hmm, corpus):
        found = inspect_hidden(hmm, top=1000)
        assert sum(one.count for one in found.moves) == corpus.tokens + len(corpus)
        first = [labels[0] for labels in corpus.sentences("pos")]
        begins = {one.target: one.count for one in found.moves if one.source == "(begin)"}
        assert begins == {label: first.count(label) for label in set(first)}
        nouns = [one for one in found.moves if one.source == "NN"]
        assert sum(one.share for one in nouns) == pytest.approx(1.0)
        assert any(one.target == "(end)" for one in nouns)

    def test_classes_of_unknown_words(self, hmm, corpus):
        found = inspect_hidden(hmm)
        assert found.unknown_classes == hmm.model_.unknown.classes.words
        largest = found.classes[0]
        assert (largest.shape, largest.ending) == ("x", "")
        assert largest.count == sum(word.islower() for word in corpus["word"].values())
        assert any(one.ending for one in found.classes)
        for one in found.classes:
            assert sum(label.count for label in one.labels) == pytest.approx(one.count)

    def test_with_data_it_says_how_many_words_are_known(self, hmm, corpus):
        assert inspect_hidden(hmm).known is None
        assert inspect_hidden(hmm, corpus).known == 1.0

    def test_states_that_were_learnt_from_text_alone(self, make_corpus):
        found = inspect_hidden(HMM(states=3, max_iter=500).fit(make_corpus(20, 1)))
        assert (found.labels, found.unknown_classes, found.classes) == (["S1", "S2", "S3"], 0, [])
        assert all(one.words for one in found.by_label)

    def test_other_models_are_not_looked_at(self, corpus, hmm):
        with pytest.raises(SettingError, match="looks at an HMM, not at a CRF"):
            inspect_hidden(CRF(target="chunk", features="word[0]").fit(corpus))
        with pytest.raises(SettingError, match="of an HMM inspect_hidden"):
            inspect(hmm)

    def test_the_command_prints_tables_and_json(self, hmm, heldout, tmp_path):
        (tmp_path / "d").write_bytes(write_conll(heldout))
        out = run(hmm, tmp_path, tmp_path / "d", "--json", "--top", 4)
        *table, last = out.rstrip("\n").split("\n")
        assert json.loads(last) == inspect_hidden(hmm, heldout, top=4).as_json()
        text = "\n".join(table)
        for said in ("commonest words", "most frequent transitions", "% of the tokens are known words", "are told by"):
            assert said in text
        assert "commonest" not in run(hmm, tmp_path, "--top", 0)

    def test_the_command_of_states(self, make_corpus, tmp_path):
        out = run(HMM(states=3, max_iter=500).fit(make_corpus(20, 1)), tmp_path)
        assert "unknown words are not told apart" in out
        assert "classes of rare words" not in out


@pytest.mark.parametrize("kind", [LocalClassifier, SequentialClassifier, StructuredPerceptron])
def test_chains_under_other_names(kind, corpus, heldout, tmp_path):
    model = kind(target="chunk", features=FEATURES).fit(corpus)
    found, crf = inspect(model, heldout), inspect(CRF(target="chunk", features=FEATURES).fit(corpus), heldout)
    assert [cost.template for cost in found.templates] == [cost.template for cost in crf.templates]
    assert [cost.per_token for cost in found.templates] == [cost.per_token for cost in crf.templates]
    assert found.weights == len(model.model_.weights)
    assert bool(found.transitions) == (kind is not LocalClassifier)
    assert f"{found.weights:,} weights" in run(model, tmp_path)
