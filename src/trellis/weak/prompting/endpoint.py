"""An OpenAI-compatible endpoint: one question -> one answer of the model, asked again where that may help.

    asked again, after a pause      connection, timeout, cut off; 408, 409, 429, 5xx; what is no answer of a model
    EndpointError at once           all other 4xx, redirects; and those above when all tries are used up
    Refused, an EndpointError       400, 413, 422, an answer too large: maybe because of these texts alone
    Unreadable                      an answer in which the model says nothing that could be read
    Stopped                         nothing is asked any more

The key comes from the environment when it is needed. It is in one header and nowhere else: not in what is printed,
raised or kept; where a server repeats it in what it says, it is taken out.
"""

from __future__ import annotations

import json
import logging
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Event
from time import time
from typing import Any
from urllib.parse import urlsplit

from trellis.errors import EndpointError
from trellis.weak.prompting.connection import FAILURES, LARGEST, Open, Response, TooLarge, Unanswered, post
from trellis.weak.prompting.prompts import Message
from trellis.weak.prompting.usage import Meter

_LOG = logging.getLogger(__name__)

_AGAIN = (408, 409, 429)
_OF_TEXTS = (400, 413, 422)  # too long, or not to somebody's liking; or the settings are wrong
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds, doubled each time
_LONGEST_ASKED = 60.0  # of what Retry-After asks for
_SAID = 300  # characters of what a server said
_CHARACTERS = 4  # in a token, roughly


class Unreadable(Exception):
    """An answer came, this one, and nothing can be read in it."""


class Refused(EndpointError):
    """Fewer texts at a time may be answered."""


class _Passing(Exception):
    """A failure that may pass; `pause`: seconds that the server asked to wait."""

    def __init__(self, what: str, pause: float | None = None):
        super().__init__(what)
        self.pause = pause


@dataclass(frozen=True)
class Reply:
    """What the model said; `cut`: it was stopped before its end."""

    content: str
    cut: bool


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, and how. `parameters`: all of a request but the messages. `pause` is called to wait, if given."""

    base_url: str
    parameters: dict[str, Any]
    key: str | None = field(repr=False)
    timeout: float
    retries: int
    meter: Meter
    pause: Callable[[float], object] | None = None
    stopped: Event = field(default_factory=Event)
    sockets: Open = field(default_factory=Open)

    def ask(self, messages: list[Message]) -> Reply:
        """The answer to messages."""
        body = json.dumps({**self.parameters, "messages": messages}).encode()
        failure: _Passing | None = None
        for attempt in range(self.retries + 1):
            if failure is not None:
                pause = max(failure.pause or 0.0, _pause(attempt))
                _LOG.info("%s: %s; asked again in %.1f s", self.base_url, failure, pause)
                self._wait(pause)
            try:
                given = -(-len(body) // _CHARACTERS)
                with self.meter.request(attempt > 0, self.stopped.is_set, given):
                    return self._unless_refused(body)
            except _Passing as error:
                failure = error
        tries = "one try" if not self.retries else f"{self.retries + 1} tries"
        raise EndpointError(f"{self.base_url} gives no answer after {tries}; the last: {failure}") from None

    def end(self) -> None:
        """Ends all that is under way; what is asked then has no answer."""
        self.stopped.set()
        self.sockets.end()

    def _wait(self, seconds: float) -> None:
        if self.pause is not None:
            self.pause(seconds)
        else:
            self.stopped.wait(seconds)

    def _unless_refused(self, body: bytes) -> Reply:
        """One request, which is the last one if it fails for good: nobody who waits for the budget goes on then."""
        try:
            return self._once(body)
        except Refused:
            raise
        except EndpointError:
            self.stopped.set()
            raise

    def _once(self, body: bytes) -> Reply:
        url = urlsplit(self.base_url)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            response = post(url, f"{url.path}/chat/completions", body, headers, self.timeout, self.sockets)
        except TooLarge:
            self._count(None, len(body), LARGEST)
            raise Refused(f"{self.base_url} gives an answer of over {LARGEST >> 20} MB; set max_tokens") from None
        except Unanswered as error:
            self._count(None, len(body), 0)
            raise self._late() if error.late else self._broken(error) from None
        except TimeoutError:
            raise self._late() from None
        except FAILURES as error:
            raise self._broken(error) from None
        self._check_status(response)
        return self._read(response.body, body)

    def _late(self) -> _Passing:
        return _Passing(f"not finished after {self.timeout:g} seconds (timeout)")

    def _broken(self, error: Exception) -> _Passing:
        return _Passing(f"no connection, or a broken one: {self.on_a_line(str(error) or type(error).__name__)}")

    def _check_status(self, response: Response) -> None:
        status = response.status
        if 200 <= status < 300:
            return
        said = f"{status}: {self.on_a_line(_message(response.body))}"
        if status in _AGAIN or status >= 500:
            raise _Passing(f"the server answers {said}", _asked_pause(response.retry_after))
        if 300 <= status < 400:
            where = self.on_a_line(response.redirect or "nowhere")
            raise EndpointError(
                f"{self.base_url} redirects ({status}) to {where}; redirects are not followed, as the key would travel "
                "with them: give the address itself as base_url"
            )
        kind = Refused if status in _OF_TEXTS else EndpointError
        raise kind(f"{self.base_url} refuses the request, {said}; check base_url, model, key and settings")

    def _read(self, body: bytes, question: bytes) -> Reply:
        sent = len(question)
        try:
            answer = json.loads(body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict) and answer.get("error"):
            raise _Passing(f"the server answers an error: {self.on_a_line(_message(body))}")
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or not isinstance(choices, list):
            self._count(None, sent, len(body))
            raise _Passing(f"what the server answers is no chat completion: {self.on_a_line(_message(body))}")
        choice = choices[0] if choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        text = _content(message.get("content")) if isinstance(message, dict) else None
        self._count(answer.get("usage"), sent, len(text or ""))
        if text is None:
            raise Unreadable(str(message) if isinstance(message, dict) else "no message")
        if self.key and self.key.lower() not in question.decode().lower():  # else it is a word such as any other
            text = self._without_key(text)
        return Reply(text, isinstance(choice, dict) and choice.get("finish_reason") == "length")

    def _count(self, usage: object, sent: int, made: int) -> None:
        """Tokens as the server counts them, or roughly."""
        told = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
        roughly = [-(-sent // _CHARACTERS), -(-made // _CHARACTERS)]
        known = [_counted(one, about) for one, about in zip(told, roughly, strict=True)]
        given, out = (about if one is None else one for one, about in zip(known, roughly, strict=True))
        self.meter.tokens(given, out, None in known)

    def on_a_line(self, text: str) -> str:
        """Somebody else's words on one short line, without the key."""
        text = self._without_key(text)
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_SAID] or "nothing"

    def _without_key(self, text: str) -> str:
        return re.sub(re.escape(self.key), "[key]", text, flags=re.IGNORECASE) if self.key else text


def _counted(told: object, about: int) -> int | None:
    """How many tokens a server says there were, about so many; 0 for some is no count."""
    if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told < 1 << 40:
        return None
    return told if told or not about else None


def _content(given: object) -> str | None:
    """What the model says: a text, or the texts among parts of several kinds."""
    if isinstance(given, list):
        parts = [part.get("text") for part in given if isinstance(part, dict) and part.get("type") == "text"]
        given = "".join(part for part in parts if isinstance(part, str)) if parts else None
    return given if isinstance(given, str) else None


def _message(body: bytes) -> str:
    """What a server said was wrong."""
    text = body[: 1 << 16].decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message"):
        said = said.get(name, said) if isinstance(said, dict) else said
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _pause(attempt: int) -> float:
    """Doubled each time, and less by chance, so that many who failed at once do not come back at once."""
    longest: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, 10))
    return longest * random.uniform(0.5, 1.0)


def _asked_pause(header: str | None) -> float | None:
    """Retry-After, seconds or a date, as far as it is reasonable; less than the usual pause it never is."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), _LONGEST_ASKED) if math.isfinite(seconds) else None
