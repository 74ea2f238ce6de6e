"""A language model votes, asked through any OpenAI-compatible endpoint: on items, or on spans by the phrases it names.

Texts leave this machine, unless the endpoint is on it. What comes back is checked; see `trellis.weak.prompting`.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import BudgetError, EndpointError, SettingError, shown
from trellis.weak.functions.casts import Cast, SpanVotes, TokenVotes
from trellis.weak.functions.contract import Account, LabelingFunction, column_of, made_up
from trellis.weak.prompting import settings
from trellis.weak.prompting.address import checked_url, is_loopback, key_from
from trellis.weak.prompting.aligning import MISSED, Alignment
from trellis.weak.prompting.answers import NO_SPAN, UNKNOWN_TYPE, Reader
from trellis.weak.prompting.asking import Asked, Asking
from trellis.weak.prompting.cache import Cache, key_of
from trellis.weak.prompting.endpoint import Endpoint
from trellis.weak.prompting.prompts import Message, Prompts
from trellis.weak.prompting.usage import Meter, Usage, reasons
from trellis.weak.votes import ABSTAINS

_EMPTY, _NONE_FITS, _NOTHING, _NOT_FOUND = "empty text", "none fits", "nothing found", "no phrase found in the text"


class Prompted(LabelingFunction):
    """As `prompted` says. `pause`, where it is set, is called in place of waiting before a request is sent again."""

    pause: Callable[[float], object] | None = None

    def __init__(self, votes: str, prompts: Prompts, request: settings.Request, field: str | None, name: str | None):
        super().__init__(votes, name, made_up("prompted", request.model))
        self._prompts, self._request, self._field = prompts, request, field
        self._meter = Meter(request.prices, request.max_cost, request.max_requests)
        self._warned = False
        self._asking: list[Endpoint] = []  # those that are being asked, by several threads maybe

    @property
    def usage(self) -> Usage:
        """What it took so far."""
        return self._meter.usage

    def report(self) -> Account:
        usage = self.usage
        return Account(usage.as_line(), usage.as_dict())

    def stop(self, at_once: bool) -> None:
        """Nothing more is asked; what is under way is waited for, as it is paid for, unless all has to end at once."""
        for endpoint in list(self._asking):
            endpoint.end() if at_once else endpoint.stopped.set()

    def preview(self, data: Any) -> list[Message]:
        """The messages of the first request about this data, were nothing in the cache; nothing is sent."""
        texts = [text for text in dict.fromkeys(self._texts(data, 0)) if text.strip()]
        return self._prompts.messages(texts[: self._request.batch])

    def on(self, data: Any, first: int = 0) -> Cast:
        texts = self._texts(data, first)
        asked, keys = self._asked(texts)
        abstained: Counter[str] = Counter()
        cast: Cast
        if isinstance(data, Corpus):
            cast, dropped = self._spans(data, keys, asked, abstained)
        else:
            cast, dropped = self._items(keys, asked, abstained), asked.dropped
        self._meter.settle(abstained, dropped)
        failed = {reason: many for reason, many in abstained.items() if reason in asked.reasons.values()}
        if failed:
            warnings.warn(
                f"the labeling function '{self.name}' abstains on {sum(failed.values()):,} of {len(texts):,} texts "
                f"that have no readable answer: {reasons(failed)}{asked.example()}",
                stacklevel=2,
            )
        if lost := abstained[_NOT_FOUND]:
            what = f"the labeling function '{self.name}' abstains on {lost:,} of {len(texts):,} texts, where it finds "
            missed = {reason: many for reason, many in dropped.items() if reason in MISSED}
            warnings.warn(f"{what}none of the phrases that answers name: {reasons(missed)} (in all)", stacklevel=2)
        wrong = {reason: many for reason, many in dropped.items() if reason in (NO_SPAN, UNKNOWN_TYPE)}
        if wrong:
            what = f"the labeling function '{self.name}' leaves out {sum(wrong.values()):,} spans of answers"
            warnings.warn(f"{what}: {reasons(wrong)}", stacklevel=2)
        return cast

    def _texts(self, data: Any, first: int) -> list[str]:
        if self.votes == "spans":
            if not isinstance(data, Corpus):
                raise SettingError(f"the labeling function '{self.name}' votes on spans; expected a Corpus")
            words = column_of(data, self._field, self.name).values()
            return [" ".join(words[a:b]) for a, b in pairwise(data.offsets.tolist())]
        if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
            raise SettingError(f"the labeling function '{self.name}' votes on items; expected a list of them")
        return [self._text(item, data, first, at) for at, item in enumerate(data)]

    def _text(self, item: Any, data: Any, first: int, at: int) -> str:
        field = self._field or "text"
        text = item
        if not isinstance(item, str):
            text = item.get(field) if isinstance(item, Mapping) else getattr(item, field, None)
        if not isinstance(text, str):
            what = f"found no text in {shown(item)}; expected a text, or an item with one as its '{field}'"
            raise self.failed(what, data, first, at)
        return text

    def _asked(self, texts: Sequence[str]) -> tuple[Asked, list[str | None]]:
        """The answers, and for each text the key of its own; None for one that is empty."""
        base_url = self._base_url()
        key_by_text: dict[str, str | None] = {}
        for text in texts:
            if text not in key_by_text:
                key_by_text[text] = self._key(base_url, text) if text.strip() else None
        different = {key: text for text, key in key_by_text.items() if key is not None}
        self._meter.count(texts=len(texts), repeated=len(texts) - len(different))
        request = self._request
        with Cache(request.cache) as cache:
            reader = Reader(self.votes, self._prompts.labels)
            messages, connect = self._prompts.messages, partial(self._connected, base_url)
            asking = Asking(connect, self._meter, messages, reader, cache, request.batch, request.parallel)
            try:
                asked = asking.answers(different)
            except EndpointError as error:
                kept = ""
                if asking.answered and request.cache is None:
                    kept = "; give cache=FILE to keep what is answered"
                elif asking.answered:
                    kept = f"; what was answered is in {request.cache}, and another run goes on from there"
                kind = BudgetError if isinstance(error, BudgetError) else EndpointError
                raise kind(f"the labeling function '{self.name}': {error}{kept}") from None
        return asked, [key_by_text[text] for text in texts]

    def _key(self, base_url: str, text: str) -> str:
        return key_of([1, base_url, self._request.parameters, self._prompts.messages([text])])

    def _base_url(self) -> str:
        if self._request.base_url is not None:
            return self._request.base_url
        if not os.environ.get("OPENAI_BASE_URL"):
            raise SettingError(
                f"the labeling function '{self.name}' does not know where to ask; give base_url, or set OPENAI_BASE_URL"
            )
        return checked_url(os.environ["OPENAI_BASE_URL"])

    @contextmanager
    def _connected(self, base_url: str) -> Iterator[Endpoint]:
        """What is asked, as long as it is: `stop` knows it then."""
        endpoint = self._endpoint(base_url)
        self._asking.append(endpoint)
        try:
            yield endpoint
        finally:
            self._asking.remove(endpoint)

    def _endpoint(self, base_url: str) -> Endpoint:
        request, url = self._request, urlsplit(base_url)
        key = key_from(request.key_variable, url)
        if url.scheme == "http" and not is_loopback(url) and not self._warned:
            self._warned = True
            warnings.warn(
                f"texts{' and the key' if key else ''} travel to {url.hostname} in the open; use https", stacklevel=2
            )
        return Endpoint(base_url, request.parameters, key, request.timeout, request.retries, self._meter, self.pause)

    def _items(self, keys: Sequence[str | None], asked: Asked, abstained: Counter[str]) -> TokenVotes:
        number = {label: j for j, label in enumerate(self._prompts.labels)}
        ids = np.full(len(keys), ABSTAINS, np.int32)
        for i, key in enumerate(keys):
            answer = None if key is None else asked.answers.get(key)
            if isinstance(answer, str):
                ids[i] = number[answer]
            else:
                abstained[_EMPTY if key is None else asked.reasons.get(key, _NONE_FITS)] += 1
        return TokenVotes(ids, tuple(number))

    def _spans(
        self, data: Corpus, keys: Sequence[str | None], asked: Asked, abstained: Counter[str]
    ) -> tuple[SpanVotes, Counter[str]]:
        number = {label: j for j, label in enumerate(self._prompts.labels)}
        words = column_of(data, self._field, self.name).values()
        found: list[tuple[int, int, int]] = []
        dropped = Counter(asked.dropped)
        for key, (a, b) in zip(keys, pairwise(data.offsets.tolist()), strict=True):
            answer = None if key is None else asked.answers.get(key)
            spans, missed = Alignment(words[a:b]).find(answer) if isinstance(answer, list) else ([], Counter[str]())
            dropped += missed
            found += [(a + start, a + end, number[kind]) for start, end, kind in spans]
            if not spans:
                none = _NOT_FOUND if missed else _NOTHING
                abstained[_EMPTY if key is None else asked.reasons.get(key, none)] += 1
        return SpanVotes.of_list(found, tuple(number)), dropped


def prompted(
    labels: Sequence[str] | Mapping[str, str],
    *,
    model: str,
    votes: str = "items",
    base_url: str | None = None,
    key_variable: str | None = "OPENAI_API_KEY",
    task: str | None = None,
    examples: Sequence[tuple[str, Any]] = (),
    field: str | None = None,
    batch: int = 8,
    parallel: int = 4,
    retries: int = 5,
    timeout: float = 60.0,
    cache: str | Path | None = None,
    prices: tuple[float, float] | None = None,
    max_cost: float | None = None,
    max_requests: int | None = None,
    temperature: float | None = 0.0,
    seed: int | None = None,
    max_tokens: int | None = None,
    name: str | None = None,
) -> Prompted:
    """A language model votes: on items, or (votes="spans") on phrases in sentences.

    labels: what it may vote for, or label -> what that means. model, base_url (else OPENAI_BASE_URL): whom to ask;
    key_variable: the environment variable with the key, None where none is needed. task: what is asked, in a sentence.
    examples: (text, label or None); of spans (text, [(phrase, type), ...]). field: of items ("text"), or the column of
    sentences (the first). batch: texts in a request; parallel: requests at a time; retries: of a request that fails;
    timeout: seconds for one, as a whole. cache: a file for answers, None for none. prices: for a million tokens in, and
    out. max_cost, max_requests: BudgetError when so much is used, in all calls together. temperature, seed, max_tokens:
    as the endpoint takes them; None: not sent.
    """
    inventory, shots = settings.checked_prompt(votes, labels, task, examples)
    request = settings.Request(
        model=model, base_url=None if base_url is None else checked_url(base_url), key_variable=key_variable,
        batch=batch, parallel=parallel, retries=retries, timeout=timeout, cache=cache, prices=prices,
        max_cost=max_cost, max_requests=max_requests, temperature=temperature, seed=seed, max_tokens=max_tokens,
    )  # fmt: skip
    if field is not None and not (isinstance(field, str) and field):
        raise SettingError(f"field is {shown(field)}; expected the name of a field, or of a column")
    return Prompted(votes, Prompts(votes, inventory, task, shots), request, field, name)
