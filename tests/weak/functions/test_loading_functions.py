"""Files of labeling functions."""

from __future__ import annotations

import re

import pytest
from voting import corpus_of, named

from trellis.errors import DataError, FileAccessError
from trellis.weak.applying import apply
from trellis.weak.functions import load_functions

FILE = """
from dataclasses import dataclass
from trellis.weak.functions import gazetteer, linked, pattern, spans

COARSE = {"ENT": ["PER", "LOC"]}
LABELS = ["ORG"]

@dataclass
class Name:
    text: str

@spans
def titles(sentence):
    return [(t + 1, t + 2, "PER") for t in range(len(sentence) - 1) if sentence[t] == "Mr."]

_names = gazetteer(["New York"], "X")
years = pattern(r"\\d{4}", "DATE")
named = pattern("x", "LOC", name="other")
joined = linked(_names)
again = years
"""


@pytest.fixture
def load(tmp_path):
    def write(text):
        file = tmp_path / "my functions.py"
        file.write_text(text, encoding="utf-8")
        return load_functions(file)

    return write


def test_functions_are_taken_as_they_come_by_the_names_of_their_variables(load):
    loaded = load(FILE)
    assert [f.name for f in loaded.functions] == ["titles", "years", "other", "joined"]
    assert (loaded.coarse, loaded.labels) == ({"ENT": ["PER", "LOC"]}, ["ORG"])
    votes = apply(loaded.functions, corpus_of("Mr. Smith 1999"), loaded.labels, loaded.coarse, workers=2)
    assert named(votes, 0) == ["_ B-PER _"]
    assert named(votes, 1) == ["_ _ B-DATE"]


def test_a_list_says_which_functions_count(load):
    assert [f.name for f in load(FILE + "\nFUNCTIONS = [named, _names]\n").functions] == ["other", "names"]


def test_a_file_may_import_its_neighbours(load, tmp_path):
    (tmp_path / "beside_it.py").write_text("LABEL = 'X'\n")
    text = "from beside_it import LABEL\nfrom trellis.weak.functions import words\na = words(['a'], LABEL)\n"
    assert load(text).functions[0].label == "X"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = = 2\n", ":2: no Python: invalid syntax"),
        ("x = 1\n\nx / 0\n", ":3: ZeroDivisionError: division by zero"),
        ("def f():\n    return {}['a']\nf()\n", ":2: KeyError: 'a'"),
        ("from trellis.weak.functions import pattern\npattern('[', 'X')\n", ":2: '.' is no regular expression"),
        ("raise SystemExit('no')\n", ":1: SystemExit: no"),
        ("x = 1\n", ": no labeling function here"),
        ("FUNCTIONS = [3]\n", ": 3 is no labeling function"),
        (
            "from trellis.weak.functions import *\na = words(['a'], 'X')\nCOARSE = 3\n",
            ": COARSE is 3; expected a table",
        ),
        ("from trellis.weak.functions import *\na = words(['a'], 'X')\nLABELS = 'X'\n", ": LABELS is 'X'; expected"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(load, tmp_path, text, message):
    with pytest.raises(DataError, match=re.escape(str(tmp_path / "my functions.py")) + message):
        load(text)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileAccessError, match="no such file"):
        load_functions(tmp_path / "none.py")
