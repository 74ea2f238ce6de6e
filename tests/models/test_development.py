"""Development data: the score of weights, and labels that nothing can be compared with."""

from __future__ import annotations

import pytest

from trellis import CRF, Corpus
from trellis.corpus import parse_conll
from trellis.errors import DataError
from trellis.models.development import Development

X = [[["a"], ["b"]], [["b"]]]
Y = [["A", "B"], ["B"]]


@pytest.fixture(scope="module")
def listed():
    return CRF().fit(X, Y).model_


@pytest.fixture(scope="module")
def model():
    return CRF("label", "U0:%x[0,0]").fit(Corpus.from_lists({"word": [["a", "b"]], "label": [["A", "B"]]})).model_


def test_the_score_is_that_of_the_weights(listed):
    development = Development(listed, X, Y, None)
    assert development(listed.weights) == 1.0
    assert development(-listed.weights) < 0.5


class TestLabelsKnownInPart:
    @pytest.mark.parametrize("label", ["?", "A|B"])
    def test_in_a_file_are_refused_by_line(self, model, label):
        dev = parse_conll(f"a A\n\nb B\nb {label}\n".encode(), ["word", "label"], "dev.txt")
        with pytest.raises(DataError) as caught:
            Development(model, dev, None, "label", partial=True)
        expected = f"dev.txt:4: the label is '{label}'; development data needs one label for each token"
        assert str(caught.value) == expected

    def test_in_lists_are_refused_by_token(self, listed):
        with pytest.raises(DataError, match=r"^sentence 2, token 1 of the development data: the label is '\?'; dev"):
            Development(listed, X, [["A", "B"], ["?"]], None, partial=True)

    def test_are_labels_like_others_where_all_are_known(self, listed):
        assert Development(listed, X, [["A", "B"], ["?"]], None)(listed.weights) == pytest.approx(2 / 3)

    def test_elsewhere_in_the_file_do_no_harm(self, model):
        dev = parse_conll(b"a A\n\nb ?\n", ["word", "label"]).slice(0, 1)
        assert Development(model, dev, None, "label", partial=True)(model.weights) == 1.0

    @pytest.mark.parametrize("label", [None, {"A", "B"}, ("A", "B")])
    def test_as_none_or_a_choice_are_refused(self, label):
        with pytest.raises(DataError, match=r"sentence 2, token 1: the label .* is no text"):
            CRF().fit(X, [["A", None], ["B"]], dev=X, dev_y=[["A", "B"], [label]])
