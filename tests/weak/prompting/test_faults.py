"""Whatever a server does, no text is lost: each has a vote or an abstention that is counted, or there is one typed
error, and what was answered is in the cache."""

from __future__ import annotations

import json
import socket
import struct
import time
import warnings

import pytest
from standin import good, http, label_of, said

from trellis import weak
from trellis.errors import BudgetError, EndpointError
from trellis.weak.prompting import connection

TEXTS = [f"{kind} number {n}" for n in range(6) for kind in ("spam", "ham", "other")]


def drip(link):
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(200):
        link.sendall(b" ")
        time.sleep(0.05)


def drip_headers(link):
    link.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(200):
        link.sendall(b"X: 1\r\n")
        time.sleep(0.05)


def reset(link):
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


def completion(**message):
    return http(200, json.dumps({"choices": [message]}))


# what the model says, badly: the rest is asked again, and in the end every text has its vote
HALF_GOOD = {
    "a fence": lambda texts: f"```json\n{good(texts)}\n```",
    "prose around it": lambda texts: f"Sure {{here}} it is: {good(texts)} I hope {{that}} helps.",
    "thoughts before it": lambda texts: '<think>{"number": 1, "label": "HAM"}?</think>' + good(texts),
    "a bare list": lambda texts: json.dumps(json.loads(good(texts))["answers"]),
    "numbers as text, labels in another case": lambda texts: json.dumps(
        {"answers": [{"number": str(n), "label": (label_of(t) or "").lower() or None} for n, t in enumerate(texts, 1)]}
    ),
    "only some": lambda texts: good(texts, range(1, len(texts) // 2 + 1)),
    "unknown labels": lambda texts: good(texts).replace("HAM", "EGGS"),
    "labels of a wrong type": lambda texts: good(texts).replace('"HAM"', '["HAM"]'),
    "numbers of texts not asked": lambda texts: good(texts).replace('"number": 2', '"number": 99'),
    "wrong numbers": lambda texts: good(texts).replace('"number": 2', '"number": true'),
    "contradictions": lambda texts: good(texts) + '{"number": 1, "label": "HAM"} {"number": 1, "label": "SPAM"}',
    "nothing": lambda texts: "",
    "prose": lambda texts: "I cannot help with that.",
    "deep nesting": lambda texts: '{"a":' * 100_000,
    "deep lists": lambda texts: '{"answers":' + "[" * 100_000,
    "a huge number": lambda texts: '{"number": ' + "1" * 10_000 + "}",
    "cut off": lambda texts: said(good(texts)[: len(good(texts)) // 2], "length"),
    "no choices": lambda texts: http(200, '{"choices": []}'),
    "no content": lambda texts: completion(message={"content": None}),
    "choices of a wrong type": lambda texts: http(200, '{"choices": {"0": 1}}'),
    "no message": lambda texts: http(200, '{"choices": ["x"]}'),
    "content of a wrong type": lambda texts: completion(message={"content": [1]}),
    "no JSON": lambda texts: http(200, "<html>welcome</html>"),
    "a JSON list": lambda texts: http(200, "[]"),
    "deep JSON": lambda texts: http(200, "[" * 100_000),
    "no UTF-8": lambda texts: http(200, b'{"choices": "\xff\xfe"}'),
    "no body": lambda texts: http(204, ""),
    "too large": lambda texts: http(200, b" " * (connection.LARGEST + 1)),
}

# failures that pass: the request is sent again
PASSING = {
    "408": lambda texts: http(408, ""),
    "409": lambda texts: http(409, ""),
    "429": lambda texts: http(429, '{"error": {"message": "slow down"}}'),
    "500": lambda texts: http(500, "oh"),
    "503": lambda texts: http(503, "", "Retry-After: 7\r\n"),
    "closed without an answer": lambda texts: None,
    "reset": lambda texts: reset,
    "no HTTP": lambda texts: b"SSH-2.0-x\r\n\r\n",
    "a cut body": lambda texts: said(good(texts))[:-20],
    "a cut chunk": lambda texts: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
    "bad chunks": lambda texts: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{",
    "an error with 200": lambda texts: http(200, '{"error": {"message": "overloaded"}}'),
    "a header without end": lambda texts: b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000,
}

# refused: one error, at once
REFUSED = {
    "400": lambda texts: http(400, '{"error": {"message": "no such parameter"}}'),
    "401": lambda texts: http(401, '{"error": {"message": "bad key secret-key-1"}}'),
    "403": lambda texts: http(403, "not for you"),
    "404": lambda texts: http(404, "x" * 100_000),
    "a redirect": lambda texts: http(307, "", "Location: http://127.0.0.1:1/elsewhere\r\n"),
}


def votes_of(function, texts=TEXTS):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cast = function.on(texts)
    return [None if j < 0 else cast.labels[j] for j in cast.ids.tolist()], [str(one.message) for one in caught]


def settled(function, votes):
    """Every text has a vote or a counted abstention."""
    usage = function.usage
    assert sum(vote is not None for vote in votes) + sum(usage.abstained.values()) == usage.texts == len(votes)


@pytest.mark.parametrize("fault", HALF_GOOD)
def test_what_a_half_good_answer_leaves_out_is_asked_again(fault, asking):
    model, function = asking(parallel=1)
    model.faults = [HALF_GOOD[fault]] * 3
    votes, said = votes_of(function)
    assert votes == [label_of(text) for text in TEXTS]
    assert said == []
    assert function.usage.abstained == {"none fits": 6}
    settled(function, votes)


@pytest.mark.parametrize("fault", HALF_GOOD)
def test_a_text_that_never_has_a_readable_answer_abstains_and_is_counted(fault, asking):
    model, function = asking()
    model.always = HALF_GOOD[fault]
    votes, said = votes_of(function)
    assert all(vote in (None, label_of(text)) for vote, text in zip(votes, TEXTS, strict=True))
    settled(function, votes)
    failed = sum(function.usage.abstained.values()) - function.usage.abstained.get("none fits", 0)
    assert bool(said) == bool(failed)
    assert all(f"abstains on {failed} of 18 texts" in one for one in said)


def test_what_is_asked_again_is_asked_in_smaller_batches(asking):
    model, function = asking(parallel=1)
    model.always = lambda texts: "no"
    votes_of(function, TEXTS[:8])
    assert [len(texts) for texts in model.asked] == [8, 4, 4, 2, 2, 2, 2] + [1] * 8
    assert function.usage.abstained == {"unreadable answer": 8}
    votes_of(function, ["alone"])
    assert [len(texts) for texts in model.asked[15:]] == [1, 1]


@pytest.mark.parametrize("fault", PASSING)
def test_failures_that_pass_are_tried_again(fault, asking):
    model, function = asking(parallel=1)
    model.faults = [PASSING[fault]] * 2
    votes, said = votes_of(function)
    assert votes == [label_of(text) for text in TEXTS]
    assert said == []
    assert (function.usage.requests, function.usage.retries) == (5, 2)
    assert function.pauses == [7.0, 7.0] if fault == "503" else 0.25 <= function.pauses[0] <= 0.5 <= function.pauses[1]


@pytest.mark.parametrize("fault", PASSING)
def test_a_service_out_of_reach_is_an_error_and_not_silence(fault, asking, tmp_path):
    model, function = asking(parallel=1, retries=2, cache=tmp_path / "c")
    model.faults, model.always = [None], PASSING[fault]
    with pytest.raises(EndpointError, match=r"no answer after 3 tries.*what was answered is in .*c, and another run"):
        function.on(TEXTS)
    assert function.usage.requests == 4
    model.always = None
    _, again = asking(parallel=1, cache=tmp_path / "c")
    votes, _ = votes_of(again)
    assert votes == [label_of(text) for text in TEXTS]
    assert (again.usage.from_cache, again.usage.asked) == (8, 10)


@pytest.mark.parametrize("fault", REFUSED)
def test_a_refusal_is_one_error_that_says_what_the_server_said(fault, asking, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key-1")
    model, function = asking(parallel=1, cache=tmp_path / "c")
    model.faults, model.always = [None], REFUSED[fault]
    with pytest.raises(EndpointError) as caught:
        function.on(TEXTS)
    assert len(model.asked) == 2
    assert "Authorization: Bearer secret-key-1" in model.heads[0]
    assert "secret-key-1" not in str(caught.value) + repr(function) + repr(vars(function))
    assert caught.value.__cause__ is None
    assert len(str(caught.value)) < 900
    assert b"secret-key-1" not in (tmp_path / "c").read_bytes()
    model.always = None
    _, again = asking(cache=tmp_path / "c")
    assert votes_of(again)[0] == [label_of(text) for text in TEXTS]
    assert again.usage.from_cache == 8


@pytest.mark.parametrize("fault", [drip, drip_headers])
def test_a_server_that_drips_does_not_hold_a_request_beyond_its_timeout(fault, asking):
    model, function = asking(timeout=0.3, retries=1)
    model.faults = [lambda texts: fault]
    assert votes_of(function, TEXTS[:3])[0] == ["SPAM", "HAM", None]
    assert function.usage.retries == 1
    model.always = lambda texts: fault
    began = time.monotonic()
    with pytest.raises(EndpointError, match=r"not finished after 0\.3 seconds"):
        function.on(["another"])
    assert time.monotonic() - began < 8  # what it drips would take ten seconds, twice


def test_nobody_there_is_an_error(asking):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    function = weak.prompted(["A"], model="m", base_url=f"http://127.0.0.1:{port}", retries=1)
    function.pause = [].append
    with pytest.raises(EndpointError, match=r"no connection.*give cache=FILE"):
        function.on(["x"])


@pytest.mark.parametrize(
    ("header", "pause"),
    [("3", 3.0), ("100000", 60.0), ("-5", 0.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("soon", None), ("nan", None)],
)
def test_retry_after_is_honoured_within_reason(header, pause, asking):
    model, function = asking()
    model.faults = [lambda texts: http(429, "", f"Retry-After: {header}\r\n")]
    votes_of(function, ["spam"])
    assert function.pauses == [pause] if pause is not None else 0.25 <= function.pauses[0] <= 0.5


@pytest.mark.parametrize("budget", [{"max_requests": 2}, {"max_cost": 0.0002, "prices": (1.0, 1.0)}])
def test_when_the_budget_is_used_up_another_run_goes_on(budget, asking, tmp_path):
    model, function = asking(parallel=1, batch=4, cache=tmp_path / "c", **budget)
    with pytest.raises(BudgetError, match="max_"):
        function.on(TEXTS)
    assert len(model.asked) == 2
    _, again = asking(batch=1, cache=tmp_path / "c")
    assert votes_of(again)[0] == [label_of(text) for text in TEXTS]
    assert (again.usage.from_cache, again.usage.asked) == (8, 10)
