"""Every run of the kernel is that of the plain simulator, and the checker accepts it."""

from typing import Any

import pytest

from hindsched.instances.bags import Instance, check
from hindsched.instances.bags.generate import classroom, paper
from hindsched.instances.errors import InputError
from hindsched.instances.states import RECLAIMED
from hindsched.online.bags import ABSENCES, BASELINES, HANDOVERS, PAPER_POLICIES, POLICIES, make_policy, run_policy
from tests.cases.bags import letters, randoms

PREDICTORS = ("never", "always", "oracle", "noisy:700,200,3", "past")


def both(instance: Instance, policy: str, **options: Any) -> Any:
    plain = run_policy(instance, policy, engine="plain", **options)
    assert run_policy(instance, policy, engine="kernel", **options) == plain
    short = run_policy(instance, policy, engine="kernel", schedule=False, **options)
    assert (short.turnaround, short.completed, short.schedule) == (plain.turnaround, plain.completed, None)
    found = check(instance, plain.schedule)  # type: ignore[arg-type]
    assert found.is_valid, found.reason
    assert found.outcome is not None
    assert (found.outcome.turnaround, found.outcome.completed) == (plain.turnaround, plain.completed)
    return plain


@pytest.mark.parametrize("policy", POLICIES)
def test_twins_on_small_instances(policy: str) -> None:
    finished = 0
    fixed = {"FCFS-PRDCT-DMD": {"on_demand": True}, "LEVEL": {"store": "shared"}, "PACE": {"store": "shared"}}
    for i, free in enumerate(randoms(250, seed=3, **fixed.get(policy, {}))):
        instance = free.replace(move=(0, 0, 2, 7)[i // 5 % 4])
        options: dict[str, Any] = {
            "handover": HANDOVERS[i % 2],
            "absence": ABSENCES[i % 5 % 3],
            "max_copies": 1 + i % 4,
        }
        if "PRDCT" in policy:
            options["predictor"] = PREDICTORS[i % len(PREDICTORS)]
        if i % 3 == 0:
            options["day_tolerance"] = "0.07"
        finished += both(instance, policy, **options).turnaround is not None
    assert 100 < finished < 250  # some finish, some do not


@pytest.mark.parametrize("store", ["shared", "private"])
@pytest.mark.parametrize("machines", ["M01", "M04"])
def test_twins_on_the_paper_s_machines(machines: str, store: str) -> None:
    training = paper(machines, seed=8, slots=5040)
    for i, policy in enumerate(POLICIES if store == "shared" else (*PAPER_POLICIES, *BASELINES)):
        instance = paper(
            machines,
            tasks=(25, 75)[i % 2],
            checkpoints=(0, 1, 9)[i % 3],
            store=store,
            on_demand=True,
            start=240 + 40 * i,
            slots=1500,
            seed=4,
        )
        run = both(instance, policy, predictor="hour", training=training)
        assert run.turnaround is not None or (policy, store) == ("WQR", "shared")  # it may lose tasks


def test_a_predictor_answers_for_as_many_slots_as_the_run_lasts() -> None:
    states = classroom(1, machines=2, slots=6000)
    instance = Instance(
        tasks=6, segments=3, slot=120_000, ticks=[7_000_000] * 2, states=states, on_demand=True, clock_s=0
    )
    run = both(instance, "FCFS-PRDCT-DMD", predictor="noisy:900,100,1")
    assert run.turnaround > 520 * instance.slot  # more than answers are computed for at first


def test_timeouts_change_nothing_where_stores_are_shared_and_nothing_is_reclaimed() -> None:
    seen = 0
    for instance in randoms(400, seed=4, store="shared"):
        if (instance.states == RECLAIMED).any():
            continue
        seen += 1
        for handover in HANDOVERS:
            first, timed = (run_policy(instance, policy, handover=handover) for policy in ("FCFS", "FCFS-AT"))
            assert first.schedule == timed.schedule
    assert seen > 50


def test_a_private_master_that_notices_absences_starts_the_task_again_elsewhere() -> None:
    # machine 0 saves a segment, leaves and returns for one slot; machine 1 comes when it has left
    instance = letters("uuddddddu", "dduuuuuuu", ticks=[2, 2], segments=3, store="private")
    noticed, unnoticed = (run_policy(instance, "FCFS", absence=absence) for absence in ("noticed", "unnoticed"))
    assert noticed.turnaround == 8
    assert noticed.schedule is not None
    assert [(run.machine, run.start, run.origin) for run in noticed.schedule.runs] == [(0, 0, 0), (1, 2, 0)]
    assert unnoticed.turnaround is None
    # with a shared store the second machine starts from the segment saved, or the copy waits for its own machine
    shared = instance.replace(store="shared")
    assert run_policy(shared, "FCFS").turnaround == 6
    assert run_policy(shared, "FCFS", absence="unnoticed").turnaround is None


def test_timeouts_differ_with_a_shared_store_if_absences_are_unnoticed() -> None:
    pairs = [
        [run_policy(instance, policy, absence="unnoticed").turnaround for policy in ("FCFS", "FCFS-AT")]
        for instance in randoms(100, seed=4, store="shared")
    ]
    assert any(first != timed for first, timed in pairs)


def test_a_copy_per_task_is_no_replication() -> None:
    for instance in randoms(100, seed=5):
        one, timed = (run_policy(instance, policy, max_copies=1) for policy in ("FCFS-TR", "FCFS-AT"))
        assert one.schedule == timed.schedule


def test_numbers_beyond_64_bits_run_in_the_plain_simulator() -> None:
    big = letters("uuu", ticks=[2**31 - 1], slot=2**31 - 1, segments=2**31 - 1)
    with pytest.raises(InputError, match="engine"):
        run_policy(big, "FCFS-AT", engine="kernel")
    assert run_policy(big, "FCFS-AT").turnaround is None
    with pytest.raises(InputError, match="expected one of auto, plain, kernel"):
        run_policy(big, "FCFS", engine="fast")
    with pytest.raises(InputError, match="expected one of immediate, boundary"):
        run_policy(big, "FCFS", handover="never")


def test_a_policy_object_runs_too() -> None:
    instance = letters("uu", ticks=[1], tasks=2)
    assert run_policy(instance, make_policy("FCFS-TR", max_copies=2)).turnaround == 2
