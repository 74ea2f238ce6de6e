"""The same lattices in plain PyTorch, differentiated by PyTorch itself: slow and obvious."""

from __future__ import annotations

from itertools import pairwise

import torch


def chain_log_z(scores, transitions):
    """Of one sentence, [tokens, labels]; transitions [labels, labels], or a block for each token."""
    if not len(scores):
        return scores.new_zeros(())
    alpha = scores[0]
    for t in range(1, len(scores)):
        block = transitions[t] if transitions.ndim == 3 else transitions
        alpha = torch.logsumexp(alpha[:, None] + block, dim=0) + scores[t]
    return torch.logsumexp(alpha, dim=0)


def segment_log_z(scores, transitions):
    """Of one sentence, [tokens, longest, types]: the segment of d tokens that ends at t is at [t, d - 1]."""
    tokens, longest, _ = scores.shape
    ends = []  # log of the sum over all that ends before token t, by type
    for t in range(tokens):
        ways = []
        for d in range(1, min(longest, t + 1) + 1):
            if d == t + 1:
                ways.append(scores[t, d - 1])
            else:
                ways.append(torch.logsumexp(ends[t - d][:, None] + transitions, dim=0) + scores[t, d - 1])
        ends.append(torch.logsumexp(torch.stack(ways), dim=0))
    return torch.logsumexp(ends[-1], dim=0) if tokens else scores.new_zeros(())


def cut(values, offsets):
    """The parts of sentences."""
    return [values[a:b] for a, b in pairwise(offsets)]
