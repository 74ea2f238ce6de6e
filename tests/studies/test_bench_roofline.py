"""`trellis bench roofline`: what the machine can do, what the kernels have to do, and how both are set against each
other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import SettingError
from trellis.lanes import LANES
from trellis.rows import padded
from trellis.studies import ours
from trellis.studies.bench_roofline import Judged
from trellis.studies.clock import Times
from trellis.studies.roofline_counts import BY_USE, KERNELS, STRICT, UNIFORM, WAYS, Load, Move, loads_of
from trellis.studies.roofline_kernels import CHAINS, change_rows, multiply_adds, read_lines, read_rows
from trellis.studies.roofline_limits import BANDWIDTHS, CHANGE_ROWS, READ, READ_ROWS, Limits, Rates, Table

SIZES = [1 << 15, 1 << 18]


@pytest.fixture(scope="module")
def bench_of(files):
    """`bench_of("--threads", 1)`: the JSON object that the command prints last, and what it prints before."""

    def run(*arguments):
        given = ["roofline", files[0], "--sizes", "32,256", "--repeat", 1, *arguments, "--json"]
        result = CliRunner().invoke(bench, list(map(str, given)), catch_exceptions=False)
        *table, last = result.stdout.rstrip("\n").split("\n")
        return json.loads(last), "\n".join(table)

    return run


def constant_limits(rate, bandwidth):
    """A machine that does everything at one rate."""
    limits = Limits(8, SIZES, (1,))
    limits.arithmetic["multiply-adds", 1] = Rates(rate, [1.0])
    for kind in BANDWIDTHS:
        for size in SIZES:
            limits.memory[kind, size, 1] = Rates(bandwidth, [1.0])
    return limits


def test_kernels_are_set_against_the_machine(bench_of):
    found, table = bench_of("--threads", "1,2")
    assert found["width"] == padded(found["labels"])
    arithmetic = found["limits"]["arithmetic"]
    for n in "12":
        # whoever can leave some of the multiply-adds out, or cannot do two things at a time, is far from the other
        assert 0.1 < arithmetic["tiled products"][n]["best"] / arithmetic["multiply-adds"][n]["best"] < 1.5
    for kind in BANDWIDTHS:
        for size in ("32768", "262144"):
            assert 1e8 < found["limits"]["bandwidth"][kind][size]["1"]["median"] < 1e13
    assert set(found["kernels"]) == {*KERNELS, "scores, gradient", "all of scoring"}
    for name, by_threads in found["kernels"].items():
        assert name in table
        for judged in by_threads.values():
            assert judged["seconds"]["runs"] == 1
            assert set(judged["bounds"]) == set(WAYS)
            for bound in judged["bounds"].values():
                assert 0 < bound["ns"] == max(bound["arithmetic_ns"], bound["memory_ns"])
                assert bound["within"] == pytest.approx(judged["ns"] / bound["ns"])
                assert bound["by"] in ("arithmetic", "memory")
    parts = [found["kernels"][name]["1"]["ns"] for name in KERNELS]
    assert found["kernels"]["all of scoring"]["1"]["ns"] == pytest.approx(sum(parts[1:]))
    assert found["evaluation"]["1"]["share_of_kernels"] > 0
    assert min(found["work"]["forward-backward"]["full"].values()) > 0


def test_multiply_adds_are_all_made():
    numbers = np.ones((CHAINS + 2, LANES))
    numbers[:CHAINS] = np.arange(CHAINS)[:, None]
    numbers[CHAINS] = 0.5
    expected = numbers[:CHAINS]
    for _ in range(5):
        expected = expected * 0.5 + 1.0
    assert multiply_adds(5, numbers) == pytest.approx(expected.sum())


def test_memory_is_read_and_changed_as_often_as_it_is_said():
    table = Table(1 << 12, 24, 0)
    table.rows[:] = np.random.default_rng(0).normal(size=table.rows.shape)
    assert read_lines(3, table.lines) == pytest.approx(3 * table.rows.sum())
    assert read_rows(2, table.rows, table.shuffled) == pytest.approx(2 * table.rows[table.shuffled].sum())
    before = table.rows.copy()
    change_rows(2, table.rows, table.straight, np.ones((1, LANES)))
    assert np.allclose(table.rows, before + 2.0)
    assert sorted(table.shuffled[: len(table.rows)]) == list(range(len(table.rows)))
    work, moved = table.work(CHANGE_ROWS)
    assert moved == work.args[0] * 2 * len(table.shuffled) * table.rows[0].nbytes


def test_bandwidths_between_two_sizes_are_between_theirs():
    limits = constant_limits(1.0, 100.0)
    limits.memory[READ, SIZES[1], 1] = Rates(40.0, [1.0])
    middle = (SIZES[0] * SIZES[1]) ** 0.5
    assert limits.bandwidth(READ, np.array([1, SIZES[0], middle, SIZES[1], 1e9]), 1) == pytest.approx(
        [100, 100, 70, 40, 40]
    )
    assert limits.highest(1) == 100.0


def test_what_is_asked_for_often_is_near():
    limits = constant_limits(1.0, 100.0)
    limits.memory[READ_ROWS, SIZES[1], 1] = Rates(10.0, [1.0])
    each = np.array([900.0, 100.0]), np.array(SIZES, float)
    move = Move(1000.0, SIZES[1], random=True, each=each)
    assert move.seconds(UNIFORM, limits, 1) == pytest.approx(100.0)
    assert move.seconds(BY_USE, limits, 1) == pytest.approx(9.0 + 10.0)
    changed = Move(1000.0, SIZES[1], random=True, changed=True, each=each)
    assert changed.seconds(BY_USE, limits, 1) == pytest.approx(2 * 10.0)  # both ways


def test_the_bound_is_the_larger_of_two_times():
    load = Load(10.0, 20.0, 30.0, (Move(40.0, 1.0), Move(50.0, 1.0, changed=True)))
    limits = constant_limits(2.0, 10.0)
    assert load.seconds(STRICT, limits, 1) == (5.0, 2.0)
    assert load.seconds(UNIFORM, limits, 1) == (15.0, 14.0)
    both = load + load
    assert (both.least, both.least_bytes, both.amount, both.bytes) == (20.0, 40.0, 60.0, 280.0)
    judged = Judged(Times((45.0,)), {UNIFORM: (15.0, 14.0), STRICT: (1.0, 3.0)})
    assert judged.within(UNIFORM) == 3.0
    assert (judged.by(UNIFORM), judged.by(STRICT)) == ("arithmetic", "memory")


def test_work_is_counted_on_the_data(task):
    ready = ours.prepare(task)
    (shard,), _ = ours.cut(task, ready)
    loads = loads_of(shard, 1)
    width, labels, tokens = shard.scoring.width, shard.scoring.layout.labels, ready.corpus.tokens
    chains, scores, gradient = (loads[name] for name in KERNELS[:3])
    assert chains.least == 3 * (tokens - len(ready.corpus)) * labels * width
    assert chains.amount > 3 * (tokens - len(ready.corpus)) * width * width
    rows, singles = len(shard.at.row), len(shard.at.pair)
    assert scores.least == gradient.least == rows * width + singles
    assert scores.amount == rows * width + singles * LANES
    assert gradient.least_bytes - scores.least_bytes == 8 * width * rows + 8 * singles  # what is added to is read
    for load in loads.values():
        gathered = [move for move in load.moves if move.each is not None]
        for move in gathered:
            assert move.each[0].sum() == pytest.approx(move.bytes)
            assert move.each[1].max() <= move.size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "0"], r"sizes are \[0\]; expected whole numbers of bytes >= 1"),
        (["--sizes", "L1"], "sizes are 'L1'; expected whole numbers"),
        (["--threads", "0"], "expected whole numbers >= 1"),
        (["--repeat", "0"], "repeat is 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(bench_of, arguments, message):
    with pytest.raises(SettingError, match=message):
        bench_of(*arguments)
