"""What holds for every function of the feature language."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from function_cases import ALL_FITTING, ALL_WRONG, WITH_RESOURCE, per_token, placed, resource_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trellis.corpus import Corpus
from trellis.errors import DataError, FileAccessError, TemplateError
from trellis.features import TemplateFeatures, templates_for
from trellis.features.functions import FUNCTIONS
from trellis.features.notation import parse_templates
from trellis.features.template import quoted

ROOT = Path(__file__).parents[3]

spelling = st.one_of(
    st.sampled_from(["New", "York", "new", "of", "Bank", "é", "_", "a|b", "U.S.", "3.14", "x-ray", "<>"]),
    st.text(max_size=6),
)
numerals = st.one_of(st.just("_"), st.floats(allow_nan=False, allow_infinity=False).map(str))
names = pytest.mark.parametrize("name", FUNCTIONS)
fits = pytest.mark.parametrize(("name", "arguments"), ALL_FITTING, ids=str)
with_resource = pytest.mark.parametrize(("name", "arguments"), WITH_RESOURCE, ids=str)
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)


@names
def test_a_function_says_what_it_does_and_does_it_one_way(name):
    function = FUNCTIONS[name]
    assert function.name == name
    assert function.summary
    assert sum(way is not None for way in (function.of_type, function.rows, function.values, function.of_sentence)) == 1
    assert (function.restore is None) == (function.load is None and function.learn is None)


@fits
def test_arguments_that_fit_are_accepted(name, arguments):
    FUNCTIONS[name].check(arguments)


@pytest.mark.parametrize(("name", "arguments"), ALL_WRONG, ids=lambda value: str(value)[:40])
def test_arguments_that_do_not_fit_are_refused_with_what_to_do(name, arguments):
    with pytest.raises(ValueError, match=r"needs|takes|give|write|see|at most|smaller"):
        FUNCTIONS[name].check(arguments)


@pytest.mark.parametrize(("name", "arguments"), ALL_WRONG, ids=lambda value: str(value)[:40])
def test_in_a_template_the_error_names_template_line_and_column(name, arguments):
    line = f"U1:%{name}[0,word{''.join(',' + quoted(argument) for argument in arguments)}]"
    with pytest.raises(TemplateError) as caught:
        parse_templates(f"U0:%x[0,word]\n{line}\n", ["word", "y"], "y", "my.tmpl")
    place = re.match(r"my\.tmpl:2:(\d+): ", str(caught.value))
    assert place
    assert 4 <= int(place[1]) <= len(line)
    assert line.strip() in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(("name", "arguments"), ALL_WRONG, ids=lambda value: str(value)[:40])
def test_in_an_expression_the_error_names_the_call_line_and_column(name, arguments):
    several = FUNCTIONS[name].many and len([a for a in arguments if isinstance(a, int)]) > 1
    if name.startswith("apply") or several:
        pytest.skip("is for Python, or fine in an expression")
    call = f"{name}(word{''.join(', ' + quoted(argument) for argument in arguments)})"
    with pytest.raises(TemplateError) as caught:
        templates_for(f"word[0]\n  + {call}[0]", ["word", "y"], "y")
    assert re.match(r"features:2:\d+: ", str(caught.value))
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["cluster", "vectors", "gazetteer"])
def test_a_file_that_is_not_there_is_named_with_the_place_of_the_function(name):
    corpus = Corpus.from_lists({"word": [["a"]], "y": [["B"]]})
    text = f'word[0]\n + {name}(word, "nowhere.txt")[0]'
    with pytest.raises(FileAccessError, match=rf"features:2:4: .*%{name}\[0,word,\"nowhere.txt\"\].*nowhere.txt"):
        TemplateFeatures.learn(corpus, templates_for(text, ["word", "y"], "y"), "y")


@fits
@given(data=st.data())
@relaxed
def test_what_a_sentence_gets_does_not_depend_on_the_others(name, arguments, data, tmp_path):
    string = numerals if name == "number" else spelling
    sentences = data.draw(st.lists(st.lists(string, max_size=5), max_size=6))
    cut = data.draw(st.integers(0, len(sentences)))
    arguments = placed(arguments, tmp_path)
    resource = resource_for(name, arguments)
    together = per_token(name, sentences, resource, arguments)
    halves = [per_token(name, half, resource, arguments) for half in (sentences[:cut], sentences[cut:])]
    assert halves[0] + halves[1] == together
    assert per_token(name, sentences, resource_for(name, arguments), arguments) == together
    for row in together:
        assert len({value for value, _ in row}) == len(row)
        assert all(isinstance(value, str) and math.isfinite(number) for value, number in row)


@with_resource
def test_a_resource_comes_back_from_its_tables(name, arguments, tmp_path):
    arguments = placed(arguments, tmp_path)
    resource = resource_for(name, arguments)
    tables = resource.tables()
    back = FUNCTIONS[name].restore({key: copied(table) for key, table in tables.items()})
    for key, table in back.tables().items():
        assert type(table) is type(tables[key])
        np.testing.assert_array_equal(table, tables[key])
    sentences = [["New", "York", "of"], ["Bank", "of", "New", "York"], ["x"]]
    assert per_token(name, sentences, back, arguments) == per_token(name, sentences, resource, arguments)
    assert any(per_token(name, sentences, resource, arguments))


@with_resource
def test_tables_are_lists_of_different_strings_and_plain_arrays(name, arguments, tmp_path):
    for table in resource_for(name, placed(arguments, tmp_path)).tables().values():
        if isinstance(table, np.ndarray):
            assert table.dtype in (np.float64, np.int64)
        else:
            assert len(set(table)) == len(table)


@with_resource
def test_damaged_tables_are_refused(name, arguments, tmp_path):
    tables = dict(resource_for(name, placed(arguments, tmp_path)).tables())
    restore = FUNCTIONS[name].restore
    for key, table in tables.items():
        for damaged in damage(table):
            with pytest.raises(ValueError, match=r"\w"):
                restore({**tables, key: damaged})
        with pytest.raises(ValueError, match="expected"):
            restore({other: tables[other] for other in tables if other != key})
    with pytest.raises(ValueError, match="expected"):
        restore({**tables, "other": ["a"]})


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if FUNCTIONS[name].load])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfea\x00", r":1: (byte 0xff is not valid UTF-8|a NUL byte)"),
        (b"a 1\nb\x00 2\n", r":(1|2): "),
        (b"a 1\n\n" + b"x" * (1 << 20) + b"y 3\n", r":3: a line of more than"),
        (b"", r": no \w+ here; expected"),
        (b"\xef\xbb\xbf\n \n", r": no \w+ here; expected"),
    ],
    ids=["UTF-16", "NUL", "long line", "empty", "blank"],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place(name, content, message, tmp_path):
    file = tmp_path / "file.txt"
    file.write_bytes(content)
    with pytest.raises(DataError, match=re.escape(str(file)) + message):
        FUNCTIONS[name].load((str(file),))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if FUNCTIONS[name].load])
def test_a_file_that_cannot_be_read_is_named(name, tmp_path):
    with pytest.raises(FileAccessError, match=r"nowhere\.txt: no such file"):
        FUNCTIONS[name].load((str(tmp_path / "nowhere.txt"),))
    with pytest.raises(FileAccessError, match="is a directory"):
        FUNCTIONS[name].load((str(tmp_path),))


def test_the_documentation_has_every_function():
    text = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    table = text[text.index("\n## Functions\n") :]
    assert re.findall(r"^\| `(\w+)\(", table, re.MULTILINE) == list(FUNCTIONS)


def copied(table):
    return table.copy() if isinstance(table, np.ndarray) else list(table)


def damage(table):
    """Ways in which a table can be wrong."""
    if not isinstance(table, np.ndarray):
        return [[*table, table[0]], [*table[:-1], 3], "text", np.zeros(3)]
    wrong = (1 << 40, -1) if table.dtype == np.int64 else (np.nan, np.inf)
    changed = [np.where(table == table.max(), value, table) for value in wrong]
    return [*changed, table.astype(np.float32), table[np.newaxis], table.tolist(), table[:-1]]
