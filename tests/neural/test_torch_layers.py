"""Layers for PyTorch: padded batches of sentences, chains and segments."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from torch_reference import chain_log_z

from trellis.errors import DataError, SettingError, TrellisError
from trellis.neural import (
    ChainCRF,
    Chains,
    SegmentCRF,
    SegmentTypes,
    log_partition,
    path_losses,
    path_scores,
    segment_scores,
)


@pytest.fixture
def chain():
    torch.manual_seed(0)
    layer = ChainCRF(3).double()
    with torch.no_grad():
        for own in layer.parameters():
            own.normal_()
    return layer


def score_of(layer, scores, path):
    total = scores[range(len(path)), path].sum() + layer.start[path[0]] + layer.end[path[-1]]
    return total + sum(layer.transitions[i, j] for i, j in pairwise(path))


def test_the_loss_is_minus_the_log_of_a_labellings_share(chain):
    scores = torch.randn(3, 4, 3, dtype=torch.float64)
    labels = torch.tensor([[0, 1, 2, 2], [1, 0, 9, 9], [2, 7, 7, 7]])
    found = chain(scores, labels, [4, 2, 1])
    for s, size in enumerate([4, 2, 1]):
        every = torch.stack([score_of(chain, scores[s], list(path)) for path in product(range(3), repeat=size)])
        own = score_of(chain, scores[s], labels[s, :size].tolist())
        torch.testing.assert_close(found[s], torch.logsumexp(every, 0) - own)
        assert chain.best(scores, [4, 2, 1])[s] == list(list(product(range(3), repeat=size))[int(every.argmax())])


def test_a_mask_says_the_same_as_lengths(chain):
    scores, labels = torch.randn(2, 4, 3, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.int64)
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]).bool()
    torch.testing.assert_close(chain(scores, labels, mask), chain(scores, labels, torch.tensor([3, 4])))
    torch.testing.assert_close(chain(scores, labels), chain(scores, labels, [4, 4]))
    with pytest.raises(DataError, match="a mask must be"):
        chain(scores, labels, ~mask)


def test_marginals_sum_to_one_and_can_be_learnt_from(chain):
    scores = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    found = chain.marginals(scores, [3, 1])
    torch.testing.assert_close(found.sum(2), torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]).double())
    (-torch.log(found[0, :, 0]).sum()).backward()
    assert all(torch.isfinite(own.grad).all() for own in [scores, *chain.parameters()])
    assert scores.grad[1].abs().sum() == 0.0


def test_without_ends_it_is_the_plain_chain():
    layer = ChainCRF(4, ends=False).double()
    scores = torch.randn(1, 3, 4, dtype=torch.float64)
    labels = torch.tensor([[1, 2, 3]])
    own = scores[0, range(3), labels[0]].sum() + layer.transitions[1, 2] + layer.transitions[2, 3]
    torch.testing.assert_close(layer(scores, labels)[0], chain_log_z(scores[0], layer.transitions) - own)


def test_an_encoder_learns_through_the_layer():
    torch.manual_seed(1)
    table, layer = torch.nn.Embedding(6, 3), ChainCRF(3)
    words = torch.tensor([[0, 1, 2, 3], [3, 4, 5, 0]])
    labels = words % 3
    optimizer = torch.optim.Adam([*table.parameters(), *layer.parameters()], lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        layer(table(words), labels).mean().backward()
        optimizer.step()
    assert layer.best(table(words)) == labels.tolist()


def test_what_does_not_fit_is_said(chain):
    scores = torch.randn(2, 4, 3, dtype=torch.float64)
    with pytest.raises(DataError, match=r"labels have the shape \(2, 3\)"):
        chain(scores, torch.zeros(2, 3, dtype=torch.int64))
    with pytest.raises(DataError, match="labels from 0 to 7; expected 0 to 2"):
        chain(scores, torch.tensor([[0, 0, 0, 7], [0, 0, 0, 0]]))
    with pytest.raises(DataError, match="expected one from 0 to 4"):
        chain(scores, torch.zeros(2, 4, dtype=torch.int64), [5, 1])
    with pytest.raises(DataError, match="scores of 2 labels; expected 3"):
        chain(scores[:, :, :2], torch.zeros(2, 4, dtype=torch.int64))
    with pytest.raises(SettingError, match="labels is 0; expected a whole number >= 1"):
        ChainCRF(0)


def segmentations(tokens, longest):
    """All sequences of (first, behind the last, type) that cover so many tokens."""
    if tokens == 0:
        return [[]]
    return [
        [*before, (tokens - d, tokens, kind)]
        for kind, most in enumerate(longest)
        for d in range(1, min(most, tokens) + 1)
        for before in segmentations(tokens - d, longest)
    ]


def segments_score(layer, scores, path):
    total = sum(scores[end - 1, end - start - 1, kind] for start, end, kind in path)
    return total + sum(layer.transitions[a[2], b[2]] for a, b in pairwise(path))


@pytest.mark.parametrize("longest", [[1, 3, 2], [2, 2], [3]])
def test_segments_are_all_ways_to_cut_a_sentence(longest):
    torch.manual_seed(2)
    layer = SegmentCRF(len(longest), longest).double()
    scores = torch.randn(2, 4, max(longest), len(longest), dtype=torch.float64)
    gold, sizes = [], [4, 3]
    for size in sizes:
        gold.append(segmentations(size, longest)[1])
    found, shares = layer(scores, gold, sizes), layer.marginals(scores, sizes)
    for s, size in enumerate(sizes):
        paths = segmentations(size, longest)
        every = torch.stack([segments_score(layer, scores[s], path) for path in paths])
        torch.testing.assert_close(found[s], torch.logsumexp(every, 0) - segments_score(layer, scores[s], gold[s]))
        assert layer.best(scores, sizes)[s] == paths[int(every.argmax())]
        p, expected = torch.softmax(every, 0), torch.zeros_like(scores[s])
        for path, share in zip(paths, p, strict=True):
            for start, end, kind in path:
                expected[end - 1, end - start - 1, kind] += share
        torch.testing.assert_close(shares[s], expected)


def test_segments_that_do_not_fit_are_named():
    layer = SegmentCRF(2, [1, 2])
    scores = torch.zeros(1, 3, 2, 2)
    for wrong in ([(0, 2, 0), (2, 3, 0)], [(1, 3, 1)], [(0, 1, 5)]):
        with pytest.raises(DataError, match="sentence 1: the segment"):
            layer(scores, [wrong])
    with pytest.raises(DataError, match="segments up to token 1 of 3"):
        layer(scores, [[(0, 1, 0)]])
    with pytest.raises(DataError, match="segments of 2 sentences; there are 1"):
        layer(scores, [[], []])
    with pytest.raises(DataError, match=r"expected \[sentences, tokens"):
        layer(scores[..., :1], [[(0, 1, 0)]])
    with pytest.raises(SettingError, match="expected one for each type"):
        SegmentCRF(2, [1])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_scores_of_every_precision(dtype):
    layer, scores = ChainCRF(3), torch.randn(2, 3, 3).to(dtype).requires_grad_()
    loss = layer(scores, torch.zeros(2, 3, dtype=torch.int64))
    loss.sum().backward()
    assert loss.dtype == scores.grad.dtype == dtype


def test_wrong_shapes_and_types_are_said():
    layer, labels = ChainCRF(3), torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(DataError, match="expected 3 dimensions"):
        layer(torch.randn(3, 3), labels)
    with pytest.raises(DataError, match="and floats"):
        layer(torch.zeros(2, 3, 3, dtype=torch.int64), labels)
    with pytest.raises(DataError, match="a mask must be"):
        layer(torch.randn(2, 3, 3), labels, torch.ones(2).bool())
    with pytest.raises(DataError, match="expected whole numbers"):
        layer(torch.randn(2, 3, 3), labels.float())
    with pytest.raises(DataError, match="expected 4 dimensions"):
        SegmentCRF(2, 2)(torch.randn(2, 3, 3), [])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ChainCRF("5"), "labels is '5'; expected a whole number >= 1"),
        (lambda: ChainCRF(5.0), "labels is 5.0; expected"),
        (lambda: SegmentCRF(2, [1, "a"]), "expected one for each type, 1 or longer"),
        (lambda: ChainCRF(3)(np.zeros((1, 2, 3)), torch.zeros(1, 2).long()), "expected a tensor of PyTorch"),
        (lambda: ChainCRF(3)(torch.zeros(1, 2, 3), "ab"), "labels are 'ab'; expected a tensor"),
        (lambda: ChainCRF(3).best(torch.zeros(1, 2, 3), "ab"), "lengths are 'ab'; expected a tensor"),
        (lambda: ChainCRF(3).best(torch.zeros(1, 2, 3), torch.ones(1, 2).int()), "a mask must be of the type bool"),
        (lambda: SegmentCRF(1, 2)(torch.zeros(1, 2, 2, 1), [[(0, 2)]]), "expected three whole numbers"),
        (lambda: SegmentCRF(1, 2)(torch.zeros(1, 2, 2, 1), [[(0, 2, "NP")]]), "expected three whole numbers"),
        (lambda: ChainCRF(3)(torch.zeros(1, 2, 3), torch.full((1, 2), 1 << 32)), "labels from 4294967296"),
        (lambda: log_partition(Chains([0, 2]), torch.zeros(2), torch.zeros(3, 3)), "expected \\[tokens, labels\\]"),
        (lambda: log_partition(Chains([0, 2]), torch.zeros(2, 3).int(), torch.zeros(3, 3)), "with floats"),
        (lambda: path_losses(Chains([0, 2]), np.zeros((2, 3)), torch.zeros(3, 3), [0, 1]), "expected a tensor of PyTo"),
        (
            lambda: path_scores(Chains([0, 2]), torch.zeros(2, 3), torch.zeros(3, 3), [[0], [1, 2]]),
            "no list of numbers",
        ),
        (lambda: segment_scores(Chains([0, 2]), torch.zeros(2, 3)), "are of Segments, not of Chains"),
        (lambda: SegmentTypes.of([2], [0, 2], [1, 3], 4), "need a length, a label to begin with"),
        (lambda: log_partition(Chains([0, 2]), np.zeros((2, 3)), torch.zeros(3, 3)), "expected a tensor of PyTorch"),
    ],
)
def test_wrong_types_are_said(call, message):
    with pytest.raises(TrellisError, match=message):
        call()


def test_lists_and_batches_of_nothing_are_taken():
    crf, scores = ChainCRF(3), torch.randn(2, 4, 3)
    labels = torch.randint(3, (2, 4))
    torch.testing.assert_close(crf(scores, labels.tolist(), [4, 2]), crf(scores, labels.numpy(), torch.tensor([4, 2])))
    assert crf(torch.zeros(0, 4, 3), torch.zeros(0, 4).long()).shape == (0,)
    assert repr(crf) == "ChainCRF(3, ends=True)"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_best_is_found_in_every_precision_and_of_nothing(dtype):
    chain, segments = ChainCRF(3).to(dtype), SegmentCRF(2, [2, 1]).to(dtype)
    lengths = torch.tensor([3, 0], dtype=torch.uint8)
    found = chain.best(torch.randn(2, 3, 3, dtype=dtype), lengths)
    assert [len(path) for path in found] == [3, 0]
    found = segments.best(torch.randn(2, 3, 2, 2, dtype=dtype), lengths)
    assert found[0][-1][1] == 3
    assert found[1] == []
