"""The slow, obvious answer to every question about a lattice: list all paths."""

from __future__ import annotations

from itertools import product

import numpy as np


class EnumeratedChain:
    """All label sequences of one sentence with their scores; `transition(t)` leads into token t."""

    def __init__(self, scores, transition):
        self.length, self.labels = scores.shape
        self.transition = transition
        self.paths = list(product(range(self.labels), repeat=self.length))
        self.scores = np.array([self._score(scores, path) for path in self.paths])

    def _score(self, scores, path):
        nodes = sum(scores[t, j] for t, j in enumerate(path))
        return nodes + sum(self.transition(t)[path[t - 1], path[t]] for t in range(1, len(path)))

    @property
    def log_z(self):
        high = self.scores.max()
        return high + np.log(np.exp(self.scores - high).sum())

    @property
    def probabilities(self):
        powers = np.exp(self.scores - self.scores.max())
        return powers / powers.sum()

    def nodes(self, weights=None):
        """Sum over paths of weight x indicator; with no weights, marginals."""
        weights = self.probabilities if weights is None else weights
        out = np.zeros((self.length, self.labels))
        for path, weight in zip(self.paths, weights, strict=True):
            out[np.arange(self.length), list(path)] += weight
        return out

    def arcs(self, weights=None):
        """The same for arcs: [tokens, labels, labels], block 0 empty."""
        weights = self.probabilities if weights is None else weights
        out = np.zeros((self.length, self.labels, self.labels))
        for path, weight in zip(self.paths, weights, strict=True):
            for t in range(1, self.length):
                out[t, path[t - 1], path[t]] += weight
        return out

    def values_of(self, node_h, arc_h):
        """H(y) of every path."""
        return np.array(
            [
                sum(node_h[t, j] for t, j in enumerate(path))
                + sum(arc_h(t)[path[t - 1], path[t]] for t in range(1, len(path)))
                for path in self.paths
            ]
        )

    @property
    def entropy(self):
        p = self.probabilities
        return -(p[p > 0] * np.log(p[p > 0])).sum()
