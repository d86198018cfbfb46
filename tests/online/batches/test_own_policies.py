"""Policies of users: the data they see, and invalid ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import Instance, check
from hindsched.online.batches import POLICIES, Options, make_policy, run_policy, simulate
from tests.cases.batches import rare, readings, varied, with_past

PAIR = Instance(tasks=2, batches=[(2, 6)], c=[1, 2], up=[[(0, 3), (4, 9)], [(1, 9)]])


class Recorder:
    """Sends nothing, calls every second, and records all that it sees."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.news: list[tuple] = []

    def contact(self, visible: Any) -> tuple:
        copied = dict(visible.last_contacts)
        self.seen.append((visible.now, visible.worker, visible.c, visible.up.tolist(), copied, visible))
        return ((0, 0) if visible.now == visible.batches[0][0] else None), visible.now + 1

    def completed(self, now: int, worker: int, batch: int, task: int) -> None:
        self.news.append(("completed", now, worker, batch, task))

    def deadline(self, now: int, batch: int) -> None:
        self.news.append(("deadline", now, batch))


def test_a_policy_sees_the_past_of_the_worker_that_calls() -> None:
    policy = Recorder()
    simulate(PAIR, policy)
    shown = [entry[:5] for entry in policy.seen if entry[0] in (0, 1, 4)]
    assert shown == [
        (0, 0, 1, [], {}),
        (1, 0, 1, [[0, 1]], {0: 0}),
        (1, 1, 2, [], {0: 1}),
        (4, 0, 1, [[0, 3]], {0: 2, 1: 3}),
        (4, 1, 2, [[1, 4]], {0: 4, 1: 3}),
    ]
    assert policy.news == [
        ("completed", 3, 0, 0, 0),
        ("completed", 4, 1, 0, 0),
        ("deadline", 6, 0),
    ]


def test_arguments_of_a_policy_contain_no_future() -> None:
    for seed in range(20):
        policy = Recorder()
        simulate(varied(seed), policy)
        for now, *_, visible in policy.seen:
            if len(visible.up):
                assert visible.up.max() <= now
            assert visible.up.base is None or np.shares_memory(visible.up.base, visible.up)
            assert visible.up.base is None or visible.up.base.max(initial=0) <= now
            with pytest.raises(ValueError, match="read-only"):
                visible.up[:] = 0
            with pytest.raises(TypeError):
                visible.last_contacts[0] = 5
            assert not any(isinstance(getattr(visible, name), Instance) for name in visible.__slots__)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "a pair of a task"),
        ((None, 1.5), "an integer"),
        (((0,), None), "a pair (batch, task)"),
        ((0, None), "a pair (batch, task)"),
        (((0, 2), None), "that exist"),
        (((1, 0), None), "that exist"),
        (((0, 0), None), "submitted"),
    ],
)
def test_bad_answers_are_refused_in_one_line(answer: object, said: str) -> None:
    class Bad:
        name = "bad"

        def contact(self, visible: Any) -> Any:
            return answer

    with pytest.raises(InputError) as caught:
        simulate(PAIR, Bad())
    assert said in str(caught.value)
    assert "policy bad, worker 0 in second 0" in str(caught.value)


def test_a_policy_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n"
        "    def begin(self, problem):\n"
        "        self.left = [(i, k) for i in range(len(problem.batches)) for k in range(problem.tasks)]\n"
        "    def contact(self, visible):\n"
        "        if self.left and visible.now >= visible.batches[self.left[0][0]][0]:\n"
        "            return self.left.pop(0), visible.now + 1\n"
        "        return None, visible.now + 1\n"
    )
    run = run_policy(PAIR, f"{file}:Mine")
    assert run.policy == "Mine"
    assert check(PAIR, run.run).is_valid
    assert run.satisfied == (2,)
    with pytest.raises(InputError, match="no class"):
        make_policy(f"{file}:Other")
    with pytest.raises(InputError, match="expected one of A1, A2"):
        make_policy("A4")


class Honest:
    """Sends the tasks of a batch in turn and calls now and then."""

    name = "honest"

    def __init__(self, options: Options | None = None) -> None:
        self.options = options
        self.sent = 0

    def contact(self, visible: Any) -> tuple:
        submission, deadline = visible.batches[-1]
        if submission <= visible.now < deadline:
            self.sent += 1
            return (len(visible.batches) - 1, self.sent % visible.tasks), visible.now + 3
        return None, visible.now + 2


class Underlying:
    """Takes the object behind a read-only view when it is joined with the view."""

    def __ror__(self, other: Any) -> Any:
        return other


class Meddling(Honest):
    """Answers as `Honest` does, and writes to every argument."""

    touched = 0

    def begin(self, problem: Any) -> None:
        for name in ("active", "start", "num_workers", "sum_c"):
            object.__setattr__(problem, name, 999)
        for name, value in (("busy", "wait"), ("first", "spread"), ("report", "at_contact")):
            object.__setattr__(self.options, name, value)

    def contact(self, visible: Any) -> tuple:
        answer = super().contact(visible)
        if len(visible.up):
            visible.up.setflags(write=True)
            visible.up[:] = 0
            type(self).touched += 1
        (visible.last_contacts | Underlying()).clear()
        object.__setattr__(visible, "now", 10**9)
        object.__setattr__(visible, "worker", 0)
        object.__setattr__(visible.problem, "tasks", 10**6)
        return answer


def test_writes_of_a_policy_change_nothing() -> None:
    for seed in range(40):
        instance = varied(seed)
        honest = simulate(instance, Honest())
        options = Options()
        meddling = _Restoring(options)
        run = simulate(instance, meddling, options)
        assert list(run.run.contacts.rows()) == list(honest.run.contacts.rows())
        assert run.satisfied == honest.satisfied
    assert _Restoring.touched > 100


class _Restoring(Meddling):
    """Uses the first number of tasks that it received, since it changes the other."""

    def begin(self, problem: Any) -> None:
        self.true_tasks = problem.tasks
        super().begin(problem)

    def contact(self, visible: Any) -> tuple:
        object.__setattr__(visible.problem, "tasks", self.true_tasks)
        return super().contact(visible)


def changed_after(instance: Instance, time: int) -> Instance:
    """Return the same availability until a second, and none from then on."""
    up = [
        [(a, min(b, time)) for a, b in instance.up.of_worker(j).tolist() if a < time]
        for j in range(instance.num_workers)
    ]
    return instance.replace(up=up)


@pytest.mark.parametrize("engine", ["plain", "kernel"])
def test_two_futures_with_one_past_give_equal_views_until_they_differ(engine: str) -> None:
    compared = 0
    for seed in range(25):
        instance = with_past(seed) if seed % 4 == 0 else varied(seed)
        first, last = instance.batches[0][0], instance.end
        part = rare(seed).randint(first, last)
        for policy in POLICIES:
            try:
                pair = [
                    run_policy(one, policy, readings(seed), engine=engine)
                    for one in (instance, changed_after(instance, part))
                ]
            except InputError:
                continue
            seen = [[row[:4] for row in run.run.contacts.rows() if row[0] < part] for run in pair]
            assert seen[0] == seen[1], (seed, policy)
            compared += len(seen[0])
    assert compared > 2_000


def test_a_users_policy_sees_the_same_until_two_futures_differ() -> None:
    for seed in range(25):
        instance = varied(seed)
        part = rare(seed).randint(instance.batches[0][0], instance.end)
        policies = Recorder(), Recorder()
        for one, policy in zip((instance, changed_after(instance, part)), policies, strict=True):
            simulate(one, policy, Options(p0=1))
        shown = [[entry[:5] for entry in policy.seen if entry[0] < part] for policy in policies]
        assert shown[0] == shown[1]
        news = [[entry for entry in policy.news if entry[1] < part] for policy in policies]
        assert news[0] == news[1]


@pytest.mark.parametrize("method", ["begin", "contact", "completed", "deadline"])
@pytest.mark.parametrize("error", [ValueError, SystemExit, StopIteration, GeneratorExit, BaseException])
def test_an_error_of_a_policy_is_reported_in_one_line(method: str, error: type[BaseException]) -> None:
    def fail(*news: Any) -> Any:
        raise error("mine")

    policy = Honest()
    setattr(policy, method, fail)
    with pytest.raises(InputError) as caught:
        simulate(PAIR, policy)
    message = str(caught.value)
    assert "policy honest" in message
    assert f"raised {error.__name__}: mine" in message
    assert "\n" not in message


def test_an_interrupt_is_an_interrupt() -> None:
    def stop(*news: Any) -> Any:
        raise KeyboardInterrupt

    policy = Honest()
    policy.contact = stop
    with pytest.raises(KeyboardInterrupt):
        simulate(PAIR, policy)


@pytest.mark.parametrize("periods", [5, [(1, 2, 3)], [("a", 2)], ["ab"]])
def test_invalid_periods_are_refused(periods: object) -> None:
    policy = Honest()
    policy.periods = periods
    with pytest.raises(InputError, match="pairs of a second and a period"):
        simulate(PAIR, policy)


def test_a_policy_cannot_change_the_clock() -> None:
    class Early(Honest):
        def contact(self, visible: Any) -> tuple:
            object.__setattr__(visible, "now", 10**9)
            return (0, 0), None

    with pytest.raises(InputError, match=r"worker 0 in second 0: .* submitted \(V4\)"):
        simulate(PAIR, Early())
