"""Many texts -> their answers: from the cache, or in batches, several requests at a time. No text is lost.

What an answer leaves out is asked again in batches half as large, down to one text alone; a text that has no readable
answer then, and was asked about twice at least, has a reason in place of an answer. So has one that the server refuses
by itself, while it answers for others; where it answers for none, that is an error. Answers are kept as they come. An
error ends the asking: requests that are under way then are waited for and kept, as they are paid for.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from trellis.errors import EndpointError
from trellis.weak.prompting.answers import UNREADABLE, Read, Reader
from trellis.weak.prompting.cache import Cache
from trellis.weak.prompting.endpoint import Endpoint, Refused, Unreadable
from trellis.weak.prompting.prompts import Answer, Message
from trellis.weak.prompting.usage import Meter, Stopped

Batch = tuple[int, ...]

REFUSED = "refused by the server"
_REFUSALS = 3  # of single texts, while none was answered, after which it is not the texts


@dataclass
class Asked:
    """By key: answers, or reasons why there is none. `dropped`: spans that no answer should have had."""

    answers: dict[str, Answer] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)


class Asking:
    """Asks for texts, each with the key it has in the cache. `connect` is called when there is something to ask."""

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Endpoint]],
        meter: Meter,
        messages: Callable[[Sequence[str]], list[Message]],
        reader: Reader,
        cache: Cache,
        batch: int,
        parallel: int,
    ):
        self._connect, self._meter = connect, meter
        self._messages, self._reader, self._cache = messages, reader, cache
        self._batch, self._parallel = batch, parallel

    def answers(self, texts: dict[str, str]) -> Asked:
        """texts: key -> text."""
        done = Asked(self._cache.get(texts, self._reader.kept))
        self._meter.count(from_cache=len(done.answers))
        self._keys = [key for key in texts if key not in done.answers]
        self._texts = [texts[key] for key in self._keys]
        self._times = [0] * len(self._keys)
        self._refusals = 0
        self._meter.count(asked=len(self._keys))
        self._waiting = deque(_batches(range(len(self._keys)), self._batch))
        if self._waiting:
            self._cache.check()
            with self._connect() as endpoint:
                self._run(endpoint, done)
        return done

    def _run(self, endpoint: Endpoint, done: Asked) -> None:
        under_way: dict[Future[Read], Batch] = {}
        error: EndpointError | None = None
        stopped = endpoint.stopped
        pool = ThreadPoolExecutor(self._parallel)
        try:
            while under_way or (self._waiting and not stopped.is_set()):
                while self._waiting and not stopped.is_set() and len(under_way) < self._parallel:
                    batch = self._waiting.popleft()
                    under_way[pool.submit(self._ask, endpoint, batch)] = batch
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    batch = under_way.pop(future)
                    try:
                        self._take(batch, future.result(), done)
                    except Stopped:
                        self._waiting.append(batch)
                    except Refused as refused:
                        error = error or self._refused(batch, refused, done)
                    except EndpointError as failed:
                        error = error or failed
                    if error is not None:
                        stopped.set()  # nobody tries again
        except BaseException:
            endpoint.end()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        if error is None and self._waiting:
            error = EndpointError("stopped before all texts were asked about")
        if error is not None:
            raise error

    def _ask(self, endpoint: Endpoint, batch: Batch) -> Read:
        """In a thread of its own."""
        try:
            reply = endpoint.ask(self._messages([self._texts[at] for at in batch]))
        except Unreadable:
            return Read(reasons=dict.fromkeys(range(len(batch)), UNREADABLE))
        return self._reader.read(reply.content, len(batch), reply.cut)

    def _refused(self, batch: Batch, refused: Refused, done: Asked) -> Refused | None:
        """What is refused is asked in smaller batches; at once, where nothing else shows whether it is the texts."""
        if len(batch) > 1:
            again = _batches(batch, -(-len(batch) // 2))
            self._waiting.extend(again) if done.answers else self._waiting.extendleft(reversed(again))
            return None
        done.reasons[self._keys[batch[0]]] = REFUSED
        self._refusals += 1
        return refused if not done.answers and self._refusals == min(_REFUSALS, len(self._keys)) else None

    def _take(self, batch: Batch, read: Read, done: Asked) -> None:
        """Keeps what was answered, and puts the rest where it is asked again."""
        kept: dict[str, Any] = {self._keys[batch[at]]: answer for at, answer in read.answers.items()}
        self._cache.put(kept)
        done.answers |= kept
        for dropped in read.dropped.values():
            done.dropped += dropped
        again = []
        for place, reason in read.reasons.items():
            at = batch[place]
            self._times[at] += 1
            if len(batch) == 1 and self._times[at] > 1:
                done.reasons[self._keys[at]] = reason
            else:
                again.append(at)
        self._waiting.extend(_batches(again, max(1, len(batch) // 2)))


def _batches(every: Sequence[int], size: int) -> list[Batch]:
    return [tuple(every[a : a + size]) for a in range(0, len(every), size)]
