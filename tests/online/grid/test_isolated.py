"""Schedulers in a process of their own: the same runs, and faults that cost one run."""

from pathlib import Path

import pytest

from hindsched.instances import InputError
from hindsched.instances.grid.generate import JobMix, generate
from hindsched.online.grid import make_policy, run_policy
from hindsched.online.grid.isolated import IsolatedPolicy

#: A scheduler whose answers depend on everything that it sees.
SEES = """
import hashlib, os


class Mine:
    name = "mine"

    def choose(self, visible):
        answers = {}
        promises = [visible.allocation(job.index) for job in visible.jobs]
        free = visible.free_nodes(visible.now, 3)
        seen = (visible.now, visible.waiting, visible.jobs, visible.nodes, visible.slot_s, free, promises)
        number = int(hashlib.sha256(repr(seen).encode()).hexdigest(), 16)
        for index in visible.waiting[:1]:
            job = visible.job(index)
            if number % 7 == 0:
                answers[index] = None
            elif number % 3:
                start = visible.earliest(job.width, job.length) + 0
                answers[index] = (start, visible.free_nodes(start, job.length)[number % 2 :][: job.width])
                if len(answers[index][1]) < job.width:
                    answers[index] = (start, tuple(visible.free_nodes(start, job.length)[: job.width]))
        return answers
"""


def jobs(seed):
    mix = JobMix(serial=0.3, wide=0.1, wide_from=6, wide_to=8, top=2, median_s=240.0)
    return generate(nodes=8, jobs=60, load=0.9, seed=seed, mix=mix)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_run_is_the_same_as_in_this_process(tmp_path, seed):
    (tmp_path / "mine.py").write_text(SEES)
    policy = f"{tmp_path}/mine.py:Mine"
    with IsolatedPolicy(policy, {"seed": seed}) as isolated:
        run = run_policy(jobs(seed), isolated)
    expected = run_policy(jobs(seed), make_policy(policy, seed=seed))
    assert run.policy == "mine"
    assert run.starts.tolist() == expected.starts.tolist()
    assert len(set(run.starts.tolist())) > 5
    assert [run.nodes(job) for job in range(60)] == [expected.nodes(job) for job in range(60)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(0)", "ended its process with exit code 0"),
        ("raise BaseException('boo')", "choose raised BaseException: boo"),
        ("return [1]", "[1], expected a mapping of job numbers to answers"),
        ("return {99: None}", "not waiting, expected one of the waiting jobs"),
        ("return {0: 5}", "5, expected a start and nodes, or None"),
        ("return {0: (-1, [0])}", "start -1, expected"),
        ("return {(0, 1): None}", "its process sent something else than answers"),
        ("while True: pass", "has not finished after 2 s"),
    ],
)
def test_a_fault_of_a_scheduler_is_one_line(tmp_path: Path, body: str, said: str):
    (tmp_path / "mine.py").write_text(
        f"import os\n\nclass Mine:\n    name = 'mine'\n\n    def choose(self, visible):\n        {body}\n"
    )
    with (
        pytest.raises(InputError) as caught,
        IsolatedPolicy(f"{tmp_path}/mine.py:Mine", {}, time_limit_s=2.0) as isolated,
    ):
        run_policy(jobs(1), isolated)
    assert str(caught.value).startswith("policy mine, slot ")
    assert said in str(caught.value)
