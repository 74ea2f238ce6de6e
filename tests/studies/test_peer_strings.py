"""CRFsuite is given the attributes that Trellis makes, string for string."""

from __future__ import annotations

import pytest

from trellis.corpus import read_conll
from trellis.errors import DataError
from trellis.features import TemplateFeatures, templates_for
from trellis.studies.crfsuite import read_sentences, string_builder
from trellis.studies.task import Task

ODD = "U1:{%x[0,word]}'\"\\n\nU2:%x[-3,pos]|%x[3,pos]|%x[0,word]%x[0,word]\nU3\n"


def trellis_names(task):
    """The attribute names of each token, in the order of the templates."""
    corpus = read_conll(task.train, columns=task.columns)
    features, packed = TemplateFeatures.learn(corpus, templates_for(task.features, task.columns, task.target))
    names = features.names()
    return [[names[i] for i in packed.ids[a:b]] for a, b in zip(packed.indptr, packed.indptr[1:], strict=False)]


@pytest.mark.parametrize("features", ["chunking", ODD])
def test_strings_are_the_names_of_trellis_attributes(files, features):
    task = Task(files[0], features=features)
    build = string_builder(task.patterns())
    strings = [token for rows in read_sentences(str(task.train)) for token in build(rows)]
    assert strings == trellis_names(task)


def test_the_preset_has_nineteen_strings_with_padding_beyond_the_ends(task):
    (only,) = string_builder(task.patterns())([["dog", "NN", "B-NP"]])
    assert len(only) == 19
    assert only[:7] == ["U00:_B-2", "U01:_B-1", "U02:dog", "U03:_B+1", "U04:_B+2", "U05:_B-1/dog", "U06:dog/_B+1"]


def test_templates_without_columns_give_every_token_their_text():
    build = string_builder([(["U9"], [])])
    assert build([["a"], ["b"]]) == [["U9"], ["U9"]]


def test_sentences_are_those_of_trellis(files):
    theirs = [[fields[0] for fields in rows] for rows in read_sentences(str(files[1]))]
    assert theirs == read_conll(files[1], columns=["word", "pos", "chunk"]).sentences("word")


def test_a_missing_column_is_reported(task):
    with pytest.raises(DataError, match="the same number of columns"):
        string_builder(task.patterns())([["a", "b", "c"], ["a", "b"]])


def test_the_reader_keeps_a_last_sentence_without_blank_line(tmp_path):
    (tmp_path / "x").write_text("a b\n\n\nc d")
    assert list(read_sentences(str(tmp_path / "x"))) == [[["a", "b"]], [["c", "d"]]]
