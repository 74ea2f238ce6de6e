"""Items with votes come out of files as they went in; whatever is wrong is said with its place."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.weak import item_files, item_json
from trellis.weak.analysis import analyze
from trellis.weak.item_files import item_lines, item_records, read_items, write_items
from trellis.weak.wrench import read_wrench

YOUTUBE = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "youtube-wrench"

LINES = """\
{"text": "Check out", "label": "SPAM", "votes": {"check": "SPAM", "short": null}, "id": 7}

{"text": "nice", "label": null, "votes": {"short": "HAM", "late": "HAM"}}
{"text": "hm"}
"""
ENTRIES = {
    "0": {"data": {"text": "Check out"}, "label": 1, "weak_labels": [1, -1]},
    "1": {"data": {"text": "nice", "lang": "en"}, "label": 0, "weak_labels": [-1, 0]},
}


@pytest.fixture
def written(tmp_path):
    def write(data, name="items.json"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


def test_json_lines_have_texts_labels_and_votes(written):
    items = read_items(written(LINES))
    assert items.texts == ["Check out", "nice", "hm"]
    assert items.labels == ("HAM", "SPAM")
    assert items.gold.tolist() == [1, -1, -1]
    assert items.votes.functions == ("check", "short", "late")
    assert items.votes.values.tolist() == [[1, -1, -1], [-1, 0, 0], [-1, -1, -1]]
    assert items.records[0] == {"text": "Check out", "label": "SPAM", "id": 7}


def test_places_count_lines_also_blank_ones(written):
    path = written(LINES)
    assert read_items(path).line(1) == 3


def test_without_votes_and_gold_labels_there_are_none(written):
    items = read_items(written('{"text": "a"}\n'), labels=["X"])
    assert (items.votes, items.gold, items.labels) == (None, None, ("X",))
    assert len(read_items(written(""))) == 0


def test_fields_may_have_other_names(written):
    items = read_items(written('{"body": "a", "y": "X", "lf": {"f": "Y"}}'), "body", "y", "lf")
    assert (items.texts, items.labels, items.gold.tolist()) == (["a"], ("X", "Y"), [0])
    assert read_items(written('{"votes": {"f": "Y"}}'), text=None).votes.values.tolist() == [[0]]
    with pytest.raises(SettingError, match="three different names"):
        read_items(written("{}"), "a", "a")


def test_votes_may_be_coarse_and_gold_labels_not(written):
    coarse = {"BAD": ["SPAM", "SCAM"]}
    items = read_items(written('{"text": "", "votes": {"f": "BAD", "g": "HAM"}}'), coarse=coarse)
    assert items.labels == ("HAM", "SCAM", "SPAM")
    assert items.votes.names[items.votes.values[0, 0]] == "BAD"
    with pytest.raises(DataError, match=r"items.json:1: the gold label 'BAD' is coarse"):
        read_items(written('{"text": "", "label": "BAD"}'), coarse=coarse)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', "not JSON: Expecting ',' delimiter"),
        (b"[1]", "a list; expected an object a line"),
        (b'{"texts": "a"}', "there is no 'text' in the item"),
        (b'{"text": 1}', "'text' is a number"),
        (b'{"text": "a", "votes": ["X"]}', "the votes are a list"),
        (b'{"text": "a", "votes": {"f": 1}}', "'f' votes a number; expected a label as a string, or null"),
        (b'{"text": "a", "votes": {"f": ""}}', "'f' votes ''"),
        (b'{"text": "a", "label": 1}', "the gold label 'label' is a number"),
        (b'{"text": "a\0"}', "a NUL byte"),
        (b'{"text": "\xff"}', "byte 0xff is not valid UTF-8"),
        (b'{"text": "\\ud800"}', "half of a pair of surrogates"),
        (b'{"text": "a", "x": NaN}', "NaN is no number in JSON"),
        (b'{"text": "a", "x": 1e999}', "1e999 is no number in JSON"),
        (b'{"text": "a", "x": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_its_number(written, line, message):
    path = written(b'{"text": "fine"}\n' + line + b"\n")
    with pytest.raises(DataError, match=message) as error:
        read_items(path)
    assert str(error.value).startswith(f"{path}:2:")
    assert error.value.line == 2


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(written, monkeypatch):
    monkeypatch.setattr(item_json, "MAX_LINE", 100)
    with pytest.raises(DataError, match=r"items\.json:2: a line of more than 100 bytes"):
        read_items(written('{"text": "a"}\n{"text": "' + "a" * 200 + '"}\n'))


def test_names_that_are_no_functions_are_refused_before_they_fill_the_memory(written, monkeypatch):
    monkeypatch.setattr(item_files, "MAX_FUNCTIONS", 2)
    with pytest.raises(DataError, match="over 2 different functions"):
        read_items(written("".join(f'{{"text": "", "votes": {{"{k}": null}}}}\n' for k in range(3))))


def test_a_mark_of_byte_order_and_windows_line_ends_are_no_matter(written):
    items = read_items(written(b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode()))
    assert items.texts == ["Check out", "nice", "hm"]
    assert len(read_items(written(b"\xef\xbb\xbf" + json.dumps(ENTRIES).encode()))) == 2


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path):
    with pytest.raises(FileAccessError, match="no such file"):
        read_items(tmp_path / "none.jsonl")


def test_standard_input_is_read_too(monkeypatch, written):
    with open(written(LINES)) as file:
        monkeypatch.setattr("sys.stdin", file)
        assert len(read_items("-")) == 3


def test_records_can_be_had_one_by_one(written):
    found = item_records(written(LINES + "nonsense"))
    assert [line for line, _ in (next(found), next(found), next(found))] == [1, 3, 4]
    with pytest.raises(DataError, match=r"items\.json:5"):
        next(found)


@pytest.mark.parametrize("indent", [None, 4])
def test_the_format_of_wrench_is_recognised(written, indent):
    written('{"0": "HAM", "1": "SPAM"}', "label.json")
    path = written(json.dumps(ENTRIES, indent=indent))
    for items in (read_items(path), read_wrench(path)):
        assert items.labels == ("HAM", "SPAM")
        assert items.votes.functions == ("f0", "f1")
        assert items.votes.values.tolist() == [[1, -1], [-1, 0]]
        assert items.gold.tolist() == [1, 0]
        assert items.texts == ["Check out", "nice"]
        assert items.records[1] == {"id": "1", "text": "nice", "lang": "en", "label": "HAM"}
        assert items.line(1) is None


def test_labels_of_wrench_keep_their_names_whatever_their_order(written):
    written('{"0": "spam", "1": "ham"}', "label.json")
    items = read_items(written(json.dumps(ENTRIES)))
    assert [items.labels[k] for k in items.gold] == ["ham", "spam"]
    assert [record["label"] for record in items.records] == ["ham", "spam"]
    assert items.votes.names[items.votes.values[0, 0]] == "ham"


def test_labels_of_wrench_without_names_are_called_by_their_numbers(written):
    assert read_items(written(json.dumps(ENTRIES))).labels == ("0", "1")
    nothing = read_wrench(written('{"0": {"data": {"text": "a"}}}'))
    assert (nothing.votes, nothing.gold) == (None, None)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"data": {"text": "a"}, "weak_labels": [1]}, "expected a list of 2 votes"),
        ({"data": {"text": "a"}, "weak_labels": 3}, "weak_labels is a number"),
        ({"data": {"text": "a"}, "weak_labels": [1, 2]}, "weak_labels has 2; expected a number from 0 to 1, or -1"),
        ({"data": {"text": "a"}, "weak_labels": [1, True]}, "weak_labels has True"),
        ({"data": {"text": "a"}, "weak_labels": [1, -2]}, "weak_labels has -2"),
        ({"data": {"text": "a"}, "label": "SPAM", "weak_labels": [1, 1]}, "label has 'SPAM'"),
        ({"data": {"body": "a"}, "weak_labels": [1, 1]}, "there is no 'text' in the data of item '2'"),
        ({"text": "a"}, "with 'data', an object"),
        (3, "with 'data', an object"),
    ],
)
def test_what_is_wrong_with_an_item_of_wrench_is_said_with_its_key(written, entry, message):
    written('{"0": "HAM", "1": "SPAM"}', "label.json")
    with pytest.raises(DataError, match=message) as error:
        read_items(written(json.dumps({**ENTRIES, "2": entry})))
    assert "'2'" in str(error.value)


def test_a_broken_file_of_wrench_is_an_error_with_its_line(written):
    with pytest.raises(DataError, match=r"items.json:\d+:\d+: not JSON"):
        read_items(written(json.dumps(ENTRIES, indent=1)[:-10]))
    with pytest.raises(DataError, match="a list; expected an object"):
        read_wrench(written("[]"))


@pytest.mark.parametrize("text", ["[]", '{"1": "HAM"}', '{"0": "A", "1": "A"}', '{"0": 1}'])
def test_names_of_labels_must_be_of_numbers_from_0_on_and_different(written, text):
    written(text, "label.json")
    with pytest.raises(DataError, match=r"label.json: expected an object that gives each number a label"):
        read_items(written(json.dumps(ENTRIES)))


def test_what_is_written_is_read_back(written):
    items = read_items(written(LINES))
    again = read_items(written(write_items(items.records, items.votes), "again.jsonl"))
    assert again.records == [{**record} for record in items.records]
    assert again.votes.values.tolist() == items.votes.values.tolist()
    assert again.votes.functions == items.votes.functions
    assert again.gold.tolist() == items.gold.tolist()


def test_gold_labels_and_probabilities_are_written_by_name(written):
    items = read_items(written(LINES))
    p = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    lines = list(item_lines(items.records, items.votes, np.array([0, 1, -1], np.int32), p))
    assert json.loads(lines[0])["probabilities"] == {"HAM": 0.25, "SPAM": 0.75}
    assert [json.loads(line)["label"] for line in lines] == ["HAM", "SPAM", None]
    plain = json.loads(write_items([{"text": "é"}], gold=np.array([0]), labels=["X"]))
    assert plain == {"text": "é", "label": "X"}


def test_what_does_not_fit_the_records_is_not_written(written):
    items = read_items(written(LINES))
    with pytest.raises(DataError, match="votes of the shape"):
        write_items(items.records[:2], items.votes)
    with pytest.raises(DataError, match="gold labels of the shape"):
        write_items(items.records, gold=np.zeros(2, np.int32), labels=["X"])
    with pytest.raises(DataError, match="there are 0 labels"):
        write_items(items.records, gold=np.zeros(3, np.int32))
    with pytest.raises(DataError, match="probabilities of the shape"):
        write_items(items.records, probabilities=np.zeros((3, 2)))
    for value in (float("nan"), object(), "\ud800"):
        with pytest.raises(DataError, match="item 1 cannot be written as JSON"):
            write_items([{"x": value}])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LABEL = st.sampled_from(["A", "B", "é", "\u2028"])


@given(st.lists(st.tuples(TEXT, st.none() | LABEL, st.dictionaries(TEXT, st.none() | LABEL, max_size=3)), max_size=5))
def test_whatever_is_written_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(write_items([{"text": text, "label": gold, "votes": votes} for text, gold, votes in rows]))
    items = read_items(path)
    path.write_bytes(write_items(items.records, items.votes, items.gold, labels=items.labels))
    again = read_items(path)
    assert again.texts == items.texts == [text for text, _, _ in rows]
    for i, (_, gold, votes) in enumerate(rows):
        for found in (items, again):
            assert (found.gold is not None and found.gold[i] >= 0) == (gold is not None)
            assert gold is None or found.labels[found.gold[i]] == gold
            for name, label in votes.items():
                number = found.votes.values[i, found.votes.functions.index(name)]
                assert (None if number < 0 else found.votes.names[number]) == label


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_items_or_a_typed_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(data)
    for read in (read_items, read_wrench):
        with suppress(DataError):
            read(path)


@pytest.mark.skipif(not YOUTUBE.is_dir(), reason="WRENCH's YouTube is not here; set TRELLIS_DATA")
def test_the_youtube_comments_of_wrench():
    items = read_items(YOUTUBE / "train.json")
    assert (len(items), items.labels, len(items.votes.functions)) == (1586, ("HAM", "SPAM"), 10)
    raw = json.loads((YOUTUBE / "train.json").read_bytes())
    assert items.votes.values.tolist() == [one["weak_labels"] for one in raw.values()]
    assert items.gold.tolist() == [one["label"] for one in raw.values()]
    analysis = analyze(items.votes, items.gold)
    assert analysis.silent == []
    assert analysis.functions[5].accuracy == 1.0
    assert analysis.coverage == pytest.approx(0.877, abs=1e-4)
