"""Template lines: CRF++'s notation, with columns by position or by name, and errors that name the line."""

from __future__ import annotations

import re

import pytest

from trellis.errors import FileAccessError, SettingError, TemplateError
from trellis.features import PRESETS, templates_for
from trellis.features.notation import parse_templates
from trellis.features.template import Part

COLUMNS = ["word", "pos", "chunk"]


def parsed(text, columns=COLUMNS, target="chunk"):
    return parse_templates(text, columns, target, "tmpl")


def test_a_template_is_its_text_and_its_parts():
    (template,) = parsed("U05:%x[-1,0]/x%x[+2,pos]")
    assert template.parts == (Part(-1, "word"), Part(2, "pos"))
    assert template.text == "U05:%x[-1,word]/x%x[2,pos]"
    assert template.name(["the", "N%x[0,0]"]) == "U05:the/xN%x[0,0]"


def test_columns_by_position_and_by_name_are_the_same_template():
    by_position = parsed("U1:%x[0,0]\nU2:%x[ -1 , 1 ]/%x[0,0]\n")
    by_name = parsed("U1:%x[0,word]\nU2:%x[-1,pos]/%x[0,word]\n")
    assert by_position == by_name


def test_comments_blank_lines_spaces_and_B_are_passed_over():
    assert [t.text for t in parsed("# c\n\n  U1:%x[0,0]  \r\nB\n#U9:%x[9,9]\nB01\n")] == ["U1:%x[0,word]"]


def test_the_same_line_twice_is_one_template():
    assert len(parsed("U1:%x[0,0]\nU1:%x[0,word]\n")) == 1


def test_a_line_without_parts_is_one_attribute_for_every_token():
    (template,) = parsed("U:bias")
    assert template.parts == ()
    assert template.name([]) == "U:bias"


def test_a_column_whose_name_is_a_number_is_found_by_name_first():
    (template,) = parsed("U:%x[0,1]", ["1", "0", "chunk"])
    assert template.parts == (Part(0, "1"),)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("X1:%x[0,0]", "is not a template"),
        ("U1:%x[0]", "is not a template"),
        ("U1:%x[0,0", "is not a template"),
        ("U1:%x[a,0]", "is not a template"),
        ("U1:100%", "is not a template"),
        ("U1:%y[0,0]", "is not a template"),
        ("%x[0,0]", "is not a template"),
        ("U1:%x[0,3]", "no column 3; the columns are: word, pos, chunk"),
        ("U1:%x[0,-1]", "no column -1"),
        ("U1:%x[0,lemma]", "no column lemma"),
        ("U1:%x[0,²]", "no column ²"),
        ("U1:%x[0," + "9" * 5000 + "]", "no column 9"),
        ("U1:%x[0,2]", "reads the target column 'chunk'"),
        ("U1:%x[0,chunk]", "reads the target column 'chunk'"),
        ("U1:%x[1001,0]", "row 1001 is too far away"),
        ("U1:%x[-" + "9" * 5000 + ",0]", "too far away"),
        ("B1:%x[0,0]", "transitions that read columns"),
    ],
    ids=lambda value: value[:20],
)
def test_errors_name_file_line_and_template(line, what):
    with pytest.raises(TemplateError, match=re.escape(what)) as caught:
        parsed(f"# first\nU0:%x[0,0]\n{line}\n")
    assert str(caught.value).startswith("tmpl:3: ")
    assert line in str(caught.value)
    assert (caught.value.path, caught.value.line) == ("tmpl", 3)


@pytest.mark.parametrize("text", ["", "B\n", "# nothing\n"])
def test_at_least_one_template_is_needed(text):
    with pytest.raises(TemplateError, match="no U line"):
        parsed(text)


class TestWhereTemplatesComeFrom:
    def test_a_preset_by_name(self):
        templates = templates_for("chunking", COLUMNS, "chunk")
        assert len(templates) == 19
        assert {p.column for t in templates for p in t.parts} == {"word", "pos"}

    @pytest.mark.parametrize("name", PRESETS)
    def test_a_preset_that_needs_a_column_says_so(self, name):
        with pytest.raises(SettingError, match=f"features '{name}' read the columns .* there are: x;"):
            templates_for(name, ["x"], "t")

    def test_lines_as_they_are(self):
        assert templates_for("U1:%x[0,word]", COLUMNS, "chunk") == parsed("U1:%x[0,word]")

    def test_a_file(self, tmp_path):
        (tmp_path / "my.tmpl").write_text("U1:%x[0,word]\nU2:%x[9,bad]\n", encoding="utf-8")
        with pytest.raises(TemplateError, match=r"my\.tmpl:2: .*no column bad"):
            templates_for(str(tmp_path / "my.tmpl"), COLUMNS, "chunk")

    def test_neither_a_preset_nor_a_file(self):
        with pytest.raises(SettingError, match=r"'chunkin': neither a preset \(chunking"):
            templates_for("chunkin", COLUMNS, "chunk")

    def test_a_file_that_is_not_text(self, tmp_path):
        (tmp_path / "bad").write_bytes(b"\xff\xfe")
        with pytest.raises(FileAccessError, match="cannot be read"):
            templates_for(str(tmp_path / "bad"), COLUMNS, "chunk")
