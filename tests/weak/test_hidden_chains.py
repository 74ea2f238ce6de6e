"""Hidden Markov models of votes: what they say equals enumeration, and EM never goes downhill."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.errors import ConvergenceWarning, SettingError
from trellis.weak.models import DawidSkene, Generative, HMMAggregator, LinkedHMM, MajorityVote

pytestmark = pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")


def log_probability(model, votes, path):
    """log P(votes, path) of one sentence, by the formula at the top of `hmm` and `linked`."""
    emissions, voters = model.emissions_, model.emissions_.voters
    total = np.log(model.start_[path[0]])
    for t, label in enumerate(path):
        if t:
            total += np.log(model.follow_[path[t - 1], label])
            if isinstance(model, LinkedHMM):
                joined = int(votes.space.joined[path[t - 1], label])
                total += sum(np.log(model.links_[i, joined, votes.links[t, i] + 1]) for i in range(len(votes.linkers)))
        for v, (group, joint) in enumerate(zip(voters.groups, voters.joint, strict=True)):
            outcome = next(r for r, row in enumerate(joint) if (row == votes.values[t, list(group)]).all())
            total += emissions.logs[voters.first[v] + outcome, label]
    return total


@pytest.mark.parametrize("kind", [HMMAggregator, LinkedHMM])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), anchor=st.sampled_from([0.0, 1.0, 10.0]), grouped=st.booleans())
def test_marginals_and_best_paths_equal_enumeration(kind, seed, anchor, grouped, segment_votes):
    votes, _ = segment_votes(seed, 12, links=2 if kind is LinkedHMM else 0)
    structure = [["f0", "f2"]] if grouped else "independent"
    model = kind(structure=structure, anchor=anchor, max_iter=3, tol=None).fit(votes)
    lengths = np.diff(votes.offsets)
    sentence = int(np.argmax(np.where(lengths <= 4, lengths, 0)))
    one = votes.picked(np.array([sentence]))
    paths = list(itertools.product(range(5), repeat=one.tokens))
    with np.errstate(divide="ignore"):
        logs = np.array([log_probability(model, one, path) for path in paths])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    nodes = np.zeros((one.tokens, 5))
    for weight, path in zip(weights, paths, strict=True):
        nodes[np.arange(one.tokens), list(path)] += weight
    assert np.allclose(model.probabilities(one), nodes, atol=1e-9)
    best = log_probability(model, one, model.best(one).tolist())
    assert np.isclose(best, logs.max())
    whole = model.probabilities(votes)[votes.offsets[sentence] : votes.offsets[sentence + 1]]
    assert np.allclose(whole, nodes, atol=1e-9)


@pytest.mark.parametrize("kind", [HMMAggregator, LinkedHMM, DawidSkene, Generative])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), loose=st.booleans(), grouped=st.booleans())
def test_em_never_lowers_its_objective(kind, seed, loose, grouped, segment_votes):
    votes, _ = segment_votes(seed, 15, links=2 if kind is LinkedHMM else 0)
    more = {} if kind is Generative else {"anchor": 0.0 if loose else 2.0}
    if kind is Generative and not loose:
        more = {"abstention": "alike"}
    model = kind(max_iter=25, tol=None, structure=[["f0", "f1"]] if grouped else "independent", **more).fit(votes)
    values = np.array(model.climb_.objectives)
    assert len(values) == 25
    assert (np.diff(values) >= -1e-9 * np.abs(values[:-1])).all()


def test_io_space_counts_types_alone(segment_votes):
    votes, _ = segment_votes(1)
    model = HMMAggregator(space="io").fit(votes)
    assert model.own_labels == ("O", "I-A", "I-B")
    assert model.labels_ == votes.labels
    assert model.probabilities(votes).shape == (votes.tokens, 3)
    assert np.allclose(model.probabilities(votes).sum(axis=1), 1.0)


def test_a_strong_anchor_stays_with_majority_vote_of_labels(segment_votes):
    votes, _ = segment_votes(2, 200)
    model = HMMAggregator(anchor=1e6).fit(votes)
    loose = HMMAggregator(anchor=0.0).fit(votes)
    shares = MajorityVote().fit(votes).best(votes)
    assert np.mean(model.best(votes) == shares) >= np.mean(loose.best(votes) == shares)


def test_links_tell_that_two_tokens_are_one_segment(segment_votes):
    votes, gold = segment_votes(3, 400, links=2)
    linked = LinkedHMM().fit(votes)
    alone = HMMAggregator().fit(votes)
    assert np.mean(linked.best(votes) == gold) > np.mean(alone.best(votes) == gold)
    assert linked.links_[:, 1, 2].min() > linked.links_[:, 0, 2].max()


def test_in_pieces_or_whole_linked_chains_say_the_same(segment_votes, monkeypatch):
    votes, _ = segment_votes(4, 30, links=1)
    whole = LinkedHMM(max_iter=4, tol=None).fit(votes)
    monkeypatch.setattr("trellis.weak.models.linked._AT_ONCE", 100)
    pieces = LinkedHMM(max_iter=4, tol=None).fit(votes)
    assert np.allclose(whole.probabilities(votes), pieces.probabilities(votes), atol=1e-12)
    assert np.isclose(whole.climb_.objectives[-1], pieces.climb_.objectives[-1])


def test_sentences_may_be_empty(segment_votes):
    votes, _ = segment_votes(5)

    gaps = replace(
        votes, offsets=np.insert(votes.offsets, [0, 3, len(votes.offsets)], [0, votes.offsets[3], votes.tokens])
    )
    assert np.allclose(HMMAggregator().fit(gaps).probabilities(gaps), HMMAggregator().fit(votes).probabilities(votes))


@pytest.mark.filterwarnings("error")
def test_not_to_have_converged_is_said(segment_votes):
    votes, _ = segment_votes(6)
    with pytest.warns(ConvergenceWarning, match="HMMAggregator has not converged after 2 iterations"):
        assert not HMMAggregator(max_iter=2, tol=0.0).fit(votes).climb_.converged


@pytest.mark.parametrize(
    ("settings_", "says"),
    [
        ({"anchor": -1.0}, "anchor is -1.0; expected a number >= 0"),
        ({"anchor": float("nan")}, "anchor is nan"),
        ({"smoothing": 0.0}, "smoothing is 0.0; expected a number > 0"),
        ({"max_iter": 0}, "max_iter is 0; expected a whole number >= 1"),
        ({"tol": "small"}, "tol is 'small'"),
        ({"space": "bioes"}, "the space is 'bioes'; expected 'io' or 'iob2'"),
        ({"structure": "some"}, "the structure is 'some'; expected 'independent', 'learned'"),
        ({"structure": [["f0", "nobody"]]}, "the structure names 'nobody'"),
        ({"structure": [["f0", "f1"], ["f1"]]}, "names 'f1' twice"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings_, says, segment_votes):
    with pytest.raises(SettingError, match=says):
        HMMAggregator(**settings_).fit(segment_votes(0)[0])


def test_linked_chains_need_links(segment_votes):
    with pytest.raises(SettingError, match="no linking function votes here; use hmm"):
        LinkedHMM().fit(segment_votes(0)[0])
    votes, _ = segment_votes(0, links=1)
    model = LinkedHMM().fit(votes)
    with pytest.raises(SettingError, match="knows the linking function 'l0'"):
        model.best(segment_votes(0)[0])


def test_some_thousand_tokens_are_worth_compiling_as_every_step_sees_them_and_a_hundred_are_not():
    script = (
        "import sys, numpy as np, trellis.weak as weak\n"
        "def fit(tokens):\n"
        "    values = np.resize(np.array([[1, 1], [2, -1], [-1, -1]], np.int32), (tokens, 2))\n"
        "    offsets = np.arange(0, tokens + 1, 10)\n"
        "    weak.HMMAggregator().fit(weak.Votes(values, ('f', 'g'), weak.Space.of_types(['A']), offsets))\n"
        "    return 'numba' in sys.modules\n"
        "print(fit(100), fit(5000))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("kind", [HMMAggregator, LinkedHMM])
def test_the_same_bits_for_any_number_of_threads(kind, segment_votes, monkeypatch):
    import numba  # noqa: F401  # threads are for kernels

    votes, _ = segment_votes(3, sentences=400, links=1)
    monkeypatch.setattr("trellis.weak.models.hmm._AT_ONCE", 100)
    monkeypatch.setattr("trellis.weak.models.linked._AT_ONCE", 2500)
    found = []
    for threads in (1, 2, 8):
        monkeypatch.setattr("trellis.weak.models.hmm.threads_available", lambda n=threads: n)
        found.append(kind(max_iter=5, tol=None).fit(votes))
    for other in found[1:]:
        assert other.climb_.objectives == found[0].climb_.objectives
        assert (other.probabilities(votes) == found[0].probabilities(votes)).all()
    monkeypatch.setattr("trellis.weak.models.hmm._AT_ONCE", 1 << 14)
    monkeypatch.setattr("trellis.weak.models.linked._AT_ONCE", 1 << 20)
    whole = kind(max_iter=5, tol=None).fit(votes)
    assert np.allclose(whole.probabilities(votes), found[0].probabilities(votes), atol=1e-9)
