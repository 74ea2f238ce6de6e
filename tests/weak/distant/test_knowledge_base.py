"""Facts, aliases and types, from Python and from files."""

from __future__ import annotations

import pytest

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.weak import KnowledgeBase

FACTS = [("Bill Gates", "founder", "Microsoft"), ("Bill Gates", "works_for", "Microsoft"), ("Oslo", "in", "Norway")]


@pytest.fixture
def written(tmp_path):
    def write(text, name="kb.tsv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_pair_may_have_several_relations_and_has_a_direction():
    kb = KnowledgeBase(FACTS)
    assert kb.relations_of("Bill Gates", "Microsoft") == ("founder", "works_for")
    assert kb.relations_of("Microsoft", "Bill Gates") == ()
    assert ("Oslo", "in", "Norway") in kb
    assert ("Norway", "in", "Oslo") not in kb
    assert "Oslo" not in kb
    assert (["Oslo"], "in", "Norway") not in kb
    assert list(kb) == FACTS
    assert len(kb) == 3
    assert kb.relations == ("founder", "works_for", "in")
    assert kb.entities == ["Bill Gates", "Microsoft", "Oslo", "Norway"]
    assert repr(kb) == "<KnowledgeBase of 3 facts, 4 entities, 3 relations>"


def test_arguments_of_some_relations_are_no_limit_to_others():
    kb = KnowledgeBase(FACTS, types={"Bill Gates": "PER", "Microsoft": "ORG"}, arguments={"in": ("LOC", "LOC")})
    assert kb.argument_types == {("LOC", "LOC"), ("PER", "ORG")}


def test_a_name_of_two_entities_is_no_alias_of_a_third():
    kb = KnowledgeBase(
        [("US", "in", "x"), ("us", "in", "y"), ("America", "in", "z")], aliases={"America": ["US"]}, lower=True
    )
    assert kb.entity("US") is None
    assert kb.ambiguous == 1


@pytest.mark.parametrize("given", [{"aliases": {"Oslo": None}}, {"types": ["PER"]}, {"arguments": 3}])
def test_tables_of_a_wrong_kind(given):
    with pytest.raises((SettingError, DataError)):
        KnowledgeBase(FACTS, **given)


def test_a_fact_that_is_given_twice_is_counted_once():
    kb = KnowledgeBase([*FACTS, FACTS[0], ("Bill  Gates ", "founder", "Microsoft")])
    assert len(kb) == 3
    assert kb.duplicates == 2


def test_aliases_stand_for_entities_unless_they_might_be_several():
    aliases = {"Bill Gates": ["Gates", "the founder"], "Oslo": "the founder", "Norway": ["Oslo"]}
    kb = KnowledgeBase(FACTS, aliases=aliases)
    assert kb.entity("Gates") == "Bill Gates"
    assert kb.entity("the founder") is None
    assert kb.entity("Oslo") == "Oslo"  # its own name comes first
    assert kb.entity("Bergen") is None
    assert kb.ambiguous == 2


def test_with_lower_names_that_differ_in_case_are_one():
    kb = KnowledgeBase([("US", "near", "Canada"), ("us", "met", "Ann")], lower=True)
    assert kb.entity("CANADA") == "Canada"
    assert kb.entity("Us") is None
    assert kb.ambiguous == 1


def test_types_come_from_entities_or_from_the_arguments_of_relations():
    kb = KnowledgeBase(FACTS, types={"Oslo": "CITY", "Ann": "PER"}, arguments={"founder": ("PER", "ORG")})
    assert [kb.type_of(name) for name in ("Bill Gates", "Microsoft", "Oslo", "Norway", "Ann")] == [
        "PER", "ORG", "CITY", None, "PER",
    ]  # fmt: skip
    assert kb.fits("PER", "ORG")
    assert not kb.fits("ORG", "PER")
    assert kb.fits("PER", "_")
    assert not kb.fits("ORG", "_")
    assert kb.fits("_", "_")
    assert "Ann" in kb.entities


def test_without_arguments_the_types_of_the_facts_count():
    kb = KnowledgeBase(FACTS[2:], types={"Oslo": "CITY", "Norway": "COUNTRY"})
    assert kb.argument_types == {("CITY", "COUNTRY")}
    assert not kb.fits("PER", "ORG")
    assert KnowledgeBase(FACTS, types={"Oslo": "CITY", "Norway": "COUNTRY"}).fits("PER", "ORG")  # of the other facts
    assert KnowledgeBase(FACTS).fits("X", "Y")


def test_a_relation_may_have_several_pairs_of_arguments():
    facts = [("Oslo", "in", "Norway"), ("Harbour Bank", "in", "Oslo")]
    kb = KnowledgeBase(facts, arguments={"in": [("LOC", "LOC"), ("ORG", "LOC")]})
    assert kb.type_of("Norway") == kb.type_of("Oslo") == "LOC"
    assert kb.type_of("Harbour Bank") is None


def test_types_that_contradict_each_other_are_refused():
    with pytest.raises(DataError, match="'a' is of the type 'X' by 'r', and of 'Z' by another relation; give it a"):
        KnowledgeBase([("b", "s", "a"), ("a", "r", "b")], arguments={"r": ("X", "Y"), "s": ("Y", "Z")})


@pytest.mark.parametrize(
    "wrong", [5, [5], ["abc"], [("a", "r")], [("a", 1, "b")], [("a", "r", " ")], [("a\nb", "r", "c")]]
)
def test_facts_of_another_shape_are_refused(wrong):
    with pytest.raises(DataError, match="fact"):
        KnowledgeBase(wrong)


@pytest.mark.parametrize("relation", ["none", "_", "born in", ""])
def test_some_relations_could_not_be_labels(relation):
    with pytest.raises(DataError, match="fact 1: the relation is"):
        KnowledgeBase([("a", relation, "b")])


def test_files_may_have_comments_a_byte_order_mark_and_windows_line_ends(written):
    text = "\ufeff# facts\r\nAda  King\tborn_in\tLondon\r\n\r\nAda King\tborn_in\tLondon\r\n"
    kb = KnowledgeBase.read(
        written(text),
        written("Ada King\tAda\n", "a.tsv"),
        written("London\tLOC\n", "t.tsv"),
        written("born_in\tPER\tLOC\n", "g.tsv"),
    )
    assert list(kb) == [("Ada King", "born_in", "London")]
    assert kb.duplicates == 1
    assert kb.entity("Ada") == "Ada King"
    assert kb.type_of("Ada King") == "PER"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tr\tb\na\tr\n", "kb.tsv:2: 2 columns; expected 3, apart by tabs: subject, relation, object"),
        ("a r b\n", "kb.tsv:1: 1 column; expected 3"),
        ("a\tr\tb\tc\n", "kb.tsv:1: 4 columns; expected 3"),
        ("a\tr\t \n", "kb.tsv:1: the object is empty"),
        ("a\tnone\tb\n", "kb.tsv:1: the relation is 'none'; that is what pairs without a relation are called"),
        ("a\tr\tb\rc\n", "kb.tsv:1: the object is .* control character"),
        (b"a\tr\tb\n\xff\tr\tb\n", "kb.tsv:2: byte 0xff is not valid UTF-8"),
        (b"a\tr\tb\0\n", "kb.tsv:1: a NUL byte"),
        ("# nothing\n", "kb.tsv: there is no fact"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(text, said, written):
    with pytest.raises(DataError, match=said):
        KnowledgeBase.read(written(text))


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("aliases", "a\tA\nx\tX\n", "other.tsv:2: no fact is about 'x'"),
        ("types", "a\tX\na\tY\n", "other.tsv:2: 'a' is of the type 'Y', and of 'X' before"),
        ("arguments", "s\tX\tY\n", "other.tsv:1: no fact has the relation 's'; the relations are: r"),
        ("arguments", "r\tX\n", "other.tsv:1: 2 columns; expected 3"),
    ],
)
def test_so_is_what_is_wrong_beside_the_facts(option, text, said, written):
    with pytest.raises(DataError, match=said):
        KnowledgeBase.read(written("a\tr\tb\n"), **{option: written(text, "other.tsv")})


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileAccessError, match="no such file"):
        KnowledgeBase.read(tmp_path / "none.tsv")


def test_a_base_without_facts_has_nothing_to_look_for():
    with pytest.raises(SettingError, match="no name to look for"):
        KnowledgeBase([]).phrases  # noqa: B018
