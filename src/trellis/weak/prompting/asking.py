"""Many texts -> their answers: from the cache, or in batches, several requests at a time. No text is lost.

What an answer leaves out is asked again in batches half as large, down to one text alone; a text that has no readable
answer then, and was asked about twice at least, has a reason in place of an answer. So has one that the server refuses
by itself, while it answers for others; where it answers for none, or nothing that it says can be read, that is an
error. Answers are kept as they come, and those that another process keeps meanwhile are not asked for. An error ends
the asking: requests that are under way then are waited for and kept, as they are paid for.
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
_UNREADABLE = 10  # single texts without a readable answer, likewise, where there are more


@dataclass
class Asked:
    """By key: answers, or reasons why there is none; of each reason what was said once. `dropped`: spans that no answer
    should have had."""

    answers: dict[str, Answer] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)

    def example(self) -> str:
        """What was said once where there was no answer, for people."""
        return "".join(f"; for example, {reason}: {said}" for reason, said in list(self.said.items())[:1])


class Asking:
    """Asks for texts, each with the key it has in the cache. `connect` is called when there is something to ask;
    `answered`: how many of those that were asked about have an answer."""

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
        self.answered = 0

    def answers(self, texts: dict[str, str]) -> Asked:
        """texts: key -> text."""
        done = Asked(self._cache.get(texts, self._reader.kept))
        self._meter.count(from_cache=len(done.answers))
        self._keys = [key for key in texts if key not in done.answers]
        self._texts = [texts[key] for key in self._keys]
        self._times = [0] * len(self._keys)
        self._refusals = self._unreadable = 0
        self._meter.count(asked=len(self._keys))
        self._waiting = deque(_batches(range(len(self._keys)), self._batch))
        if self._waiting:
            self._cache.check()
            with self._connect() as endpoint:
                self._run(endpoint, done)
        return done

    def _run(self, endpoint: Endpoint, done: Asked) -> None:
        under_way: dict[Future[tuple[Read, str]], Batch] = {}
        error: EndpointError | None = None
        stopped = endpoint.stopped
        pool = ThreadPoolExecutor(self._parallel)
        try:
            while under_way or (self._waiting and not stopped.is_set()):
                while self._waiting and not stopped.is_set() and len(under_way) < self._parallel:
                    batch = self._still_unknown(self._waiting.popleft(), done)
                    if batch:
                        under_way[pool.submit(self._ask, endpoint, batch)] = batch
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    batch = under_way.pop(future)
                    try:
                        in_vain = self._take(endpoint, batch, *future.result(), done)  # whatever failed before
                        error = error or in_vain
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

    def _still_unknown(self, batch: Batch, done: Asked) -> Batch:
        """Without those that another process has asked about meanwhile."""
        found = self._cache.get([self._keys[at] for at in batch], self._reader.kept)
        done.answers |= found
        self._meter.count(asked=-len(found), from_cache=len(found))
        return tuple(at for at in batch if self._keys[at] not in found)

    def _ask(self, endpoint: Endpoint, batch: Batch) -> tuple[Read, str]:
        """What is read, and what was said; in a thread of its own."""
        try:
            reply = endpoint.ask(self._messages([self._texts[at] for at in batch]))
        except Unreadable as error:
            return Read(reasons=dict.fromkeys(range(len(batch)), UNREADABLE)), str(error)
        return self._reader.read(reply.content, len(batch), reply.cut), reply.content

    def _refused(self, batch: Batch, refused: Refused, done: Asked) -> Refused | None:
        """What is refused is asked in smaller batches; at once, where nothing else shows whether it is the texts."""
        if len(batch) > 1:
            again = _batches(batch, -(-len(batch) // 2))
            self._put_back(again)
            return None
        done.reasons[self._keys[batch[0]]] = REFUSED
        done.said.setdefault(REFUSED, str(refused))
        self._refusals += 1
        return refused if not self.answered and self._refusals == min(_REFUSALS, len(self._keys)) else None

    def _take(self, endpoint: Endpoint, batch: Batch, read: Read, said: str, done: Asked) -> EndpointError | None:
        """Keeps what was answered, and puts the rest where it is asked again; an error, if that is in vain."""
        kept: dict[str, Any] = {self._keys[batch[at]]: answer for at, answer in read.answers.items()}
        self._cache.put(kept)
        done.answers |= kept
        self.answered += len(kept)
        for dropped in read.dropped.values():
            done.dropped += dropped
        again = []
        for place, reason in read.reasons.items():
            at = batch[place]
            self._times[at] += 1
            if len(batch) == 1 and self._times[at] > 1:
                done.reasons[self._keys[at]] = reason
                if reason not in done.said:
                    done.said[reason] = endpoint.on_a_line(said)
                self._unreadable += 1
            else:
                again.append(at)
        self._put_back(_batches(again, max(1, len(batch) // 2)))
        if self.answered or self._unreadable < _UNREADABLE or len(self._keys) <= _UNREADABLE:
            return None
        told = next(iter(done.said.values()))
        return EndpointError(f"of {self._unreadable} texts none has an answer that can be read; for one it is: {told}")

    def _put_back(self, batches: Sequence[Batch]) -> None:
        """To be asked last; first, as long as nothing is answered, which shows whether it is the texts."""
        self._waiting.extend(batches) if self.answered else self._waiting.extendleft(reversed(batches))


def _batches(every: Sequence[int], size: int) -> list[Batch]:
    return [tuple(every[a : a + size]) for a in range(0, len(every), size)]
