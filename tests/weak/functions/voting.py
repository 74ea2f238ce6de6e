"""What tests of labeling functions share: sentences, and votes as people read them."""

from __future__ import annotations

from itertools import pairwise

from trellis.corpus import Corpus
from trellis.weak.applying import apply


def corpus_of(*sentences, **columns):
    """`corpus_of("New York", "he left", pos=[...])`: words apart by spaces."""
    cut = {name: [s.split() for s in values] for name, values in columns.items()}
    return Corpus.from_lists({"word": [s.split() for s in sentences]} | cut)


def named(votes, function=0):
    """The votes of a function: for each sentence a text, `_` where it abstains."""
    names = [*votes.names, "_"]
    labels = [names[j] for j in votes.values[:, function].tolist()]
    cuts = votes.offsets.tolist()
    return [" ".join(labels[a:b]) for a, b in pairwise(cuts)]


def voted(function, *sentences, **columns):
    """What one function votes on sentences."""
    return named(apply(function, corpus_of(*sentences, **columns)))


def found(function, *sentences):
    """The spans that one function votes for: (start, end, type), positions in all sentences."""
    cast = function.on(corpus_of(*sentences))
    kinds = [cast.labels[j] for j in cast.label.tolist()]
    return list(zip(cast.start.tolist(), cast.end.tolist(), kinds, strict=True))
