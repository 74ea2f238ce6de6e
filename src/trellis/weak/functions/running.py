"""Where labeling functions run: on threads of this process, or, those that are Python, in processes of their own.

What they answer does not depend on it: each function answers in batches, which are put together in order.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor, as_completed, wait
from threading import Lock
from typing import Any

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.jit import threads_available
from trellis.labels import runs
from trellis.weak.functions.casts import Cast, joined
from trellis.weak.functions.contract import LabelingFunction

Report = Callable[[int, int], None]
Range = tuple[int, int]

_TOKENS = 20_000  # in a batch: a fraction of a second of Python, so that progress can be seen
_ITEMS = 1_000
_FEW = 100  # not worth sending
_GLANCE = 0.1  # seconds between attempts to stop who is about to begin


class Progress:
    """Counts sentences that functions have been through; a sentence is done when all of them have."""

    def __init__(self, functions: int, sentences: int, report: Report | None):
        self._functions, self._sentences, self._report = functions, sentences, report
        self._done = 0
        self._lock = Lock()

    def more(self, sentences: int) -> None:
        if self._report is None:
            return
        with self._lock:
            self._done += sentences
            self._report(self._done // self._functions, self._sentences)


def cast_all(
    functions: Sequence[LabelingFunction],
    data: Any,
    first: int,
    workers: int,
    threads: int | None,
    report: Report | None,
) -> list[Cast]:
    """The votes of each function on all the data, before which there are `first` other sentences."""
    every = with_asked(functions)
    progress = Progress(len(every), len(data), report)
    batched = [f for f in every if f.python and not f.whole and not f.asks]
    others = [f for f in every if not (f.python and not f.whole) and not f.asks]
    # processes first: they must not be forked while threads run
    found = dict(zip(map(id, batched), _in_batches(batched, data, first, workers, progress), strict=True))
    found |= dict(zip(map(id, others), _on_threads(others, data, first, threads, progress), strict=True))
    for one in every:  # those that are asked stand before those that ask
        if one.asks:
            found[id(one)] = one.made_of([found[id(other)] for other in one.asks], data)
            progress.more(len(data))
    return [found[id(f)] for f in functions]


def with_asked(functions: Sequence[LabelingFunction]) -> list[LabelingFunction]:
    """These and those that they ask, each once, behind all that it asks."""
    found: dict[int, LabelingFunction] = {}

    def add(function: LabelingFunction) -> None:
        for other in function.asks:
            add(other)
        found.setdefault(id(function), function)

    for one in functions:
        add(one)
    return list(found.values())


def _on_threads(
    functions: Sequence[LabelingFunction], data: Any, first: int, threads: int | None, progress: Progress
) -> list[Cast]:
    """Functions that answer for all the data at once, several at a time."""

    def ask(function: LabelingFunction) -> Cast:
        answer = function.on(data, first)
        progress.more(len(data))
        return answer

    many = min(threads or threads_available(), len(functions))
    if many < 2:
        return [ask(function) for function in functions]
    with ThreadPoolExecutor(many) as pool:
        answers = [pool.submit(ask, function) for function in functions]
        try:
            for answer in as_completed(answers):
                answer.result()  # whoever fails first ends the others
            return [answer.result() for answer in answers]
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            _stop(functions, answers, at_once=not isinstance(error, Exception))
            raise


def _stop(functions: Sequence[LabelingFunction], answers: Sequence[Future[Cast]], at_once: bool) -> None:
    """Until all have ended: one that still prepares what it asks cannot be stopped before it asks."""
    while under_way := [answer for answer in answers if not answer.done()]:
        for function in functions:
            function.stop(at_once)
        wait(under_way, _GLANCE)


def _in_batches(
    functions: Sequence[LabelingFunction], data: Any, first: int, workers: int, progress: Progress
) -> list[Cast]:
    """Functions in Python, batch by batch."""
    if not functions:
        return []
    batches = _batches(data, workers)
    workers = min(workers, len(batches))
    start = _start_method(functions, data) if workers > 1 else None
    if start is None:
        found = (_answers(functions, data, first, batch) for batch in batches)
        answers = _counted(found, batches, len(functions), progress)
    else:
        answers = _by_processes(functions, data, first, batches, workers, start, progress)
    sizes = [_size(data, batch) for batch in batches]
    return [joined([answer[j] for answer in answers], sizes) for j in range(len(functions))]


def _batches(data: Any, workers: int) -> list[Range]:
    """Ranges of sentences, or of items, some for each worker; one, though empty, where there are none."""
    if isinstance(data, Corpus):
        return runs(data.offsets, max(_FEW, min(_TOKENS, -(-data.tokens // workers)))) or [(0, 0)]
    many = max(_FEW, min(_ITEMS, -(-len(data) // workers)))
    return [(a, min(a + many, len(data))) for a in range(0, len(data), many)] or [(0, 0)]


def _size(data: Any, batch: Range) -> int:
    if isinstance(data, Corpus):
        return int(data.offsets[batch[1]] - data.offsets[batch[0]])
    return batch[1] - batch[0]


def _answers(functions: Sequence[LabelingFunction], data: Any, first: int, batch: Range) -> list[Cast]:
    a, b = batch
    part = data.slice(a, b).compact() if isinstance(data, Corpus) else data[a:b]
    return [function.on(part, first + a) for function in functions]


def _counted(
    found: Iterable[list[Cast]], batches: Sequence[Range], functions: int, progress: Progress
) -> list[list[Cast]]:
    answers = []
    for answer, (a, b) in zip(found, batches, strict=True):
        answers.append(answer)
        progress.more((b - a) * functions)
    return answers


def _start_method(functions: Sequence[LabelingFunction], data: Any) -> str | None:
    """How processes begin: as copies of this one, which needs nothing to be sent, or anew, with what can be pickled.
    None, with a warning, where neither is possible."""
    from multiprocessing import get_all_start_methods

    can_fork = "fork" in get_all_start_methods()
    if can_fork and sys.platform != "darwin":
        return "fork"
    try:
        pickle.dumps((functions, data))
        return "spawn"
    except Exception as error:
        if can_fork:
            return "fork"  # less safe on this platform, and the only way
        warnings.warn(
            f"the labeling functions run in one process: they cannot be sent to others ({error}); define them at the "
            "top of a module that can be imported",
            stacklevel=5,
        )
        return None


def _by_processes(
    functions: Sequence[LabelingFunction],
    data: Any,
    first: int,
    batches: Sequence[Range],
    workers: int,
    start: str,
    progress: Progress,
) -> list[list[Cast]]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(
        workers, mp_context=get_context(start), initializer=_begin, initargs=(functions, data, first)
    )
    with warnings.catch_warnings(), pool:
        # Python warns of forks beside threads, such as those of NumPy; the copies run nothing that waits for them
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        try:
            # in order, so that of several errors the first in the data is raised, as by one process
            return _counted(pool.map(_work, batches), batches, len(functions), progress)
        except BrokenExecutor:
            raise DataError(
                "a process that runs labeling functions has ended in the middle of its work, maybe for want of memory; "
                "run them in one process to see where: workers=1"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_given: tuple[Sequence[LabelingFunction], Any, int] | None = None  # in a worker: what it works on


def _begin(functions: Sequence[LabelingFunction], data: Any, first: int) -> None:
    global _given
    _given = functions, data, first


def _work(batch: Range) -> list[Cast]:
    assert _given is not None
    return _answers(*_given, batch)
