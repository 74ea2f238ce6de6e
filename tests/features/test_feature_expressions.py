"""Features as expressions, in Python and as text: every form, the templates they stand for, and what is refused."""

from __future__ import annotations

import contextlib
import inspect
import pickle
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import trellis.features
from trellis.corpus import Corpus
from trellis.errors import SettingError, TemplateError
from trellis.features import PRESETS, TemplateFeatures, templates_for
from trellis.features.expression import Features, bag, call, column, columns, transitions
from trellis.features.expression_text import parse_features
from trellis.features.functions import FUNCTIONS
from trellis.features.notation import parse_templates
from trellis.features.template import View, quoted

COLUMNS = ["word", "pos", "é", "word-form", "class", "chunk"]
PAIRS = "text subject_type object_type order distance pattern before between".split()  # what `relations` reads
word, pos = columns("word", "pos")


def parsed(text):
    def preset(name):
        if name != "mine":
            raise SettingError(f"no preset '{name}'; the presets are: mine")
        return pos[0]

    return parse_features(text, COLUMNS, "chunk", "my.txt", preset)


def lines(features):
    return str(features).splitlines()


class TestForms:
    """Each as text and in Python, with the lines of the template file that it stands for."""

    @pytest.mark.parametrize(
        ("text", "python", "expected"),
        [
            ("word[0]", word[0], ["U:word[0]=%x[0,word]"]),
            ("word[-1]", word[-1], ["U:word[-1]=%x[-1,word]"]),
            ("word[+2]", word[2], ["U:word[2]=%x[2,word]"]),
            ("word[-1:1]", word[-1:1], [f"U:word[{k}]=%x[{k},word]" for k in (-1, 0, 1)]),
            ("word[3:3]", word[3:3], ["U:word[3]=%x[3,word]"]),
            ('column("word")[0]', column("word")[0], ["U:word[0]=%x[0,word]"]),
            ("word[0] + pos[1]", word[0] + pos[1], ["U:word[0]=%x[0,word]", "U:pos[1]=%x[1,pos]"]),
            ("word[-1] & pos[0]", word[-1] & pos[0], ["U:word[-1]&pos[0]=%x[-1,word]/%x[0,pos]"]),
            ("lower(word)[1]", call("lower", word)[1], ["U:lower(word)[1]=%lower[1,word]"]),
            (
                "suffix(word, 1, 3)[0]",
                call("suffix", word, 1, 3)[0],
                ["U:suffix(word,1)[0]=%suffix[0,word,1]", "U:suffix(word,3)[0]=%suffix[0,word,3]"],
            ),
            (
                'regex(word, r"\\d")[0]',
                call("regex", word, r"\d")[0],
                ['U:regex(word,\\d)[0]=%regex[0,word,"\\d"]'],
            ),
            (
                'cluster(word, "p", 2, 4)[0]',
                call("cluster", word, "p", 2, 4)[0],
                ['U:cluster(word,p,2)[0]=%cluster[0,word,"p",2]', 'U:cluster(word,p,4)[0]=%cluster[0,word,"p",4]'],
            ),
            ("tags(word, pos)[0]", call("tags", word, pos)[0], ['U:tags(word,pos)[0]=%tags[0,word,"pos"]']),
            ("bag(word[-1:0])", bag(word[-1:0]), ["U:bag(word)=%x[-1,word]", "U:bag(word)=%x[0,word]"]),
            ("transitions(pos[0])", transitions(pos[0]), ["B:pos[0]=%x[0,pos]"]),
            ("(word[0])", word[0], ["U:word[0]=%x[0,word]"]),
        ],
    )
    def test_are_the_same_as_text_and_in_python(self, text, python, expected):
        assert lines(parsed(text)) == lines(python) == expected
        assert parsed(text).templates() == python.templates()

    def test_functions_have_names_in_python(self):
        found = trellis.features.suffix(word, 1, 2)[0] + trellis.features.shape(word)[-1]
        assert found.templates() == parsed("suffix(word, 1, 2)[0] + shape(word)[-1]").templates()
        assert {*FUNCTIONS, "bag", "preset"} <= set(dir(trellis.features))
        with pytest.raises(AttributeError, match=r"trellis\.features has no 'sufix'; did you mean 'suffix'\?"):
            _ = trellis.features.sufix
        with pytest.raises(AttributeError, match=r"trellis\.features has no 'qqq'; the names are: x, "):
            _ = trellis.features.qqq

    def test_windows_are_of_every_function_in_every_place(self):
        found = lines(call("suffix", word, 1, 2)[-1:0])
        assert [line.split("=")[1] for line in found] == [
            "%suffix[-1,word,1]",
            "%suffix[0,word,1]",
            "%suffix[-1,word,2]",
            "%suffix[0,word,2]",
        ]

    def test_conjunctions_are_of_every_feature_with_every_other(self):
        both = parsed("(word[-1:0] + pos[2]) & (pos[0] + lower(word)[1])")
        assert [[part.text for part in template.parts] for template in both.templates()] == [
            ["%x[-1,word]", "%x[0,pos]"],
            ["%x[-1,word]", "%lower[1,word]"],
            ["%x[0,word]", "%x[0,pos]"],
            ["%x[0,word]", "%lower[1,word]"],
            ["%x[2,pos]", "%x[0,pos]"],
            ["%x[2,pos]", "%lower[1,word]"],
        ]
        a, b, c = word[0], pos[0], pos[1]
        assert ((a + b) & c).templates() == ((a & c) + (b & c)).templates()
        assert (a & b & c).templates() == ((a & b) & c).templates() == (a & (b & c)).templates()

    def test_conjunctions_bind_more_weakly_than_sums_as_in_python(self):
        assert parsed("word[0] + pos[0] & pos[1]").templates() == ((word[0] + pos[0]) & pos[1]).templates()

    def test_the_same_feature_twice_is_one(self):
        assert len(parsed("word[-1:1] + word[0:2]").templates()) == 4

    def test_several_lines_and_comments(self):
        text = "# words\nword[-1:1]\n  # and tags\n  + pos[0]\n\n+ lower(word)[0]\n"
        assert parsed(text).templates() == (word[-1:1] + pos[0] + call("lower", word)[0]).templates()

    def test_hundreds_of_features(self):
        assert len(parsed(" + ".join(f"word[{k}]" for k in range(-300, 301))).templates()) == 601

    def test_a_backslash_that_python_would_warn_of(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert parsed('regex(word, "\\d")[0]').templates() == call("regex", word, r"\d")[0].templates()


class TestBags:
    def test_have_one_name_for_all_places(self):
        assert {template.literals[0] for template in parsed("bag(word[-2:2] + pos[0])").templates()} == {
            "U:bag(word+pos)="
        }

    def test_of_different_features_have_different_names(self):
        texts = [
            "word[0]",
            "word[-1] & pos[0]",
            "word[0] & é[0]",
            'regex(word, "[0-9]")[0]',
            'regex(word, "[a-z]")[0]',
            "suffix(word, 1)[0]",
            "suffix(word, 2)[0]",
        ]
        literals = [template.literals for text in texts for template in parsed(f"bag({text})").templates()]
        assert len(set(literals)) == len(texts)


class TestTransitions:
    def test_of_conjunctions_and_bags(self):
        assert lines(parsed("transitions(bag(word[-1:0]) & pos[0])"))[0].startswith("B:bag(word)&pos[0]=")
        assert lines(transitions(word[0] & pos[0])) == ["B:word[0]&pos[0]=%x[0,word]/%x[0,pos]"]

    def test_a_conjunction_with_one_is_one(self):
        for features in (transitions(word[0]) & pos[0], word[0] & transitions(pos[0])):
            assert [template.on_transitions for template in features.templates()] == [True]

    def test_alone_are_not_enough(self):
        for features in ("transitions(word[0])", transitions(word[0])):
            with pytest.raises(TemplateError, match="at least one"):
                templates_for(features, COLUMNS, "chunk")
        assert len(templates_for("word[0] + transitions(word[0])", COLUMNS, "chunk")) == 2


class TestNames:
    """An attribute's name tells the features apart."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (call("regex", word, "%")[0], call("regex", word, "_")[0]),
            (word[1], word[-1]),
            (call("suffix", word, 1)[0], call("prefix", word, 1)[0]),
            (call("lower", word)[0], call("lower", pos)[0]),
        ],
    )
    def test_of_different_features_are_different(self, one, other):
        assert one.templates()[0].literals != other.templates()[0].literals


# a text and the features it stands for
_columns = st.sampled_from(["word", "pos", "é"])
_places = st.integers(-3, 3).map(lambda k: (f"[{k}]", k)) | st.tuples(st.integers(-3, 3), st.integers(0, 3)).map(
    lambda p: (f"[{p[0]}:{p[0] + p[1]}]", slice(p[0], p[0] + p[1]))
)
_texts = st.text("a%\"\\[]#=' ,", min_size=1, max_size=4).filter(lambda s: not s.endswith("\\") and '\\"' not in s)
_calls = st.one_of(
    _columns.map(lambda c: (c, column(c))),
    _columns.map(lambda c: (f"column({c!r})", column(c))),
    st.tuples(st.sampled_from(["lower", "shape", "is_first", "length"]), _columns).map(
        lambda p: (f"{p[0]}({p[1]})", call(p[0], column(p[1])))
    ),
    st.tuples(st.sampled_from(["suffix", "prefix", "ngrams"]), _columns, st.lists(st.integers(1, 9), min_size=1)).map(
        lambda p: (f"{p[0]}({p[1]}, {', '.join(map(str, p[2]))})", call(p[0], column(p[1]), *p[2]))
    ),
    st.tuples(st.sampled_from(["suffix", "prefix"]), st.lists(st.integers(1, 3), min_size=1)).map(
        lambda p: (f"lower({p[0]}(word, {str(p[1])[1:-1]}))", call("lower", call(p[0], word, *p[1])))
    ),
    st.tuples(_columns, _texts).map(lambda p: (f"each({p[0]}, {quoted(p[1])})", call("each", column(p[0]), p[1]))),
    st.tuples(st.sampled_from("tm"), st.sampled_from([r"^\u", '"', "#", "a*"])).map(
        lambda p: (f"{p[0]}(word, {quoted(p[1])})", call(p[0], word, p[1]))
    ),
)
_placed = st.tuples(_calls, _places).map(lambda p: (p[0][0] + p[1][0], p[0][1][p[1][1]])) | st.just(
    ('preset("mine")', pos[0])
)
expressions = st.recursive(
    _placed,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]} + {p[1][0]})", p[0][1] + p[1][1])),
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]}\n& {p[1][0]})", p[0][1] & p[1][1])),
        inner.map(lambda p: (f"bag({p[0]})", bag(p[1]))),
        inner.map(lambda p: (f"transitions({p[0]})", transitions(p[1]))),
    ),
    max_leaves=5,
)


@given(expression=expressions.filter(lambda e: len(e[1].terms) < 500))
def test_text_and_python_are_the_same_and_what_is_printed_can_be_read(expression):
    text, features = expression
    found = parsed(text)
    assert found.templates() == features.templates()
    assert str(found) == str(features)
    printed = "\n".join([*lines(features), "U"])  # a line of labels, should there be none
    assert parse_templates(printed, COLUMNS, "chunk")[:-1] == features.templates()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_built_upon(name):
    (own,) = word[9].templates()
    built = templates_for(f'preset("{name}") + word[9]', [*COLUMNS, *PAIRS], "chunk")
    plain = templates_for(name, [*COLUMNS, *PAIRS], "chunk")
    assert built[-1] == own
    assert [template.parts for template in built[:-1]] == [template.parts for template in plain]
    assert [template.on_transitions for template in built[:-1]] == [template.on_transitions for template in plain]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_in_python_is_the_same(name):
    columns = [*COLUMNS, *PAIRS]
    built = templates_for(trellis.features.preset(name, columns, "chunk") + word[9], columns, "chunk")
    assert built == templates_for(f'preset("{name}") + word[9]', columns, "chunk")
    assert trellis.features.preset(name).templates()


# text, line, column, what is quoted, what is said
WRONG = [
    ("word", 1, 1, "word", "has no place yet; write word[0] or a window such as word[-1:1]"),
    ("word[0] + lower(word)", 1, 11, "lower(word)", "has no place yet"),
    ("word[0] & 3", 1, 11, "3", "is no feature; expected"),
    ("word[0] + 'pos'", 1, 11, "'pos'", "is no feature; expected"),
    ("foo[0]", 1, 1, "foo", "no column foo; the columns are: word, pos, é, word-form"),
    ("é[0] + foo[0]", 1, 8, "foo", "no column foo"),
    ("word[0]\n# é\n + é[0] + (foo[0])", 3, 12, "foo", "no column foo"),
    ("word[0] + chunk[0]", 1, 11, "chunk", "reads the target column 'chunk', which is to be predicted; read another"),
    ('column("chunk")[0]', 1, 1, 'column("chunk")', "reads the target column"),
    ("column(word)[0]", 1, 1, "column(word)", 'column needs a name in quotes, e.g. column("word")'),
    ("word[1:0]", 1, 1, "word[1:0]", "[1:0] is no window; expected e.g. [-2:2]"),
    ("word[0:]", 1, 1, "word[0:]", "a window needs both ends, e.g. [-2:2]"),
    ("word[0:4:2]", 1, 1, "word[0:4:2]", "a window needs both ends"),
    ("word['a']", 1, 6, "'a'", "is no place; a place is a whole number"),
    ("word[x]", 1, 6, "x", "is no place; a place is a whole number"),
    ("word[pos]", 1, 6, "pos", "is no place; a place is a whole number"),
    ("word[-1, 1]", 1, 1, "word[-1, 1]", "is no place; for a window write [-1:1]"),
    ("word[1001]", 1, 1, "word[1001]", "too far away (at most 1000)"),
    ("word[0][0]", 1, 1, "word[0][0]", "only a column or a function of one can have a place"),
    ("lower(word[0])", 1, 1, "lower(word[0])", "applied to a column and then given a place: lower(word)[-1]"),
    ("lower()[0]", 1, 1, "lower()", "lower needs a column first, e.g. lower(word)"),
    ("lower('a')[0]", 1, 1, "lower('a')", "lower needs a column first"),
    ("shape(lower(word))[0]", 1, 1, "shape(lower(word))", "functions do not nest, but for lower around others"),
    ("suffix(lower(suffix(word, 2)), 1)[0]", 1, 1, "suffix(lower(suffix(word, 2)), 1)", "functions do not nest"),
    ("lower(ngrams(word, 2))[0]", 1, 1, "lower(ngrams(word, 2))", "one value for each string, not ngrams(word, 2)"),
    ("lower(is_first(word))[0]", 1, 1, "lower(is_first(word))", "one value for each string"),
    ("suffix(word, 0)[0]", 1, 1, "suffix(word, 0)", "suffix needs one whole number from 1 to 100; found 0"),
    ("suffix(word, n=1)[0]", 1, 1, "suffix(word, n=1)", "without names; write suffix(word, 1)"),
    ("sufix(word, 1)[0]", 1, 1, "sufix(word, 1)", "no function 'sufix'; did you mean 'suffix'?"),
    ("Word[0]", 1, 1, "Word", "no column Word; did you mean 'word'?"),
    ("lower[0]", 1, 1, "lower", "is a function, and there is no column of that name; write lower(...)"),
    ("word(0)", 1, 1, "word(0)", "word is a column; a place is in square brackets, e.g. word[0]"),
    ("regex(word, a)[0]", 1, 13, "a", 'no column a; text is in quotes: "a"'),
    ("gazetteer(word, my.txt)[0]", 1, 17, "my.txt", 'text is in quotes: "my.txt"'),
    ("regex(word, [A])[0]", 1, 13, "[A]", 'text is in quotes: "[A]"'),
    ("nothing(word)[0]", 1, 1, "nothing(word)", "no function 'nothing'; the functions are: x, "),
    ("apply(word, f)[0]", 1, 1, "apply(word, f)", "takes a function of your own and is for Python"),
    ("apply(word, 'f')[0]", 1, 1, "apply(word, 'f')", "takes a function of your own and is for Python"),
    ("each(word, '''a\nb''')[0]", 1, 1, "each(word, '''a b''')", "cannot be written in a template"),
    (r'each(word, "\u") + foo[0]', 1, 1, r'each(word, "\u")', r'write each(word, "\u")[0]'),
    (r'each(word, "\u\\é")[0] + foo[0]', 1, 26, "foo", "no column foo"),
    ("tags(word, 1000000000)[0]", 1, 12, "1000000000", "is too large a number"),
    ("bag(word)", 1, 5, "word", "has no place yet"),
    ("transitions(lower(word))", 1, 13, "lower(word)", "has no place yet; write lower(word)[0]"),
    ("bag()", 1, 1, "bag()", "bag needs features, e.g. bag(word[-2:2])"),
    ("transitions(word[0], pos[0])", 1, 1, "transitions(word[0], pos[0])", "transitions needs features"),
    ("preset('x')", 1, 1, "preset('x')", "no preset 'x'; the presets are: mine"),
    ("preset(3)", 1, 1, "preset(3)", 'preset needs a name in quotes, e.g. preset("ner")'),
    ("preset(mine)", 1, 1, "preset(mine)", 'preset needs a name in quotes, e.g. preset("mine")'),
    ("preset('mien')", 1, 1, "preset('mien')", "no preset 'mien'"),
    ("word[0] - pos[0]", 1, 1, "word[0] - pos[0]", "not part of the feature language"),
    ("word[0] and pos[0]", 1, 1, "word[0] and pos[0]", "write &, not and"),
    ("word[0] or pos[0]", 1, 1, "word[0] or pos[0]", "write +, not or"),
    ("word[0] pos[0]", 1, 1, "word[0] pos[0]", "put + or & between features; expected e.g. word[-2:2]"),
    ("word[0]\npos[0]", 1, 1, "word[0]", "put + or & between features"),
    ("pos[0] + bag(word[0]\npos[0])", 1, 14, "pos[0] + bag(word[0]", "put + or & between features"),
    ("pos[0] & (word[0]\npos[0])", 1, 11, "pos[0] & (word[0]", "put + or & between features"),
    ("pos[0] + suffix(word 1)[0]", 1, 17, "pos[0] + suffix(word 1)[0]", "a comma is missing"),
    ("word[0] +\n)", 2, 1, ")", "unmatched ')'"),
    ("word[0] +\n\n", 1, 10, "word[0] +", "something is missing at the end; expected e.g."),
    ("word[0", 1, 5, "word[0", "'[' was never closed"),
    ("word[0]]", 1, 8, "word[0]]", "unmatched ']'"),
    ("pos[0]\n+ bag(word[0]", 2, 6, "+ bag(word[0]", "'(' was never closed"),
    ("pos[0]\n+ bag(word[0)", 2, 13, "+ bag(word[0)", "')' does not match '['"),
    ("word[0])+(pos[0]", 1, 8, "word[0])+(pos[0]", "unmatched ')'"),
    ("regex(word, 'a)[0]", 1, 13, "regex(word, 'a)[0]", "the quote ' was never closed"),
    ("word-form[0]", 1, 1, "word-form[0]", 'for the column write column("word-form")'),
    ("pos[0] + lower(word-form)[0]", 1, 16, "word-form", 'for the column write column("word-form")'),
    ("pos[0] + class[0]", 1, 10, "pos[0] + class[0]", 'for the column write column("class")'),
    ("word[0] + $", 1, 11, "word[0] + $", "invalid syntax; expected e.g. word[-2:2]"),
    ("word[0],", 1, 1, "word[0],", "not part of the feature language; put + or & between"),
]


@pytest.mark.parametrize(("text", "line", "column", "quoted", "what"), WRONG, ids=lambda value: repr(value)[:30])
def test_errors_name_file_line_column_and_text(text, line, column, quoted, what):
    with pytest.raises(TemplateError) as caught:
        parsed(text)
    assert str(caught.value).startswith(f"my.txt:{line}:{column}: '{quoted}': ")
    assert what in str(caught.value)
    assert (caught.value.path, caught.value.line, caught.value.column) == ("my.txt", line, column)


class TestErrorsInPython:
    @pytest.mark.parametrize(
        ("make", "what"),
        [
            (lambda: word[1:0], "is no window"),
            (lambda: word[:], "no window; both ends are needed"),
            (lambda: word[-1:3:2], "no window; both ends are needed"),
            (lambda: word["a"], "no place: 'a'; a place is a whole number, e.g. [-1], or a window"),
            (lambda: word["a":2], "no place: ['a':2]; a place is a whole number"),
            (lambda: word[True], "no place: True"),
            (lambda: word[False:True], "no place: [False:True]"),
            (lambda: word[-1, 1], "for a window write [-1:1]"),
            (lambda: bag(pos), "pos has no place yet; write pos[0] or a window such as pos[-1:1]"),
            (lambda: transitions(call("t", pos, "a")), 'write t(pos, "a")[0]'),
            (lambda: transitions(column("a-b")), 'write column("a-b")[0]'),
            (lambda: bag("pos"), "features are needed, not 'pos'"),
            (lambda: word[0] and pos[0], "for a conjunction write &, not and"),
            (lambda: (word and pos)[0], "neither true nor false"),
            (lambda: column(3), "3 is no name of a column"),
            (lambda: columns(["word"]), 'the names are given one by one, e.g. columns("word", "pos")'),
            (lambda: trellis.features.suffix(word, n=3), "without names; write suffix(word, 3)"),
            (lambda: trellis.features.suffix("word", 3), 'needs a column first, e.g. suffix(word); write column("'),
            (lambda: trellis.features.suffix(word[0], 3), "applied to a column and then given a place"),
            (lambda: call("lower", call("ngrams", word, 2)), "one value for each string, not ngrams(word, 2)"),
            (lambda: call("lower", call("suffix", word, 2), 3), "functions do not nest"),
            (lambda: word[1 << 20_000], "too far away"),
            (lambda: word[1 << 20_000 : 0], "too far away"),
            (lambda: call("suffix", word, 0), "suffix needs one whole number"),
            (lambda: call("suffix", word, 2.5), "2.5 is no argument of a function"),
            (lambda: call("suffix"), "suffix needs a column first"),
            (lambda: call("tags", word, 10**12), "cannot be written in a template"),
            (lambda: column("a b"), "'a b' cannot be written in a template; rename the column"),
            (lambda: column(""), "rename the column"),
        ],
    )
    def test_are_settings_that_do_not_fit(self, make, what):
        with pytest.raises(SettingError) as caught:
            make()
        assert what in str(caught.value)

    @pytest.mark.parametrize(
        "make", [lambda: word + pos, lambda: word + pos[0], lambda: word[0] + pos, lambda: word & pos[0]]
    )
    def test_a_place_is_missing(self, make):
        with pytest.raises(SettingError, match=r"^(word|pos) has no place yet; write \1\[0\] or a window"):
            make()

    @pytest.mark.parametrize("other", [3, "word", None])
    def test_features_go_together_with_features_only(self, other):
        f = word[0]
        for make in (lambda: f + other, lambda: f & other, lambda: other + f, lambda: other & f):
            with pytest.raises(SettingError, match="features are needed, not "):
                make()

    def test_columns_are_checked_when_features_meet_a_corpus(self):
        with pytest.raises(TemplateError, match=r"'U:lemma\[0\]=%x\[0,lemma\]': no column lemma; the columns"):
            templates_for(column("lemma")[0], COLUMNS, "chunk")
        with pytest.raises(TemplateError, match="reads the target column 'chunk', which is to be predicted"):
            templates_for(column("chunk")[0], COLUMNS, "chunk")

    def test_two_functions_of_one_name(self):
        def make(answer):
            def mine(word):
                return answer

            return mine

        one, other = (call("apply", word, make(answer))[0] for answer in "ab")
        assert set((one + one).functions) == {"mine"}
        for both in (lambda: one + other, lambda: one & other):
            with pytest.raises(SettingError, match="two different functions are called 'mine'; rename one"):
                both()

    def test_two_lambdas(self):
        one, other = (call("apply", word, lambda w, k=k: w[k])[0] for k in (0, 1))
        with pytest.raises(SettingError, match="are called '<lambda>'; give them names with def"):
            one + other


class TestShownInPython:
    def test_a_column(self):
        assert repr(word) == "<column word>"
        assert repr(call("suffix", word, 1, 2)) == "<suffix(word, 1), suffix(word, 2), no place yet>"
        assert repr(call("lower", call("t", word, "a"))) == '<lower(t(word, "a")), no place yet>'

    def test_transitions(self):
        assert repr(word[0] + transitions(pos[0])) == "<Features: word[0] + transitions(pos[0])>"

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_every_function_has_help_and_can_be_pickled(self, name):
        function = getattr(trellis.features, name)
        assert function.__doc__.startswith(f"{name}(word")
        assert FUNCTIONS[name].summary in function.__doc__
        assert pickle.loads(pickle.dumps(function)) is function

    def test_help_tells_the_arguments(self):
        assert trellis.features.suffix.__doc__.startswith("suffix(word, n): the last n characters.")
        assert "several numbers" in trellis.features.suffix.__doc__
        assert str(inspect.signature(trellis.features.suffix)).startswith("(column")


class TestLowerCaseOfFunctions:
    def test_is_a_command_in_upper_case(self):
        features = call("lower", call("suffix", word, 2, 3))[-1]
        assert lines(features) == [f"U:lower(suffix(word,{n}))[-1]=%SUFFIX[-1,word,{n}]" for n in (2, 3)]
        assert features.templates()[0].parts[0].view == View("suffix", "word", (2,), folded=True)
        assert parse_templates(str(features), COLUMNS, "chunk") == features.templates()

    @pytest.mark.parametrize("text", ['lower(t(word, "a"))[0]', 'lower(m(word, "a"))[0]', "lower(lower(word))[0]"])
    def test_printed_is_read_again_in_the_same_notation(self, text):
        assert parse_templates(str(parsed(text)), COLUMNS, "chunk") == parsed(text).templates()

    def test_twice_is_once(self):
        assert parsed("lower(lower(word))[0]").templates() == parsed("lower(word)[0]").templates()
        twice = parsed("lower(lower(suffix(word, 1)))[0]")
        assert twice.templates() == parsed("lower(suffix(word, 1))[0]").templates()

    def test_values_are_in_lower_case(self):
        corpus = Corpus.from_lists({"word": [["OSLO", "oslo", "Bergen"]], "y": [["a", "b", "a"]]})
        templates = templates_for("lower(suffix(word, 2))[0]", ["word", "y"], "y")
        features, packed = TemplateFeatures.learn(corpus, templates, "y")
        names = features.names()
        assert [names[a].split("=")[1] for a in packed.ids] == ["lo", "lo", "en"]


class TestBackslashes:
    """As in templates: a backslash is a backslash, but for that before a quote."""

    @pytest.mark.parametrize(
        ("written", "argument"),
        [
            (r'"^\u"', r"^\u"),
            (r'"\bin\b"', r"\bin\b"),
            (r'r"\bin\b"', r"\bin\b"),
            (r'"\N{x}\x\777"', r"\N{x}\x\777"),
            (r'"a\\"', r"a\\"),
            (r"'a\\b'", r"a\\b"),
            (r'"\""', '"'),
            (r'r"\""', '"'),
            (r"'\''", "'"),
            (r"""'\\\'"'""", "\\\\'" + '"'),
            ('"\\\'"', "\\'"),
            ("'\ue000\\d'", "\ue000\\d"),
        ],
    )
    def test_are_literal(self, written, argument):
        (template,) = parsed(f"each(word, {written})[0]").templates()
        assert template.parts[0].view.arguments == (argument,)

    def test_in_patterns(self):
        assert parsed(r't(word,"^\u")[0]').templates() == call("t", word, r"^\u")[0].templates()
        assert parsed(r'regex(word,"\bin\b")[0]').templates() == call("regex", word, r"\bin\b")[0].templates()

    def test_at_the_end_of_a_line_go_on_with_it(self):
        assert parsed("word[0] \\\n + pos[0]").templates() == (word[0] + pos[0]).templates()


@pytest.mark.parametrize("text", ["", " \n", "# nothing\n"])
def test_no_features(text):
    with pytest.raises(TemplateError, match=r"^my\.txt: no features given; expected e\.g\. word"):
        parsed(text)


signs = [*"[](){}+-&|,:.=*'\"\\#0 9\n@~%", "[0]", "[-1:1]", "(word", ", 2)", "regex(word, '", "0x"]
names = "word pos é lower suffix bag transitions preset column lambda for if await None".split()
pieces = st.sampled_from([*signs, *names])


class TestNothingIsExecuted:
    @pytest.mark.parametrize(
        "text",
        [
            "__import__('os').system('true')",
            "__import__('os')",
            "word.__class__[0]",
            "word[0].templates()",
            "(lambda: word[0])()",
            "f'{word}'",
            "[word[0]][0]",
            "[w for w in word]",
            "{**word}",
            "word[0] if word else pos[0]",
            "(x := word[0])",
            "word[0] or pos[0]",
            "not word[0]",
            "print(word)[0]",
            "eval('word[0]')",
            "await word",
            "yield word",
            "word[*pos]",
            "lower(*[word])[0]",
            "lower(**{})[0]",
            "word[-1.5]",
            "word[True]",
            "word[None]",
            "word[...]",
            "b'word'[0]",
            "word[9**9**9**9]",
            "word[0x" + "f" * 5000 + "]",
            "word[" + "9" * 5000 + "]",
            "word[1_000_000_000_000]",
            "(" * 5000 + "word[0]" + ")" * 5000,
            "-" * 50_000 + "1",
            "word" + "[0]" * 5000,
            "lower(" * 500 + "word" + ")" * 500,
            "word[0] &" * 5000 + "word[0]",
            "word[0]; pos[0]",
            "import os",
            "\0",
            "\ud800[0]",
            '"""',
        ],
        ids=lambda text: text[:20].encode("ascii", "replace").decode(),
    )
    def test_what_is_not_of_the_language_is_a_template_error(self, text):
        with pytest.raises(TemplateError) as caught:
            parsed(text)
        assert len(str(caught.value)) < 1000
        str(caught.value).encode()

    @given(text=st.lists(pieces, max_size=20).map("".join) | st.text(max_size=30))
    @example(text="word[0])+(pos[0]")
    @example(text="\x0c word[0]")
    @example(text="'" + "\\N{DIGIT ONE}" + "'")
    def test_whatever_is_read_there_is_no_other_error(self, text):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(TemplateError):
                assert isinstance(parsed(text), Features)


def test_every_function_can_be_called_from_text():
    for name, function in FUNCTIONS.items():
        if function.given is not None:
            continue
        texts = ("regex", "find", "t", "m", "cluster", "vectors", "gazetteer")
        given = ["'a'"] if name in texts else ["2"] if function.many else []
        text = f"{name}({', '.join(['word', *given])})[0]"
        (template,) = parsed(text).templates()
        assert template.parts[0].view.function == name
        assert parse_templates(str(parsed(text)), COLUMNS, "chunk") == (template,)
