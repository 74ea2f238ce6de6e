"""Best paths with many types that may occur once: legal, bounded, and exact where the bound says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.lattice.relaxed import ManyOnce
from trellis.lattice.segments import SegmentChain, SegmentTypes
from trellis.lattice.spelling import Spelling
from trellis.lattice.written import WrittenChain
from trellis.metrics.segments import segment_types, segments, spelling_of

TYPES = 6
LABELS = ["O", *(f"{place}-{kind}" for kind in "ABCDEF" for place in "BI")]


def exact(scores, transitions, labels, kinds):
    """The best score with at most one segment of each kind, by the set of those that have begun."""
    spelling = Spelling(*spelling_of(labels))
    states = {}
    for t, row in enumerate(scores):
        new = {}
        for j in range(len(labels)):
            ways = [(0.0, None, 0)] if t == 0 else [(score, i, m) for (i, m), score in states.items()]
            for score, i, mask in ways:
                k = int(spelling.kind[j])
                if k in kinds and (i is None or spelling.starts[i, j]):
                    if mask >> k & 1:
                        continue
                    mask |= 1 << k
                total = score + row[j] + (0.0 if i is None else transitions[i, j])
                if total > new.get((j, mask), -np.inf):
                    new[j, mask] = total
        states = new
    return max(states.values(), default=0.0)


def chain_of(seed, lengths, scale):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    scores = rng.normal(size=(int(offsets[-1]), len(LABELS))) * scale
    scores[:, 1::2] += rng.normal(size=TYPES) * scale  # segments begin often, and of some types most
    transitions = rng.normal(size=(len(LABELS), len(LABELS)))
    return WrittenChain(scores.ravel(), transitions.ravel(), offsets, len(LABELS), False), scores, transitions


def counts(path, labels):
    found = segments(path, labels, np.array([0, len(path)]))[2]
    return np.bincount(found, minlength=len(segment_types(labels)))


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 7), min_size=1, max_size=3), st.sampled_from([0.3, 1.0, 5.0]))
def test_paths_keep_to_the_rule_and_bounds_hold(seed, lengths, scale):
    chain, scores, transitions = chain_of(seed, lengths, scale)
    kinds = tuple(range(TYPES))
    lattice = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), kinds)
    paths, totals, bounds = lattice.bounded()
    np.testing.assert_allclose(chain.path_scores(paths), totals, atol=1e-9)
    for s, (a, b) in enumerate(zip(chain.offsets[:-1].tolist(), chain.offsets[1:].tolist(), strict=True)):
        assert (counts(paths[a:b], LABELS) <= 1).all()
        best = exact(scores[a:b], transitions, LABELS, kinds)
        assert totals[s] <= best + 1e-9
        assert bounds[s] >= best - 1e-9


def test_most_are_found_to_be_the_best():
    gaps = []
    for seed in range(60):
        chain, scores, transitions = chain_of(seed, [9], 1.0)
        _, totals, bounds = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES))).bounded()
        best = exact(scores, transitions, LABELS, range(TYPES))
        gaps.append((bounds[0] - totals[0], best - totals[0]))
    proven, off = np.array(gaps).T
    assert (proven < 1e-9).mean() > 0.95
    assert (off < 1e-9).mean() > 0.95


def test_segments_of_a_semi_markov_chain():
    rng = np.random.default_rng(3)
    types = SegmentTypes.of([2] * TYPES + [1], [*range(1, 13, 2), 0], [*range(2, 13, 2), -1], 13)
    lengths = [6, 0, 8]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    scores = rng.normal(size=int(offsets[-1]) * types.cells) + 1.0
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    scores[(types.of_cells[0] > place[:, None] + 1).ravel()] = -np.inf
    chain = SegmentChain(scores, rng.normal(size=len(types) ** 2), offsets, types)
    paths, totals, bounds = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES))).bounded()
    assert (bounds >= totals).all()
    assert (chain.best()[1] >= totals).all()
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        assert (counts(paths[a:b], LABELS) <= 1).all()


def test_no_path_and_other_questions_are_said():
    chain, scores, transitions = chain_of(0, [3], 1.0)
    lattice = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES)))
    for ask in (lattice.marginals, lattice.entropy, lambda: lattice.kbest(2), lambda: lattice.beam(3)):
        with pytest.raises(SettingError, match="6 types that may occur once: only the best path"):
            ask()
    scores[:, [0, *range(3, len(LABELS))]] = -np.inf
    transitions[:, 2] = -np.inf  # nothing but a new segment of the first type at each token
    chain = WrittenChain(scores.ravel(), transitions.ravel(), chain.offsets, len(LABELS), False)
    lattice = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES)))
    with pytest.raises(NoLegalPathError, match="sentence 1"):
        lattice.best()


def test_ties_break_no_rule():
    """Where all scores are equal, every path is a best one."""
    types = SegmentTypes.of([2] * TYPES + [1], [*range(1, 13, 2), 0], [*range(2, 13, 2), -1], 13)
    scores = np.zeros((6, types.cells))
    scores[types.of_cells[0] > np.arange(6)[:, None] + 1] = -np.inf
    scores[:, types.of_cells[1] == TYPES] = -1.0
    chain = SegmentChain(scores.ravel(), np.zeros(len(types) ** 2), np.array([0, 6]), types)
    path, total, bound = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES))).bounded()
    assert (counts(path, LABELS) <= 1).all()
    assert total[0] == bound[0] == 0.0


def test_as_many_types_as_tokens_each_of_them_once():
    """Without O every path that keeps to the rule is a permutation."""
    labels = [f"B-{kind}" for kind in "ABCDEF"]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(6, 6)) * 2
        chain = WrittenChain(scores.ravel(), rng.normal(size=36), np.array([0, 6]), 6, False)
        lattice = ManyOnce.of(chain, Spelling(*spelling_of(labels)), tuple(range(6)))
        best = exact(scores, chain.arc_scores.reshape(6, 6), labels, range(6))
        path, total, bound = lattice.bounded()
        assert sorted(path.tolist()) == list(range(6))
        assert total[0] == bound[0] == pytest.approx(best)


def test_too_little_room_is_seen_in_the_bound(monkeypatch):
    for rooms in ((1,), (2,), (1, 4)):
        monkeypatch.setattr("trellis.lattice.relaxed._ROOMS", rooms)
        off = []
        for seed in range(20):
            chain, scores, transitions = chain_of(seed, [9], 1.0)
            path, total, bound = ManyOnce.of(chain, Spelling(*spelling_of(LABELS)), tuple(range(TYPES))).bounded()
            best = exact(scores, transitions, LABELS, range(TYPES))
            assert (counts(path, LABELS) <= 1).all()
            assert total[0] <= best + 1e-9
            assert bound[0] >= best - 1e-9
            off.append(bound[0] - total[0])
        assert max(off) > 0.0


def test_a_path_that_was_missed_is_not_said_to_be_none(monkeypatch):
    monkeypatch.setattr("trellis.lattice.relaxed._ROOMS", (1,))
    # the way that is best so far, A B, cannot go on: only A can follow B
    labels = [f"B-{kind}" for kind in "ABCDEF"]
    scores = np.full((3, 6), -np.inf)
    scores[0, [0, 2]], scores[1, 1], scores[2, 0] = [5.0, 0.0], 0.0, 0.0
    chain = WrittenChain(scores.ravel(), np.zeros(36), np.array([0, 3]), 6, False)
    with pytest.raises(DataError, match="there may be one; name fewer types"):
        ManyOnce.of(chain, Spelling(*spelling_of(labels)), tuple(range(6))).best()
    monkeypatch.setattr("trellis.lattice.relaxed._ROOMS", (1, 2))
    path, _ = ManyOnce.of(chain, Spelling(*spelling_of(labels)), tuple(range(6))).best()
    assert path.tolist() == [2, 1, 0]
