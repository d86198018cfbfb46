"""The rungs: two solvers, exhaustive search and CP-SAT agree; certificates hold; rungs are ordered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hindsched.instances import InputError, SelfCheckError, check
from hindsched.instances.batches import Instance, Run, Rung
from hindsched.instances.batches.cut_certificate import CutBounds
from hindsched.offline import Limit, solve
from hindsched.offline.batches import Hindsight, api, plain
from hindsched.offline.results import Status
from hindsched.online.batches import Options
from tests.cases import batches_brute as brute
from tests.cases import batches_cpsat as cpsat
from tests.cases.batches import any_run, rare, runs, tiny, varied


def proven(instance: Instance, hindsight: Hindsight, run: Run) -> None:
    """Assert that certificates on both sides hold, for satisfied tasks (in solve) and for latencies."""
    bounds = CutBounds(instance, hindsight.rung, run)
    for i, (answer, (submission, _)) in enumerate(zip(hindsight.batches, instance.batches, strict=True)):
        if answer.latency is None:
            assert bounds.bound(i, instance.end, answer.latency_cut) < instance.tasks
            continue
        assert bounds.bound(i, submission + answer.latency - 1, answer.latency_cut) < instance.tasks
    reached = [None] * instance.num_batches
    for latency_run in hindsight.latency_runs(instance):
        verdict = check(instance, latency_run, of=run)
        assert verdict.is_valid, verdict
        reached = [a if b is None else b for a, b in zip(reached, verdict.outcome.latency, strict=True)]
    assert tuple(reached) == hindsight.latency


def ordered(better: object, worse: object) -> None:
    """Assert that the optima of the rungs are ordered."""
    assert all(most >= least for most, least in zip(better.satisfied, worse.satisfied, strict=True))
    for fast, slow in zip(better.latency, worse.latency, strict=True):
        assert slow is None or (fast is not None and fast <= slow)


def test_four_ways_agree_on_tiny_instances() -> None:
    for seed in range(25):
        instance, draw = tiny(seed), rare(seed)
        policies = list(runs(instance))
        run = draw.choice(policies).run if policies and seed % 2 else any_run(instance, seed)
        for rung in Rung:
            found = solve(instance, rung, of=run, solver="native")
            hindsight = found.certificate
            whole = sum(count == instance.tasks for count in hindsight.satisfied)
            assert solve(instance, rung, of=run, solver="plain").certificate.satisfied == hindsight.satisfied
            for way in (brute, cpsat):
                assert way.best_satisfied(instance, rung, run) == found.value, (seed, rung, way)
                assert way.best_satisfied(instance, rung, run, whole_batches=True) == whole, (seed, rung, way)
                for i in range(instance.num_batches):
                    assert way.least_latency(instance, rung, i, run) == hindsight.latency[i], (seed, rung, way)


def test_flows_agree_and_are_proven_on_random_contacts() -> None:
    cuts = 0
    for seed in range(45):
        instance = varied(seed)
        run = any_run(instance, seed)
        last = None
        for rung in Rung:
            plain, native = (solve(instance, rung, of=run, solver=name) for name in ("plain", "native"))
            assert plain.certificate.satisfied == native.certificate.satisfied
            assert plain.certificate.latency == native.certificate.latency
            for found in (plain, native):
                proven(instance, found.certificate, run)
                cuts += any(answer.cut for answer in found.certificate.batches)
            if last is not None:
                ordered(last, native.certificate)
            last = native.certificate
    assert cuts > 10


def test_no_policy_beats_a_rung() -> None:
    for seed in range(8):
        instance = varied(seed)
        for simulated in runs(instance, Options(first="spread")):
            last = None
            for rung in Rung:
                found = solve(instance, rung, of=simulated.run, solver="native")
                assert found.status is Status.OPTIMAL
                if last is not None:
                    ordered(last, found.certificate)
                last = found.certificate
            ordered(last, simulated)


def test_where_the_three_rungs_differ() -> None:
    """Two calls at 0; one worker needs 4 s, one needs 1 s, one never calls."""
    instance = Instance(tasks=3, batches=[(0, 4)], c=[4, 1, 2], up=[[(0, 9)], [(0, 1), (3, 9)], [(0, 9)]])
    rows = [[0, 0], [0, 1], [3, 0]]
    run = instances_run(rows)
    values = {str(rung): solve(instance, rung, of=run).certificate for rung in Rung}
    assert [values[name].satisfied for name in ("free", "traffic", "stream")] == [(3,), (3,), (2,)]
    assert [values[name].latency for name in ("free", "traffic", "stream")] == [(4,), (4,), (None,)]
    assert solve(instance, "traffic", of=run).certificate.batches[0].latency_cut == ((0, 1),)


def instances_run(rows: list) -> Run:
    from hindsched.instances.batches import Contacts

    return Run("", Contacts.of([tuple(row) for row in rows]))


def test_reliable_workers_still_need_one_second_per_contact() -> None:
    """Available in second 0 only: one contact, although three tasks would fit into the time."""
    instance = Instance(tasks=3, batches=[(0, 9)], c=[3], up=[[(0, 1)]], compute="reliable")
    for name in ("plain", "native"):
        assert solve(instance, "free", solver=name).certificate.satisfied == (1,)


def test_hindsight_with_equal_workers() -> None:
    """P equal workers, always available, end N tasks by C ceil(N / P) at the earliest."""
    for workers in range(1, 5):
        for tasks in range(1, 8):
            instance = Instance(tasks=tasks, batches=[(0, 200)], c=[20] * workers, up=[[(0, 200)]] * workers)
            assert solve(instance).certificate.latency == (20 * -(-tasks // workers),)


def test_a_time_limit_before_the_first_batch() -> None:
    instance = varied(3)
    found = solve(instance, time_limit_s=1e-9)
    assert found.status is Status.FEASIBLE
    assert found.limit is Limit.TIME
    assert (found.value, found.upper) == (0, instance.tasks * instance.num_batches)


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (0, lambda a: {"latency": a.latency + 1}, "for batch 0 the latency"),
        (1, lambda a: {"latency": a.latency + 1}, "for batch 1 the latency"),
        (
            1,
            lambda a: {"latency": None, "latency_contacts": None},
            "does not prove the latency of batch 1|for batch 1 the latency",
        ),
        (0, lambda a: {"latency_contacts": a.contacts}, "for batch 0 the latency"),
        (0, lambda a: {"latency_contacts": tuple(x + 1 for x in a.latency_contacts)}, "schedule of a latency"),
        (0, lambda a: {"latency_cut": ()}, "does not prove the latency of batch 0"),
        (0, lambda a: {"latency_cut": ((1, 0),)}, "a cut on the rung traffic"),
        (0, lambda a: {"cut": ()}, "a cut on the rung traffic"),
    ],
)
def test_latencies_of_a_solver_are_confirmed(
    place: int, change: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = Instance(tasks=3, batches=[(0, 3), (10, 14)], c=[1, 1, 1], up=[[(0, 20)]] * 3)
    run = instances_run([[0, 0], [0, 1], [3, 0], *([t, j] for t in (10, 11, 12) for j in range(3))])
    assert solve(instance, "traffic", of=run, solver="plain").certificate.latency == (4, 1)
    honest = plain.BatchSolver.solve

    def wrong(self: plain.BatchSolver, batch: int) -> Any:
        answer = honest(self, batch)
        return replace(answer, **change(answer)) if batch == place else answer

    monkeypatch.setattr(plain.BatchSolver, "solve", wrong)
    with pytest.raises(SelfCheckError, match=message):
        solve(instance, "traffic", of=run, solver="plain")
    solve(instance, "traffic", of=run, solver="plain", confirm=False)
    if place == 0:  # also if the time limit stops the solver after this batch
        over = iter([False, True] * 2)
        monkeypatch.setattr(api.Stopwatch, "is_over", lambda self: next(over))
        with pytest.raises(SelfCheckError, match=message):
            solve(instance, "traffic", of=run, solver="plain", time_limit_s=1)
        monkeypatch.setattr(plain.BatchSolver, "solve", honest)
        assert solve(instance, "traffic", of=run, solver="plain", time_limit_s=1).counts == {"batches": 1}


def test_invalid_arguments_are_refused() -> None:
    instance = tiny(1)
    with pytest.raises(InputError, match="rung"):
        solve(instance, "stream")
    with pytest.raises(InputError, match="expected free, traffic, stream"):
        solve(instance, "high")
    with pytest.raises(InputError, match="solver"):
        solve(instance, solver="magic")
