"""The simulator: rules R1 to R5 by hand, the view of a policy, and every run replayed by the checker."""

import gc
import sys
from collections.abc import Mapping
from types import MethodType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsched.instances import InputError, check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.random_streams import stream
from hindsched.instances.states import UP
from hindsched.online.coupled import POLICIES, SERVICES, Run, Visible, make_policy, simulate

Choice = Mapping[int, int] | None


class Script:
    """A policy with given choices that stores what it sees."""

    name = "script"

    def __init__(self, choices: Mapping[int, Any]) -> None:
        self.choices = choices
        self.seen: list[Visible] = []

    def choose(self, visible: Visible) -> Choice:
        self.seen.append(visible)
        return self.choices.get(visible.slot)


def run_script(instance: Instance, choices: Mapping[int, Any], **options: Any) -> tuple[Run, list[Visible]]:
    script = Script(choices)
    run = simulate(instance, script, **options)
    verdict = check(instance, run.schedule)
    assert verdict.is_valid, verdict
    assert (verdict.outcome.makespan, verdict.outcome.iterations) == (run.makespan, run.iterations)
    return run, script.seen


def letters(run: Run) -> str:
    return " ".join(run.schedule.letters)


def entries(run: Run) -> dict[int, dict[int, int]]:
    return {entry.slot: dict(entry.tasks) for entry in run.schedule.configurations}


@pytest.mark.parametrize(("service", "expected"), [("index", "PDIICC IIPDCC"), ("longest", "PIDICC IPIDCC")])
def test_one_channel_serves_in_the_order_of_the_service(service: str, expected: str) -> None:
    pair = Instance.from_letters(["u" * 9] * 2, w=[1, 2], tasks=2, n_com=1, t_prog=1, t_data=1)
    run, _ = run_script(pair, {0: {0: 1, 1: 1}}, service=service)
    assert letters(run) == expected
    assert (run.makespan, run.iterations, run.slots) == (6, 1, 6)


def test_longest_counts_program_and_data() -> None:
    trio = Instance.from_letters(["u" * 9] * 3, w=[1] * 3, tasks=4, n_com=1, t_prog=1, t_data=1)
    run, _ = run_script(trio, {0: {0: 1, 1: 2, 2: 1}}, service="longest")
    # needs 2 3 2, then 2 2 2, 1 2 2, 1 1 2, 1 1 1 and so on
    assert letters(run) == "IPIIDIICC PIDIIDICC IIIPIIDCC"


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("index", "PIPDDIIIC IPIIIPDDC"),
        ("longest", "PIPIDIDIC IPIPIDIDC"),
        ("begun", "PIPIDDIIC IPIPIIDDC"),  # in slot 3 worker 0 has begun nothing, worker 1 half of its program
    ],
)
def test_a_transfer_that_has_begun_is_not_interrupted(service: str, expected: str) -> None:
    pair = Instance.from_letters(["uruuuuuuuuuu", "uuuuuuuuuuuu"], w=[1, 1], tasks=2, n_com=1, t_prog=2, t_data=2)
    run, _ = run_script(pair, {0: {0: 1, 1: 1}}, service=service)
    assert letters(run) == expected


def test_a_reclaimed_worker_receives_nothing_and_suspends_the_computation() -> None:
    pair = Instance.from_letters(["uuuuuruu", "ururuuuu"], w=[3, 1], tasks=2, t_prog=1, t_data=1)
    run, seen = run_script(pair, {0: {0: 1, 1: 1}})
    assert letters(run) == "PDIICICC PIDICICC"
    assert [visible.computed for visible in seen] == [0, 0, 0, 0, 0, 1, 1, 2]
    assert run.makespan == 8


def test_a_worker_that_goes_down_loses_everything_and_the_computation_with_it() -> None:
    pair = Instance.from_letters(["uuuuuuuuu", "uuudduuuu"], w=[3, 3], tasks=2, t_prog=1)
    run, seen = run_script(pair, {0: {0: 1, 1: 1}, 5: {0: 1, 1: 1}})
    # in slots 3 and 4 worker 0 alone holds one task of two: a communication slot in which no worker lacks anything
    assert letters(run) == "PCCIIICCC PCC..PCCC"
    assert (seen[2].computed, seen[3].computed) == (1, 0)
    assert dict(seen[3].tasks) == {0: 1}
    assert seen[3].program == (1, 0)
    assert entries(run) == {0: {0: 1, 1: 1}, 5: {0: 1, 1: 1}}


def test_the_end_of_an_iteration_keeps_whole_programs_only() -> None:
    pair = Instance.from_letters(["u" * 12] * 2, w=[1, 1], tasks=1, iterations=2, n_com=2, t_prog=3, t_data=1)
    # worker 1 stands by from slot 2 on: slots 2 and 3 give it two of the three program slots
    run, seen = run_script(pair, {0: {0: 1}, 2: {0: 1, 1: 0}, 5: {0: 1, 1: 0}})
    assert letters(run) == "PPPDCDC ..PPIPI"
    assert seen[4].program == (3, 2)
    assert seen[5].program == (3, 0)
    assert seen[5].data == (0, 0)
    assert (seen[4].iteration, seen[5].iteration, seen[5].iteration_start) == (0, 1, 5)
    assert dict(seen[5].tasks) == {}
    assert run.makespan == 7


def test_a_stand_by_worker_keeps_a_whole_program_for_the_next_iteration() -> None:
    pair = Instance.from_letters(["uuuuu", "uuuuu"], w=[1, 1], tasks=1, iterations=2, t_prog=2)
    run, _ = run_script(pair, {0: {0: 1, 1: 0}, 3: {1: 1}})
    assert letters(run) == "PPC. PPIC"


def test_a_worker_that_leaves_loses_data_and_a_partial_program_but_not_a_whole_one() -> None:
    pair = Instance.from_letters(["u" * 20] * 2, w=[1, 1], tasks=2, t_prog=2, t_data=1)
    _, seen = run_script(pair, {0: {0: 1, 1: 1}, 1: {0: 2}, 4: {1: 2}, 5: {0: 2}, 6: {0: 1, 1: 1}}, slots=8)
    assert [visible.program for visible in seen] == [(0, 0), (1, 1), (2, 0), (2, 0), (2, 0), (2, 1), (2, 0), (2, 1)]
    assert [visible.data for visible in seen] == [(0, 0), (0, 0), (0, 0), (1, 0), (2, 0), (0, 0), (1, 0), (1, 0)]


def test_a_change_of_tasks_loses_the_computation_and_stand_by_does_not() -> None:
    pair = Instance.from_letters(["u" * 30] * 2, w=[5, 5], tasks=2)
    _, seen = run_script(pair, {0: {0: 1, 1: 1}, 3: {0: 2}, 5: {0: 2, 1: 0}, 7: {0: 2}, 9: {0: 2}, 11: {0: 1, 1: 1}})
    assert [visible.computed for visible in seen[:13]] == [0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1]


def test_an_incomplete_configuration_communicates_and_never_computes() -> None:
    pair = Instance.from_letters(["u" * 6] * 2, w=[1, 1], tasks=2, t_prog=1, t_data=1)
    run, _ = run_script(pair, {0: {0: 1}})
    assert letters(run) == "PDIIII ......"
    assert (run.makespan, run.iterations, run.slots) == (None, 0, 6)


def test_nothing_enrolled_is_a_choice() -> None:
    lone = Instance.from_letters(["uuuu"], w=[9], tasks=1)
    run, seen = run_script(lone, {1: {0: 1}, 3: {}})
    assert letters(run) == ".CC."
    assert entries(run) == {1: {0: 1}, 3: {}}
    assert [visible.is_complete for visible in seen] == [False, False, True, True]


def test_only_changes_are_entries() -> None:
    lone = Instance.from_letters(["uuuu"], w=[2], tasks=1, iterations=2)
    run, _ = run_script(lone, {slot: {0: 1} for slot in range(4)})
    assert entries(run) == {0: {0: 1}, 2: {0: 1}}  # the end of an iteration un-enrols


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({2: 1}, "worker 2, expected 0 to 1"),
        ({-1: 1}, "worker -1, expected 0 to 1"),
        ({0: 3}, "3 tasks on worker 0, expected 0 to 2"),
        ({0: -1}, "-1 tasks on worker 0"),
        ({1: 2}, "2 tasks on worker 1, expected 0 to 1"),
        ({0: 2, 1: 1}, "3 tasks in all, expected at most 2"),
        ({1: 1}, r"worker 1 enrols in state r, expected u \(UP\)"),
        ({0: 1.0}, "0: 1.0, expected integers, worker: tasks"),
        ({"0": 1}, "'0': 1, expected integers"),
        ([0, 1], "expected a mapping of worker to tasks, or None"),
    ],
)
def test_a_choice_against_r2_names_policy_slot_and_rule(choice: Any, message: str) -> None:
    pair = Instance.from_letters(["uuuu", "urrr"], w=[1, 1], tasks=2, mu=[2, 1])
    if isinstance(choice, dict) and choice in ({1: 2}, {0: 2, 1: 1}):
        pair = Instance.from_letters(["uuuu", "uuuu"], w=[1, 1], tasks=2, mu=[2, 1])
    with pytest.raises(InputError, match=rf"^policy script, slot 1, rule R2: .*{message}"):
        simulate(pair, Script({1: choice}))


def test_a_worker_that_went_down_cannot_simply_be_kept_by_name() -> None:
    lone = Instance.from_letters(["uud"], w=[9], tasks=1)
    with pytest.raises(InputError, match="slot 2, rule R2: worker 0 enrols in state d"):
        simulate(lone, Script({0: {0: 1}, 2: {0: 1}}))


def test_integers_of_numpy_are_integers() -> None:
    lone = Instance.from_letters(["uu"], w=[1], tasks=1)
    run, _ = run_script(lone, {0: {np.int64(0): np.int64(1)}})
    assert run.makespan == 1


def test_an_error_in_a_policy_differs_from_an_error_in_the_simulator() -> None:
    class Broken:
        name = "broken"

        def choose(self, visible: Visible) -> Choice:
            return {visible.now[99]: 1}

    with pytest.raises(InputError, match=r"^policy broken, slot 0: choose raised IndexError: .*test_simulate.py, line"):
        simulate(small(0), Broken())


def test_a_policy_that_ends_python_ends_no_campaign() -> None:
    class Quitter:
        name = "quitter"

        def choose(self, visible: Visible) -> Choice:
            sys.exit(0)

    with pytest.raises(InputError, match=r"^policy quitter, slot 0: choose raised SystemExit: 0 \("):
        simulate(small(0), Quitter())


def test_misuse_is_refused_in_one_line() -> None:
    lone = Instance.from_letters(["uu"], w=[1], tasks=1)
    with pytest.raises(InputError, match="service: 'fifo', expected one of index, longest"):
        simulate(lone, Script({}), service="fifo")
    with pytest.raises(InputError, match="slots: 3, expected 1 to 2"):
        simulate(lone, Script({}), slots=3)
    with pytest.raises(InputError, match="slots: 0, expected 1 to 2"):
        simulate(lone, Script({}), slots=0)
    with pytest.raises(InputError, match=r"policy: .*expected an object with a name and a method choose"):
        simulate(lone, "IE")  # type: ignore[arg-type]


class Wild:
    """Random legal choices: incomplete configurations, stand-by, leaving, returning."""

    name = "wild"

    def __init__(self, seed: int) -> None:
        self.draw = stream("test", "wild", seed)

    def choose(self, visible: Visible) -> Choice:
        if self.draw.random() < 0.6:
            return None
        tasks: dict[int, int] = {}
        left = visible.problem.tasks
        for q in self.draw.permutation(visible.problem.num_workers).tolist():
            if (q in visible.tasks or visible.now[q] == UP) and self.draw.random() < 0.7:
                most = min(left, visible.problem.capacities[q])
                tasks[q] = most if self.draw.random() < 0.5 else int(self.draw.integers(most + 1))
                left -= tasks[q]
        return tasks


@pytest.mark.parametrize("service", SERVICES)
def test_the_checker_accepts_all_runs_of_a_random_policy(service: str) -> None:
    finished = 0
    for seed in range(250):
        instance = small(seed, p=3, slots=40, tasks=2, iterations=2, up=0.8, down=0.05)
        run = simulate(instance, Wild(seed), service=service)
        verdict = check(instance, run.schedule)
        assert verdict.is_valid, (seed, verdict)
        assert (verdict.outcome.makespan, verdict.outcome.iterations) == (run.makespan, run.iterations)
        finished += run.makespan is not None
    assert finished > 50


@pytest.mark.parametrize("name", POLICIES)
def test_the_checker_accepts_every_run_of_every_heuristic(name: str) -> None:
    instances = [small(seed, p=4, slots=50, tasks=3, iterations=3) for seed in range(25)]
    instances.append(paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=800))
    for instance in instances:
        for service in SERVICES:
            run = simulate(instance, make_policy(name, estimator="conditional"), service=service)
            verdict = check(instance, run.schedule)
            assert verdict.is_valid, verdict
            assert (verdict.outcome.makespan, verdict.outcome.iterations) == (run.makespan, run.iterations)
            assert run.policy == name
            assert run.schedule.instance == instance.fingerprint


@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(POLICIES),
    known=st.integers(1, 29),
    other=st.integers(0, 10**6),
)
@settings(max_examples=120, deadline=None)
def test_later_states_change_no_choice(seed: int, name: str, known: int, other: int) -> None:
    instance = small(seed, p=3, slots=30, tasks=2, iterations=9, up=0.75)
    states = instance.states.copy()
    states[:, known:] = small(other, p=3, slots=30, up=0.4, down=0.3).states[:, known:]
    one, two = (simulate(each, make_policy(name)).schedule for each in (instance, instance.replace(states=states)))
    assert [row[:known] for row in one.letters] == [row[:known] for row in two.letters]
    before = [entry for entry in one.configurations if entry.slot < known]
    assert before == [entry for entry in two.configurations if entry.slot < known]


def reachable(root: object) -> list[object]:
    """Every object that can be reached from this one by attributes and items, not through classes and modules."""
    found: dict[int, object] = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        if id(item) in found or isinstance(item, type | ModuleType | MethodType) or callable(item):
            continue
        found[id(item)] = item
        waiting += gc.get_referents(item)
        if isinstance(item, np.ndarray) and item.base is not None:
            waiting.append(item.base)
    return list(found.values())


def test_no_object_that_a_policy_receives_leads_to_the_future() -> None:
    instance = small(3, p=3, slots=200, tasks=2)

    class Spy:
        name = "spy"

        def choose(self, visible: Visible) -> Choice:
            states = visible.states
            assert (states == instance.states[:, : visible.slot + 1]).all()
            assert not states.flags.writeable
            assert visible.now == tuple(states[:, -1].tolist())
            if visible.slot in (0, 63, 64, 150):
                things = reachable(visible) + reachable(states)
                assert not any(isinstance(thing, Instance) for thing in things)
                arrays = [thing for thing in things if isinstance(thing, np.ndarray) and thing.dtype == np.uint8]
                assert arrays
                for array in arrays:
                    assert (array != 255).sum() <= 3 * (visible.slot + 1)  # 255 is no state: not yet seen
            return None

    assert simulate(instance, Spy()).slots == 200


def test_objects_kept_by_a_policy_do_not_change() -> None:
    instance = small(5, p=3, slots=100, tasks=2, iterations=20)
    script = Script({})
    script.choose = lambda visible: script.seen.append(visible) or make_policy("RANDOM").choose(visible)  # type: ignore
    simulate(instance, script)
    for visible in script.seen:
        assert (visible.states == instance.states[:, : visible.slot + 1]).all()
    with pytest.raises(TypeError):
        script.seen[0].tasks[0] = 1  # type: ignore[index]


def test_fewer_slots_are_the_start_of_the_whole_run() -> None:
    instance = small(8, p=4, slots=80, tasks=3, iterations=50)
    whole = simulate(instance, make_policy("Y-IE"))
    part = simulate(instance, make_policy("Y-IE"), slots=30)
    assert part.slots == 30
    assert part.makespan is None
    assert [row[:30] for row in whole.schedule.letters] == list(part.schedule.letters)
