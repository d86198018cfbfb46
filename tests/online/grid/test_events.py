"""dgs with failures, cancellations and conflicts: cases by hand, both engines, a third implementation, the checker."""

import dataclasses
import random

import pytest

from hindsched import offline
from hindsched.instances.grid import Instance, check
from hindsched.instances.grid.generate import generate
from hindsched.online.grid import Dgs, run_policy
from hindsched.online.grid.dgs import Grid, simulate_dgs
from hindsched.online.grid.events import EventRun
from hindsched.online.grid.kernels.compiled_run import run_kernel
from tests.cases import grid_law
from tests.cases.grid import random_dgs, random_instance


def random_events(seed, options):
    """Return options of dgs with some of the events."""
    draw = random.Random(seed)
    return dataclasses.replace(
        options,
        latency=draw.choice([0, 0, 1, 3]),
        retries=draw.choice([0, 2]),
        mtbf=draw.choice([0, 40, 150]),
        mttr=draw.choice([3, 20]),
        restarts=draw.choice([0, 1, 3]),
        cancel_percent=draw.choice([0, 30]),
        cancel_slots=8,
    )


def both(instance, options):
    plain, kernel = simulate_dgs(instance, options), run_kernel(instance, options)
    assert plain.starts.tolist() == kernel.starts.tolist()
    assert plain.held.tolist() == kernel.held.tolist()
    assert plain.counters == kernel.counters
    assert plain.events == kernel.events
    return kernel


class Fixed(EventRun):
    """A run whose nodes fail, and whose jobs are cancelled, in given slots."""

    def __init__(self, instance, options, *, failures=(), cancelled=()):
        super().__init__(instance, options, Grid(instance, options))
        self.changes = sorted((slot, True, node) for node, slot, _ in failures)
        self.returns = {(node, slot): end for node, slot, end in failures}
        self.to_cancel = sorted((slot, j) for j, slot in cancelled)
        self.introducers = {}

    def _duration(self, node, mean):
        now = self.down_since[node]
        return self.returns.pop((node, now)) - now if (node, now) in self.returns else 10**6


def run_fixed(rows, *, nodes=2, failures=(), cancelled=(), **options):
    """Run jobs on nodes that all know each other, and check the schedule."""
    instance = Instance(nodes, 60, *zip(*rows, strict=True))
    run = Fixed(instance, Dgs(degree=nodes, **options), failures=failures, cancelled=cancelled).run()
    verdict = check(instance, run.schedule())
    assert verdict.is_valid, verdict
    return run


@pytest.mark.parametrize("group", range(4))
def test_kernel_plain_law_and_checker_agree(group):
    seen: dict[str, int] = {}
    for seed in range(25 * group, 25 * group + 25):
        instance = random_instance(seed, jobs=25, nodes=10, span=40, longest=12)
        options = random_events(seed, random_dgs(seed))
        run = both(instance, options)
        starts, held, counters = grid_law.dgs(instance.nodes, list(instance.rows()), **dataclasses.asdict(options))
        assert [None if start < 0 else start for start in run.starts.tolist()] == starts
        assert [run.nodes(j) for j in range(len(instance))] == held
        assert dataclasses.asdict(run.counters) == counters
        verdict, metrics = check(instance, run.schedule()), run.metrics()
        assert verdict.is_valid
        assert (verdict.outcome.failed, verdict.outcome.total_wait) == (metrics.failed, metrics.total_wait)
        if options.has_events:
            names = ("failed_reach", "failed_stale", "failed_lost", "cancelled")
            assert metrics.failed == sum(counters[name] for name in names)
        for name, count in counters.items():
            seen[name] = seen.get(name, 0) + count
    assert all(seen.values()), seen


def test_without_events_the_run_is_that_of_dgs():
    for seed in range(30):
        instance, options = random_instance(seed, jobs=30, nodes=10, span=30, longest=9), random_dgs(seed)
        plain = simulate_dgs(instance, options)
        run = EventRun(instance, options, Grid(instance, options)).run()
        assert (run.starts.tolist(), run.held.tolist()) == (plain.starts.tolist(), plain.held.tolist())
        counters = dataclasses.asdict(run.counters)
        assert dataclasses.asdict(plain.counters).items() <= counters.items()
        assert plain.events is None
        assert plain.schedule().document["format"] == "grid-schedule/1"


def test_a_failure_stops_a_run_and_moves_a_reservation():
    # job 0 runs on both nodes; job 1 is promised slot 10. Node 1 fails in slot 4 and returns in slot 6.
    run = run_fixed([(0, 2, 10), (1, 2, 3)], failures=[(1, 4, 6)])
    assert run.events.stopped == ((0, 0, 4, (0, 1)),)
    assert run.events.outages == ((1, 4, 6),)
    counters = run.counters
    assert (counters.lost_runs, counters.lost_slots, counters.moved, counters.outages) == (1, 8, 1, 1)
    # node 1 is down and its return is unknown: neither job finds two nodes
    assert run.starts.tolist() == [-1, -1]
    assert counters.failed_reach == 2


def test_lost_jobs_search_before_new_ones_and_wait_from_their_submission():
    # four nodes; job 0 is lost in slot 4 and takes the other three at once; job 1, submitted in slot 4, comes after it
    rows = [(0, 3, 10), (4, 1, 2)]
    node = run_fixed(rows, nodes=4).nodes(0)[0]
    run = run_fixed(rows, nodes=4, failures=[(node, 4, 30)])
    assert run.starts.tolist() == [4, 14]
    assert run.nodes(0) == [k for k in range(4) if k != node]
    assert run.metrics().total_wait == 4 + 10
    assert run.events.stopped[0][1:3] == (0, 4)


@pytest.mark.parametrize(("restarts", "starts"), [(0, [-1]), (1, [5])])
def test_a_job_is_submitted_again_at_most_restarts_times(restarts, starts):
    (node,) = run_fixed([(0, 1, 9)], nodes=3).nodes(0)
    run = run_fixed([(0, 1, 9)], nodes=3, failures=[(node, 5, 50)], restarts=restarts)
    assert run.starts.tolist() == starts
    assert (run.counters.lost_runs, run.counters.failed_lost) == (1, 1 - restarts)


def test_a_run_that_ends_when_its_node_fails_is_not_lost():
    (node,) = run_fixed([(0, 1, 4)], nodes=3).nodes(0)
    run = run_fixed([(0, 1, 4)], nodes=3, failures=[(node, 4, 9)])
    assert (run.starts.tolist(), run.counters.lost_runs, run.counters.moved) == ([0], 0, 0)
    run = run_fixed([(0, 1, 4)], nodes=3, failures=[(node, 3, 9)])
    assert (run.starts.tolist(), run.counters.lost_runs) == ([3], 1)


def test_cancellations_free_nodes_but_move_nobody_up():
    # one slot after another on two nodes: job 1 is promised slot 10, job 2 slot 13
    rows = [(0, 2, 10), (0, 2, 3), (0, 2, 2), (5, 2, 2)]
    assert run_fixed(rows).starts.tolist() == [0, 10, 13, 15]
    run = run_fixed(rows, cancelled=[(1, 4)])
    # the reservation is freed, job 2 stays, and job 3, submitted later, takes its place
    assert run.starts.tolist() == [0, -1, 13, 10]
    assert (run.counters.cancelled, run.metrics().failed, run.events.cancelled) == (1, 1, ((1, 4),))
    running = run_fixed(rows, cancelled=[(0, 4)])
    assert running.starts.tolist() == [-1, 10, 13, 5]
    assert running.events.stopped == ((0, 0, 4, (0, 1)),)
    ended = run_fixed(rows, cancelled=[(0, 10)])
    assert (ended.counters.cancelled, ended.starts.tolist()) == (0, [0, 10, 13, 15])


def test_searches_of_one_slot_conflict():
    # both jobs see two free nodes; the second to be confirmed is refused, and finds the true schedules a slot later
    rows = [(0, 2, 5), (0, 2, 5)]
    assert run_fixed(rows).starts.tolist() == [0, 5]
    lost = run_fixed(rows, latency=1)
    assert (lost.starts.tolist(), lost.counters.failed_stale, lost.counters.refusals) == ([0, -1], 1, 1)
    again = run_fixed(rows, latency=1, retries=1)
    assert (again.starts.tolist(), again.counters.retries) == ([0, 5], 1)
    slow = run_fixed(rows, latency=3, retries=1)  # searches again in slot 3, when the allocation is known
    assert (slow.starts.tolist(), slow.counters.refusals) == ([0, 5], 1)
    later = run_fixed([(0, 2, 5), (2, 2, 5)], latency=3)
    assert later.starts.tolist() == [0, -1]
    assert run_fixed([(0, 2, 5), (3, 2, 5)], latency=3).starts.tolist() == [0, 5]


def test_a_failure_is_unknown_for_the_latency():
    (node,) = run_fixed([(3, 1, 2)], nodes=3, fwd=1).nodes(0)
    tried = []
    for latency in (0, 1, 2):  # node fails in slot 2, which searches of slot 3 know with a latency of at most 1
        run = run_fixed([(3, 1, 2)], nodes=3, failures=[(node, 2, 40)], latency=latency, fwd=1)
        tried.append((run.starts.tolist(), run.counters.refusals))
    assert tried == [([3], 0), ([3], 0), ([-1], 1)]


def test_all_nodes_down_means_no_offer():
    run = run_fixed([(3, 1, 2)], failures=[(0, 1, 9), (1, 1, 9)])
    assert (run.starts.tolist(), run.counters.searches, run.counters.failed_reach) == ([-1], 0, 1)


def test_a_returning_node_fetches_a_list_in_cyclon():
    instance = Instance(6, 60, [40], [1], [1])
    grid = Grid(instance, Dgs(degree=3, overlay="cyclon", every=10))
    before = grid.lists[2]
    grid.advance(1)
    grid.stop(2, 2)
    grid.advance(200)
    assert not any(2 in row for row in grid.lists)  # an entry is dropped once it is the oldest of its list
    assert grid.lists[2] == before
    source = grid.lists[4]
    grid.resume(2, 2, 4)
    assert grid.lists[2] == [node for node in (4, *source) if node != 2][:3]
    grid.advance(300)
    assert any(2 in row for row in grid.lists)


def test_rates_of_events_are_those_of_the_options():
    instance = generate(nodes=300, jobs=1_000, load=0.3, seed=1)
    run = run_policy(instance, Dgs(mtbf=1_000, mttr=250, cancel_percent=20, cancel_slots=1, degree=30), engine="kernel")
    down = sum(min(end, 3_000) - begin for _, begin, end in run.events.outages if begin < 3_000)
    assert down / (300 * 3_000) == pytest.approx(0.2, rel=0.05)
    assert run.counters.cancelled == pytest.approx(200, rel=0.2)
    assert run.counters.outages == len(run.events.outages)


def optimum_with_outages(rows, nodes, outages):
    """Return the least total wait of a player who knows the outages and pins nodes, by enumeration; jobs of width 1."""
    taken = {(k, t) for k, begin, end in outages for t in range(begin, min(end, 20))}

    def least(j, most):
        if j == len(rows):
            return 0
        submit, _, length = rows[j]
        for start in range(submit, 20):
            if start - submit >= most:
                break
            for k in range(nodes):
                run = {(k, t) for t in range(start, start + length)}
                if not run & taken:
                    taken.update(run)
                    most = min(most, start - submit + least(j + 1, most - start + submit))
                    taken.difference_update(run)
        return most

    return least(0, 99)


def test_the_optimum_without_failures_is_a_bound_for_a_player_who_knows_them():
    compared = 0
    for seed in range(40):
        draw = random.Random(seed)
        rows = sorted((draw.randint(0, 2), 1, draw.randint(1, 4)) for _ in range(4))
        node, begin = draw.randint(0, 2), draw.randint(0, 4)
        run = run_fixed(rows, nodes=3, failures=[(node, begin, begin + draw.randint(1, 4))])
        if run.metrics().failed == 0:
            free = offline.solve(run.instance, solver="brute").value
            known = optimum_with_outages(rows, 3, run.events.outages)
            assert free <= known <= run.metrics().total_wait
            compared += free < known
    assert compared > 3
