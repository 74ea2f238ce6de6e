"""`trellis bench page`: made-up results in, a page with tables and plots out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import DataError, FileAccessError
from trellis.studies.bench_cascade import CascadeBench
from trellis.studies.bench_features import FeatureBench
from trellis.studies.bench_gazetteer import GazetteerBench
from trellis.studies.bench_memory import MemoryBench
from trellis.studies.bench_neural import NeuralBench
from trellis.studies.bench_online import OnlineBench
from trellis.studies.bench_online import Run as OnlineRun
from trellis.studies.bench_optimum import GAPS, OptimumBench, Run
from trellis.studies.bench_peers import PeersBench
from trellis.studies.bench_products import AGAIN, DUAL, KEEPING, KEPT, VALUE, ProductBench
from trellis.studies.bench_pruning import PruningBench, PruningRun
from trellis.studies.bench_roofline import SCORING, Judged, RooflineBench
from trellis.studies.bench_scaling import ScalingBench, Settings
from trellis.studies.bench_score import ScoreBench
from trellis.studies.bench_segments import SegmentBench
from trellis.studies.bench_startup import NUMPY, OURS, FirstRun, StartupBench
from trellis.studies.bench_tag import TagBench
from trellis.studies.bench_train import TrainBench, Trained
from trellis.studies.bench_weak import WeakBench
from trellis.studies.chain_cost import ChainCost
from trellis.studies.clock import Comparison, Times
from trellis.studies.contest import Contest
from trellis.studies.growing import Text
from trellis.studies.memory import Memory
from trellis.studies.performance.page import SECTIONS
from trellis.studies.performance.section import data_of, megabytes, middle, seconds, times
from trellis.studies.phases import Phase, Phases
from trellis.studies.process import Apart
from trellis.studies.roofline_counts import KERNELS, WAYS, Load, Move
from trellis.studies.roofline_limits import BANDWIDTHS, MULTIPLY_ADDS, TILED, Limits, Rates

HERE = {"cores": 2, "load": 0.1, "platform": "Made up", "python": "3.11.0", "numpy": "2.0.0", "numba": None}
BOTH = Comparison(Times((6.0, 7.0)), {1: Times((2.0, 2.0)), 2: Times((1.0, 1.0))})
ONE = Times((0.5,))


@pytest.fixture(scope="module")
def made_up(task, files):
    """Results of every benchmark by name, as they are made into JSON."""
    text = Text((files[0],), ("word", "pos", "chunk"), "pos")
    apart = Apart(1.0, 10**8)
    memory = Memory(apart, Apart(0.1, 10**7), apart, Apart(0.5, 9 * 10**7))
    phases = Phases([Phase("import", 10**6, 10**6), Phase("training", 10**8, 2 * 10**8)], "import")
    trained = Trained(123.0, 10, 12, 9.0, 8.0, True)
    run, online = Run(*(dict.fromkeys(GAPS, n) for n in (2.0, 20, 0))), OnlineRun(1.0, 2.0, 1.0, 2.0, 0.9, 3)
    costs = [ChainCost(n, 22, 1, many, 99, Times((n / many,)), ONE) for n in (1000, 4000) for many in (1, 2)]
    labels = [ChainCost(1000, n, 1, 1, 99, Times((float(n),)), ONE) for n in (9, 45)]
    pruned = [ChainCost(1000, 45, 1, 1, 99, ONE, ONE, 3.5, 1.0)]
    orders = [ChainCost(1000, 9, order, 1, 99, Times((float(order),)), ONE) for order in (1, 2)]
    peer = Contest("tag", {}, {"lists": ONE, "columns": ONE}, {"chaine": Times((2.0,))})
    pruning = PruningRun(1.0, 0.9, 10, 2.5, 0.001)
    found = [
        TrainBench(task, HERE, 60, 300, {"crfsuite": 5, "trellis": 5}, BOTH, BOTH, BOTH, BOTH, memory,
                   {"crfsuite": trained, "trellis": trained}),
        TagBench(task, files[1], HERE, 20, 100, BOTH, 0.99, memory),
        FeatureBench(task, HERE, 60, 300, 1000, BOTH, BOTH, 49, 2000),
        OptimumBench(task, HERE, 2, 123.0, {"crfsuite": [run], "auto": [run]}),
        OnlineBench(task, files[1], HERE, 3, {"ap": [online]}, {"perceptron": [online], "mira": [online]}),
        PeersBench(task, HERE, {"toolkits": [peer]}, {"chaine": "1.0"}, ["hmmlearn"]),
        NeuralBench({"sentences": 4, "length": 10, "labels": 9}, HERE, (1.0, 1.0), 0.0, {1: ONE}, {1: Times((1.0,))}),
        ScoreBench("strict", 1000, HERE, 0.9, 0.9, ONE, ONE, Times((4.0,))),
        ProductBench(task, HERE, 1, dict.fromkeys((VALUE, KEEPING, KEPT, AGAIN, DUAL), ONE)),
        SegmentBench(task, HERE, 1, {2: ONE, 4: Times((1.0,))}),
        PruningBench(task, HERE, 60, 300, {"order": 2, "tol": 0.1, "threads": 2}, pruning, pruning),
        CascadeBench(HERE, 60, 300, {"pos": ONE, "chunk": ONE}, ONE, ONE, (2.0, 3.0), None, None),
        MemoryBench(text, HERE, 60, 300, 22, 5, 2, phases, phases, phases, phases, None),
        StartupBench(HERE, {NUMPY: ONE, OURS: ONE}, 100, {"train": FirstRun(Times((9.0,)), ONE)}, (5, 0)),
        ScalingBench(text, 300, Settings(), HERE, costs, labels, pruned, orders, {1000: BOTH, 4000: BOTH}),
        roofline(task),
    ]  # fmt: skip
    weak = WeakBench(60, 300, 200, 5, 10, HERE, ONE, Times((8.0,)), {"trellis": 0.7, "skweak": 0.6})
    gazetteer = GazetteerBench(10, 300, 20, 5, 6, HERE, ONE, ONE, ONE)
    values = [one.as_json() for one in found]
    values.append({"benchmark": "weak", **weak.as_json(), "gazetteer": gazetteer.as_json()})
    return {one["benchmark"]: one for one in values}


def roofline(task):
    sizes = (1 << 15, 1 << 20)
    limits = Limits(24, sizes, (1,))
    for name in (MULTIPLY_ADDS, TILED):
        limits.arithmetic[name, 1] = Rates(6e10, [1.0])
    for kind in BANDWIDTHS:
        for size in sizes:
            limits.memory[kind, size, 1] = Rates(1e20 / size, [1.0])
    load = Load(1e3, 1e3, 2e3, (Move(1e3, 1e4),))
    loads = dict.fromkeys((*KERNELS, *SCORING), load)
    judged = {(name, 1): Judged(ONE, dict.fromkeys(WAYS, (0.25, 0.1))) for name in loads}
    return RooflineBench(task, HERE, 60, 300, 22, limits, loads, judged, {1: Times((3.0,))})


@pytest.fixture
def page_of(tmp_path):
    """`page_of({"tag": values}, ...)`: the page's text, and its folder of plots."""

    def write(results, *more):
        saved = []
        for name, values in results.items():
            saved.append(tmp_path / f"{name}.txt")
            saved[-1].write_text("a table\n" + json.dumps(values) + "\n")
        output = tmp_path / "docs" / "speed.md"
        output.parent.mkdir(exist_ok=True)
        given = ["page", *saved, "--output", output, *more]
        CliRunner().invoke(bench, list(map(str, given)), catch_exceptions=False)
        return output.read_text(), output.parent / "speed"

    return write


def test_every_benchmark_has_a_section(made_up, page_of):
    assert set(made_up) == set(SECTIONS)
    text, folder = page_of(made_up)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [*(f"## {heading}" for heading, _ in SECTIONS.values()), "## Again"]
    assert "2 cores" in text
    assert "numbers of double precision in a register, Made up; python 3.11.0, numpy 2.0.0." in text
    assert "| an iteration of L-BFGS | 6.50 s | 2.00 s | 3.25x | 1.00 s | 6.50x |" in text
    assert "| 45 | 45,000,000 ns | 500,000 ns | 1.00 | 0.00 |" in text
    assert "| forward-backward | 1666666.7 | 833333.3 (arithmetic) | 2.00x |" in text
    assert "| skweak | 8.00 s | 60.00 % | 16.0x |" in text
    assert "Not installed, and so left out: hmmlearn." in text
    plots = {path.name for path in folder.iterdir()}
    assert plots == {"overview.png", "roofline.png", "within.png", "scaling.png"}
    for name in plots:
        assert f"](speed/{name})" in text
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_nothing_says_where_files_are_kept(made_up, page_of, files):
    text, _ = page_of(made_up)
    assert str(files[0].parent) not in text
    assert "/".join(files[0].parts[-2:]) in text


def test_what_is_not_given_is_left_out(made_up, page_of):
    text, folder = page_of({"startup": made_up["startup"]})
    assert "## The first seconds" in text
    assert "## Training" not in text
    assert "overview" not in text
    assert list(folder.iterdir()) == []


def test_two_results_of_one_benchmark_share_a_section(made_up, page_of):
    text, folder = page_of({"scaling": made_up["scaling"], "again": made_up["scaling"]})
    assert text.count("## How cost grows") == 1
    assert {path.name for path in folder.iterdir()} == {"scaling.png", "scaling-2.png"}


def test_what_was_tried_is_taken_over_as_it_is(made_up, page_of, tmp_path):
    told = "### What paid\n\nLanes, `exp` in them.\n\n### What did not pay\n\n- float32\n"
    other = tmp_path / "other.md"
    other.write_text(told)
    text, folder = page_of({"startup": made_up["startup"]}, "--tried", other)
    assert f"## What was tried\n\n{told}" in text
    (folder / "tried.md").write_text(told)
    assert page_of({"startup": made_up["startup"]})[0] == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no JSON", "the last line is no JSON; save what"),
        ("[1]", "no result of `trellis bench ... --json`"),
        ('{"benchmark": "cooking", "machine": {}}', "no section for the benchmark 'cooking'; there are: train, "),
        ('{"benchmark": "tag"}', "does not say on what machine"),
        (
            json.dumps({"benchmark": "tag", "machine": HERE}),
            r"this is no result of `trellis bench tag` as this .*'data'",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, line, message):
    file = tmp_path / "result.json"
    file.write_text(line)
    with pytest.raises(DataError, match=message):
        CliRunner().invoke(bench, ["page", str(file), "--output", str(tmp_path / "p.md")], catch_exceptions=False)
    assert not (tmp_path / "p.md").exists()
    with pytest.raises(FileAccessError, match="no such file"):
        CliRunner().invoke(bench, ["page", str(tmp_path / "gone.json")], catch_exceptions=False)


def test_numbers_are_short():
    assert [seconds(value) for value in (2e-6, 0.0123, 0.123, 1.5, 1234.5, None)] == [
        "2 µs", "12.3 ms", "123 ms", "1.50 s", "1,234 s", "-",
    ]  # fmt: skip
    assert (times(2.345), times(23.45), times(None), megabytes(2e6), megabytes(None)) == (
        "2.35x",
        "23.4x",
        "-",
        "2 MB",
        "-",
    )
    assert (middle([1.0, 3.0]), middle([1.0, None]), middle([])) == (2.0, None, None)
    assert data_of(str(Path("home", "corpora", "conll2000", "train.txt"))) == "conll2000/train.txt"
