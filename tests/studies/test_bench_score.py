"""`trellis bench score`: both count the same, and Trellis is far sooner done."""

from __future__ import annotations

import pytest

from trellis.errors import SettingError
from trellis.studies.bench_score import bench_score


@pytest.mark.parametrize("scheme", ["strict", "conlleval"])
def test_both_find_the_same(scheme):
    result = bench_score(5_000, scheme, repeat=1)
    assert result.f1 == pytest.approx(result.peers_f1, rel=1e-12)
    assert result.as_json()["ratio"].keys() == {"columns", "lists"}


def test_strict_counting_is_at_least_twenty_times_as_fast():
    """180 times, measured on a million tokens; the best of some rounds, as others may be at work here."""
    result = bench_score(100_000, "strict", repeat=3)
    assert result.peer.best / result.columns.best > 20


def test_nothing_to_count_is_refused():
    with pytest.raises(SettingError, match="tokens is 0 and repeat 3; expected at least 1 of each"):
        bench_score(0, "strict")
