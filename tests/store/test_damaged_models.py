"""A file that is not exactly what was written is refused with one typed error, and so is a hand-made one."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from changes import changed, put, without
from handmade import canonical, put_together, take_apart

import trellis
from trellis.corpus import Corpus, parse_conll
from trellis.errors import DamagedModelError, NewerModelError
from trellis.store import from_bytes, put_strings
from trellis.store.file import FORMAT

REFUSED = (DamagedModelError, NewerModelError)


@pytest.fixture(scope="module")
def raw(small_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "m"
    small_model.save(path)
    return path.read_bytes()


def test_the_file_itself_is_fine(raw, loading):
    assert loading(raw).classes_ == ["X", "Y", "Z"]
    assert loading(put_together(*take_apart(raw))).classes_ == ["X", "Y", "Z"]


class TestAccidents:
    def test_every_truncation(self, raw, loading):
        for length in range(len(raw)):
            with pytest.raises(DamagedModelError):
                loading(raw[:length])

    def test_every_changed_byte(self, raw, loading):
        for at in range(len(raw)):
            for mask in (0x01, 0x20, 0x80, 0xFF):
                changed = bytearray(raw)
                changed[at] ^= mask
                with pytest.raises(REFUSED):
                    loading(bytes(changed))

    def test_every_byte_as_another_digit_or_space(self, raw, loading):
        """Changes that keep JSON readable: in the header, this is where leniency would hide."""
        length = 8 + int.from_bytes(raw[:8], "little")
        for at in range(8, length):
            for new in b'0A9 "':
                if raw[at] != new:
                    with pytest.raises(REFUSED):
                        loading(raw[:at] + bytes([new]) + raw[at + 1 :])

    @pytest.mark.parametrize("more", [b"\0", b" ", b"\0" * 8])
    def test_bytes_that_were_added(self, raw, loading, more):
        for data in (raw + more, more + raw):
            with pytest.raises(DamagedModelError):
                loading(data)

    @pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\xff" * 16, b"word pos\n" * 10, b"PK\x03\x04" * 8])
    def test_other_files(self, data, loading):
        with pytest.raises(DamagedModelError, match="not a whole Trellis model"):
            loading(data)

    def test_the_message_names_the_file_and_what_to_do(self, raw, loading):
        with pytest.raises(DamagedModelError, match=r"damaged\d*/m: not a whole Trellis model: .*train it again"):
            loading(raw[:100])


class TestVersions:
    @pytest.mark.parametrize("version", [FORMAT + 1, 99, 10**30])
    def test_a_newer_one_is_refused_as_such(self, raw, loading, version):
        description, entries, data = take_apart(raw)
        with pytest.raises(NewerModelError, match=f"version {version} is newer.*update trellis"):
            loading(put_together({**description, "format": version}, entries, data))

    @pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None, [1]])
    def test_what_is_no_version(self, raw, loading, version):
        description, entries, data = take_apart(raw)
        with pytest.raises(DamagedModelError):
            loading(put_together({**description, "format": version}, entries, data))


class TestHeaders:
    """In another form than the canonical one, though the digest is right."""

    @pytest.mark.parametrize(
        "write",
        [
            lambda header: json.dumps(header, sort_keys=True),
            lambda header: canonical(header) + " " * 8,
            lambda header: " " * 8 + canonical(header),
            lambda header: canonical(header).replace('"weights"', '"\\u0077eights"'),
            lambda header: canonical(header).replace('"dtype":"F64"', '"dtype":"U8","dtype":"F64"', 1),
            lambda header: canonical(header).replace("{", '{"__metadata__":{},', 1),
            lambda header: json.dumps(dict(sorted(header.items(), reverse=True)), separators=(",", ":")),
            lambda header: canonical(header).replace("[0,", "[0.0,", 1),
            lambda header: canonical(header).replace("[0,", "[-0,", 1),
            lambda header: canonical(header)[:-1] + "\t}",
        ],
        ids=["spaces", "longer", "indented", "escape", "key twice", "metadata twice", "order", "float", "-0", "tab"],
    )
    def test_are_refused(self, raw, loading, write):
        handmade = put_together(*take_apart(raw), write=write)
        assert handmade != raw
        with pytest.raises(DamagedModelError):
            loading(handmade)

    def test_a_digest_in_capitals(self, raw, loading):
        handmade = put_together(*take_apart(raw), upper=True)
        assert handmade.lower() == raw.lower()
        with pytest.raises(DamagedModelError):
            loading(handmade)

    def test_a_description_in_another_form(self, raw, loading):
        description, entries, data = take_apart(raw)
        for text in (
            json.dumps(description),
            canonical(description) + " ",
            canonical(description)[:-1] + ',"model":"CRF"}',
        ):
            with pytest.raises(DamagedModelError):
                loading(put_together(text, entries, data))

    @pytest.mark.parametrize("text", ["[]", "null", "7", '"x"', "{}", "NaN", '{"format":1}', "[" * 5000, ""])
    def test_a_description_that_is_none(self, raw, loading, text):
        _, entries, data = take_apart(raw)
        with pytest.raises(DamagedModelError):
            loading(put_together(text, entries, data))

    @pytest.mark.parametrize(
        "metadata", [None, [], "x", {"sha256": "0" * 64}, {"trellis": "{}"}, {"sha256": 7, "trellis": 7}]
    )
    def test_metadata_that_is_none(self, raw, loading, metadata):
        _, entries, data = take_apart(raw)
        body = canonical({"__metadata__": metadata, **entries}).encode()
        with pytest.raises(DamagedModelError):
            loading(len(body).to_bytes(8, "little") + body + data)

    def test_metadata_with_more_in_it(self, raw, loading):
        def write(header):
            return canonical({**header, "__metadata__": {**header["__metadata__"], "zz": "more"}})

        with pytest.raises(DamagedModelError):
            loading(put_together(*take_apart(raw), write=write))

    @pytest.mark.parametrize("body", [b"[]", b"null", b"7", b"{}", b'"x"', b"[" * 100_000, b"\xff" * 8, b"9" * 10_000])
    def test_what_is_no_header(self, loading, body):
        with pytest.raises(DamagedModelError):
            loading(len(body).to_bytes(8, "little") + body)


def entry(dtype, shape, first, last):
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


class TestTensorsInTheHeader:
    """Entries that do not describe the data, with a right digest."""

    @pytest.mark.parametrize(
        "entries",
        [
            {"a": entry("U8", [4], 0, 4), "b": entry("U8", [8], 0, 8)},
            {"a": entry("U8", [5], 0, 5), "b": entry("U8", [4], 4, 8)},
            {"a": entry("U8", [3], 0, 3), "b": entry("U8", [4], 4, 8)},
            {"a": entry("U8", [7], 1, 8)},
            {"a": entry("U8", [7], 0, 7)},
            {"a": entry("U8", [9], 0, 9)},
            {"a": entry("U8", [7], 0, 8)},
            {"a": entry("F64", [2], 0, 8)},
            {"a": entry("F64", [1, 8], 0, 8)},
            {"a": entry("F16", [4], 0, 8)},
            {"a": entry("V8", [1], 0, 8)},
            {"a": entry(7, [8], 0, 8)},
            {"a": entry([], [8], 0, 8)},
            {"a": entry("U8", [-8], 0, 8)},
            {"a": entry("U8", [-2, -4], 0, 8)},
            {"a": entry("U8", [8.0], 0, 8)},
            {"a": entry("U8", [True, 8], 0, 8)},
            {"a": entry("U8", 8, 0, 8)},
            {"a": entry("U8", "8", 0, 8)},
            {"a": entry("U8", [2**62, 4], 0, 8)},
            {"a": entry("U8", [2**64 + 8], 0, 8)},
            {"a": entry("U8", [0, 10**30], 0, 0), "b": entry("U8", [8], 0, 8)},
            {"a": entry("U8", [0, 2**62, 2**62], 0, 0), "b": entry("U8", [8], 0, 8)},
            {"a": entry("U8", [1] * 100 + [8], 0, 8)},
            {"a": entry("U8", [8], -8, 0)},
            {"a": entry("U8", [8], 8, 0)},
            {"a": entry("U8", [8], 0.0, 8)},
            {"a": entry("U8", [8], False, 8)},
            {"a": {"dtype": "U8", "shape": [8], "data_offsets": [0]}},
            {"a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 4, 8]}},
            {"a": {"dtype": "U8", "shape": [8], "data_offsets": 8}},
            {"a": {"dtype": "U8", "shape": [8]}},
            {"a": {**entry("U8", [8], 0, 8), "more": 1}},
            {"a": None},
            {"a": []},
            {},
        ],
        ids=lambda entries: canonical(entries)[:60],
    )
    def test_are_refused(self, entries):
        with pytest.raises(DamagedModelError):
            from_bytes(put_together({"format": 1}, entries, bytes(8)))

    def test_in_several_dimensions_are_fine_if_they_fit(self):
        _, tensors = from_bytes(put_together({"format": 1}, {"a": entry("U8", [2, 4], 0, 8)}, bytes(8)))
        assert tensors["a"].shape == (2, 4)

    def test_a_shape_of_very_many_numbers_is_refused_in_no_time(self, tmp_path):
        """Multiplying them out would take minutes, in one call that nothing interrupts."""
        (tmp_path / "m").write_bytes(put_together({"format": 1}, {"a": entry("U8", [2**60] * 200_000, 0, 8)}, bytes(8)))
        done = subprocess.run(
            [sys.executable, "-c", "import sys, trellis; trellis.load(sys.argv[1])", tmp_path / "m"],
            capture_output=True,
            text=True,
            timeout=10,
        )
        assert "DamagedModelError" in done.stderr


def setting(name, *values, at=0):
    """Puts values into a tensor."""

    def change(_, tensors):
        tensors[name][np.arange(at, at + len(values))] = values

    return change


def replacing(name, make):
    def change(_, tensors):
        tensors[name] = make(tensors[name])

    return change


def strings(name, *values):
    return lambda _, tensors: put_strings(tensors, name, values)


def wrapped(values):
    """Goes past the largest number and around: every difference is positive modulo 2^64."""
    most = np.iinfo(np.int64).max
    return np.array([0, most, -most - 1, -1, values[-1]], np.int64)


def pair_labels_backwards(_, tensors):
    """The labels of the first attribute that has two."""
    counts = tensors["pair_counts"].astype(int)
    first = int(np.flatnonzero(counts == 2)[0])
    at = counts[:first].sum()
    tensors["pair_labels"][at : at + 2] = tensors["pair_labels"][at : at + 2][::-1].copy()


def transitions_backwards(_, tensors):
    for name in ("transition_sources", "transition_targets"):
        tensors[name] = tensors[name][::-1].copy()


def transition_twice(_, tensors):
    for name in ("transition_sources", "transition_targets"):
        tensors[name][1] = tensors[name][0]


def no_labels(_, tensors):
    put_strings(tensors, "labels", [])
    tensors["pair_counts"] *= 0
    for name in ("pair_labels", "transition_sources", "transition_targets"):
        tensors[name] = tensors[name][:0]
    tensors["weights"] = tensors["weights"][:0]


def counts_that_wrap_around(description, tensors):
    """2^62 four times is 0 modulo 2^64."""
    description["features"]["templates"] = [f"U{k}:%x[0,word]" for k in range(4)]
    tensors["label_key_counts"] = np.full(4, 2**62)
    tensors["label_keys"] = tensors["label_keys"][:0]
    for name in ("pair_counts", "pair_labels"):
        tensors[name] = tensors[name][:0]
    tensors["weights"] = tensors["weights"][-len(tensors["transition_sources"]) :]


def conjunction_without_ranks(description, _):
    """A key of this many parts does not fit in 63 bits, and nothing says what replaces it."""
    text = "/".join(["%x[0,word]"] * 40)
    description["features"]["templates"][1] = f"U1:{text}"


BAD_TENSORS = {
    "weight NaN": setting("weights", np.nan),
    "weight infinite": setting("weights", -np.inf, at=3),
    "weights missing": lambda _, tensors: tensors.pop("weights"),
    "weights of float32": replacing("weights", lambda v: v.astype(np.float32).view(np.int32)),
    "weights as a table": replacing("weights", lambda v: v[None]),
    "one weight too few": replacing("weights", lambda v: v[:-1]),
    "one weight too many": replacing("weights", lambda v: np.append(v, 0.0)),
    "pair label out of range": setting("pair_labels", 3),
    "pair label 65535": setting("pair_labels", 65535),
    "pair labels not ascending": pair_labels_backwards,
    "one pair label too few": replacing("pair_labels", lambda v: v[:-1]),
    "pair counts moved": setting("pair_counts", 65535),
    "one pair count too few": replacing("pair_counts", lambda v: v[:-1]),
    "one pair count too many": replacing("pair_counts", lambda v: np.append(v, v[:1] * 0)),
    "transition source out of range": setting("transition_sources", 3),
    "transition target out of range": setting("transition_targets", 65535),
    "transitions not ascending": transitions_backwards,
    "transition twice": transition_twice,
    "one transition source too few": replacing("transition_sources", lambda v: v[:-1]),
    "keys not ascending": replacing("label_keys", lambda v: v[::-1].copy()),
    "key twice": lambda _, t: setting("label_keys", *t["label_keys"][:1], at=1)(_, t),
    "key negative": setting("label_keys", -1),
    "key out of range": setting("label_keys", 2**62, at=-1),
    "keys that wrap around": lambda _, t: (
        setting("label_keys", *wrapped(t["label_keys"]), at=t["label_key_counts"][0])(_, t)
    ),
    "one key too few": replacing("label_keys", lambda v: v[:-1]),
    "keys of int32": replacing("label_keys", lambda v: v.astype(np.int32)),
    "key counts that do not add up": setting("label_key_counts", 0),
    "key counts negative": lambda _, t: setting("label_key_counts", -1, t["label_key_counts"].sum() + 1)(_, t),
    "key counts that wrap around": counts_that_wrap_around,
    "one key count too few": replacing("label_key_counts", lambda v: v.sum(keepdims=True)),
    "no labels": no_labels,
    "label twice": strings("labels", "X", "Y", "X"),
    "label too few": strings("labels", "X", "Y"),
    "label bytes not UTF-8": setting("labels.bytes", 0xFF),
    "label offsets not from 0": setting("labels.offsets", 1),
    "label offsets backwards": setting("labels.offsets", 3, 1, at=1),
    "label offsets out of range": setting("labels.offsets", 2**40, at=2),
    "label offsets too short": replacing("labels.offsets", lambda v: v[:-1]),
    "label offsets that wrap around": lambda _, t: (
        strings("labels", "XY", "Y", "Z", "")(_, t),
        t.update({"labels.offsets": wrapped(t["labels.offsets"])}),
    ),
    "no label offsets": replacing("labels.offsets", lambda v: v[:0]),
    "vocabulary with a string twice": strings("vocabulary.0", "a", "b", "c", "a"),
    "vocabulary too small for the keys": strings("vocabulary.0", "a"),
    "vocabulary missing": lambda _, tensors: tensors.pop("vocabulary.0.bytes"),
    "conjunction without ranks": conjunction_without_ranks,
}  # fmt: skip


@pytest.mark.parametrize("change", BAD_TENSORS.values(), ids=BAD_TENSORS.keys())
def test_tensors_that_do_not_fit_together_are_refused(raw, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw, change))


@pytest.fixture(scope="module")
def ranked_raw(tmp_path_factory):
    """A model whose one template has too many parts for a number: the first digits are ranks of what was seen."""
    words = Corpus.from_lists({"word": [list("abca"), list("cb")], "tag": [list("XYXY"), list("YX")]})
    template = "U:" + "/".join(f"%x[{k % 3 - 1},word]" for k in range(30))
    path = tmp_path_factory.mktemp("ranked") / "m"
    trellis.CRF(target="tag", features=template).fit(words).save(path)
    return path.read_bytes()


def the_ranks(tensors):
    (name,) = (name for name in tensors if name.startswith("ranks."))
    return name


def ranks_more(kind, g, j):
    def change(description, tensors):
        tensors[f"ranks.{kind}.{g}.{j}"] = np.arange(9)
        description["features"]["ranks"].append([kind, g, j])

    return change


def renamed_ranks(description, tensors, g):
    """The right ranks under another number of the template."""
    ((kind, _, j),) = description["features"]["ranks"]
    tensors[f"ranks.{kind}.{g}.{j}"] = tensors.pop(the_ranks(tensors))
    description["features"]["ranks"] = [[kind, g, j]]


BAD_RANKS = {
    "none": lambda _, t: t.update({the_ranks(t): t[the_ranks(t)][:0]}),
    "one too few": lambda _, t: t.update({the_ranks(t): t[the_ranks(t)][:-1]}),
    "not ascending": lambda _, t: t.update({the_ranks(t): t[the_ranks(t)][::-1].copy()}),
    "negative": lambda _, t: setting(the_ranks(t), -1)(_, t),
    "larger than any number there": lambda _, t: setting(the_ranks(t), 2**62, at=-1)(_, t),
    "missing": lambda d, t: (t.pop(the_ranks(t)), d["features"]["ranks"].clear()),
    "for a part that needs none": ranks_more("label", 0, 1),
    "for a template that is not there": ranks_more("label", 7, 0),
    "for transitions that are not there": ranks_more("transition", 0, 0),
    "of an unknown kind": ranks_more("other", 0, 0),
    "for a template counted from the end": lambda d, t: renamed_ranks(d, t, -1),
    "for a template that is no number": lambda d, t: renamed_ranks(d, t, "0"),
}  # fmt: skip


@pytest.mark.parametrize("change", BAD_RANKS.values(), ids=BAD_RANKS.keys())
def test_ranks_that_do_not_fit_are_refused(ranked_raw, loading, change):
    assert loading(ranked_raw).predict(parse_conll(b"a\nz\n", ["word"]))
    with pytest.raises(DamagedModelError):
        loading(changed(ranked_raw, change))


BAD_DESCRIPTIONS = {
    "unknown kind": put("model", value="Oracle"),
    "kind not text": put("model", value=["CRF"]),
    "no kind": without("model"),
    "no parameters": without("params"),
    "parameters not an object": put("params", value=[["l2", 1.0]]),
    "unknown parameter": put("params", "evil", value=1),
    "parameter not a plain value": put("params", "l2", value=[1.0]),
    "l2 is text": put("params", "l2", value="1.0"),
    "l2 is negative": put("params", "l2", value=-1.0),
    "features is a number": put("params", "features", value=7),
    "target is a number": put("params", "target", value=7),
    "max_iter is a fraction": put("params", "max_iter", value=0.5),
    "all_pairs is text": put("params", "all_pairs", value="no"),
    "threads is text": put("params", "threads", value="many"),
    "no training record": without("training"),
    "objective is text": put("training", "objective", value="low"),
    "iterations negative": put("training", "iterations", value=-1),
    "iterations true": put("training", "iterations", value=True),
    "converged is a number": put("training", "converged", value=1),
    "training record with more": put("training", "more", value=1),
    "columns not a list": put("training", "columns", value="word"),
    "column not text": put("training", "columns", value=[1]),
    "no features": without("features"),
    "features of an unknown kind": put("features", "kind", value="code"),
    "template unreadable": put("features", "templates", value=["X", "Y"]),
    "templates not a list": put("features", "templates", value="U"),
    "a template too few": lambda description, _: description["features"]["templates"].pop(),
    "template twice": lambda d, _: put("features", "templates", value=d["features"]["templates"][:1] * 2)(d, _),
    "template by position": put("features", "templates", 0, value="U0:%x[0,0]"),
    "template out of reach": put("features", "templates", 0, value="U0:%x[9999,word]"),
    "template for a column that is not there": put("features", "templates", 0, value="U0:%x[0,pos]"),
    "columns of the features missing": without("features", "columns"),
    "columns of the features empty": put("features", "columns", value=[]),
    "columns of the features in another order or number": put("features", "columns", value=["word", "word"]),
    "columns of the features as text": put("features", "columns", value="word"),
    "ranks missing": without("features", "ranks"),
    "ranks that are not there": put("features", "ranks", value=[["label", 0, 0]]),
    "ranks not triples": put("features", "ranks", value=[1]),
    "ranks as in the first format": put("features", "ranks", value=[[0, 0]]),
    "resources missing": without("features", "resources"),
    "resources of a function that has none": put("features", "resources", value=[[0, [], []]]),
    "resources of a view that is not there": put("features", "resources", value=[[7, [], []]]),
    "resources not triples": put("features", "resources", value=[0]),
    "size of hashing missing": without("features", "hash_size"),
    "size of hashing is 0": put("features", "hash_size", value=0),
    "size of hashing is text": put("features", "hash_size", value="8"),
    "size of hashing beside vocabularies": put("features", "hash_size", value=8),
    "features with more": put("features", "more", value=1),
    "the first format": put("format", value=1),
}  # fmt: skip


@pytest.mark.parametrize("change", BAD_DESCRIPTIONS.values(), ids=BAD_DESCRIPTIONS.keys())
def test_descriptions_that_do_not_fit_are_refused(raw, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw, change))


@pytest.fixture(scope="module")
def rich_raw(tmp_path_factory):
    """A model with all that features can have: functions, what they look up, transitions, ranks, a tag dictionary."""
    sentences = {"word": [list("abca"), list("cb"), list("abc")], "tag": [list("XYXY"), list("YX"), list("XYX")]}
    folder = tmp_path_factory.mktemp("rich")
    (folder / "paths").write_text("001\ta\t2\n010\tb\t1\n", encoding="utf-8")
    wide = "/".join(f"%x[{k % 3 - 1},word]" for k in range(30))
    lines = [
        "U0:%x[0,word]",
        "U1:%suffix[-1,word,1]/%x[0,word]",
        "U2:%tags[0,word]",
        "U3:%ngrams[0,word,2]",
        "U:%x[-1,word]",
        "U:%x[1,word]",
        f'U4:%cluster[0,word,"{folder}/paths"]',
        f'U5:%cluster[0,word,"{folder}/paths",1]',
        f"U6:{wide}",
        f"B1:{wide}",
        "B:%x[0,word]",
    ]
    words = Corpus.from_lists(sentences)
    trellis.CRF(target="tag", features="\n".join(lines), tag_dictionary=2, tol=1e-3).fit(words).save(folder / "m")
    return (folder / "m").read_bytes()


def answers_or_is_refused(loading, data):
    """Never anything else: no other error, no crash."""
    try:
        model = loading(data)
    except DamagedModelError:
        return False
    for nodes in model.predict_marginals(Corpus.from_lists({"word": [list("abz"), []]})):
        assert np.isfinite(nodes).all()
    return True


class TestAnyPartOfTheFeatures:
    def test_the_model_itself_answers(self, rich_raw, loading):
        assert answers_or_is_refused(loading, rich_raw)
        tensors = set(from_bytes(rich_raw)[1])
        assert {"label_keys", "transition_keys", "arc_pairs", "dictionary_labels", "vocabulary.0.bytes"} <= tensors
        assert {name.split(".")[0] for name in tensors} >= {"ranks", "resource"}

    def test_a_tensor_that_is_missing(self, rich_raw, loading):
        for name in from_bytes(rich_raw)[1]:
            with pytest.raises(DamagedModelError):
                loading(changed(rich_raw, lambda _, tensors, name=name: tensors.pop(name)))

    def test_a_tensor_of_another_kind(self, rich_raw, loading):
        for name, values in from_bytes(rich_raw)[1].items():
            for other in ("f8", "i8", "i4", "u2", "u1"):
                if values.dtype != np.dtype(other):
                    with pytest.raises(DamagedModelError):
                        loading(changed(rich_raw, replacing(name, lambda v, other=other: v.astype(other))))
            with pytest.raises(DamagedModelError):
                loading(changed(rich_raw, replacing(name, lambda v: v[None])))

    def test_a_tensor_too_short_or_too_long(self, rich_raw, loading):
        for name, values in from_bytes(rich_raw)[1].items():
            more = np.append(values, values[-1:] if len(values) else np.zeros(1, values.dtype))
            zero = np.append(values, np.zeros(1, values.dtype))
            for new in (values[:-1], more, zero):
                if len(new) != len(values):
                    data = changed(rich_raw, replacing(name, lambda _, new=new: new))
                    accepted = answers_or_is_refused(loading, data)
                    assert not accepted or name.endswith(".offsets"), name  # one more string need not be wrong

    def test_a_tensor_that_is_not_there_in_any_model(self, rich_raw, loading):
        for name in ("more", "resource.0.more", "ranks.label.0.0", "vocabulary.99.bytes", "keys"):
            with pytest.raises(DamagedModelError):
                loading(changed(rich_raw, lambda _, tensors, name=name: tensors.update({name: np.zeros(1, np.int64)})))

    def test_any_number_in_a_tensor(self, rich_raw, loading):
        for name, values in from_bytes(rich_raw)[1].items():
            if values.dtype.kind == "f":
                continue
            kind = np.iinfo(values.dtype)
            for at in range(0, len(values), 1 + len(values) // 6):
                for new in {kind.min, kind.max, int(values[at]) ^ 1, int(values[at]) // 2}:
                    answers_or_is_refused(loading, changed(rich_raw, setting(name, new, at=at)))

    def test_any_entry_of_the_description(self, rich_raw, loading):
        for path, value in entries_of(from_bytes(rich_raw)[0]["features"]):
            for new in (None, -1, 0, 7, 1.5, True, "", "x", "U0:%x[0,word]", [], {}, [[]], [0], value):
                other_column = path == ("dictionary",) and type(new) is str  # which need not be wrong
                if (type(new) is not type(value) or new != value) and not other_column:
                    accepted = answers_or_is_refused(loading, changed(rich_raw, put("features", *path, value=new)))
                    assert not accepted, (path, new)
            if isinstance(path[-1], str):
                assert not answers_or_is_refused(loading, changed(rich_raw, without("features", *path)))


def entries_of(tree, path=()):
    """Everything in a description, with its path."""
    if path:
        yield path, tree
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from entries_of(tree[key], (*path, key))


def test_a_class_loads_only_files_of_its_own_kind(raw, tmp_path):
    (tmp_path / "m").write_bytes(changed(raw, put("model", value="Oracle")))
    with pytest.raises(DamagedModelError, match="Oracle"):
        trellis.CRF.load(tmp_path / "m")
