"""The dual of the log loss with a Gaussian prior, written plainly: distributions over paths that are written out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


class Dual:
    """The dual of a problem, over paths that are written out."""

    def __init__(self, problem, l2):
        self.problem, self.l2 = problem, l2
        self.sentences = [s for s in range(problem.sentences) if problem.tokens_of(s)]
        self.paths = {s: problem.paths(s) for s in self.sentences}
        self.counts = {s: np.array([problem.counts(s, path) for path in self.paths[s]]) for s in self.sentences}
        self.gold = {s: problem.counts(s, problem.gold(s)) for s in self.sentences}

    def stores(self, seed=None, rate=0.5):
        labels, tokens = self.problem.layout.labels, len(self.problem.examples.gold)
        shapes = (tokens, labels), (self.problem.sentences, labels, labels)
        rng = np.random.default_rng(seed)
        nodes, transitions = (np.zeros(shape) if seed is None else rng.normal(size=shape) for shape in shapes)
        return nodes, transitions, np.full((self.problem.sentences, 1), rate)

    def distribution(self, s, nodes, transitions):
        """alpha_i, a probability for each path."""
        tokens = self.problem.tokens_of(s)
        total = np.array(
            [
                sum(nodes[t, label] for t, label in zip(tokens, path, strict=True))
                + sum(transitions[s, i, j] for i, j in pairwise(path))
                for path in self.paths[s]
            ]
        )
        return np.exp(total - np.logaddexp.reduce(total))

    def mask(self):
        """The labels that are allowed, BOOL[tokens, labels]."""
        allowed, labels = self.problem.examples.allowed, self.problem.layout.labels
        return np.ones((len(self.problem.examples.gold), labels), bool) if allowed is None else allowed.mask()

    def fits(self, s, nodes, transitions):
        """Whether the potentials of a sentence are near enough to one another for steps to be made at once."""
        mask, spread = self.mask(), np.ptp(transitions[s])
        return spread <= 330 and all(np.ptp(nodes[t][mask[t]]) + spread <= 600 for t in self.problem.tokens_of(s))

    def value(self, distributions):
        """D(alpha), and theta = G / l2."""
        entropy = sum(-float(p[p > 0] @ np.log(p[p > 0])) for p in distributions.values())
        g = sum(self.gold[s] - p @ self.counts[s] for s, p in distributions.items())
        return entropy - float(g @ g) / (2 * self.l2), g / self.l2

    def at(self, nodes, transitions):
        return {s: self.distribution(s, nodes, transitions) for s in self.sentences}

    def primal(self, theta):
        losses = (np.logaddexp.reduce(self.counts[s] @ theta) - self.gold[s] @ theta for s in self.sentences)
        return float(sum(losses)) + self.l2 / 2 * float(theta @ theta)

    def scores(self, theta):
        """theta . f: a number for each token and label, and a matrix."""
        problem, layout = self.problem, self.problem.layout
        data, labels = problem.examples, layout.labels
        nodes, matrix = np.zeros((len(data.gold), labels)), np.zeros((labels, labels))
        for t in range(len(data.gold)):
            for k in range(data.indptr[t], data.indptr[t + 1]):
                for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
                    nodes[t, layout.pair_label[p]] += theta[p] * (1.0 if data.values is None else data.values[k])
        matrix[layout.source, layout.target] = theta[layout.pairs : layout.arcs_at]
        return nodes, matrix

    def epoch(self, stores):
        """Every sentence in order, and how often a step failed."""
        nodes, transitions, rates = (each.copy() for each in stores)
        alpha, failed = self.at(nodes, transitions), 0
        for s in self.sentences:
            tokens = list(self.problem.tokens_of(s))
            dual, theta = self.value(alpha)
            token_scores, matrix = self.scores(theta)
            rate = rates[s, 0]
            while True:
                new_nodes, new_transitions = nodes.copy(), transitions.copy()
                new_nodes[tokens] = (1 - rate) * nodes[tokens] + rate * token_scores[tokens]
                new_transitions[s] = (1 - rate) * transitions[s] + rate * matrix
                new_alpha = {**alpha, s: self.distribution(s, new_nodes, new_transitions)}
                if self.fits(s, new_nodes, new_transitions) and self.value(new_alpha)[0] >= dual - 1e-11:
                    break
                rate, failed = rate / 2, failed + 1
            nodes, transitions, alpha = new_nodes, new_transitions, new_alpha
            rates[s, 0] = min(1.0, 1.05 * rate)
        return nodes, transitions, rates, failed
