"""Perceptrons written down plainly: every path is tried, every kernel taken anew, every average a mean of copies."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from trellis.dual import DualExamples, Polynomial
from trellis.features.packed import Packed

ATTRIBUTES = 5


@dataclass(frozen=True)
class Problem:
    """Sentences of tokens, each a list of (attribute, value), with a gold label for each."""

    sentences: list
    labels: int
    seed: int

    @property
    def tokens(self):
        return [token for sentence in self.sentences for token, _ in sentence]

    @property
    def gold(self):
        return np.array([label for sentence in self.sentences for _, label in sentence], np.int32)

    @property
    def offsets(self):
        return np.cumsum([0, *map(len, self.sentences)])

    def examples(self, kernel):
        return DualExamples(packed(self.tokens), self.gold, self.offsets, ATTRIBUTES, self.labels, kernel)

    def visits(self, epochs):
        """Sentences in the order of training: first and last token."""
        for epoch in range(epochs):
            for s in np.random.default_rng([self.seed, epoch]).permutation(len(self.sentences)).tolist():
                yield int(self.offsets[s]), int(self.offsets[s + 1])


def packed(tokens):
    ids = [a for token in tokens for a, _ in token]
    values = np.array([v for token in tokens for _, v in token], np.float64)
    indptr = np.cumsum([0, *map(len, tokens)]).astype(np.int64)
    return Packed(indptr, np.array(ids, np.int32), None if np.all(values == 1.0) else values)


@st.composite
def problems(draw, values=(1.0, 0.5, -2.0, 0.0)):
    """Small ones whose numbers are exact in binary, so that ties are ties however sums are taken."""
    labels = draw(st.integers(1, 3))
    binary = draw(st.booleans())
    attribute = st.tuples(st.integers(0, ATTRIBUTES - 1), st.just(1.0) if binary else st.sampled_from(values))
    token = st.tuples(st.lists(attribute, max_size=4), st.integers(0, labels - 1))
    sentences = draw(st.lists(st.lists(token, max_size=4), min_size=1, max_size=5))
    return Problem(sentences, labels, draw(st.integers(0, 3)))


kernels = st.builds(
    Polynomial, degree=st.integers(1, 4), offset=st.sampled_from([0.0, 1.0, 0.5]), scale=st.sampled_from([1.0, 2.0])
)


def dense(token):
    out = np.zeros(ATTRIBUTES)
    for a, v in token:
        out[a] += v
    return out


def kernel_of(kernel, x, z):
    def plain(x, z):
        return (kernel.offset + kernel.scale * float(dense(x) @ dense(z))) ** kernel.degree

    if not kernel.cosine:
        return plain(x, z)
    own = plain(x, x) * plain(z, z)
    return plain(x, z) / own**0.5 if own > 0 else 0.0


def best_path(scores, transitions):
    """Of equal paths the one with the lowest labels from the end."""

    def total(path):
        nodes = sum(scores[t][j] for t, j in enumerate(path))
        return nodes + sum(transitions[i, j] for i, j in itertools.pairwise(path))

    paths = itertools.product(range(len(transitions)), repeat=len(scores))
    return min(paths, key=lambda path: (-total(path), path[::-1]))


def change(transitions, path, by):
    for i, j in itertools.pairwise(path):
        transitions[i, j] += by


def learn_in_the_dual(problem, kernel, epochs):
    """Coefficients [tokens, labels] and transitions after every visit."""
    tokens, gold = problem.tokens, problem.gold.tolist()
    a, transitions = np.zeros((len(tokens), problem.labels)), np.zeros((problem.labels,) * 2)
    gram = np.array([[kernel_of(kernel, x, z) for z in tokens] for x in tokens]).reshape(len(tokens), len(tokens))
    history = []
    for first, last in problem.visits(epochs):
        own = gold[first:last]
        path = best_path(gram[first:last] @ a, transitions)
        for t, (right, found) in enumerate(zip(own, path, strict=True), first):
            if right != found:
                a[t, right] += 1
                a[t, found] -= 1
        change(transitions, own, 1)
        change(transitions, path, -1)
        history.append((a.copy(), transitions.copy()))
    return history


def learn_in_the_primal(problem, epochs):
    """Weights [attributes, labels] and transitions after every visit."""
    rows, gold = [dense(token) for token in problem.tokens], problem.gold.tolist()
    w, transitions = np.zeros((ATTRIBUTES, problem.labels)), np.zeros((problem.labels,) * 2)
    history = []
    for first, last in problem.visits(epochs):
        own = gold[first:last]
        path = best_path([rows[t] @ w for t in range(first, last)], transitions)
        for t, (right, found) in enumerate(zip(own, path, strict=True), first):
            w[:, right] += rows[t]
            w[:, found] -= rows[t]
        change(transitions, own, 1)
        change(transitions, path, -1)
        history.append((w.copy(), transitions.copy()))
    return history


def mean(history):
    return tuple(np.mean([step[k] for step in history], axis=0) for k in range(2))
