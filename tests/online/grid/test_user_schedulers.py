"""Schedulers by name and of users: their view, invalid answers, and built-in ones in the protocol."""

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, check
from hindsched.online.grid import OPTIONS, POLICIES, Dgs, Queue, check_policy, make_policy, run_policy, simulate
from tests.cases.grid import random_instance

TRIO = Instance(nodes=2, slot_s=60, submit=[0, 0, 1], width=[1, 2, 1], length=[3, 1, 1])


class Pinned:
    """The scheduler asap_pinned in the protocol of users."""

    name = "mine"

    def choose(self, visible):
        answers = {}
        taken = []
        for index in visible.waiting:
            job = visible.job(index)
            if taken:  # answers of one call are kept together, so only one job a call is sure of its nodes
                break
            start = visible.earliest(job.width, job.length)
            answers[index] = (start, visible.free_nodes(start, job.length)[: job.width])
            taken.append(index)
        return answers


class Greedy:
    """The scheduler queue("file") in the protocol of users: it decides late."""

    name = "greedy"

    def choose(self, visible):
        free = visible.free_nodes(visible.now, 1)
        answers = {}
        for index in visible.waiting:
            width = visible.job(index).width
            if width <= len(free):
                answers[index] = (visible.now, free[:width])
                free = free[width:]
        return answers


def test_late_deciders_can_be_written():
    for seed in range(30):
        instance = random_instance(seed, jobs=20, nodes=6)
        mine = simulate(instance, Greedy())
        assert mine.starts.tolist() == run_policy(instance, "queue", rule="file", engine="plain").starts.tolist()
        assert check(instance, mine.schedule()).is_valid


def test_deciders_at_submission_can_be_written():
    for seed in range(30):
        distinct = random_instance(seed, jobs=20, nodes=6)
        instance = Instance(distinct.nodes, 60, range(len(distinct)), distinct.width, distinct.length)
        mine = run_policy(instance, Pinned())
        theirs = run_policy(instance, "asap_pinned", engine="plain")
        assert mine.starts.tolist() == theirs.starts.tolist()
        assert mine.held.tolist() == theirs.held.tolist()


def test_only_the_past_is_seen():
    seen = []

    class Watching:
        name = "watching"

        def choose(self, visible):
            seen.append((visible.now, [job.index for job in visible.jobs], visible.waiting))
            return {index: (visible.now + 2, [index // 2]) for index in visible.waiting if index != 1}

    run = simulate(TRIO, Watching())
    # job 0 is promised slots 2 to 4, job 2 slot 3; job 1 is never answered, and there are two ends of runs
    assert seen == [(0, [0, 1], (0, 1)), (1, [0, 1, 2], (1, 2)), (4, [0, 1, 2], (1,)), (5, [0, 1, 2], (1,))]
    assert run.starts.tolist() == [2, -1, 3]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({0: (0, [0, 1])}, "slot 0, job 0: 2 nodes, expected 1"),
        ({1: (0, [0, 0])}, "slot 0, job 1: 1 nodes, expected 2, all different"),
        ({0: (-1, [0])}, "start -1, expected 0"),
        ({0: (0, [2])}, "expected 0 to 1"),
        ({0: (0.0, [0])}, "expected integers"),
        ({0: (0, [True])}, "expected integers"),
        ({0: 3}, "expected a start and nodes, or None"),
        ({0: (0, None)}, "expected a start and nodes, or None"),
        ({0: (0, [0]), 1: (1, [0, 1])}, "node 0 is not free from slot 1 on for 1 slots"),
        ({2: (1, [0])}, "job 2: not waiting"),
        ([0], "expected a mapping"),
    ],
)
def test_illegal_answers_are_refused(answer, message):
    class Wrong:
        name = "wrong"

        def choose(self, visible):
            return answer

    with pytest.raises(InputError, match="policy wrong, slot 0") as caught:
        simulate(TRIO, Wrong())
    assert message in str(caught.value)


def test_errors_of_a_scheduler_are_reported():
    class Broken:
        name = "broken"

        def choose(self, visible):
            return 1 // 0

    with pytest.raises(InputError, match="policy broken, slot 0: choose raised ZeroDivisionError"):
        simulate(TRIO, Broken())
    with pytest.raises(InputError, match="expected an object with a name"):
        simulate(TRIO, object())


def test_a_scheduler_may_decline():
    class No:
        name = "no"

        def choose(self, visible):
            return dict.fromkeys(visible.waiting)

    assert simulate(TRIO, No()).starts.tolist() == [-1] * 3


def test_a_check_for_authors():
    check_policy(Greedy())

    class Forgetful(Greedy):
        def __init__(self):
            self.calls = 0

        def choose(self, visible):
            self.calls += 1
            return super().choose(visible) if self.calls > 3 else {}

    with pytest.raises(InputError, match="a second run differs"):
        check_policy(Forgetful())

    with pytest.raises(InputError):
        check_policy(type("Late", (Greedy,), {"choose": lambda self, v: {0: (v.now - 1, [0])}})())


def test_policies_by_name(tmp_path):
    assert [make_policy(name).name for name in POLICIES] == list(POLICIES)
    assert make_policy("dgs", degree="7", overlay="cyclon", rule="area") == Dgs(degree=7, overlay="cyclon")
    assert make_policy("queue") == Queue("length")
    assert set(OPTIONS) >= {"fwd", "degree", "rule", "seed"}
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def __init__(self, degree):\n"
        "        self.degree = degree\n"
        "    def choose(self, visible):\n"
        "        return {}\n"
    )
    assert make_policy(f"{file}:Mine", degree="3").degree == 3
    assert make_policy(f"{file}:Mine").degree == 20


@pytest.mark.parametrize(
    ("name", "options", "place"),
    [
        ("dgs", {"fwd": 64}, "fwd"),
        ("dgs", {"fwd": 0}, "fwd"),
        ("dgs", {"degree": 0}, "degree"),
        ("dgs", {"degree": "x"}, "degree"),
        ("dgs", {"degree": 2.0}, "degree"),
        ("dgs", {"swap": True}, "swap"),
        ("dgs", {"overlay": "ring"}, "overlay"),
        ("dgs", {"every": 0}, "every"),
        ("dgs", {"poll_slots": 0}, "poll_slots"),
        ("easy", {"messaging": "mail"}, "messaging"),
        ("queue", {"rule": "height"}, "rule"),
        ("queue", {"speed": 1}, "speed"),
        ("best", {}, "policy"),
    ],
)
def test_invalid_names_and_options_are_refused(name, options, place):
    with pytest.raises(InputError) as caught:
        make_policy(name, **options)
    assert caught.value.place == place


def test_engines():
    with pytest.raises(InputError, match="engine"):
        run_policy(TRIO, "easy", engine="steam")
    with pytest.raises(InputError, match="engine"):
        run_policy(TRIO, Greedy(), engine="kernel")
    with pytest.raises(InputError, match="rule"):
        run_policy(TRIO, Queue(), rule="area")
