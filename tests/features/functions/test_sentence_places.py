"""The first and the last token of a sentence."""

from __future__ import annotations

from function_cases import per_token

SENTENCES = [["a", "b", "c"], [], ["d"], ["a", "a"], []]


def where(name, sentences):
    return [row == (("true", 1.0),) for row in per_token(name, sentences, None, ())]


def test_the_first_token_of_each_sentence():
    assert where("is_first", SENTENCES) == [True, False, False, True, True, False]


def test_the_last_token_of_each_sentence():
    assert where("is_last", SENTENCES) == [False, False, True, True, False, True]


def test_no_tokens_have_no_place():
    assert where("is_first", []) == where("is_last", [[]]) == []
