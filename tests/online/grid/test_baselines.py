"""Centralised schedulers: cases worked by hand, plain and kernel alike, promises that are kept."""

import itertools

import pytest

from hindsched.instances.grid import Instance, check
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.online.grid import AsapCounted, AsapPinned, Easy, Fcfs, Queue, run_policy
from hindsched.online.grid.baselines import place
from hindsched.online.grid.options import CHOICES
from tests.cases.grid import random_instance, serial_starts

POLICIES = [AsapPinned(), AsapCounted(), Fcfs(), Easy(), *map(Queue, CHOICES["rule"])]


def both(instance, policy):
    plain, kernel = (run_policy(instance, policy, engine=engine) for engine in ("plain", "kernel"))
    assert plain.starts.tolist() == kernel.starts.tolist()
    assert plain.held.tolist() == kernel.held.tolist()
    assert plain.counters is kernel.counters is None
    return kernel


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_kernel_and_plain_agree_and_schedules_are_valid(policy):
    for seed in range(30):
        instance = random_instance(seed, jobs=40, nodes=12, span=30, longest=9)
        run = both(instance, policy)
        verdict = check(instance, run.schedule())
        assert verdict.is_valid
        assert (verdict.outcome.failed, verdict.outcome.total_wait) == (0, run.metrics().total_wait)
    jobs = kth_sp2(first=700, count=80)
    both(jobs, policy)
    both(Instance(3, 60, [], [], []), policy)


#: Four nodes. Job 0 holds three until 4; job 1 wants all four; jobs 2 and 3 would fit together with job 0.
FOUR = Instance(4, 60, [0, 1, 1, 2], [3, 4, 1, 1], [4, 2, 3, 5])


@pytest.mark.parametrize(
    ("policy", "starts"),
    [
        (Fcfs(), [0, 4, 6, 6]),
        (Easy(), [0, 4, 1, 6]),  # job 2 is over at 4, job 3 would not be
        (AsapCounted(), [0, 4, 1, 6]),
        (AsapPinned(), [0, 4, 1, 6]),
        (Queue("file"), [0, 4, 1, 6]),  # in slot 4 all is free, and job 1 comes first
        (Queue("length"), [0, 4, 1, 6]),
        (Queue("width"), [0, 9, 1, 4]),  # in slot 4 job 3 comes first
        (Queue("area"), [0, 9, 1, 4]),
    ],
)
def test_four_jobs_by_hand(policy, starts):
    assert both(FOUR, policy).starts.tolist() == starts


def test_easy_delays_only_jobs_behind_the_first_of_the_queue():
    # job 0 holds 2 of 4 until 5; job 1 wants 3 and is reserved at 5, when one is spare; job 2 of width 1 may run past
    # that, job 3 of width 1 may not any more; job 4 ends in time
    jobs = Instance(4, 60, [0, 1, 1, 1, 1], [2, 3, 1, 1, 1], [5, 2, 9, 9, 4])
    assert both(jobs, Easy()).starts.tolist() == [0, 5, 1, 7, 1]
    # two runs that end together free their nodes together: both count for the spare ones
    jobs = Instance(4, 60, [0, 0, 1, 1], [2, 1, 3, 1], [5, 5, 2, 9])
    assert both(jobs, Easy()).starts.tolist() == [0, 0, 5, 1]


def test_rules_of_the_queue_by_hand():
    # one node; behind job 0 wait a long narrow, a short wide and two alike
    jobs = Instance(2, 60, [0, 1, 1, 1, 1], [2, 1, 2, 1, 1], [3, 6, 2, 4, 4])
    assert both(jobs, Queue("length")).starts.tolist() == [0, 9, 3, 5, 5]
    assert both(jobs, Queue("area")).starts.tolist() == [0, 9, 3, 5, 5]
    assert both(jobs, Queue("width")).starts.tolist() == [0, 3, 11, 3, 7]
    assert both(jobs, Queue("file")).starts.tolist() == [0, 3, 11, 3, 7]


def test_areas_beyond_64_bits():
    jobs = Instance(2**20, 60, [0, 1, 1], [2**20, 2**20, 1], [5, 2**44, 2**50])
    assert both(jobs, Queue("area")).starts.tolist() == [0, 2**50 + 5, 5]


def test_fcfs_never_overtakes_and_counted_is_serial_generation():
    for seed in range(40):
        instance = random_instance(seed, jobs=15, nodes=6)
        starts = both(instance, Fcfs()).starts.tolist()
        assert all(a <= b for a, b in itertools.pairwise(starts))
        counted = both(instance, AsapCounted()).starts.tolist()
        assert counted == serial_starts(instance, list(range(len(instance))))


def test_pinned_nodes_can_cost_more_than_counted_ones():
    different = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=60, nodes=8, span=20, longest=9)
        pinned, counted = both(instance, AsapPinned()), both(instance, AsapCounted())
        first = next((j for j in range(len(instance)) if pinned.starts[j] != counted.starts[j]), None)
        if first is not None:  # up to there the counts are the same, and pinning can only wait
            assert pinned.starts[first] > counted.starts[first]
            different += 1
    assert different > 3


def test_places_are_the_lowest_free_nodes_by_start_and_index():
    jobs = Instance(5, 60, [0, 0, 0, 1], [1, 2, 1, 3], [3, 1, 2, 1])
    assert place(jobs, [0, 0, 0, 1]) == [[0], [1, 2], [3], [1, 2, 4]]
    late_first = Instance(3, 60, [0, 0, 0], [1, 1, 1], [1, 1, 1])
    assert place(late_first, [2, 1, 1]) == [[0], [0], [1]]
