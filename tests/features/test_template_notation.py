"""Template files: CRF++'s and Wapiti's notations, columns by position or by name, and errors that name the place."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.errors import DataError, FileAccessError, SettingError, TemplateError, TrellisError
from trellis.features import PRESETS, templates_for
from trellis.features.notation import parse_templates
from trellis.features.template import CRFPP, WAPITI, Part, View, can_be_written, quoted, unquoted

COLUMNS = ["word", "pos", "chunk"]
PAIRS = "text subject_type object_type order distance pattern before between".split()  # what `relations` reads


def parsed(text, columns=COLUMNS, target="chunk"):
    return parse_templates(text, columns, target, "tmpl")


def lines(text):
    return [template.text for template in parsed(text)]


def x(column, row, padding=CRFPP):
    return Part(View("x", column, padding=padding), row)


class TestTemplates:
    def test_are_text_and_parts(self):
        (template,) = parsed("U05:%x[-1,0]/x%x[+2,pos]")
        assert template.literals == ("U05:", "/x", "")
        assert template.parts == (x("word", -1), x("pos", 2))
        assert template.text == "U05:%x[-1,word]/x%x[2,pos]"
        assert template.name(["the", "N%x[0,0]"]) == "U05:the/xN%x[0,0]"

    def test_columns_by_position_and_by_name_are_the_same(self):
        by_position = parsed("U1:%x[0,0]\nU2:%x[ -1 , 1 ]/%x[0,0]\n")
        assert by_position == parsed("U1:%x[0,word]\nU2:%x[-1,pos]/%x[0,word]\n")

    def test_positions_count_the_columns_of_the_file(self):
        (template,) = parse_templates("U:%x[0,2]", ["word", "pos"], "", positions=["_", "word", "pos"])
        assert template.parts == (x("pos", 0),)
        with pytest.raises(TemplateError, match="no column 0; the columns are: word, pos"):
            parse_templates("U:%x[0,0]", ["word", "pos"], "", positions=["_", "word", "pos"])

    def test_a_column_whose_name_is_a_number_is_found_by_name_first(self):
        (template,) = parsed("U:%x[0,1]", ["1", "0", "chunk"])
        assert template.parts == (x("1", 0),)

    def test_the_same_line_twice_is_one(self):
        assert lines("U1:%x[0,0]\nU1:%x[+0, word ]\n") == ["U1:%x[0,word]"]
        assert lines("u1:%x[0,0]\nU1:%x[ 0,word]\n") == ["u1:%x[0,word]"]

    def test_ids_may_be_anything_or_missing(self):
        text = "U:%x[0,word]\nU%x[0,word]\nUa b/é=%x[0,word]\nU:(%x[0,word])"
        assert lines(text) == text.split("\n")

    def test_a_line_without_parts_is_one_attribute_for_every_token(self):
        (template,) = parsed("U:bias")
        assert template.parts == ()
        assert template.name([]) == "U:bias"

    @pytest.mark.parametrize("notation", ["# notation: CRF++\n", "# notation: Wapiti\n"])
    def test_of_transitions_without_parts_are_always_there(self, notation):
        assert len(parsed(notation + "U1:%x[0,0]\nB\nB01\n")) == 1

    def test_of_transitions_with_parts(self):
        both, label, transition = parsed("*1:%x[0,0]\nu:%x[0,0]\nb:%x[0,0]\n")
        assert (both.on_labels, both.on_transitions) == (True, True)
        assert (label.on_labels, label.on_transitions) == (True, False)
        assert (transition.on_labels, transition.on_transitions) == (False, True)
        assert parsed("U\nB:%x[0,0]")[1].on_transitions

    def test_with_functions_of_trellis(self):
        (template,) = parsed('U:%suffix[ -1 , word , 3 ]/%regex[0,0,"a"]')
        assert [part.view for part in template.parts] == [View("suffix", "word", (3,)), View("regex", "word", ("a",))]
        assert template.text == 'U:%suffix[-1,word,3]/%regex[0,word,"a"]'

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_in_files_with_any_kind_of_line_ends(self, end):
        assert len(parsed(f"U1:%x[0,0]{end}{end}U2:%x[1,0]{end}")) == 2


class TestNotations:
    """A file is CRF++'s unless it says otherwise or has something that CRF++ does not know."""

    @pytest.mark.parametrize("line", ["U:%x[0,0]", "U:%x[ -1,0]/%lower[0,0]", "  U:b*u%x[0,0]", "# u:%X[0,0]"])
    def test_crfpp(self, line):
        assert {part.view.padding for t in parsed(f"U0:%x[0,0]\n{line}\n") for part in t.parts} == {CRFPP}

    @pytest.mark.parametrize(
        "line",
        ["u:%x[0,0]", "b", "*", "  *:%x[0,0]", "U:%X[0,0]", 'U:%t[0,0,"a"]', 'U:/%M[0,0,"a"]', "U:%x[ @-1,0]"],
    )
    def test_wapiti(self, line):
        found = parsed(f"U0:%x[0,0]\n{line}\n")
        assert {part.view.padding for t in found for part in t.parts} == {WAPITI}
        assert found[0].text == "u0:%x[0,word]"

    def test_the_first_line_may_say_which(self):
        assert parsed('# notation: CRF++\nU:%t[-1,0,"a"]')[0].parts[0].view.padding == CRFPP
        assert parsed("# notation: Wapiti\nU:%x[-1,0]  # the one before")[0].text == "u:%x[-1,word]"

    def test_comments_of_crfpp_are_whole_lines(self):
        assert lines("# c\n\n  U1:%x[0,0] # 1  \r\nB\n  #U9:%x[9,9]\nB01\n") == ["U1:%x[0,word] # 1"]

    def test_comments_of_wapiti_are_ends_of_lines_too(self):
        text = '#\nu1:%x[0,0]# %x[9,9]\n  # x\nu2:%t[0,0,"#\\"#"] # "#\nu3:5" %x[0,0] # "\nb#'
        assert lines(text) == ["u1:%x[0,word]", 'u2:%t[0,word,"#\\"#"]', 'u3:5" %x[0,word]']

    def test_commands_in_capitals_are_in_lower_case_after_all(self):
        parts = parsed('u:%X[0,0]%T[0,0,"A"]%M[0,0,"A"]%x[0,0]')[0].parts
        assert [(p.view.function, p.view.folded) for p in parts] == [
            ("x", True),
            ("t", True),
            ("m", True),
            ("x", False),
        ]
        assert parsed('u:%X[0,0]%M[0,0,"A"]')[0].text == 'u:%X[0,word]%M[0,word,"A"]'

    def test_functions_in_capitals_too_and_the_file_stays_one_of_crfpp(self):
        (template,) = parsed("U:%SUFFIX[0,word,3]/%SHORT_SHAPE[0,0]")
        assert [part.view for part in template.parts] == [
            View("suffix", "word", (3,), folded=True),
            View("short_shape", "word", folded=True),
        ]
        assert template.text == "U:%SUFFIX[0,word,3]/%SHORT_SHAPE[0,word]"

    def test_places_from_the_ends_of_the_sentence(self):
        (template,) = parsed("u:%x[@1,0]%x[ @ -2,0]")
        assert [(part.row, part.absolute) for part in template.parts] == [(1, True), (-2, True)]
        assert template.text == "u:%x[@1,word]%x[@-2,word]"

    def test_names_of_places_outside(self):
        assert View("x", "w").outside(2) == ["_B-1", "_B-2", "_B+1", "_B+2"]
        wapiti = View("x", "w", padding=WAPITI).outside(6)
        assert wapiti[:6] == ["_x-1", "_x-2", "_x-3", "_x-4", "_x-#", "_x-#"]
        assert wapiti[6:] == ["_x+1", "_x+2", "_x+3", "_x+4", "_x+#", "_x+#"]


class TestQuotes:
    @pytest.mark.parametrize(
        ("written", "argument"),
        [
            ('"a"', "a"),
            (r'"\""', '"'),
            (r'"a\"b\"c"', 'a"b"c'),
            (r'"\d\\"', r"\d\\"),
            (r'"\\\""', '\\\\"'),
            (r'"^\u*,]%x[0,0]$"', r"^\u*,]%x[0,0]$"),
            ('"  "', "  "),
        ],
    )
    def test_hold_any_text(self, written, argument):
        (template,) = parsed(f"# notation: CRF++\nU:%each[0,word,{written}]/")
        assert template.parts[0].view.arguments == (argument,)
        assert written in template.text

    @given(argument=st.text('ab"\\%#], é\t', max_size=8))
    @example(argument="\\")
    @example(argument='\\"')
    @example(argument="\n")
    def test_what_can_be_written_is_read_again(self, argument):
        if can_be_written(argument):
            assert unquoted(quoted(argument)[1:-1]) == argument
            (template,) = parsed(f"# notation: CRF++\nU:%each[0,word,{quoted(argument)}]") if argument else parsed("U")
            assert not argument or template.parts[0].view.arguments == (argument,)
        else:
            assert argument.endswith("\\") or '\\"' in argument or "\n" in argument

    @pytest.mark.parametrize(("number", "fits"), [(0, True), (-5, True), (10**9 - 1, True), (10**9, False)])
    def test_numbers_have_up_to_nine_digits(self, number, fits):
        assert can_be_written(number) is fits


# line, column of the mistake, what is said
WRONG = [
    ("X1:%x[0,0]", 1, "'X' is no kind of template; expected a line that begins with U or B"),
    ("   x[0,0]", 4, "'x' is no kind of template"),
    ("%x[0,0]", 1, "'%' is no kind of template"),
    ("é:%x[0,0]", 1, "'é' is no kind of template"),
    ("U1:100%", 7, "found '%'; % begins a command, and a % itself cannot be written"),
    ("U1:%x", 4, "expected a command such as %x[-1,0], found '%x'"),
    ("U1:% x[0,0]", 4, "expected a command such as %x[-1,0]"),
    ("U1:%x[0,0]%", 11, "expected a command such as %x[-1,0]"),
    ("U1:%y[0,0]", 5, "no function 'y'; the functions are: x, "),
    ("U1:%Suffix[0,word,2]", 5, "no function 'Suffix'; did you mean 'suffix'?"),
    ("U1:%sufix[0,word,2]", 5, "no function 'sufix'; did you mean 'suffix'?"),
    ("U1:%NGRAMS[0,word,2]", 5, "ngrams has no one value for each string to make lower case; write %ngrams"),
    ("U1:%x[0,wrod]", 9, "no column wrod; did you mean 'word'?"),
    ("Ué:%x[0,0]/%y[0,0]", 13, "no function 'y'"),
    ("U1:%x[0]", 7, "expected an offset and a column, e.g. [-1,0], found '0]'"),
    ("U1:%x[", 7, "expected an offset and a column, e.g. [-1,0], found the end of the line"),
    ("U1:%x[a,0]", 7, "expected an offset and a column, e.g. [-1,0], found 'a,0]'"),
    ("U1:%x[ 0.5,0]", 8, "expected an offset and a column, e.g. [-1,0], found '0.5,0]'"),
    ("U1:%x[ *1,0]", 8, "offsets read from a column (*) are not available; give a number"),
    ("U1:%x[1001,0]", 7, "row 1001 is too far away (at most 1000)"),
    ("U1:%x[ -" + "9" * 5000 + ",0]", 8, "too far away (at most 1000)"),
    ("U1:%x[@0,0]", 7, "@0 is no place in a sentence; @1 is its first token, @-1 its last"),
    ("U1:%x[0,]", 9, "expected a column by position or name, found ']'"),
    ("U1:%x[0,0", 10, "expected a comma or ], found the end of the line"),
    ("U1:%x[0,0 1]", 11, "expected a comma or ], found '1]'"),
    ("U1:%x[0,3]", 9, "no column 3; the columns are: word, pos, chunk"),
    ("U1:%x[0,-1]", 9, "no column -1; the columns are"),
    ("U1:%x[0, lemma]", 10, "no column lemma; the columns are"),
    ("U1:%x[0,²]", 9, "no column ²; the columns are"),
    ("U1:%x[0," + "9" * 5000 + "]", 9, "no column 9"),
    ("U1:%x[0,2]", 9, "reads the target column 'chunk', which is to be predicted; read another"),
    ("U1:%x[0,0]/%x[1,chunk]", 17, "reads the target column 'chunk', which is to be predicted; read another"),
    ("B1:%x[0,2]", 9, "reads the target column 'chunk'"),
    ("U1:%x[0,0,3]", 11, "x takes no argument but the column; found 3"),
    ("U1:%suffix[0,word]", 18, "suffix needs one whole number from 1 to 100; found none"),
    ("U1:%suffix[0,word, 0]", 20, "suffix needs one whole number from 1 to 100; found 0"),
    ("U1:%suffix[0,word,1,2]", 19, "suffix needs one whole number from 1 to 100; found 1, 2"),
    ("U1:%suffix[0,word,1,x]", 21, "expected a number or text in \"quotes\", found 'x]'"),
    ("U1:%suffix[0,word,1" + "0" * 9 + "]", 19, 'expected a number or text in "quotes"'),
    ('U1:%regex[0,word,"a]', 18, 'expected a number or text in "quotes"'),
    ('U1:%regex[0,word,"a\\"]', 18, 'expected a number or text in "quotes"'),
    ('U1:%regex[0,word,"("]', 18, "'(' is no regular expression"),
]
WRONG_IN_WAPITI = [
    ("x1:%x[0,0]", 1, "'x' is no kind of template"),
    ("u1:%x[0,9]", 9, "no column 9; the columns are: word, pos, chunk"),
    ("*:%X[ 0 ,2]", 10, "reads the target column 'chunk'"),
    ("u1:%t[0,0]", 10, 't needs one pattern in quotes, e.g. "^\\u"; found none'),
    ('u1:%m[0,0, "*"]', 12, "'*' is no pattern: at character 1"),
    ("u1:%m[0,0,a]", 11, 'expected a number or text in "quotes"'),
    ("u:%suffix[0,0,0]  # none", 15, "suffix needs one whole number from 1 to 100; found 0"),
]


@pytest.mark.parametrize("wapiti", [False, True], ids=["crfpp", "wapiti"])
@pytest.mark.parametrize(("line", "column", "what"), WRONG, ids=lambda value: str(value)[:24])
def test_errors_name_file_line_column_and_template(line, column, what, wapiti):
    if wapiti and line[0] == "x":
        return
    check_error("# notation: Wapiti" if wapiti else "# first", line, column, what)


@pytest.mark.parametrize(("line", "column", "what"), WRONG_IN_WAPITI, ids=lambda value: str(value)[:24])
def test_errors_in_files_of_wapiti_too(line, column, what):
    check_error("*", line, column, what)


def check_error(first, line, column, what):
    with pytest.raises(TemplateError) as caught:
        parsed(f"{first}\nU0:%x[0,0]\n{line}\n")
    error = caught.value
    assert str(error).startswith(f"tmpl:3:{column}: '{line.split('  #')[0].strip()}': ")
    assert what in str(error)
    assert (error.path, error.line, error.column) == ("tmpl", 3, column)


@pytest.mark.parametrize("text", ["", "B\n", "# nothing\n", "b:%x[0,0]", "B:%x[0,0]"])
def test_at_least_one_template_of_labels_is_needed(text):
    with pytest.raises(TemplateError, match=r"^tmpl: no U line; a template file needs at least one, e\.g\. U01"):
        parsed(text)


pieces = st.sampled_from(
    ["U", "B", "u", "*", "#", "%", "%x[", "%x[0,0]", "%X[@-1,pos]", '%t[0,0,"', '"]', '\\"', "[", "]", ",", "-", "9",
     "@", "word", "%suffix[0,word,", "%each[0,0", "\n", "\r", "\x1c", "\u2028", " ", "\t", "\0", "é", "\ud800"]
)  # fmt: skip


@given(text=st.lists(pieces, max_size=30).map("".join) | st.text(max_size=40))
@example(text="\ufeffU:%x[0,0]")
def test_whatever_is_read_the_only_error_is_a_template_error(text):
    try:
        templates = parsed(text)
    except TemplateError:
        return
    assert templates
    notation = "Wapiti" if any(t.text[0] in "ub*" for t in templates) else "CRF++"
    again = parsed("\n".join([f"# notation: {notation}", *(template.text for template in templates)]))
    assert again == templates


@pytest.mark.parametrize("piece", [" ", '"', "%t[", '%t[0,0,"', '"#', "%x", "\\a", ",", "["])
@pytest.mark.parametrize("begin", ["u:", 'u:%t[0,0,"', "U:%x[0,0"])
def test_time_grows_no_faster_than_the_line(begin, piece):
    def seconds(length):
        begun = time.perf_counter()
        with contextlib.suppress(TemplateError):
            parsed(begin + piece * length + "x")
        return time.perf_counter() - begun

    short, long = (min(seconds(length) for _ in range(3)) for length in (4_000, 32_000))
    assert long < 25 * short  # 8 times is fair, 64 would be its square


class TestWhereTemplatesComeFrom:
    def test_a_preset_by_name(self):
        templates = templates_for("chunking", COLUMNS, "chunk")
        assert len(templates) == 19
        assert {part.view.column for template in templates for part in template.parts} == {"word", "pos"}

    @pytest.mark.parametrize("name", PRESETS)
    def test_a_preset_that_needs_a_column_says_so(self, name):
        with pytest.raises(SettingError, match=f"features '{name}' read the columns .* there are: x;"):
            templates_for(name, ["x", "t"], "t")

    @pytest.mark.parametrize("name", PRESETS)
    def test_every_preset_can_be_read_and_says_where_it_is_from(self, name):
        assert templates_for(name, [*COLUMNS, *PAIRS], "chunk")
        assert PRESETS[name].source

    def test_lines_as_they_are(self):
        assert templates_for("U1:%x[0,word]", COLUMNS, "chunk") == parsed("U1:%x[0,word]")

    def test_a_file(self, tmp_path):
        (tmp_path / "my.tmpl").write_text("\ufeffU1:%x[0,word]\nU2:%x[9,bad]\n", encoding="utf-8")
        with pytest.raises(TemplateError, match=r"my\.tmpl:2:9: 'U2:%x\[9,bad\]': no column bad; the columns are"):
            templates_for(str(tmp_path / "my.tmpl"), COLUMNS, "chunk")
        (tmp_path / "my.tmpl").write_text("# mine\nU1:%x[0,word]\n", encoding="utf-8")
        assert templates_for(tmp_path / "my.tmpl", COLUMNS, "chunk") == parsed("U1:%x[0,word]")

    def test_neither_a_preset_nor_a_file(self):
        with pytest.raises(SettingError, match=r"'magic': neither a preset \(.*chunking.*\) nor a file"):
            templates_for("magic", COLUMNS, "chunk")

    @pytest.mark.parametrize(
        ("features", "what"),
        [
            ("chunkin", "neither a preset nor a file; did you mean 'chunking'?"),
            ("wrod", "neither a preset nor a file; did you mean 'word[0]'?"),
            ("", "no features given; name a preset (altun-s1, "),
            ("  ", "no features given"),
            ("no/where", "features 'no/where': no such file"),
            ("nowhere.tmpl", "features 'nowhere.tmpl': no such file"),
            ("./my (1)[2].tmpl", "no such file"),
            (Path("nowhere[0]"), "features 'nowhere[0]': no such file"),
            (Path("U%x[0,0]"), "no such file"),
            ("word", "'word': has no place yet; write word[0] or a window such as word[-1:1]"),
            ("word + pos", "'word': has no place yet"),
            ("bag(word)", "'word': has no place yet; write word[0]"),
            ("bag(\nword)", "'word': has no place yet"),
            ("preset('nre')", "no preset 'nre'; did you mean 'ner'?"),
            ("word[0]/pos[0]", "not part of the feature language"),
        ],
    )
    def test_hints(self, features, what, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(TrellisError) as caught:
            templates_for(features, COLUMNS, "chunk")
        assert what in str(caught.value)

    @pytest.mark.parametrize("text", ["U", "U:bias", "U:(bias)", "B\nU1", "*", "# bag(word)\nU"])
    def test_files_of_templates_without_commands(self, tmp_path, text):
        (tmp_path / "my").write_text(text)
        assert templates_for(tmp_path / "my", COLUMNS, "chunk") == parsed(text)

    def test_texts_with_slashes_are_expressions(self):
        assert len(templates_for('regex(word, "a/b.c")[0]', COLUMNS, "chunk")) == 1

    def test_a_directory(self, tmp_path):
        for folder in (tmp_path, str(tmp_path)):
            with pytest.raises(FileAccessError, match="is a directory"):
                templates_for(folder, COLUMNS, "chunk")

    def test_a_pipe(self):
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b"U1:%x[0,word]\n")
        try:
            assert templates_for(f"/dev/fd/{reading}", COLUMNS, "chunk") == parsed("U1:%x[0,word]")
        finally:
            os.close(reading)

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            (b"U\xff", r"byte 0xff is not valid UTF-8; convert the file \(for example with iconv\)"),
            (b"U\0", "a NUL byte; text in UTF-8 is expected"),
        ],
    )
    def test_a_file_that_is_not_text(self, tmp_path, line, what):
        (tmp_path / "bad.tmpl").write_bytes(b"U:%x[0,0]\r\n\r\n" + line)
        with pytest.raises(DataError, match=rf"bad\.tmpl:3: {what}"):
            templates_for(str(tmp_path / "bad.tmpl"), COLUMNS, "chunk")


def test_the_first_line_may_say_which_notation_it_is():
    for said, padding in (("Wapiti", "_x"), ("wapiti", "_x"), ("CRF++", "_B")):
        (template,) = parsed(f"# notation: {said}\nU:%x[-1,0]\n")
        assert template.parts[0].view.padding == padding
    with pytest.raises(TemplateError, match="tmpl:1:1: '# notation: Foo': no such notation; there are: "):
        parsed("# notation: Foo\nU:%x[-1,0]\n")
