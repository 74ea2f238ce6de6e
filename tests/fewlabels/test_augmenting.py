"""Augmentation: labels stay well-formed, types stay in order, columns travel with their tokens."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from augment_problems import corpora, mentions_of, types_of
from hypothesis import given
from hypothesis import strategies as st

import trellis as tr
from trellis.corpus import Corpus, concatenate, write_conll
from trellis.errors import DataError, SettingError
from trellis.fewlabels.augment import METHODS, Source, augmented, copy_weights, parse_table, with_copies
from trellis.fewlabels.augment.fitting import no_longer_well_formed
from trellis.fewlabels.augment.shuffle import stretches
from trellis.labels import illegal

TABLES = {"synonyms": {"a": ["b", "very big"], "große": ["kleine"]}}  # the test hook of a method that needs a table
chances = st.sampled_from([0.1, 0.5, 1.0])
seeds = st.integers(0, 99)


def changed(name, corpus, encoding, p, seed, table=None):
    table = TABLES.get(name) if table is None else table
    if name == "synonyms" and not {"a", "Große"} & set(corpus["word"].compact().strings):
        return corpus  # there is nothing to replace, which is an error
    return METHODS[name].change(Source(corpus, "label", encoding), np.random.default_rng(seed), p, table)


class TestEveryMethod:
    @pytest.mark.parametrize("name", METHODS)
    @given(problem=corpora(), p=chances, seed=seeds)
    def test_keeps_labels_well_formed_and_types_in_order(self, name, problem, p, seed):
        corpus, encoding = problem
        new = changed(name, corpus, encoding, p, seed)
        assert len(new) == len(corpus)
        assert types_of(new, encoding) == types_of(corpus, encoding)
        labels = new["label"].compact()
        assert not illegal(labels.strings, labels.ids, new.offsets, encoding).size

    @pytest.mark.parametrize("name", METHODS)
    @given(problem=corpora(), p=chances, seed=seeds)
    def test_gives_the_same_for_the_same_seed_and_leaves_its_input_alone(self, name, problem, p, seed):
        corpus, encoding = problem
        before = write_conll(corpus)
        one, other = (changed(name, corpus, encoding, p, seed) for _ in range(2))
        assert write_conll(one) == write_conll(other)
        assert write_conll(corpus) == before

    @pytest.mark.parametrize("name", [name for name in METHODS if name != "synonyms"])
    @given(problem=corpora(), p=chances, seed=seeds)
    def test_moves_all_columns_of_a_token_together(self, name, problem, p, seed):
        new = changed(name, *problem, p, seed)
        assert new["pos"].values() == [f"P{word}" for word in new["word"].values()]


@given(problem=corpora(), p=chances, seed=seeds)
def test_tokens_are_replaced_by_such_with_the_same_label(problem, p, seed):
    corpus, encoding = problem
    new = changed("tokens", corpus, encoding, p, seed)
    assert new["label"].values() == corpus["label"].values()
    seen = set(zip(corpus["word"].values(), corpus["label"].values(), strict=True))
    assert set(zip(new["word"].values(), new["label"].values(), strict=True)) <= seen


def test_tokens_are_drawn_as_often_as_they_occur():
    words = ["a"] * 30 + ["b"] * 10 + ["c"] * 60
    corpus = Corpus.from_lists({"word": [words], "label": [["X"] * 40 + ["Y"] * 60]})
    rng = np.random.default_rng(0)
    drawn = Counter(
        w
        for _ in range(200)
        for w in METHODS["tokens"].change(Source(corpus, "label"), rng, 1.0, None)["word"].values()[:40]
    )
    assert set(drawn) == {"a", "b"}
    assert drawn["a"] / drawn.total() == pytest.approx(0.75, abs=0.02)


@given(problem=corpora(), seed=seeds)
def test_shuffling_stays_within_stretches(problem, seed):
    corpus, encoding = problem
    new = changed("shuffle", corpus, encoding, 1.0, seed)
    assert new["label"].values() == corpus["label"].values()
    at = stretches(Source(corpus, "label", encoding))
    for k in range(int(at.max(initial=-1)) + 1):
        one, other = (np.array(each["word"].values())[at == k] for each in (corpus, new))
        assert sorted(one) == sorted(other)


@pytest.mark.parametrize("name", ["mentions", "paste"])
@given(problem=corpora(), p=chances, seed=seeds)
def test_segments_are_replaced_by_whole_ones_of_their_type(name, problem, p, seed):
    corpus, encoding = problem
    new = changed(name, corpus, encoding, p, seed)
    assert set(mentions_of(new, encoding)) <= set(mentions_of(corpus, encoding))


@given(problem=corpora(), seed=seeds)
def test_what_is_outside_stays_when_mentions_are_replaced(problem, seed):
    corpus, encoding = problem
    new = changed("mentions", corpus, encoding, 1.0, seed)
    outside = [
        [w for w, label in zip(c["word"].values(), c["label"].values(), strict=True) if label == "O"]
        for c in (corpus, new)
    ]
    assert outside[0] == outside[1]


CITIES = Corpus.from_lists(
    {
        "word": [["We", "love", "New", "York", "."], ["Go", "home", "."]],
        "pos": [["PRP", "VBP", "NNP", "NNP", "."], ["VB", "NN", "."]],
        "label": [["O", "O", "B-LOC", "I-LOC", "O"], ["O", "O", "O"]],
    }
)


def test_mentions_of_a_table_have_the_other_columns_of_what_they_replace():
    table = {"LOC": ["Rio de Janeiro"]}
    new = augmented(CITIES, "label", "mentions", copies=8, p=1.0, table=table)
    assert len(new) == 3
    assert new.sentences("word")[2] == ["We", "love", "Rio", "de", "Janeiro", "."]
    assert new.sentences("pos")[2] == ["PRP", "VBP", "NNP", "NNP", "NNP", "."]
    assert new.sentences("label")[2] == ["O", "O", "B-LOC", "I-LOC", "I-LOC", "O"]


def test_synonyms_of_several_words_belong_to_the_segment_of_the_word():
    table = {"york": ["amsterdam by sea"], "love": ["are fond of"]}
    new = augmented(CITIES, "label", "synonyms", p=1.0, table=table).slice(2, 3)
    assert new.sentences("word") == [["We", "are", "fond", "of", "New", "Amsterdam", "by", "sea", "."]]
    assert new.sentences("pos") == [["PRP", "VBP", "VBP", "VBP", "NNP", "NNP", "NNP", "NNP", "."]]
    assert new.sentences("label") == [["O", "O", "O", "O", "B-LOC", "I-LOC", "I-LOC", "I-LOC", "O"]]


def test_synonyms_in_an_encoding_that_marks_ends():
    ends = Corpus.from_lists({"word": [["York", "x"]], "label": [["S-LOC", "O"]]})
    new = augmented(ends, "label", "synonyms", p=1.0, table={"York": ["New York"]}, encoding="bioes").slice(1, 2)
    assert new.sentences("label") == [["B-LOC", "E-LOC", "O"]]


def test_tags_have_synonyms_and_tokens_but_no_segments():
    table = {"home": ["back home"]}
    new = augmented(CITIES, "pos", "synonyms", p=1.0, table=table)
    assert new.sentences("pos")[2] == ["VB", "NN", "NN", "."]
    assert len(augmented(CITIES, "pos", "tokens", p=1.0, copies=4)) > 2
    for name in ("mentions", "shuffle", "paste"):
        with pytest.raises(SettingError, match="spell no segments such as B-X, I-X, O, which this method needs"):
            augmented(CITIES, "pos", name)


def test_spans_with_gaps_have_tokens_and_synonyms_of_one_word():
    gappy = Corpus.from_lists({"word": [["take", "him", "off"]], "label": [["B-V", "o", "I-V"]]})
    new = augmented(gappy, "label", "synonyms", p=1.0, table={"him": ["her"]})
    assert new.sentences("word")[1:] == [["take", "her", "off"]]
    assert new.sentences("label")[1:] == gappy.sentences("label")
    with pytest.raises(SettingError, match="spans with gaps, in which a synonym has to be of one word"):
        augmented(gappy, "label", "synonyms", p=1.0, table={"him": ["the man"]})
    with pytest.raises(SettingError, match="spans with gaps"):
        augmented(gappy, "label", "mentions")


class TestAugmented:
    def test_has_the_corpus_first_and_then_what_has_changed(self):
        train = tr.sample_corpus("train")
        more = augmented(train, "entity", ["mentions", "tokens"], copies=2, seed=3)
        assert write_conll(more.slice(0, len(train))) == write_conll(train)
        assert len(train) < len(more) < 5 * len(train)
        known = set(map(tuple, rows_of(train)))
        assert all(tuple(row) not in known for row in rows_of(more.slice(len(train), len(train) + 300)))

    def test_methods_in_a_chain_follow_each_other(self):
        train = tr.sample_corpus("train").slice(0, 50)
        both = augmented(train, "entity", "mentions+shuffle", p=1.0)
        assert set(mentions_bag(both)) == set(mentions_bag(train))

    def test_copies_count_what_they_are_told_to(self):
        more = concatenate([CITIES, CITIES])
        assert copy_weights(CITIES, more, 0.25).tolist() == [1.0, 1.0, 0.25, 0.25]

    def test_weights_are_of_what_was_made_of_the_corpus(self):
        with pytest.raises(DataError, match="expected what `augmented` made of it"):
            copy_weights(CITIES, CITIES.slice(0, 1), 0.25)
        with pytest.raises(SettingError, match=r"the weight of copies is -1\.0; expected a number >= 0"):
            copy_weights(CITIES, CITIES, -1.0)

    def test_models_learn_from_it(self):
        train = tr.sample_corpus("train").slice(0, 40)
        more = augmented(train, "chunk", "mentions")
        crf = tr.CRF("chunk", "word[0] + pos[-1:1]", tol=1e-2)
        crf.fit(more, sample_weight=copy_weights(train, more, 0.5))
        assert crf.score(train) > 0.8

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"methods": "mention"}, "unknown method of augmentation 'mention'; did you mean mentions"),
            ({"methods": []}, "no method of augmentation; there are: mentions, tokens"),
            ({"methods": "synonyms"}, r"synonyms need a table .*; give one \(--table FILE\)"),
            ({"methods": "synonyms", "table": {"zebra": ["gnu"]}}, "the table has none of the words"),
            ({"table": {"PER": ["Ann"]}}, "mentions of the types PER, the labels of 'label' segments of the types LOC"),
            ({"table": {"LOC": "Rio"}}, "the table has 'Rio' for 'LOC'; expected a list of texts with words"),
            ({"table": {"LOC": [" "]}}, "the table has "),
            ({"copies": 0}, "copies is 0; expected a whole number >= 1"),
            ({"p": 1.5}, "p is 1.5; expected a probability above 0 and up to 1"),
            ({"seed": -1}, "seed is -1"),
            ({"target": "nonsense"}, "unknown target 'nonsense'; the columns are: word, pos, label"),
            ({"encoding": "ioe2"}, "label 'B-LOC' is not ioe2"),
            ({"methods": "tokens", "encoding": "ioe2"}, "label 'B-LOC' is not ioe2"),
            ({"table": ["Rio"]}, "the table is .*; expected a dict of words"),
            ({"table": "x"}, "the table is 'x'; expected a dict of words"),
            ({"table": {"a": 5}}, "the table has 5 for 'a'; expected a list of texts"),
            ({"methods": 5}, "methods is 5; expected a method's name or a list of them: mentions, tokens"),
            ({"methods": None}, "methods is None; expected"),
            (
                {"methods": "mentions,tokens"},
                r"mentions\+tokens changes by one and then by the next, a list \(--method",
            ),
            ({"methods": "mentions", "encoding": "bioes"}, "are not bioes: '(B-LOC|O)' at sentence 1"),
            ({"methods": "tokens", "encoding": "iob1"}, "look like iob2; leave the encoding out"),
            (
                {"methods": ["tokens", "shuffle"], "table": {"LOC": ["Rio"]}},
                "a table is for mentions and synonyms, not",
            ),
        ],
    )
    def test_says_what_does_not_fit(self, settings, message):
        with pytest.raises(SettingError, match=message):
            augmented(CITIES, **{"target": "label", **settings})

    def test_spaces_around_a_plus_are_nothing(self):
        train = tr.sample_corpus("train").slice(0, 20)
        one, other = (augmented(train, "entity", name) for name in ("mentions+tokens", " mentions + tokens "))
        assert write_conll(one) == write_conll(other)

    def test_lists_are_no_corpus(self):
        with pytest.raises(
            DataError, match=r"the corpus is of the type list; expected a Corpus: .* Corpus\.from_lists"
        ):
            augmented([["a"]], "chunk")

    def test_nothing_cannot_be_made_more_of(self):
        with pytest.raises(DataError, match="no token"):
            augmented(CITIES.slice(0, 0), "label")

    def test_does_not_depend_on_the_seed_of_hashes(self):
        script = (
            "import sys, trellis as tr; from trellis.fewlabels import augmented\n"
            "train = tr.sample_corpus('train').slice(0, 60)\n"
            "table = {'the': ['a', 'this very'], 'LOC': ['X Y'], 'PER': ['Z']}\n"
            "new = augmented(train, 'entity', ['mentions', 'tokens', 'paste', 'synonyms'], table=table)\n"
            "sys.stdout.buffer.write(tr.write_conll(new))"
        )
        outputs = [
            subprocess.run(
                [sys.executable, "-c", script],
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2")
        ]
        assert outputs[0] == outputs[1]


class TestWhatIsLeftOut:
    def test_is_what_only_labels_changed_of(self):
        """I-X after O is written anew as B-X, which is no change."""
        labels = [["I-X", "I-X", "O"], ["B-Y", "I-Y", "O"]]
        odd = Corpus.from_lists({"word": [["a", "b", "c"], ["d", "e", "f"]], "label": labels})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert len(augmented(odd, "label", "mentions", p=1.0)) == 2
        said = [str(one.message) for one in caught]
        assert said[0].startswith(
            "labels of 'label' are ill-formed in iob2, the first is 'I-X' at sentence 1, token 1;"
        )
        assert said[1].startswith(
            "no sentence could be changed by mentions, so there are no copies; try another method"
        )
        assert all(one.filename == __file__ for one in caught)

    def test_is_what_is_like_another_sentence_or_copy(self):
        train = tr.sample_corpus("train").slice(0, 60)
        more = augmented(train, "entity", ["mentions", "tokens"], copies=20, p=0.1)
        copies = [tuple(row) for row in rows_of(more)[60:]]
        assert len(set(copies)) == len(copies)
        assert not set(copies) & set(map(tuple, rows_of(train)))

    def test_is_nothing_of_the_corpus(self):
        twice = concatenate([CITIES, CITIES])
        more = augmented(twice, "label", "tokens", p=1.0)
        assert write_conll(more.slice(0, 4)) == write_conll(twice)


class TestTablesOfMentions:
    WORDS = Corpus.from_lists({"word": [[f"w{k}", "x"] for k in range(400)], "label": [["B-LOC", "B-PER"]] * 400})

    def test_are_drawn_from_half_the_time(self):
        table = {"LOC": ["Rio", "Rome"]}
        new = METHODS["mentions"].change(Source(self.WORDS, "label"), np.random.default_rng(0), 1.0, table)
        drawn = Counter(new["word"].values()[::2])
        assert drawn["Rio"] + drawn["Rome"] == pytest.approx(200, abs=40)
        assert drawn["Rio"] == pytest.approx(100, abs=35)
        assert set(new["word"].values()[1::2]) == {"x"}

    def test_say_which_types_the_corpus_has_not(self):
        table = {"LOC": ["Rio"], "ORG": ["Bank"], "MISC": ["It"]}
        with pytest.warns(UserWarning, match="types that the labels of 'label' have not are left out: MISC, ORG$"):
            augmented(self.WORDS, "label", "mentions", table=table)
        augmented(self.WORDS, "label", ["mentions", "synonyms"], table={**table, "w1": ["v1"]})  # ORG may be a word

    def test_say_whose_file_they_are(self):
        table = parse_table(b"ORG\tBank\nA\tb\nB\tb\nC\tb\nD\tb\nE\tb\n", "t.tsv")
        message = (
            r"^t\.tsv: the table has mentions of the types A, B, C, D, E and 1 more, the labels of 'label' segments"
        )
        with pytest.raises(SettingError, match=message):
            augmented(self.WORDS, "label", "mentions", table=table)

    def test_parts_need_not_have_what_the_whole_has(self):
        """As in a learning curve."""
        part = CITIES.slice(1, 2)
        for name, table in (("mentions", {"LOC": ["Rio"]}), ("synonyms", {"love": ["like"]})):
            assert len(with_copies(part, "label", [name], 1, 1.0, 0, table, "iob2")) == 1


def test_other_columns_that_are_torn_apart_are_known():
    train = tr.sample_corpus("train").slice(0, 100)
    assert no_longer_well_formed(train, augmented(train, "entity", "tokens", copies=3), "entity") == ["chunk"]
    assert no_longer_well_formed(train, train, "entity") == []


def rows_of(corpus):
    """All columns of each sentence."""
    columns = [corpus.sentences(name) for name in corpus.columns]
    return [[value for column in columns for value in column[s]] for s in range(len(corpus))]


def mentions_bag(corpus):
    from trellis.labels import read_segments

    column, words = corpus["entity"].compact(), corpus["word"].values()
    start, end, _ = read_segments(column.ids, column.strings, corpus.offsets)
    return [tuple(sorted(words[a:b])) for a, b in zip(start.tolist(), end.tolist(), strict=True)]


def test_a_table_may_be_for_one_of_two_methods():
    both = ["mentions", "synonyms"]
    more = augmented(CITIES, "label", both, copies=8, table={"LOC": ["Rio"]})
    assert "Rio" in more["word"].compact().strings
    with pytest.raises(SettingError, match="the table has mentions of the types zebra"):
        augmented(CITIES, "label", both, table={"zebra": ["gnu"]})


class TestTables:
    def test_are_read_line_by_line(self):
        data = "\ufeffbig\tlarge\tvery large\r\n\nbig\thuge\nNY\tNew York\n".encode()
        assert parse_table(data) == {"big": ["large", "very large", "huge"], "NY": ["New York"]}

    def test_are_made_of_bytes(self):
        with pytest.raises(SettingError, match="the table is of the type str; expected the bytes of a file"):
            parse_table("big\tlarge")

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"big\tlarge\nsmall\n", "t.tsv:2: there is no tab after 'small'; expected one word"),
            (b"big large\n", "t.tsv:1: there is no tab after 'big large'"),
            (b"very big\tlarge\n", "t.tsv:1: 'very big' before the first tab is more than one word"),
            (b"\tlarge\n", "t.tsv:1: there is nothing before the first tab"),
            (b"big\t\n", "t.tsv:1: there is nothing after tab 1"),
            (b"big\tlarge\t\n", "t.tsv:1: there is nothing after tab 2"),
            (b"\n\n", "t.tsv: the table is empty"),
            (b"a\tb\n\xff\tb\n", "t.tsv:2: .* has to be UTF-8"),
        ],
    )
    def test_what_is_none_is_an_error_with_its_place(self, data, message):
        with pytest.raises(DataError, match=message):
            parse_table(data, "t.tsv")
