"""Every kind of chain that training uses, made from one recipe, with the hooks by which one suite asks them all.

A kind has `scores: F64[tokens, labels]` and `blocks: F64[tokens, labels, labels]`, which say what its answers should
be, and translates between these layouts and its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from enumeration import EnumeratedChain
from hypothesis import strategies as st
from patching import gathered, kinds_of, random_patches, written_out

from trellis.labels import first_tokens
from trellis.lattice import Allowed, RestrictedWorkChain, WorkChain
from trellis.lattice.kernels.patched_answers import PatchedH
from trellis.lattice.patched import PatchedChain
from trellis.rows import padded


@dataclass(frozen=True)
class Recipe:
    seed: int
    labels: int
    lengths: list
    scores: float = 1.0  # scale
    transitions: float = 1.0  # scale
    patches: float = 1.0  # scale
    masked: bool = False  # some scores are -inf, maybe on every path
    far: bool = False  # some transitions are -900
    forbidden: bool = False  # some transitions are -inf
    ready: bool = False  # some patches have ready factors


scales = st.sampled_from([0.0, 1.0, 8.0, 100.0, 900.0])
recipes = st.builds(
    Recipe,
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.lists(st.integers(0, 4), max_size=6),
    *[scales] * 3,
    *[st.sampled_from([False, False, True])] * 3,  # so that many chains stay out of the log domain
    st.booleans(),
)


class Plain:
    def __init__(self, recipe):
        self.rng = rng = np.random.default_rng(recipe.seed)
        self.labels, self.recipe = recipe.labels, recipe
        self.offsets = np.concatenate([[0], np.cumsum(recipe.lengths)]).astype(np.int64)
        self.tokens, self.sentences = int(self.offsets[-1]), len(recipe.lengths)
        self.scores = rng.normal(size=(self.tokens, self.labels)) * recipe.scores
        if recipe.masked:
            self.scores[rng.random(self.scores.shape) < 0.2] = -np.inf
        self.transitions = rng.normal(size=(self.labels, self.labels)) * recipe.transitions
        if recipe.far:
            self.transitions[rng.random(self.transitions.shape) < 0.3] = -900.0
        if recipe.forbidden:
            self.transitions[rng.random(self.transitions.shape) < 0.3] = -np.inf
        self.gradient = np.zeros(0)  # what chains have found out about patches
        self.prepare()

    # hooks, here for nodes in rows F64[tokens, width]

    def prepare(self):
        self.blocks = np.tile(self.transitions, (self.tokens, 1, 1))
        self.possible = np.ones(self.scores.shape, bool)  # labels that a path may have

    def chain(self):
        return WorkChain(self.lay_out(self.scores, -np.inf), self.transitions, self.offsets, self._again)

    def lay_out(self, rows, padding=7.0):
        """Padding is not for chains to rely on, except in scores."""
        width = padded(self.labels)
        return np.concatenate([rows, np.full((len(rows), width - self.labels), padding)], axis=1)

    def in_rows(self, nodes):
        assert not nodes[:, self.labels :].any()
        return nodes[:, : self.labels]

    def arc_h(self, rng):
        """h on arcs as the chain takes it, and F64[tokens, labels, labels]."""
        matrix = rng.normal(size=(self.labels, self.labels))
        return matrix, np.tile(matrix, (self.tokens, 1, 1))

    def by_patch(self, arcs, power=1):
        """What F64[tokens, labels, labels] comes to for the patches' weights."""
        return np.zeros(0)

    # for all kinds

    def _again(self):
        return self.lay_out(self.scores, -np.inf)

    def enumerated(self, scores=None):
        """Sentences with a path: number, first and last token, all paths."""
        scores = self.scores if scores is None else scores
        for s, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            one = EnumeratedChain(scores[a:b], lambda t, a=a: self.blocks[a + t])
            if one.scores.max() > -np.inf:
                yield s, a, b, one

    def added_up(self, path_weights, scores=None):
        """Nodes F64[tokens, labels] and arcs F64[tokens, labels, labels] of all paths times the weights that
        `path_weights(s, one, a, b)` gives them."""
        nodes, arcs = np.zeros(self.scores.shape), np.zeros(self.blocks.shape)
        for s, a, b, one in self.enumerated(scores):
            weights = path_weights(s, one, a, b)
            nodes[a:b], arcs[a:b] = one.nodes(weights), one.arcs(weights)
        return nodes, arcs

    def of_path(self, path, weights):
        """The same of one path, legal or not, times the sentences' weights."""
        nodes, arcs = np.zeros(self.scores.shape), np.zeros(self.blocks.shape)
        of_token, inner = np.repeat(weights, np.diff(self.offsets)), np.flatnonzero(~first_tokens(self.offsets))
        nodes[np.arange(self.tokens), path] = of_token
        arcs[inner, path[inner - 1], path[inner]] = of_token[inner]
        return nodes, arcs

    def path(self, rng):
        return np.array([rng.choice(np.flatnonzero(row)) for row in self.possible], np.int32)

    def weights(self, rng):
        """One a sentence, or none."""
        return rng.choice([0.0, -1.5, 1.0, 0.3, 2.0], self.sentences) if rng.random() < 0.8 else None

    @property
    def tolerance(self):
        """A stated multiple of rounding at the magnitude of the scores."""
        finite = np.concatenate([self.scores.ravel(), self.blocks.ravel(), [1.0]])
        return 1e-14 * max(100.0, 20 * np.abs(finite[np.isfinite(finite)]).max())


class Restricted(Plain):
    def prepare(self):
        super().prepare()
        some = [np.flatnonzero(self.rng.random(self.labels) < 0.5) for _ in range(3)]
        lists = [np.arange(self.labels), self.rng.integers(self.labels, size=1), *(one for one in some if len(one))]
        which = self.rng.integers(0, len(lists), self.tokens).astype(np.int32)
        start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        self.allowed = Allowed(which, start, np.concatenate(lists).astype(np.int32))
        self.possible = self.allowed.mask()
        self.scores[~self.possible] = -np.inf

    def chain(self):
        return RestrictedWorkChain(self.lay_out(self.scores), self.allowed, self.transitions, self.offsets)

    def lay_out(self, rows, padding=None):
        return rows[self.possible]

    def in_rows(self, nodes):
        rows = np.zeros(self.possible.shape)
        rows[self.possible] = nodes
        return rows


class Patched(Plain):
    valued = False

    def prepare(self):
        super().prepare()
        self.patches = random_patches(self.rng, self.tokens, self.labels, self.recipe.patches, self.valued)
        self.blocks = written_out(self.transitions, self.patches)
        self.gradient = np.zeros(len(self.patches.weights))

    def chain(self):
        kinds = kinds_of(self.patches, self.transitions, self.recipe.ready)
        scores = self.lay_out(self.scores, -np.inf)
        return PatchedChain(scores, self.transitions, self.offsets, self._again, self.patches, kinds, self.gradient)

    def arc_h(self, rng):
        if rng.random() < 0.2:  # a matrix alone will do as well
            return super().arc_h(rng)
        matrix, weights = rng.normal(size=(self.labels, self.labels)), rng.normal(size=len(self.gradient))
        patches = self.patches._replace(weights=weights, powers=np.zeros(0), reach=np.zeros(0))
        return PatchedH(matrix, patches), written_out(matrix, patches)

    def by_patch(self, arcs, power=1):
        return gathered(self.patches, arcs, power)


class PatchedWithValues(Patched):
    valued = True


KINDS = [Plain, Restricted, Patched, PatchedWithValues]
