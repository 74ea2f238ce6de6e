"""Lattices given node by node, and those that a lexicon makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies

from trellis import Arc, Lattice, Lattices, Lexicon, Node, sample_corpus, unspaced
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError

AB = Lattice([Node(0, 1, "X", ["a"]), Node(0, 2, "Y", ["ab"]), Node(1, 2, "X", {"b": 2.0}), Node(2, 3, "Y")])


def arcs_of(lattices):
    return sorted(zip(lattices.shape.source.tolist(), lattices.shape.heads.tolist(), strict=True))


class TestLattices:
    def test_nodes_follow_each_other_where_one_ends_and_another_begins(self):
        both = Lattices.of([AB, AB])
        assert len(both) == 2
        assert arcs_of(both) == [(0, 2), (1, 3), (2, 3), (4, 6), (5, 7), (6, 7)]
        assert both.shape.first.tolist() == [True, True, False, False] * 2
        assert both.shape.last.tolist() == [False, False, False, True] * 2
        assert both.labels.values() == ["X", "Y", "X", "Y"] * 2

    def test_arcs_may_be_given(self):
        own = Lattice(AB.nodes, [Arc(2, 3, ["far"]), (0, 3), (0, 2), Arc(1, 3, {"w": 1.5})])
        found = Lattices.of([AB, own])
        assert arcs_of(found) == [(0, 2), (1, 3), (2, 3), (4, 6), (4, 7), (5, 7), (6, 7)]
        named = dict(zip(arcs_in_order(found), [one for row in found.arcs for one in row], strict=True))
        assert named[6, 7] == ["far"]
        assert named[5, 7] == {"w": 1.5}
        assert not named[0, 2]

    def test_parts_and_choices_are_the_same_lattices(self):
        own = Lattice(AB.nodes[:2], [Arc(0, 1, ["x"])][:0])
        every = Lattices.of([AB, own, Lattice([]), AB])
        for part, wanted in (
            (every.part(1, 4), [own, Lattice([]), AB]),
            (every.chosen(np.array([True, False, True, True])), [AB, Lattice([]), AB]),
        ):
            alone = Lattices.of(wanted)
            assert arcs_of(part) == arcs_of(alone)
            assert part.offsets.tolist() == alone.offsets.tolist()
            assert part.nodes == alone.nodes
            assert part.labels.values() == alone.labels.values()

    @pytest.mark.parametrize("ends", [(0, 5), (1, 0), ("a", 1), (-1, 1), (0, 2.5)])
    def test_parts_that_there_are_not(self, ends):
        with pytest.raises(DataError, match="of 1; expected 0 <= first <= last"):
            Lattices.of([AB]).part(*ends)

    @pytest.mark.parametrize(
        ("lattice", "what"),
        [
            ([Node(0, 1, "X")], r"lattice 2 is \[Node.*expected a Lattice"),
            (Lattice([Node(0, 1, "X"), (1, 2)]), "lattice 2, node 1: .*expected Node"),
            (Lattice([Node(0, 1, 7)]), "lattice 2, node 0: .*expected Node"),
            (Lattice(None), "lattice 2: its nodes are None"),
            (Lattice([Node(0, 2**63, "X")]), "the span 0 to 9223372036854775808"),
            (Lattice([Node(0, 0, "X")]), "node 0: the span 0 to 0; expected 0 <= start < end"),
            (Lattice([Node(1, 2, "X"), Node(0, 1, "X")]), "node 1 begins before node 0; sort"),
            (Lattice([Node(0, 1, "X")], [Arc(0, 1)]), "lattice 2, arc 0: .*numbers of nodes, 0 to 0"),
            (Lattice(AB.nodes, [Arc(1, 2)]), "arc 0 from 1 to 2: node 2 begins before node 1 ends"),
            (Lattice(AB.nodes, [Arc(0, 2), Arc(0, 2)]), "lattice 2: arcs 0 and 1 both lead from 0 to 2"),
        ],
    )
    def test_what_is_wrong_is_said(self, lattice, what):
        with pytest.raises(DataError, match=what):
            Lattices.of([AB, lattice])


def arcs_in_order(lattices):
    return list(zip(lattices.shape.source.tolist(), lattices.shape.heads.tolist(), strict=True))


class TestLexicon:
    words = strategies.dictionaries(
        strategies.text("ab é", min_size=1, max_size=3), strategies.sampled_from(["X", "Y", ("X", "Y")]), min_size=1
    )

    @given(words, strategies.lists(strategies.text("ab éz", max_size=6), max_size=4), strategies.integers(1, 3))
    def test_nodes_are_all_words_and_all_unknown_spans(self, words, texts, unknown):
        lexicon = Lexicon(words, unknown, ["Z", "X"])
        found = lexicon.lattices(texts)
        spans = []
        for s, text in enumerate(texts):
            for a in range(len(text)):
                for b in range(a + 1, len(text) + 1):
                    if text[a:b] in words:
                        spans += [(s, a, b, label, text[a:b], "yes") for label in words[text[a:b]]]
                    elif b - a <= unknown:
                        spans += [(s, a, b, label, text[a:b], "no") for label in "XZ"]
        columns = (found.nodes[name].values() for name in ("word", "known"))
        rows = zip(found.owners.tolist(), found.start.tolist(), found.end.tolist(), found.labels.values(), *columns,
                   strict=True)  # fmt: skip
        assert sorted(rows) == sorted(spans)
        for side, name, edge in ((found.start - 1, "before", -1), (found.end, "after", None)):
            for s, at, own in zip(found.owners.tolist(), side.tolist(), found.nodes[name].values(), strict=True):
                there = texts[s][at] if at != edge and at < len(texts[s]) else "_"
                assert own == there

    def test_segments_may_be_included(self):
        found = Lexicon(["ab"], unknown=1).lattices(["abc"], including=[[(0, 3, "word")]])
        rows = zip(found.nodes["word"].values(), found.nodes["known"].values(), strict=True)
        assert sorted(rows) == [("a", "no"), ("ab", "yes"), ("abc", "no"), ("b", "no"), ("c", "no")]
        with pytest.raises(DataError, match="text 1: the span 1 to 4 is not in its 3"):
            Lexicon(["ab"]).lattices(["abc"], including=[[(1, 4, "word")]])
        with pytest.raises(DataError, match="no label 'X'; it has: word"):
            Lexicon(["ab"]).lattices(["abc"], including=[[(0, 3, "X")]])
        for wrong in ([[], []], 5):
            with pytest.raises(DataError, match="1 texts, and segments to include"):
                Lexicon(["ab"]).lattices(["abc"], including=wrong)
        for wrong in ([None], [[(0, 3)]], ["x"], [[(0, 3, {"DT"})]]):
            with pytest.raises(DataError, match=r"text 1: .* to include; expected segments"):
                Lexicon(["ab"]).lattices(["abc"], including=wrong)

    def test_unknown_words_are_no_longer_than_texts(self):
        assert len(Lexicon(["a"], unknown=10**9).lattices(["abc", "b"]).start) == 7

    def test_it_is_learnt_from_a_corpus(self):
        corpus = Corpus.from_lists({"word": [["a", "b", "a", "c"]], "pos": [["X", "Y", "Z", "Y"]]})
        lexicon = Lexicon.learn(corpus, "pos", unknown=2)
        assert lexicon.words == {"a": ["X", "Z"]}
        assert lexicon.unknown_labels == ["Y"]
        assert lexicon.labels == ["X", "Y", "Z"]
        assert Lexicon.learn(corpus).words == {"a": ["word"]}
        with pytest.raises(DataError, match="no word occurs 3 times"):
            Lexicon.learn(corpus, min_count=3)

    def test_a_file_holds_it(self, tmp_path):
        lexicon = Lexicon({"ü": ["X", "Y"], " ": "S", "#": "X", "c": "X"}, unknown=3, unknown_labels=["Y"])
        lexicon.save(tmp_path / "words")
        again = Lexicon.read(tmp_path / "words")
        assert (again.words, again.unknown, again.unknown_labels) == (lexicon.words, 3, ["Y"])
        again = Lexicon.read(tmp_path / "words", unknown=5, unknown_labels=["S"])
        assert (again.unknown, again.unknown_labels) == (5, ["S"])
        (tmp_path / "plain").write_text("# words\nab\n\nb\tX\n")
        plain = Lexicon.read(tmp_path / "plain")
        assert (plain.words, plain.unknown) == ({"ab": ["word"], "b": ["X"]}, 8)
        for text, what in (
            ("ab\nb\t\n", "bad:2: expected a word, or a word, a tab and a label"),
            ("# unknown\t0\nab\n", "bad:1: unknown words of '0' characters"),
            ("# unknown\tx\nab\n", "bad:1: unknown words of 'x' characters"),
            ("# only\n", "no word here"),
        ):
            (tmp_path / "bad").write_text(text)
            with pytest.raises(DataError, match=what):
                Lexicon.read(tmp_path / "bad")

    @pytest.mark.parametrize(
        "words", [{"# b": "X"}, {"a\tb": "X"}, {"a": "X\tY"}, {"a": "X\nq"}, {"a": ""}, {"\ud800": "X"}]
    )
    def test_a_file_holds_no_tabs_and_line_ends(self, words, tmp_path):
        with pytest.raises(DataError, match="a file cannot hold the"):
            Lexicon(words).save(tmp_path / "words")
        assert not (tmp_path / "words").exists()

    @pytest.mark.parametrize(
        ("make", "what"),
        [
            (lambda: Lexicon("abc"), "words is 'abc'"),
            (lambda: Lexicon([]), "needs words"),
            (lambda: Lexicon([""]), "a word of the lexicon is ''"),
            (lambda: Lexicon([3]), "a word of the lexicon is 3"),
            (lambda: Lexicon({"a": []}), "the labels of the word 'a'"),
            (lambda: Lexicon(["a"], unknown=0), "unknown is 0"),
            (lambda: Lexicon(["a"], unknown_labels=[]), r"unknown_labels is \[\]"),
            (lambda: Lexicon(["a"], unknown_labels="NN"), "unknown_labels is 'NN'; expected a list"),
            (lambda: Lexicon(["a"], unknown_labels=5), "unknown_labels is 5"),
            (lambda: Lexicon.learn(sample_corpus("test"), unknown_labels=[]), r"unknown_labels is \[\]"),
            (lambda: Lexicon(None), "words is None"),
            (lambda: Lexicon({"a": 3}), "the labels of the word 'a' are 3"),
            (lambda: Lexicon({"a": None}), "the labels of the word 'a' are None"),
            (lambda: Lexicon.learn(sample_corpus("test"), min_count="2"), "min_count is '2'"),
        ],
    )
    def test_settings_that_are_wrong(self, make, what):
        with pytest.raises(SettingError, match=what):
            make()

    @pytest.mark.parametrize("texts", ["abc", 7, ["a", None], sample_corpus("test")])
    def test_texts_that_are_none(self, texts):
        with pytest.raises(DataError, match="expected"):
            Lexicon(["a"]).lattices(texts)


def test_words_without_spaces():
    corpus = Corpus.from_lists({"word": [["ab", "c"], ["d"]], "pos": [["X", "Y"], ["X"]]})
    assert unspaced(corpus, "pos") == (["abc", "d"], [[(0, 2, "X"), (2, 3, "Y")], [(0, 1, "X")]])
    texts, segments = unspaced(sample_corpus("test"))
    assert all(own[-1][1] == len(text) for text, own in zip(texts, segments, strict=True))
    for wrong in (None, [["a"]]):
        with pytest.raises(DataError, match="expected a corpus"):
            unspaced(wrong)
        with pytest.raises(DataError, match="expected a corpus"):
            Lexicon.learn(wrong)
