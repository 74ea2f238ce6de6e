"""Whatever a server does, no text is lost: each has a vote or an abstention that is counted, or there is one typed
error, and what was answered is in the cache."""

from __future__ import annotations

import json
import re
import socket
import struct
import time
import warnings
from contextlib import ExitStack, nullcontext
from threading import Event, Timer

import pytest
from standin import good, http, label_of, said, serving

from trellis import weak
from trellis.corpus import Corpus
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


def ended(function):
    """Waits until nothing more is asked: what is under way stays so until then."""
    return function._asking[0].stopped.wait(9)


def reset(link):
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


def completion(**message):
    return http(200, json.dumps({"choices": [message]}))


def apart(*parts):
    """Sent one behind the other, with pauses."""

    def send(link):
        for part in parts:
            link.sendall(part)
            time.sleep(0.02)
        link.close()

    return send


def closing(texts, more=b"", head=b"HTTP/1.1 200 OK\r\nConnection: close\r\n"):
    """Head and body apart, of a server that closes the connection."""
    body = said(good(texts)).partition(b"\r\n\r\n")[2] + more
    return apart(head + f"Content-Length: {len(body)}\r\n\r\n".encode(), body)


def parts_of(texts):
    parts = [{"type": "image"}, {"type": "text", "text": good(texts)[:9]}, {"type": "text", "text": good(texts)[9:]}]
    return completion(message={"content": parts})


# other ways to answer well
GOOD = {
    "a connection that is closed": closing,
    "a large body, and closed": lambda texts: closing(texts, b" " * 100_000),
    "HTTP/1.0": lambda texts: closing(texts, head=b"HTTP/1.0 200 OK\r\n"),
    "no length": lambda texts: apart(b"HTTP/1.1 200 OK\r\n\r\n", said(good(texts)).partition(b"\r\n\r\n")[2]),
    "early hints": lambda texts: b"HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\n" + said(good(texts)),
    "a byte order mark": lambda texts: http(200, b"\xef\xbb\xbf" + said(good(texts)).partition(b"\r\n\r\n")[2]),
    "parts": parts_of,
    "numbers that are decimal": lambda texts: re.sub(r'"number": (\d+)', r'"number": \1.0', good(texts)),
}

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
    "a number 0 too many": lambda texts: '{"number": 0, "label": "HAM"}' + good(texts),
    "numbers from 0": lambda texts: re.sub(
        r'"number": (\d+)', lambda found: f'"number": {int(found[1]) - 1}', good(texts)
    ),
    "numbers from 2": lambda texts: re.sub(
        r'"number": (\d+)', lambda found: f'"number": {int(found[1]) + 1}', good(texts)
    ),
    "wrong numbers": lambda texts: good(texts).replace('"number": 2', '"number": true'),
    "contradictions": lambda texts: good(texts) + '{"number": 1, "label": "HAM"} {"number": 1, "label": "SPAM"}',
    "nothing": lambda texts: "",
    "prose": lambda texts: "I cannot help with that.",
    "a draft that is taken back": lambda texts: f"<think>{good(texts).replace('HAM', 'SPAM')} no",
    "a draft, and cut off": lambda texts: said(good(texts).replace("HAM", "SPAM") + " no, rather", "length"),
    "deep nesting": lambda texts: '{"a":' * 100_000,
    "deep lists": lambda texts: '{"answers":' + "[" * 100_000,
    "a huge number": lambda texts: '{"number": ' + "1" * 10_000 + "}",
    "cut off": lambda texts: said(good(texts)[: len(good(texts)) // 2], "length"),
    "no choices": lambda texts: http(200, '{"choices": []}'),
    "no content": lambda texts: completion(message={"content": None}),
    "no message": lambda texts: http(200, '{"choices": ["x"]}'),
    "content of a wrong type": lambda texts: completion(message={"content": [1]}),
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
    "choices of a wrong type": lambda texts: http(200, '{"choices": {"0": 1}}'),
    "no JSON": lambda texts: http(200, "<html>welcome</html>"),
    "a JSON list": lambda texts: http(200, "[]"),
    "deep JSON": lambda texts: http(200, "[" * 100_000),
    "no UTF-8": lambda texts: http(200, b'{"choices": "\xff\xfe"}'),
    "no body": lambda texts: http(204, ""),
    "a header without end": lambda texts: b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000,
}

# refused, maybe because of what is in the texts
NOT_THESE = {
    "400": lambda texts: http(400, '{"error": {"message": "too long"}}'),
    "413": lambda texts: http(413, ""),
    "422": lambda texts: http(422, "no such parameter"),
    "too large": lambda texts: http(200, b" " * (connection.LARGEST + 1)),
}

# refused: one error, at once
REFUSED = {
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


@pytest.mark.parametrize("way", GOOD)
def test_all_ways_to_answer_well_are_read(way, asking):
    model, function = asking(retries=0)
    model.always = GOOD[way]
    votes, said = votes_of(function)
    assert (votes, said) == ([label_of(text) for text in TEXTS], [])
    assert function.usage.requests == 3


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
    texts = TEXTS[:10]
    votes, said = votes_of(function, texts)
    assert all(vote in (None, label_of(text)) for vote, text in zip(votes, texts, strict=True))
    settled(function, votes)
    failed = sum(function.usage.abstained.values()) - function.usage.abstained.get("none fits", 0)
    assert bool(said) == bool(failed)
    assert all(f"abstains on {failed} of 10 texts" in one and "; for example, " in one for one in said)


@pytest.mark.parametrize("fault", ["prose", "no content", "unknown labels only"])
def test_a_model_that_says_nothing_of_use_is_an_error_before_all_is_paid_for(fault, asking, tmp_path):
    model, function = asking(cache=tmp_path / "c", parallel=2)
    other = {"unknown labels only": lambda texts: good(texts).replace("HAM", "EGGS").replace("SPAM", "EGGS")}
    model.always = {**HALF_GOOD, **other}[fault]
    texts = [f"spam number {n}" for n in range(200)]
    with pytest.raises(EndpointError, match="of 10 texts none has an answer that can be read; for one it is: "):
        function.on(texts)
    assert len(model.asked) < 40
    model.always = None
    assert votes_of(function, texts)[0] == ["SPAM"] * 200


def test_what_is_asked_again_is_asked_in_smaller_batches(asking):
    model, function = asking(parallel=1)
    model.always = lambda texts: "no"
    votes_of(function, TEXTS[:8])
    assert [len(texts) for texts in model.asked] == [8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1, 2, 1, 1]
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


@pytest.mark.parametrize(("key", "kept"), [("secret-key-1", False), ("Oslo", True)])
def test_a_key_that_the_model_repeats_is_not_kept(key, kept, monkeypatch, tmp_path):
    """Unless it is a word of the text, as keys that nobody checks may be."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    answer = json.dumps({"answers": [{"number": 1, "spans": [{"phrase": key, "type": "NAME"}]}]})
    with serving(lambda texts: answer) as (_, url):
        function = weak.prompted(["NAME"], votes="spans", model="m", base_url=url, cache=tmp_path / "c")
        with nullcontext() if kept else pytest.warns(UserWarning, match="none of the phrases that answers name"):
            votes = weak.apply(function, Corpus.from_lists({"word": [["Oslo", "is", "old"]]}))
    assert (key.encode() in (tmp_path / "c").read_bytes(), (votes.values >= 0).any()) == (kept, kept)


@pytest.mark.parametrize("fault", NOT_THESE)
def test_a_text_that_is_refused_by_itself_keeps_no_other_from_its_vote(fault, asking):
    model, function = asking()
    model.always = lambda texts: NOT_THESE[fault](texts) if TEXTS[1] in texts else good(texts)
    votes, said = votes_of(function)
    assert votes == [None if text == TEXTS[1] else label_of(text) for text in TEXTS]
    assert function.usage.abstained == {"none fits": 6, "refused by the server": 1}
    assert "abstains on 1 of 18 texts" in said[0]
    assert "; for example, refused by the server: " in said[0]
    settled(function, votes)


@pytest.mark.parametrize("fault", NOT_THESE)
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[:2]], ids=["many", "one", "two"])
def test_who_answers_for_no_text_at_all_is_an_error(fault, texts, asking):
    model, function = asking(parallel=1)
    model.always = NOT_THESE[fault]
    with pytest.raises(EndpointError, match=r"refuses the request, 4.*check base_url, model|an answer of over 8 MB"):
        function.on(texts)
    assert len(model.asked) <= 8


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
    with pytest.raises(EndpointError, match=r"gives no answer after 2 tries.*no connection"):
        function.on(["x"])


@pytest.mark.parametrize(
    ("header", "pause"),
    [("3", 3.0), ("100000", 60.0), ("0", None), ("-5", None), ("Thu, 01 Jan 1970 00:00:00 GMT", None), ("soon", None)],
)
def test_retry_after_is_honoured_within_reason(header, pause, asking):
    model, function = asking()
    model.faults = [lambda texts: http(429, "", f"Retry-After: {header}\r\n")]
    votes_of(function, ["spam"])
    assert function.pauses == [pause] if pause is not None else 0.25 <= function.pauses[0] <= 0.5


@pytest.mark.parametrize("budget", [{"max_requests": 2}, {"max_cost": 0.00035, "prices": (1.0, 1.0)}])
def test_when_the_budget_is_used_up_another_run_goes_on(budget, asking, tmp_path):
    model, function = asking(parallel=1, batch=4, cache=tmp_path / "c", **budget)
    with pytest.raises(BudgetError, match="max_"):
        function.on(TEXTS)
    assert len(model.asked) == 2
    _, again = asking(batch=1, cache=tmp_path / "c")
    assert votes_of(again)[0] == [label_of(text) for text in TEXTS]
    assert (again.usage.from_cache, again.usage.asked) == (8, 10)


def test_requests_under_way_are_part_of_the_cost(asking):
    model, function = asking(parallel=16, batch=1, max_cost=0.0008, prices=(1.0, 1.0))
    model.always = lambda texts: [len(model.asked) > 1 and ended(function), good(texts)][1]
    with pytest.raises(BudgetError, match=r"4 requests under way may take 0\.0006, and another one 0\.0002; max"):
        function.on(TEXTS)
    assert (len(model.asked), function.usage.cost) == (5, pytest.approx(0.00055))


def test_a_first_request_that_is_too_dear_is_not_sent(asking):
    model, function = asking(max_cost=0.0001, prices=(1.0, 1.0))
    with pytest.raises(BudgetError, match=r"0\.0000 is spent, and another one 0\.000\d; max_cost is 0\.0001"):
        function.on(TEXTS)
    assert model.asked == []


def test_a_long_question_after_a_short_one_is_not_taken_to_be_short(asking):
    model, function = asking(batch=1, parallel=1, max_cost=0.01, prices=(1.0, 1.0))
    with pytest.raises(BudgetError, match=r"0\.0001 is spent, and another one 0\.5\d+; max_cost is 0\.01"):
        function.on([{"text": "short"}, {"text": "word " * 400_000}])
    assert len(model.asked) == 1


def test_tokens_that_are_counted_as_none_are_estimated(asking):
    model, function = asking(batch=1, max_cost=0.001, prices=(1.0, 1.0))
    model.always = lambda texts: said(good(texts), usage={"prompt_tokens": 0, "completion_tokens": 0})
    with pytest.raises(BudgetError):
        function.on(TEXTS)
    assert function.usage.estimated == len(model.asked) < 12


def test_refusals_are_told_from_texts_by_what_this_run_has_answered(asking, tmp_path):
    model, function = asking(cache=tmp_path / "c")
    votes_of(function, TEXTS[:9])
    model.always = NOT_THESE["400"]
    with pytest.raises(EndpointError, match="refuses the request, 400: too long"):
        function.on(TEXTS)


def test_what_another_process_has_asked_about_meanwhile_is_not_asked_again(asking, tmp_path):
    model, function = asking(cache=tmp_path / "c", batch=1, parallel=1)
    _, other = asking(cache=tmp_path / "c", parallel=1)
    meanwhile = iter([TEXTS[6:]])
    model.answer = lambda texts: [good(texts), *(votes_of(other, some) for some in meanwhile)][0]
    votes, _ = votes_of(function)
    assert votes == [label_of(text) for text in TEXTS]
    assert (function.usage.asked, function.usage.from_cache, other.usage.asked) == (6, 12, 12)


def test_what_is_under_way_when_another_request_is_refused_is_kept(asking, tmp_path):
    model, function = asking(parallel=2, batch=1, cache=tmp_path / "c")
    begun = Event()

    def answer(texts):
        if texts != TEXTS[:1]:
            begun.wait(9)
            return http(401, "no")
        begun.set()
        ended(function)
        return good(texts)

    model.always = answer
    with pytest.raises(EndpointError, match=r"401: no.*what was answered is in .*c, and another run goes on"):
        function.on(TEXTS)
    model.always = None
    _, again = asking(cache=tmp_path / "c")
    assert votes_of(again)[0] == [label_of(text) for text in TEXTS]
    assert again.usage.from_cache == 1


def test_what_waits_for_the_budget_is_not_sent_after_a_refusal(asking):
    model, function = asking(parallel=8, batch=1, max_cost=1, prices=(1.0, 1.0))
    model.always = lambda texts: [time.sleep(0.1), http(401, "no")][1]
    with pytest.raises(EndpointError, match="401"):
        function.on(TEXTS)
    assert (len(model.asked), function.usage.requests) == (1, 1)


@pytest.mark.parametrize("fault", ["no JSON", "no UTF-8", "a cut body"])
def test_what_cannot_be_read_has_its_cost(fault, asking):
    model, function = asking(batch=1, max_cost=0.0006, prices=(1.0, 1.0))
    model.always = PASSING[fault]
    with pytest.raises(BudgetError):
        function.on(TEXTS)
    assert function.usage.estimated == len(model.asked) < 6
    assert function.usage.cost > 0


@pytest.mark.parametrize("first", [True, False])
def test_one_that_fails_or_is_interrupted_ends_the_others(first, asking):
    slow, function = asking(batch=1, parallel=1)
    begun = Event()
    slow.always = lambda texts: [begun.set(), ended(function), good(texts)][2]
    with serving() as (broken, url):
        broken.always = lambda texts: [begun.wait(9), http(401, "no")][1]
        other = weak.prompted(["A"], model="m", base_url=url, batch=1, name="broken")
        both = [other, function] if first else [function, other]
        with pytest.raises(EndpointError, match=r"'broken'.* 401: no"):
            weak.apply(both, [{"text": text} for text in TEXTS], threads=2)
    assert len(slow.asked) == 1


def test_one_that_has_not_begun_to_ask_is_stopped_when_it_does(asking):
    """What is asked, and its keys, are prepared before anything is sent."""
    model, function = asking(batch=1, parallel=1)
    begun, prepared = Event(), function._texts
    function._texts = lambda *given: [begun.set(), time.sleep(0.5), prepared(*given)][2]
    model.always = lambda texts: [ended(function), good(texts)][1]

    class Fails(type(function)):
        def on(self, data, first=0):
            begun.wait(9)
            raise EndpointError("no")

    other = Fails("items", function._prompts, function._request, None, "broken")
    with pytest.raises(EndpointError, match="no"):
        weak.apply([other, function], [{"text": text} for text in TEXTS], threads=2)
    assert len(model.asked) <= 1


@pytest.mark.parametrize("hangs", [True, False])
def test_where_a_host_has_several_addresses_all_are_tried(hangs, asking, monkeypatch):
    _, function = asking(timeout=2.0, retries=0)
    served = connection._addresses
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as stack:
        for _ in range(3):  # nobody accepts these, and those behind them wait
            link = stack.enter_context(socket.socket())
            link.setblocking(False)
            link.connect_ex(full.getsockname())
        family = socket.AF_INET if hangs else 999
        first = (family, socket.SOCK_STREAM, 0, "", full.getsockname())
        monkeypatch.setattr(connection, "_addresses", lambda *given: [first, *served(*given)])
        assert votes_of(function, TEXTS[:2])[0] == ["SPAM", "HAM"]


def test_stopping_at_once(asking):
    model, function = asking(timeout=20)
    model.always = lambda texts: [Timer(0.05, function.stop, [True]).start(), drip][1]
    began = time.monotonic()
    with pytest.raises(EndpointError, match="stopped before all texts"):
        function.on(TEXTS)
    assert time.monotonic() - began < 5
