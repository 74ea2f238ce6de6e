"""Layers for PyTorch that put an encoder's scores into lattices: batches of sentences, filled up to one length."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from trellis.errors import DataError, SettingError, shown
from trellis.lattice.segments import SegmentTypes
from trellis.neural.functions import array_of, marginals, path_losses
from trellis.neural.lattices import Chains, Segments

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

Segment = tuple[int, int, int]  # first token, the one behind the last, type


class ChainCRF(nn.Module):
    """A conditional random field over `labels` labels: scores of one label after another, of a first and of a last one,
    which are learnt beside the encoder.

    Scores are [sentences, tokens, labels]. `lengths`: how many tokens of each sentence count, a list or a tensor, or a
    mask [sentences, tokens] that is true for these; all of them, if not given.
    """

    def __init__(self, labels: int, ends: bool = True):
        super().__init__()
        _check_count("labels", labels)
        self.transitions = nn.Parameter(torch.empty(labels, labels).uniform_(-0.1, 0.1))
        self.start = nn.Parameter(torch.zeros(labels)) if ends else None
        self.end = nn.Parameter(torch.zeros(labels)) if ends else None

    def extra_repr(self) -> str:
        return f"{len(self.transitions)}, ends={self.start is not None}"

    def forward(self, scores: Tensor, labels: Tensor, lengths: Any = None) -> Tensor:
        """-log P(labels) of each sentence, [sentences]; labels: [sentences, tokens], whatever behind the last."""
        inside, offsets = _inside(scores, lengths)
        nodes, lattices = self._nodes(scores, inside, offsets), Chains(offsets)
        labels = _tensor(labels, "labels")
        if labels.is_floating_point() or labels.is_complex():
            raise DataError(f"labels are of the type {labels.dtype}; expected whole numbers")
        if labels.shape != scores.shape[:2]:
            raise DataError(f"labels have the shape {tuple(labels.shape)}; expected {tuple(scores.shape[:2])}")
        path = labels.detach().cpu().numpy()[inside.numpy()]
        if len(path) and not 0 <= path.min() <= path.max() < len(self.transitions):
            raise DataError(f"labels from {path.min()} to {path.max()}; expected 0 to {len(self.transitions) - 1}")
        return path_losses(lattices, nodes, self.transitions, path)

    def marginals(self, scores: Tensor, lengths: Any = None) -> Tensor:
        """P(label) of every token, [sentences, tokens, labels], 0 behind the last; a loss may be made of them."""
        inside, offsets = _inside(scores, lengths)
        found, _ = marginals(Chains(offsets), self._nodes(scores, inside, offsets), self.transitions)
        out = torch.zeros_like(scores)
        out[inside.to(scores.device)] = found
        return out

    @torch.no_grad()
    def best(self, scores: Tensor, lengths: Any = None) -> list[list[int]]:
        """The best labels of each sentence."""
        inside, offsets = _inside(scores, lengths)
        nodes = self._nodes(scores, inside, offsets)
        path = Chains(offsets).best(array_of(nodes), array_of(self.transitions)).tolist()
        return [path[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]

    def _nodes(self, scores: Tensor, inside: Tensor, offsets: I64) -> Tensor:
        if scores.shape[2] != len(self.transitions):
            raise DataError(f"scores of {scores.shape[2]} labels; expected {len(self.transitions)}")
        nodes = scores[inside.to(scores.device)]
        if self.start is None or self.end is None:
            return nodes
        some = torch.from_numpy(np.flatnonzero(np.diff(offsets) > 0)).to(scores.device)
        ends = torch.from_numpy(offsets).to(scores.device)
        first, last = (own.to(nodes.dtype).expand(len(some), -1) for own in (self.start, self.end))
        return nodes.index_add(0, ends[some], first).index_add(0, ends[some + 1] - 1, last)


class SegmentCRF(nn.Module):
    """A semi-Markov conditional random field: a sentence is cut into segments of `longest` tokens at most (one number
    for all types, or one for each), each of one of so many `types`.

    Scores are [sentences, tokens, longest, types]: at [s, t, d - 1, y] that of d tokens the last of which is t, as a
    segment of type y. `lengths` is as for `ChainCRF`.
    """

    def __init__(self, types: int, longest: int | Sequence[int]):
        super().__init__()
        _check_count("types", types)
        each = [longest] * types if isinstance(longest, int) else list(longest)
        if len(each) != types or not all(isinstance(one, Integral) and one >= 1 for one in each):
            raise SettingError(f"{types} types with the lengths {each}; expected one for each type, 1 or longer")
        self.types = SegmentTypes.of(each, range(0, 2 * types, 2), range(1, 2 * types, 2), 2 * types)
        self.transitions = nn.Parameter(torch.empty(types, types).uniform_(-0.1, 0.1))
        lengths, own = self.types.of_cells
        self._order = self.types.begin // 2  # the types as the lattice has them, longer ones first
        self._cells = (lengths - 1) * types + self._order[own]

    def forward(self, scores: Tensor, segments: Sequence[Sequence[Segment]], lengths: Any = None) -> Tensor:
        """-log P(segments) of each sentence, [sentences]; segments: (first token, the one behind the last, type), which
        cover the sentence."""
        inside, offsets = _inside(scores, lengths, 4)
        nodes, arcs = self._parts(scores, inside)
        lattices, path = Segments(offsets, self.types), self._path(segments, offsets)
        return path_losses(lattices, nodes, arcs, path)

    def marginals(self, scores: Tensor, lengths: Any = None) -> Tensor:
        """P(segment), in the shape of the scores, 0 for what is none; a loss may be made of them."""
        inside, offsets = _inside(scores, lengths, 4)
        found, _ = marginals(Segments(offsets, self.types), *self._parts(scores, inside))
        rows = torch.zeros(len(found), scores.shape[2] * scores.shape[3], dtype=scores.dtype, device=scores.device)
        rows = rows.index_add(1, torch.from_numpy(self._cells).to(scores.device), found)
        out = torch.zeros_like(scores)
        out[inside.to(scores.device)] = rows.reshape(-1, *scores.shape[2:])
        return out

    @torch.no_grad()
    def best(self, scores: Tensor, lengths: Any = None) -> list[list[Segment]]:
        """The best segments of each sentence."""
        inside, offsets = _inside(scores, lengths, 4)
        path = Segments(offsets, self.types).best(*map(array_of, self._parts(scores, inside)))
        found: list[list[Segment]] = []
        for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            starts = np.flatnonzero(path[a:b] % 2 == 0).tolist()
            kinds = (path[a:b][starts] // 2).tolist()
            found.append(list(zip(starts, [*starts, b - a][1:], kinds, strict=True)))
        return found

    def _parts(self, scores: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
        """Scores as the lattice has them."""
        expected = (int(self.types.longest[0]), len(self.types))
        if tuple(scores.shape[2:]) != expected:
            raise DataError(f"scores of the shape {tuple(scores.shape)}; expected [sentences, tokens, *{expected}]")
        nodes = scores[inside.to(scores.device)].reshape(-1, expected[0] * expected[1])
        order = torch.from_numpy(self._order).to(scores.device)
        return nodes[:, torch.from_numpy(self._cells).to(scores.device)], self.transitions[order][:, order]

    def _path(self, segments: Sequence[Sequence[Segment]], offsets: I64) -> I32:
        path = np.zeros(int(offsets[-1]), np.int32)
        longest = np.zeros(len(self.types), np.int64)
        longest[self._order] = self.types.longest
        if len(segments) != len(offsets) - 1:
            raise DataError(f"segments of {len(segments)} sentences; there are {len(offsets) - 1}")
        for s, (own, first, behind) in enumerate(zip(segments, offsets[:-1], offsets[1:], strict=True), 1):
            at = int(first)
            for segment in own:
                start, end, kind = _three(segment, s)
                fits = 0 <= kind < len(longest) and first + start == at and start < end <= start + longest[kind]
                if not fits:
                    raise DataError(
                        f"sentence {s}: the segment {(start, end, kind)}; expected segments that follow each other "
                        "from token 0 on, of types that there are, not longer than these may be"
                    )
                path[at : first + end] = 2 * kind + 1
                path[at] = 2 * kind
                at = int(first) + end
            if at != behind:
                raise DataError(f"sentence {s}: segments up to token {at - first} of {behind - first}")
        return path


def _inside(scores: Tensor, lengths: Any, dimensions: int = 3) -> tuple[Tensor, I64]:
    """Which tokens count, a mask [sentences, tokens], and where sentences begin when the others are left out."""
    if not isinstance(scores, Tensor):
        raise DataError(f"scores are of the type {type(scores).__name__}; expected a tensor of PyTorch")
    if scores.ndim != dimensions or not scores.is_floating_point():
        raise DataError(
            f"scores of the shape {tuple(scores.shape)} and the type {scores.dtype}; expected {dimensions} dimensions, "
            "sentences and tokens first, and floats"
        )
    sentences, tokens = scores.shape[:2]
    if lengths is None:
        lengths = [tokens] * sentences
    given = _tensor(lengths, "lengths").detach().cpu()
    if not sentences and given.numel() == 0:
        given = torch.zeros(0, dtype=torch.int64)
    if given.dtype == torch.bool:
        fits = tuple(given.shape) == (sentences, tokens)
        counts = given.sum(dim=1) if fits else given
        if not fits or bool((given != (torch.arange(tokens) < counts[:, None])).any()):
            raise DataError("a mask must be [sentences, tokens], true from the first token of a sentence to its last")
        given = counts
    if given.ndim == 2:
        raise DataError(
            f"lengths have the shape {tuple(given.shape)} and the type {given.dtype}; a mask must be of the type bool"
        )
    is_whole = not (given.is_floating_point() or given.is_complex())
    counts = given.to(torch.int64) if is_whole else given
    if not is_whole or tuple(given.shape) != (sentences,) or bool(((counts < 0) | (counts > tokens)).any()):
        raise DataError(
            f"lengths are {given.tolist()}; expected one from 0 to {tokens} for each of {sentences} sentences"
        )
    given = counts
    offsets = np.concatenate([[0], np.cumsum(given.numpy().astype(np.int64))]).astype(np.int64)
    return torch.arange(tokens) < given[:, None], offsets


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise SettingError(f"{name} is {shown(value)}; expected a whole number >= 1")


def _tensor(values: Any, name: str) -> Tensor:
    """What may be a list or an array."""
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise DataError(f"{name} are {shown(values)}; expected a tensor, or lists of numbers") from None


def _three(segment: Any, sentence: int) -> Segment:
    """Its numbers; those of other things are refused."""
    found = tuple(segment) if isinstance(segment, Sequence | np.ndarray | Tensor) else ()
    if len(found) != 3 or not all(isinstance(each, Integral) for each in map(_plain, found)):
        raise DataError(
            f"sentence {sentence}: the segment {shown(segment)}; expected three whole numbers: the first token, the "
            "one behind the last, and the type"
        )
    return int(found[0]), int(found[1]), int(found[2])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value
