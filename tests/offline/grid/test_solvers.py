"""Optima of grids: exact solvers that share no model, properties of optima, and certificates."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from hindsched import offline
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.grid import Instance, PriceCertificate, check
from hindsched.offline.grid import SOLVERS, available_solvers
from hindsched.offline.grid.api import confirm
from hindsched.offline.grid.blocks import fits, split
from hindsched.offline.grid.brute import least_start
from hindsched.offline.grid.claim import assign_nodes
from hindsched.offline.grid.job_prices import SCALE, CellPrices, certificate
from hindsched.offline.grid.kernels.serial_generation import generate, queue
from hindsched.offline.grid.order_search import best_of_rules, in_order, total_wait
from hindsched.offline.grid.subgradient import subgradient_prices
from hindsched.offline.limits import Limit, Limits, Stopwatch
from hindsched.offline.results import Status, Termination, TerminationReason
from hindsched.online.grid.policies import make_policy, run_policy
from tests.cases.grid import random_instance, schedule_at, serial_starts


def tiny(seed: int) -> Instance:
    return random_instance(seed, jobs=7, nodes=3 + seed % 4, span=8 + seed % 5)


@pytest.mark.parametrize("seed", range(60))
def test_exact_solvers_agree_and_bounds_hold(seed: int) -> None:
    instance = tiny(seed)
    exact, brute = offline.solve(instance), offline.solve(instance, solver="brute")
    assert exact.status == brute.status == Status.OPTIMAL
    assert exact.value == exact.lower == brute.value == brute.lower
    for answer in (exact, brute):
        verdict = check(instance, answer.schedule)
        assert (verdict.is_valid, verdict.outcome.failed, verdict.outcome.total_wait) == (True, 0, answer.value)
    if exact.certificate is not None:
        assert check(instance, exact.certificate).outcome.value == exact.counts["certified"] <= brute.value


def test_bounds_are_those_of_their_certificates() -> None:
    open_gaps = 0
    for seed in range(12):
        instance = random_instance(seed, jobs=14, nodes=6, span=6)
        answer = offline.solve(instance, solver="bounds")
        best = offline.solve(instance)
        assert best.status == Status.OPTIMAL
        assert answer.lower <= best.value <= answer.value
        if answer.status == Status.FEASIBLE:
            open_gaps += 1
            assert check(instance, answer.certificate).outcome.value == answer.lower
    assert open_gaps  # otherwise the exact search was not needed


def test_brute_is_the_least_over_all_starts() -> None:
    for seed in range(40):
        instance = random_instance(seed, jobs=4, nodes=3, span=3, longest=3)
        end = int(instance.submit[-1]) + int(instance.length.sum())
        choices = [range(submit, end) for submit in instance.submit.tolist()]
        least = min(
            sum(starts) - int(instance.submit.sum())
            for starts in itertools.product(*choices)
            if fits(instance, np.array(starts))
        )
        assert offline.solve(instance, solver="brute").value == least


def test_the_optimum_is_0_iff_all_jobs_fit_at_once() -> None:
    zeros = 0
    for seed in range(30):
        instance = random_instance(seed, jobs=4, nodes=6, span=20)
        is_free = fits(instance, instance.submit)
        assert (offline.solve(instance).value == 0) == is_free
        zeros += is_free
    assert 0 < zeros < 30


def test_no_scheduler_is_below_the_optimum() -> None:
    for seed in range(10):
        instance = random_instance(seed, jobs=12, nodes=6, span=10)
        best = offline.solve(instance).value
        for policy in ("asap_counted", "asap_pinned", "queue", "easy", "fcfs"):
            assert run_policy(instance, make_policy(policy)).metrics().total_wait >= best


def test_equal_jobs_start_in_order_of_submission() -> None:
    # of equal jobs the k-th start is at least s after the (k - m)-th, m being how many fit together
    for seed, (nodes, width, length) in enumerate([(5, 2, 3), (7, 3, 4), (4, 4, 2), (3, 1, 5), (6, 4, 1)]):
        submit = random_instance(seed, jobs=14, span=9).submit.tolist()
        m, starts = nodes // width, []
        for k, r in enumerate(submit):
            starts.append(max(r, starts[k - m] + length) if k >= m else r)
        instance = Instance(nodes, 60, submit, [width] * len(submit), [length] * len(submit))
        answer = offline.solve(instance)
        assert answer.value == sum(starts) - sum(submit)


def test_groups_of_jobs_bound_the_whole() -> None:
    for seed in range(20):
        instance = tiny(seed)
        halves = [np.arange(len(instance))[i::2] for i in range(2)]
        parts = [offline.solve(instance.subset(half), solver="brute").value for half in halves]
        assert sum(parts) <= offline.solve(instance, solver="brute").value


def test_split_blocks_do_not_overlap() -> None:
    for seed in range(20):
        instance = random_instance(seed, jobs=30, nodes=5, span=90)
        starts = best_of_rules(instance)
        blocks = split(instance, starts)
        assert np.concatenate(blocks).tolist() == list(range(len(instance)))
        for block, after in itertools.pairwise(blocks):
            assert (starts[block] + instance.length[block]).max() <= instance.submit[after].min()


def test_long_instances_are_solved_block_by_block() -> None:
    parts = [random_instance(seed, jobs=7, nodes=4, span=5) for seed in range(8)]
    shift, rows, values = 0, [], []
    for part in parts:
        wide = Instance(6, 60, part.submit, part.width + 2, part.length)
        rows += [(submit + shift, n, s) for submit, n, s in wide.rows()]
        shift += wide.horizon
        values.append(offline.solve(wide, solver="brute").value)
    together = Instance(6, 60, *zip(*rows, strict=True))
    answer = offline.solve(together)
    assert answer.status == Status.OPTIMAL
    assert answer.value == sum(values)
    assert answer.counts["blocks"] > 1


def test_generation_agrees_with_a_plain_one() -> None:
    for seed in range(60):
        instance = random_instance(seed, jobs=25, nodes=7, span=20, longest=9)
        order = np.random.default_rng(seed).permutation(len(instance))
        starts = in_order(instance, order).tolist()
        assert starts == serial_starts(instance, order.tolist())
        placed: list[tuple[int, int, int]] = []
        rows = list(instance.rows())
        for j in order:
            start = least_start(placed, *rows[j], instance.nodes)
            assert start == starts[j]
            placed.append((start, start + rows[j][2], rows[j][1]))


def test_generation_stops_beyond_the_limit() -> None:
    trio = Instance(1, 60, [0, 0, 0], [1, 1, 1], [5, 5, 5])
    starts, (at, busy) = np.zeros(3, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)
    order = np.arange(3)
    assert generate(trio.submit, trio.width, trio.length, 1, order, starts, at, busy, 4) == 5
    assert generate(trio.submit, trio.width, trio.length, 1, order, starts, at, busy, 15) == 15


def test_queues_are_those_of_the_on_line_rule() -> None:
    for seed in range(20):
        instance = random_instance(seed, jobs=20, nodes=6, span=15)
        starts, *scratch = np.zeros((4, len(instance)), dtype=np.int64)
        rank = np.argsort(np.argsort(instance.length, kind="stable"), kind="stable")
        queue(instance.submit, instance.width, instance.length, instance.nodes, rank, starts, *scratch)
        assert starts.tolist() == list(run_policy(instance, make_policy("queue", rule="length")).starts)
        assert total_wait(instance, best_of_rules(instance)) <= total_wait(instance, starts)


def test_jobs_get_the_lowest_free_nodes() -> None:
    for seed in range(60):
        instance = random_instance(seed, jobs=20, nodes=9, span=15)
        starts = best_of_rules(instance).tolist()
        assert assign_nodes(instance, starts).document == schedule_at(instance, starts).document


def test_bounds_of_prices_agree_with_the_checker() -> None:
    raised = 0
    for seed in range(15):
        instance = random_instance(seed, jobs=12, nodes=6, span=5, longest=8)
        found = subgradient_prices(instance, best_of_rules(instance), Stopwatch(Limits()), None)
        jobs = np.arange(len(instance))
        value = check(instance, certificate(instance, [(jobs, found)])).outcome.value
        assert value == max(0, -(-found.scaled_value() // SCALE))
        raised += value > 0
    assert raised


def test_windows_keep_every_optimum() -> None:
    for seed in range(25):
        instance = tiny(seed)
        best = offline.solve(instance, solver="brute")
        if not best.value:
            continue
        found = subgradient_prices(instance, best_of_rules(instance), Stopwatch(Limits()), None)
        windows = found.windows(SCALE * best.value - found.scaled_value(), 1000)
        for start, window in zip(best.schedule.starts(), windows, strict=True):
            assert any(first <= start <= last for first, last in window)


def test_long_slots_share_prices() -> None:
    part = random_instance(3, jobs=7, nodes=4, span=5)
    large = Instance(part.nodes, 60, part.submit * 9973, part.width, part.length * 9973)
    answer = offline.solve(large, solver="bounds")
    assert answer.lower <= offline.solve(part, solver="brute").value * 9973 <= answer.value


def test_changed_certificates_and_schedules_are_refused() -> None:
    instance = random_instance(5, jobs=12, nodes=6, span=5, longest=8)
    answer = offline.solve(instance)
    document = dict(answer.certificate.document)
    with pytest.raises(SelfCheckError, match="certificate"):
        confirm(instance, answer.schedule, PriceCertificate({**document, "scale": 0}), "x")
    resources = [{**resource, "limit": resource["limit"] - 1} for resource in document["resources"]]
    with pytest.raises(SelfCheckError, match="certificate"):
        confirm(instance, answer.schedule, PriceCertificate({**document, "resources": resources}), "x")
    starts = answer.schedule.starts()
    starts[-1] = int(instance.submit[-1]) - 1
    with pytest.raises(SelfCheckError, match="schedule"):
        confirm(instance, type(answer.schedule).of(instance, starts, [[0]] * len(starts)), None, "x")


def test_edges() -> None:
    empty = Instance(3, 60, [], [], [])
    whole = Instance(4, 60, [0, 0, 1], [4, 4, 4], [3, 1, 1])
    for name in SOLVERS:
        answer = offline.solve(empty, solver=name)
        assert (answer.status, answer.value, answer.schedule.starts()) == (Status.OPTIMAL, 0, [])
        assert offline.solve(Instance(1, 60, [7], [1], [10**12]), solver=name).value == 0
        answer = offline.solve(whole, solver=name)
        assert answer.value == 2
    with pytest.raises(InputError, match="at most 7"):
        offline.solve(Instance(1, 60, [0] * 8, [1] * 8, [1] * 8), solver="brute")
    with pytest.raises(InputError, match="expected auto or one of"):
        offline.solve(empty, solver="best")
    with pytest.raises(InputError, match="seconds"):
        offline.solve(empty, time_limit_s=0)
    assert available_solvers() == list(SOLVERS)


def test_a_time_limit_leaves_bounds() -> None:
    instance = random_instance(1, jobs=150, nodes=20, span=60, longest=30)
    answer = offline.solve(instance, time_limit_s=0.3)
    assert answer.lower <= answer.value <= run_policy(instance, make_policy("asap_counted")).metrics().total_wait
    assert (answer.status, answer.termination.limit) == (Status.FEASIBLE, Limit.TIME)


def test_no_step_begins_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time for the linear program, the bound of the subgradient method is computed once and is the answer."""

    def refuse(*_: object) -> None:
        raise AssertionError("a linear program after the time limit")

    monkeypatch.setattr("hindsched.offline.grid.block_solver.linear_program_prices", refuse)
    values = []
    first = CellPrices.scaled_value

    def count(prices: CellPrices) -> int:
        values.append(first(prices))
        return values[-1]

    monkeypatch.setattr(CellPrices, "scaled_value", count)
    answer = offline.solve(random_instance(3, jobs=30, nodes=5, span=10), time_limit_s=1e-6)
    assert answer.status == Status.FEASIBLE
    assert answer.limit == Limit.TIME
    assert len(values) == answer.counts["blocks"]


def test_without_a_time_limit_the_effort_is_limited() -> None:
    instance = random_instance(9, jobs=20, nodes=6, span=10)
    assert offline.solve(instance, solver="bounds").termination == Termination(TerminationReason.FEASIBLE, Limit.EFFORT)
    assert offline.solve(instance, solver="cpsat").termination == Termination(TerminationReason.OPTIMAL, None)


def test_answers_depend_on_the_seed_only() -> None:
    instance = random_instance(9, jobs=20, nodes=6, span=10)
    first, again = (offline.solve(instance, solver="bounds", seed=3) for _ in range(2))
    assert first.schedule.document == again.schedule.document
    assert first.certificate.document == again.certificate.document


def test_importing_is_light() -> None:
    heavy = ("numba", "ortools", "scipy", "pandas", "matplotlib")
    code = f"import sys, hindsched.offline.grid; sys.exit(', '.join(m for m in {heavy} if m in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
