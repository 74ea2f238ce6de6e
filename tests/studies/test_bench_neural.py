"""`trellis bench neural`: both say the same, and Trellis is sooner done."""

from __future__ import annotations

import pytest

from trellis.errors import SettingError
from trellis.studies.bench_neural import bench_neural


def test_both_find_the_same_and_ours_is_three_times_as_fast():
    """Six times and more, measured alone; the best of some rounds, as others may be at work here."""
    result = bench_neural(32, 40, 45, repeat=7, threads=[1])
    assert result.loss[0] == pytest.approx(result.loss[1], rel=1e-5)
    assert result.apart < 1e-4
    assert result.peer[1].best / result.trellis[1].best > 3
    assert set(result.as_json()["ratio"]) == {"1"}


def test_sentences_may_differ_in_length():
    result = bench_neural(4, 6, 3, repeat=1, threads=[1], shortest=2)
    assert result.loss[0] == pytest.approx(result.loss[1], rel=1e-5)
    with pytest.raises(SettingError, match="the shortest sentence has 7 tokens; expected 1 to 6"):
        bench_neural(4, 6, 3, repeat=1, threads=[1], shortest=7)


def test_without_pytorch_crf_it_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torchcrf", None)
    with pytest.raises(SettingError, match="this compares with pytorch-crf"):
        bench_neural(2, 3, 4, 1, [1])
