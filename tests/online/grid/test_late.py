"""The scheduler late: dgs without patience, and no idle reach while a job waits."""

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, check
from hindsched.online.grid.dgs import simulate_dgs
from hindsched.online.grid.late import simulate_late
from hindsched.online.grid.options import CHOICES, Dgs, Late
from hindsched.online.grid.policies import run_policy
from tests.cases.grid import random_instance


def test_without_patience_it_is_dgs():
    promised = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=30, nodes=10, span=20, longest=9)
        options = {"fwd": 3, "degree": 3, "seed": seed, "explore": CHOICES["explore"][seed % 2]}
        late, dgs = simulate_late(instance, Late(patience=0, **options)), simulate_dgs(instance, Dgs(**options))
        assert late.starts.tolist() == dgs.starts.tolist()
        assert late.held.tolist() == dgs.held.tolist()
        assert late.counters.failed_reach == dgs.counters.failed_reach
        assert late.counters.forwards == dgs.counters.forwards
        promised += late.counters.promises
    assert promised > 50


@pytest.mark.parametrize("rule", CHOICES["rule"])
def test_schedules_are_valid_and_waiting_helps_short_jobs(rule):
    gained = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=30, nodes=10, span=20, longest=9)
        for patience in (1, 5, 1000):
            late = simulate_late(instance, Late(fwd=3, degree=4, seed=seed, patience=patience, rule=rule))
            assert check(instance, late.schedule()).is_valid
            assert late.metrics().failed == late.counters.failed_reach
        dgs = simulate_dgs(instance, Dgs(fwd=3, degree=4, seed=seed))
        assert late.metrics().failed == dgs.metrics().failed
        assert late.counters.promises == 0  # patience was never over
        gained += dgs.metrics().total_wait - late.metrics().total_wait
    assert gained > 0


def test_a_job_with_a_promise_is_not_overtaken():
    # one reach for all; job 1 waits for all three nodes, and jobs of width 1 come in each slot
    jobs = Instance(3, 60, [0, 1, *range(1, 20)], [2, 3, *[1] * 19], [3, 2, *[2] * 19])
    starts = {patience: simulate_late(jobs, Late(degree=2, patience=patience)).starts[1] for patience in (1, 4, 100)}
    assert starts[1] < starts[100]
    assert starts[1] <= starts[4] <= starts[100]


def test_the_kernel_is_its_twin():
    waited = 0
    for seed in range(120):
        instance = random_instance(seed, jobs=40, nodes=(1, 3, 12, 30)[seed % 4], span=25, longest=12)
        options = Late(
            fwd=1 + seed % 5,
            degree=(1, 3, 6, 40)[seed // 4 % 4],
            explore=CHOICES["explore"][seed % 2],
            patience=(0, 2, 9, 10**6)[seed // 2 % 4],
            rule=CHOICES["rule"][seed % 3],
            seed=seed,
        )
        plain, fast = (run_policy(instance, options, engine=engine) for engine in ("plain", "kernel"))
        assert fast.starts.tolist() == plain.starts.tolist()
        assert fast.held.tolist() == plain.held.tolist()
        assert fast.counters == plain.counters
        assert check(instance, fast.schedule()).is_valid
        waited += plain.counters.withdrawals
    assert waited > 200


@pytest.mark.parametrize("options", [{"patience": -1}, {"patience": 1.0}, {"rule": "odd"}, {"fwd": 64}])
def test_invalid_options_are_refused(options):
    with pytest.raises(InputError):
        Late(**options)
