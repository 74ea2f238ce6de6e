"""Times, ratios, and CRFsuite's log read by our clock."""

from __future__ import annotations

import pytest

from trellis.errors import DataError, SettingError
from trellis.studies.bench_train import per_evaluation
from trellis.studies.clock import Comparison, Times
from trellis.studies.crfsuite_log import TrainingLog

LOG = TrainingLog(
    [
        (10.0, "Feature generation\n"),
        (10.1, "0"),
        (11.0, "Number of features: 12\n"),
        (11.5, "L-BFGS optimization\n"),
        (13.0, "***** Iteration #1 *****\n"),
        (13.0, "Loss: 90.5\n"),
        (13.0, "Line search trials: 2\n"),
        (13.5, "***** Iteration #2 *****\n"),
        (13.5, "Loss: 80.25\n"),
        (13.5, "Line search trials: 1\n"),
        (15.0, "***** Iteration #3 *****\n"),
        (15.0, "Loss: 70.125\n"),
        (15.0, "Line search trials: 3\n"),
        (15.5, "L-BFGS terminated with the stopping criteria\n"),
        (16.0, "Storing the model\n"),
    ]
)


def test_the_log_gives_wall_times_of_generation_and_iterations():
    assert LOG.features == 12
    assert LOG.generation_seconds == 1.5
    assert LOG.iterations() == [(0.5, 1), (1.5, 3)]
    assert LOG.evaluations == 7
    assert LOG.optimisation_seconds == 4.0
    assert (LOG.objective, LOG.converged) == (70.125, True)


def test_a_log_without_the_expected_lines_is_explained():
    with pytest.raises(SettingError, match="does not log 'Number of features:'"):
        _ = TrainingLog().features


def test_only_iterations_with_the_fewest_evaluations_are_timed():
    assert per_evaluation([(0.5, 1), (1.5, 3), (0.7, 1)]) == [0.5, 0.7]
    assert per_evaluation([(1.0, 2), (1.5, 3)]) == [0.5]
    with pytest.raises(DataError, match="more data"):
        per_evaluation([])


def test_a_comparison_has_best_median_and_ratios():
    both = Comparison(Times((4.0, 6.0, 9.0)), {2: Times((3.0, 2.0))})
    assert both.as_json() == {
        "crfsuite": {"best": 4.0, "median": 6.0, "runs": 3},
        "trellis": {"2": {"best": 2.0, "median": 2.5, "runs": 2}},
        "ratio": {"2": {"best": 2.0, "median": 2.4}},
    }
