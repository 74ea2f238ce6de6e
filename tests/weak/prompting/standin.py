"""A stand-in for a language model, on this machine: answers well, or as a fault says.

A fault is what one request gets in place of a good answer: a function of the texts that were asked about, which returns
the bytes of a whole HTTP answer (None: the connection is closed), or a text, which is what the model says.
"""

from __future__ import annotations

import json
import socketserver
from contextlib import contextmanager
from threading import Lock, Thread

LABELS = ["SPAM", "HAM"]


def label_of(text):
    return next((label for label in LABELS if label.lower() in text.lower()), None)


def spans_of(text):
    return [{"phrase": w, "type": "NAME"} for w in text.split() if w.istitle()]


def http(status, body, headers=""):
    data = body if isinstance(body, bytes) else body.encode()
    return f"HTTP/1.1 {status} X\r\n{headers}Content-Length: {len(data)}\r\n\r\n".encode() + data


def said(content, finish="stop", **more):
    """A chat completion in which the model says this."""
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return http(
        200,
        json.dumps({"choices": [{"message": {"content": content}, "finish_reason": finish}], "usage": usage} | more),
    )


def good(texts, numbers=None):
    """What a model should say of texts."""
    numbers = numbers or range(1, len(texts) + 1)
    return json.dumps({"answers": [{"number": n, "label": label_of(texts[n - 1])} for n in numbers]})


def good_spans(texts):
    return json.dumps({"answers": [{"number": n, "spans": spans_of(text)} for n, text in enumerate(texts, 1)]})


class StandIn:
    """`faults`: for the requests in order; `always`: for all those after. `asked`: the texts of each request, `heads`
    what stood before its body."""

    def __init__(self, answer=good):
        self.answer, self.faults, self.always = answer, [], None
        self.asked, self.heads, self.bodies = [], [], []
        self._lock = Lock()

    def next(self, head, body):
        request = json.loads(body)
        texts = [one["text"] for one in json.loads(request["messages"][-1]["content"])["texts"]]
        with self._lock:
            self.asked.append(texts)
            self.heads.append(head)
            self.bodies.append(request)
            fault = self.faults.pop(0) if self.faults else self.always
        answer = (fault or self.answer)(texts)
        return said(answer) if isinstance(answer, str) else answer


@contextmanager
def serving(answer=good):
    """A stand-in, and where it listens: (stand-in, base_url)."""
    model = StandIn(answer)

    class Handler(socketserver.StreamRequestHandler):
        timeout = 20

        def handle(self):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = self.rfile.readline()
                if not line:
                    return
                head += line
            length = next(int(x.split(b":")[1]) for x in head.splitlines() if x.lower().startswith(b"content-length"))
            sent = model.next(head.decode(), self.rfile.read(length))
            try:
                if callable(sent):
                    sent(self.connection)
                elif sent is not None:
                    self.wfile.write(sent)
            except OSError:
                pass  # the other side did not wait

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield model, f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
