"""What segment labels mean: splitting, recognising an encoding, legal neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.labels import ENCODINGS, detect, illegal, legal_transitions, read_segments, split
from trellis.labels.encoding import PREFIXES

PENN_TAGS = "NN NNS NNP IN DT JJ , . : -LRB- -RRB- '' `` POS PRP$ WP$ SYM UH VBZ # $"
PENN = PENN_TAGS.split()
UD_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _"
UD = UD_TAGS.split()


def pack(*sentences: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Sentences of labels separated by blanks -> (labels, ids, offsets)."""
    words = [s.split() for s in sentences]
    labels = sorted({w for s in words for w in s})
    ids = np.array([labels.index(w) for s in words for w in s], dtype=np.int32)
    return labels, ids, np.cumsum([0, *map(len, words)])


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("B-NP", ("B", "NP")),
        ("S-PER", ("S", "PER")),
        ("B-ART-X", ("B", "ART-X")),
        ("O", ("O", "")),
        ("I", ("I", "")),
        ("NN", ("NN", "")),
        ("-LRB-", ("", "LRB-")),
        ("", ("", "")),
    ],
)
def test_a_label_splits_at_its_first_hyphen(label, parts):
    assert split(label) == parts


@pytest.mark.parametrize(
    ("labels", "encoding"),
    [
        ("O I-NP I-VP", "io"),
        ("O", "io"),
        ("O B-NP I-NP", "iob2"),
        ("B-NP I-NP", "iob2"),
        ("O B-ART-X I-ART-X", "iob2"),
        ("O I-NP E-NP", "ioe2"),
        ("O B-NP I-NP E-NP S-NP", "bioes"),
        ("O B-PER E-PER", "bioes"),
        ("O S-PER", "bioes"),
        ("O B-NP I-NP L-NP U-NP", "bilou"),
        ("O U-PER", "bilou"),
        ("B I O", "iob2"),
        ("B I", "iob2"),
        ("B I E S", "bioes"),
        ("I O", "io"),
        ("O B-人名 I-人名", "iob2"),
    ],
)
def test_an_encoding_is_known_by_its_prefixes(labels, encoding):
    assert detect(labels.split()) == encoding


@pytest.mark.parametrize(
    "labels",
    [
        PENN,
        UD,
        [*PENN, "O"],
        ["O", "NN"],
        ["O", "I-95"],
        ["I-95", "B-52", "O"],
        ["O", "B-NP", "I"],  # a bare label among typed ones
        ["O", "B-NP", "X-NP"],
        ["O", "B-"],
        ["O", "O-NP"],
        ["B-NP", "E-NP", "L-NP"],  # two encodings at once
        ["I", "S"],  # bare letters that may be anything
        ["S"],
        ["B", "S"],
        ["b-np", "i-np", "O"],
        [""],
        [],
    ],
)
def test_labels_of_another_form_are_no_encoding(labels):
    assert detect(labels) is None


@pytest.mark.parametrize(
    ("sentences", "encoding"),
    [
        (["B-NP I-NP O", "O B-NP"], "iob2"),
        (["I-NP I-NP O", "O I-NP B-NP"], "iob1"),
        (["I-NP E-NP O"], "ioe2"),
        (["I-NP E-NP I-NP O"], "ioe1"),
        (["B-NP I-NP O I-NP O B-NP B-NP"], "iob2"),  # one error against three
        (["O I-NP B-NP", "O I-NP", "B-NP"], "iob1"),
        (["O O"], "io"),
    ],
)
def test_sequences_decide_where_the_label_set_leaves_it_open(sentences, encoding):
    labels, ids, offsets = pack(*sentences)
    assert detect(labels, ids, offsets) == encoding


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(
    sentences=st.lists(
        st.lists(st.tuples(st.sampled_from(["X", "Y", None]), st.integers(1, 4)), max_size=6), max_size=4
    )
)
def test_what_is_detected_reads_as_it_was_meant(encoding, sentences):
    labels, ids, offsets = pack(*(" ".join(spell(encoding, s)) for s in sentences))
    found = detect(labels, ids, offsets) or "io"
    assert not illegal(labels, ids, offsets, found).size
    for mine, meant in zip(
        *(read_segments(ids, labels, offsets, "well-formed", e) for e in (found, encoding)), strict=True
    ):
        assert mine.tolist() == meant.tolist()
    assert found == encoding or {label[0] for label in labels} < {*PREFIXES[encoding], "O"}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_with_enough_sequences_every_encoding_is_detected(encoding):
    labels, ids, offsets = pack(
        " ".join(spell(encoding, [("X", 3), ("X", 1), (None, 1), ("X", 2), ("X", 2), ("Y", 1)]))
    )
    assert detect(labels, ids, offsets) == encoding
    damaged = np.concatenate([ids] * 20)
    damaged[::50] = labels.index("I-X")  # a few mistakes
    assert detect(labels, damaged, np.arange(21) * len(ids)) == encoding


def test_an_open_question_without_evidence_is_iob2():
    assert detect(["B-NP", "I-NP", "O"], [2, 2], [0, 2]) == "iob2"
    assert detect(["B-NP", "I-NP", "O"], [], [0]) == "iob2"


@pytest.mark.parametrize(
    ("encoding", "sentences", "positions"),
    [
        ("io", ["I-X I-Y O I-X"], []),
        ("iob2", ["B-X I-X O B-Y"], []),
        ("iob2", ["I-X O I-X", "B-X I-Y I-Y"], [0, 2, 4]),
        ("iob2", ["B-X", "I-X"], [1]),
        ("iob1", ["I-X B-X I-X O I-Y I-X"], []),
        ("iob1", ["B-X O B-X", "I-X B-Y"], [0, 2, 4]),
        ("ioe2", ["I-X E-X O E-X"], []),
        ("ioe2", ["I-X O E-X I-X", "I-X E-Y"], [1, 3, 5]),
        ("ioe1", ["I-X E-X I-X O"], []),
        ("ioe1", ["E-X O I-X E-X"], [1, 3]),
        ("bioes", ["B-X I-X E-X S-X O S-Y B-X E-X"], []),
        ("bioes", ["I-X E-X S-X I-X", "B-X E-Y O E-X", "B-X O"], [0, 3, 5, 7, 9]),
        ("bioes", ["O B-X", "S-X B-X I-X"], [1, 4]),
        ("bilou", ["B-X I-X L-X U-X O"], []),
        ("bilou", ["B-X U-X L-X", "U-X B-X"], [1, 2, 4]),
        ("bioes", ["B I E S O B E"], []),
    ],
)
def test_illegal_names_the_tokens_that_may_not_stand_there(encoding, sentences, positions):
    labels, ids, offsets = pack(*sentences)
    found = illegal(labels, ids, offsets, encoding)
    assert found.dtype == np.int64
    assert found.tolist() == positions


def test_empty_sentences_and_empty_corpora_have_nothing_illegal():
    assert illegal(["O", "I-X"], [], [0], "iob2").tolist() == []
    assert illegal(["O", "I-X"], [], [0, 0, 0], "iob2").tolist() == []
    assert illegal(["O", "I-X"], [0, 1, 1], [0, 0, 1, 1, 3, 3], "iob2").tolist() == [1]


def test_the_table_of_iob2():
    start, transition, end = legal_transitions(["O", "B-X", "I-X", "I-Y"], "iob2")
    assert start.tolist() == [True, True, False, False]
    assert end.all()
    assert transition[:, :2].all()
    assert transition[:, 2].tolist() == [False, True, True, False]
    assert transition[:, 3].tolist() == [False, False, False, True]


SEGMENTS = st.lists(st.tuples(st.sampled_from(["X", "Y", None]), st.integers(1, 4)), max_size=6)


def spell(encoding: str, spans: list[tuple[str | None, int]]) -> list[str]:
    """The labels of adjacent spans of (type or None for O, length), written from the table of encodings."""
    out: list[str] = []
    for i, (kind, n) in enumerate(spans):
        before = spans[i - 1][0] if i else None
        after = spans[i + 1][0] if i + 1 < len(spans) else None
        prefixes = ["I"] * n
        if encoding == "iob2" or (encoding == "iob1" and before == kind):
            prefixes[0] = "B"
        elif encoding == "ioe2" or (encoding == "ioe1" and after == kind):
            prefixes[-1] = "E"
        elif encoding in ("bioes", "bilou"):
            single, last = ("S", "E") if encoding == "bioes" else ("U", "L")
            prefixes[0], prefixes[-1] = "B", last
            prefixes = prefixes if n > 1 else [single]
        out += [f"{p}-{kind}" if kind else "O" for p in prefixes]
    return out


@given(st.sampled_from(ENCODINGS), st.lists(SEGMENTS, max_size=4))
def test_whatever_an_encoding_spells_is_legal_in_it(encoding, sentences):
    labels, ids, offsets = pack(*(" ".join(spell(encoding, s)) for s in sentences))
    assert illegal(labels, ids, offsets, encoding).size == 0


def test_unfit_settings_and_data_are_refused():
    with pytest.raises(SettingError, match="unknown encoding 'iobx'"):
        legal_transitions(["O"], "iobx")
    with pytest.raises(SettingError, match="'E-X' is not iob2"):
        legal_transitions(["O", "E-X"], "iob2")
    with pytest.raises(SettingError, match="'NN' is not io"):
        legal_transitions(["NN"], "io")
    for ids, offsets in [
        ([0, 2], [0, 2]),
        ([0, -1], [0, 2]),
        ([0, 1], [0, 1]),
        ([0, 1], [0, 2, 1, 2]),
        ([0, 1], [1, 2]),
        ([0, 1], []),
        ([0.0, 1.0], [0, 2]),
        ([[0, 1]], [0, 2]),
    ]:
        with pytest.raises(DataError):
            illegal(["O", "I-X"], ids, offsets, "io")
