"""Hidden Markov models: what is counted, the probabilities that come of it, and expected counts where labels are not
known."""

from trellis.markov.events import Events, Vocabulary, counted
from trellis.markov.expected import Expectation
from trellis.markov.tables import MOST_OF_ORDER_2, Prior, Tables, add_ends, lattice_of
from trellis.markov.unknown import UnknownWords

__all__ = [
    "MOST_OF_ORDER_2",
    "Events",
    "Expectation",
    "Prior",
    "Tables",
    "UnknownWords",
    "Vocabulary",
    "add_ends",
    "counted",
    "lattice_of",
]
