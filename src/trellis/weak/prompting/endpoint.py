"""An OpenAI-compatible endpoint: one question -> one answer of the model, asked again where that may help.

    asked again, after a pause      connection, timeout, cut off; 408, 409, 429, 5xx; an `error` in place of an answer
    EndpointError at once           all other 4xx, redirects; and those above when all tries are used up
    Unreadable                      an answer in which the model says nothing that could be read

The key comes from the environment when it is needed. It is in one header and nowhere else: not in what is printed,
raised or kept; where a server repeats it in what it says, it is taken out.
"""

from __future__ import annotations

import ipaddress
import json
import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Event
from time import time
from typing import Any
from urllib.parse import SplitResult, urlsplit

from trellis.errors import EndpointError, SettingError
from trellis.weak.prompting.connection import FAILURES, LARGEST, Open, Response, TooLarge, post
from trellis.weak.prompting.prompts import Message
from trellis.weak.prompting.usage import Meter

_AGAIN = (408, 409, 429)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds, doubled each time
_LONGEST_ASKED = 60.0  # of what Retry-After asks for
_SAID = 300  # characters of what a server said
_CHARACTERS = 4  # in a token, roughly


class Unreadable(Exception):
    """An answer came, and nothing can be read in it."""


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
                self._wait(failure.pause if failure.pause is not None else _pause(attempt))
            if self.stopped.is_set():
                raise Unreadable("stopped")
            self.meter.request(again=attempt > 0)
            try:
                return self._once(body)
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

    def _once(self, body: bytes) -> Reply:
        url = urlsplit(self.base_url)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            response = post(url, f"{url.path}/chat/completions", body, headers, self.timeout, self.sockets)
        except TooLarge:
            raise Unreadable(f"an answer of over {LARGEST >> 20} MB") from None
        except TimeoutError:
            raise _Passing(f"not finished after {self.timeout:g} seconds (timeout)") from None
        except FAILURES as error:
            raise _Passing(
                f"no connection, or a broken one: {self._words(str(error) or type(error).__name__)}"
            ) from None
        self._check_status(response)
        return self._read(response.body, len(body))

    def _check_status(self, response: Response) -> None:
        status = response.status
        if 200 <= status < 300:
            return
        said = f"{status}: {self._words(_message(response.body))}"
        if status in _AGAIN or status >= 500:
            raise _Passing(f"the server answers {said}", _asked_pause(response.retry_after))
        if 300 <= status < 400:
            where = self._words(response.redirect or "nowhere")
            raise EndpointError(
                f"{self.base_url} redirects ({status}) to {where}; redirects are not followed, as the key would travel "
                "with them: give the address itself as base_url"
            )
        raise EndpointError(f"{self.base_url} refuses the request, {said}; check base_url, model, key and settings")

    def _read(self, body: bytes, sent: int) -> Reply:
        try:
            answer = json.loads(body.decode())
        except (ValueError, RecursionError):
            raise Unreadable("no JSON") from None
        if not isinstance(answer, dict):
            raise Unreadable("no JSON object")
        if answer.get("error"):
            raise _Passing(f"the server answers an error: {self._words(_message(body))}")
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        text = content if isinstance(content, str) else None
        self._count(answer.get("usage"), sent, len(text or ""))
        if text is None:
            raise Unreadable("no content")
        assert isinstance(choice, dict)
        return Reply(text, choice.get("finish_reason") == "length")

    def _count(self, usage: object, sent: int, made: int) -> None:
        """Tokens as the server counts them, or roughly."""
        told = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
        known = [n if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 40 else None for n in told]
        roughly = [-(-sent // _CHARACTERS), -(-made // _CHARACTERS)]
        given, out = (guess if n is None else n for n, guess in zip(known, roughly, strict=True))
        self.meter.tokens(given, out, None in known)

    def _words(self, text: str) -> str:
        """Somebody else's words on one short line, without the key."""
        if self.key:
            text = text.replace(self.key, "[key]")
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_SAID] or "nothing"


def _message(body: bytes) -> str:
    """What a server said was wrong."""
    text = body[: 1 << 16].decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message"):
        said = said.get(name, said) if isinstance(said, dict) else said
    return said if isinstance(said, str) else text


def _pause(attempt: int) -> float:
    """Doubled each time, and less by chance, so that many who failed at once do not come back at once."""
    longest: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, 10))
    return longest * random.uniform(0.5, 1.0)


def _asked_pause(header: str | None) -> float | None:
    """Retry-After, seconds or a date, as far as it is reasonable."""
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


def checked_url(base_url: object) -> str:
    """The same address, without a slash at its end; SettingError where it is none that can be asked. What it has is not
    shown: there may be a password in it."""
    wrong = "expected an address such as https://host/v1, without user, password, ? and #"
    if not isinstance(base_url, str) or not base_url.isascii() or not base_url.isprintable() or " " in base_url:
        raise SettingError(f"base_url is no address; {wrong}")
    try:
        url = urlsplit(base_url)
        port, host = url.port, url.hostname
    except ValueError:
        raise SettingError(f"base_url is no address; {wrong}") from None
    if url.scheme not in ("http", "https"):
        raise SettingError(f"base_url is neither http nor https; {wrong}")
    if "@" in url.netloc or "?" in base_url or "#" in base_url or not host or port == 0:
        raise SettingError(f"base_url has a part that it must not have, or lacks the host; {wrong}")
    return base_url.rstrip("/")


def is_loopback(url: SplitResult) -> bool:
    """Whether the host is this machine."""
    host = url.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def key_from(variable: str | None, url: SplitResult) -> str | None:
    """The key in an environment variable; a server on this machine needs none."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        if variable and not is_loopback(url):
            raise SettingError(
                f"the environment variable {variable} has no key for {url.hostname}; set it, name another one "
                "(key_variable=...), or none where no key is needed (key_variable=None)"
            )
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingError(f"what the environment variable {variable} has cannot be a key; expected one ASCII word")
    return key
