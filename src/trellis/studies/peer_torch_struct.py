"""torch-struct's linear chain, on one thread of PyTorch, beside Trellis'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.lattice import Chain, Marginals
from trellis.studies.contest import Contest, contest, found, quiet

F64 = NDArray[np.float64]

MODULES = {"torch-struct": "torch_struct"}
_CLOSE = 1e-3  # what answers in single precision may differ by, as a share of the largest


def linear_chains(
    sentences: int, length: int, labels: int, rounds: int, insisted: str | None = None
) -> tuple[list[Contest], list[str]]:
    """log Z and P(label, next label) at every token, of random scores; scores are there before the clock runs, in
    torch-struct's form with single precision, as its users have them, in Trellis' with double."""
    modules, missing = found(MODULES, insisted)
    if not modules:
        return [], missing
    import torch

    struct, tokens = modules["torch-struct"], sentences * length
    rng = np.random.default_rng(0)
    scores, transitions = rng.normal(size=(tokens, labels)), rng.normal(size=(labels, labels))
    chain = Chain(scores, transitions, np.arange(0, tokens + 1, length))
    potentials = torch.from_numpy(_potentials(scores.reshape(sentences, length, labels), transitions)).float()

    def theirs() -> tuple[Any, Any]:
        chains = struct.LinearChainCRF(potentials)
        return chains.partition.detach().numpy(), chains.marginals.detach().numpy()

    def ours() -> Marginals:
        return chain.marginals(each_arc=True)

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        with quiet():
            apart = _apart(ours(), *theirs(), sentences, length)
        if apart > _CLOSE:
            raise SettingError(f"the two do not agree on log Z and probabilities: they are apart by {apart:.1e}")
        sizes = {"sentences": sentences, "length": length, "labels": labels, "apart": apart}
        found_ = contest("marginals", sizes, {"trellis": ours}, {"torch-struct": theirs}, rounds)
    finally:
        torch.set_num_threads(before)
    return [found_], missing


def _potentials(scores: F64, transitions: F64) -> F64:
    """F64[sentences, length - 1, label here, label before]: what a pair of labels scores, that of the first token with
    the first pair."""
    pairs = scores[:, 1:, :, None] + transitions.T
    pairs[:, 0] += scores[:, 0, None, :]
    return np.asarray(pairs)


def _apart(own: Marginals, log_z: F64, pairs: F64, sentences: int, length: int) -> float:
    """By how much they differ at most: log Z as a share, probabilities as they are."""
    assert own.arcs is not None
    labels = own.arcs.shape[-1]
    arcs = own.arcs.reshape(sentences, length, labels, labels)[:, 1:].transpose(0, 1, 3, 2)
    return max(float(np.abs(own.log_z / log_z - 1.0).max()), float(np.abs(arcs - pairs).max()))
