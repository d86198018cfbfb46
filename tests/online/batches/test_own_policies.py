"""Policies of a user's own: what they see, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instances import InputError
from instances.batches import Instance, check
from online.batches import make_policy, run_policy, simulate
from tests.cases.batches import varied

PAIR = Instance(tasks=2, batches=[(2, 6)], c=[1, 2], up=[[(0, 3), (4, 9)], [(1, 9)]])


class Recorder:
    """Sends nothing, calls every second, and keeps what it was shown."""

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


def test_what_a_policy_is_handed_holds_no_future() -> None:
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
