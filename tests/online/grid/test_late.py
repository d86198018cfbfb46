"""Jobs that wait before they are promised a start: with no patience dgs itself, and never an idle reach."""

import pytest

from instances.errors import InputError
from instances.grid import Instance, check
from online.grid.dgs import simulate_dgs
from online.grid.late import simulate_late
from online.grid.options import CHOICES, Dgs
from tests.cases.grid import random_instance


def test_without_patience_it_is_dgs():
    promised = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=30, nodes=10, span=20, longest=9)
        options = Dgs(fwd=3, degree=3, seed=seed, explore=CHOICES["explore"][seed % 2])
        late, dgs = simulate_late(instance, options, patience=0), simulate_dgs(instance, options)
        assert late.run.starts.tolist() == dgs.starts.tolist()
        assert late.run.held.tolist() == dgs.held.tolist()
        assert late.counters.failed_reach == dgs.counters.failed_reach
        assert late.counters.forwards == dgs.counters.forwards
        promised += late.counters.promises
    assert promised > 50


@pytest.mark.parametrize("rule", CHOICES["rule"])
def test_schedules_are_valid_and_waiting_helps_short_jobs(rule):
    gained = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=30, nodes=10, span=20, longest=9)
        options = Dgs(fwd=3, degree=4, seed=seed)
        for patience in (1, 5, 1000):
            late = simulate_late(instance, options, patience=patience, rule=rule)
            assert check(instance, late.run.schedule()).is_valid
            assert late.run.metrics().failed == late.counters.failed_reach
        dgs = simulate_dgs(instance, options)
        assert late.run.metrics().failed == dgs.metrics().failed
        assert late.counters.promises == 0  # patience was never over
        gained += dgs.metrics().total_wait - late.run.metrics().total_wait
    assert gained > 0


def test_whoever_lost_patience_is_overtaken_no_more():
    # one reach for all; job 1 waits for all three nodes, and jobs of width 1 come in each slot
    jobs = Instance(3, 60, [0, 1, *range(1, 20)], [2, 3, *[1] * 19], [3, 2, *[2] * 19])
    options = Dgs(degree=2)
    starts = {patience: simulate_late(jobs, options, patience=patience).run.starts[1] for patience in (1, 4, 100)}
    assert starts[1] < starts[100]
    assert starts[1] <= starts[4] <= starts[100]


def test_options_that_it_does_not_have_are_refused():
    jobs = Instance(2, 60, [0], [1], [1])
    for options, more in (
        (Dgs(overlay="cyclon"), {}),
        (Dgs(messaging="poll"), {}),
        (Dgs(), {"patience": -1}),
        (Dgs(), {"rule": "odd"}),
    ):
        with pytest.raises(InputError):
            simulate_late(jobs, options, **more)
