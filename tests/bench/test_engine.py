"""The campaign engine: each row once, in any number of processes, whatever happens in between."""

import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from hindsched.bench.campaign.engine import FailedJobsError, Job, code_digest, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.instances import InputError


def square(number: int) -> dict[str, int]:
    return {"square": number * number}


def fail_at_three(number: int) -> dict[str, int]:
    if number == 3:
        raise KeyboardInterrupt
    return square(number)


def jobs(call):
    return [Job(key=f"job {i}", note=str(i), call=call, arguments=(i,)) for i in range(6)]


@pytest.mark.parametrize("num_processes", [1, 2])
def test_every_row_is_made_once(tmp_path, num_processes):
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square), journal, num_processes=num_processes)
        run_jobs("test", jobs(square), journal, num_processes=num_processes)
        assert [journal[f"job {i}"]["square"] for i in range(6)] == [0, 1, 4, 9, 16, 25]
    assert len(journal.path.read_text().splitlines()) == 6


def test_an_interrupted_campaign_goes_on_where_it_stopped(tmp_path):
    with Journal(tmp_path) as journal:
        with pytest.raises(KeyboardInterrupt):
            run_jobs("test", jobs(fail_at_three), journal, num_processes=1)
        assert [f"job {i}" in journal for i in range(6)] == [True, True, True, False, False, False]
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square), journal, num_processes=1)
    rows = journal.path.read_text().splitlines()
    assert len(rows) == 6


def test_rows_say_what_made_them(tmp_path):
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square)[:1], journal, num_processes=1)
        row = journal["job 0"]
    assert {"version", "code", "python", "numpy", "ortools", "machine"} <= set(row)


def test_progress_is_told_on_standard_error(tmp_path, capsys):
    with Journal(tmp_path) as journal:
        run_jobs("squares", jobs(square), journal, num_processes=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "squares: 6/6" in captured.err


CAMPAIGN = """
import os, sys, time
from pathlib import Path
from hindsched.bench.campaign.engine import Job, code_digest, run_jobs
from hindsched.bench.campaign.journal import Journal

def sleep(folder):
    (Path(folder) / f"{os.getpid()}.worker").touch()
    time.sleep(600)

if __name__ == "__main__":
    with Journal(sys.argv[1]) as journal:
        jobs = [Job(key=str(i), note=str(i), call=sleep, arguments=(sys.argv[1],)) for i in range(2)]
        run_jobs("sleep", jobs, journal, num_processes=2)
"""


def until(condition):
    """Wait for a condition, for a minute at most; return whether it came true."""
    return any(condition() or time.sleep(0.05) for _ in range(1200))


@pytest.mark.skipif(os.name != "posix", reason="other systems tell a process nothing of the end of its parent")
def test_workers_end_with_a_campaign_that_is_killed(tmp_path):
    (tmp_path / "campaign.py").write_text(CAMPAIGN)
    campaign = subprocess.Popen(
        [sys.executable, tmp_path / "campaign.py", tmp_path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert until(lambda: len(list(tmp_path.glob("*.worker"))) == 2)
    finally:
        campaign.kill()
        campaign.wait()
    workers = [int(path.stem) for path in tmp_path.glob("*.worker")]
    assert until(lambda: not any(is_alive(worker) for worker in workers))


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")  # one that has ended may wait for somebody to collect it
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def where(number: int) -> dict[str, int]:
    time.sleep(0.02)
    return {"number": number, "process": os.getpid(), "ended": time.monotonic()}


def test_jobs_of_a_group_share_a_process(tmp_path):
    groups = [Job(str(i), str(i), where, (i,), group=str(i // 4)) for i in range(16)]
    with Journal(tmp_path) as journal:
        run_jobs("test", groups, journal, num_processes=2)
        rows = [journal[str(i)] for i in range(16)]
    assert [row["number"] for row in rows] == list(range(16))
    for first in range(0, 16, 4):
        assert len({row["process"] for row in rows[first : first + 4]}) == 1


def test_a_long_group_hands_over_what_it_has(tmp_path, monkeypatch):
    handed = []

    class Watching(Journal):
        def append_all(self, rows):
            handed.append(len(rows))
            super().append_all(rows)

    group = [Job(str(i), str(i), where, (i,), group="one") for i in range(5)]
    monkeypatch.setattr("hindsched.bench.campaign.engine._MAX_GROUP_S", 0.0)
    with Watching(tmp_path) as journal:
        run_jobs("test", group, journal, num_processes=2)
        assert [journal[str(i)]["number"] for i in range(5)] == list(range(5))
    assert handed == [1] * 5


def test_the_rest_of_a_long_group_goes_to_the_process_that_holds_what_it_shares(tmp_path, monkeypatch):
    monkeypatch.setattr("hindsched.bench.campaign.engine._MAX_GROUP_S", 0.0)
    groups = [Job(str(i), str(i), where, (i,), group=str(i // 8)) for i in range(24)]
    with Journal(tmp_path) as journal:
        run_jobs("test", groups, journal, num_processes=2)
        rows = sorted((journal[str(i)] for i in range(24)), key=lambda row: row["ended"])
    held = {process: [row["number"] // 8 for row in rows if row["process"] == process] for process in _processes(rows)}
    loads = sum(1 + sum(a != b for a, b in pairwise(groups)) for groups in held.values())
    assert loads <= 10, held  # 3 groups in 2 processes: 4 or 5; each job loaded anew would be some 20


def _processes(rows):
    return {row["process"] for row in rows}


def odd(number: int) -> dict[str, int]:
    if number % 2 == 0:
        raise InputError(f"{number}, expected an odd number", place="policy")
    return {"number": number}


@pytest.mark.parametrize("num_processes", [1, 2])
def test_jobs_that_fail_leave_no_row_and_stop_no_other(tmp_path, capsys, num_processes):
    some = [Job(str(i), str(i), odd, (i,)) for i in range(6)]
    with Journal(tmp_path) as journal:
        with pytest.raises(
            FailedJobsError, match=r"^policy: \d, expected an odd number \(and 2 more failed; the other rows"
        ):
            run_jobs("test", some, journal, num_processes=num_processes)
        assert [str(i) in journal for i in range(6)] == [False, True] * 3
    assert "3 failed" in capsys.readouterr().err


def die(number: int) -> dict[str, int]:
    os._exit(9)


def test_a_lost_worker_is_told_in_one_line(tmp_path):
    with Journal(tmp_path) as journal, pytest.raises(InputError, match="a worker process was lost") as caught:
        run_jobs("test", [Job(str(i), str(i), die, (i,)) for i in range(4)], journal, num_processes=2)
    assert not isinstance(caught.value, FailedJobsError)  # no table of what is left
    assert len(str(caught.value).splitlines()) == 1


def elsewhere(number: int) -> dict[str, int]:
    from hindsched.bench.campaign import engine as bench_campaign_engine

    bench_campaign_engine.provenance = lambda: {"code": "other"}
    return {"number": number}


def test_workers_with_other_code_are_refused(tmp_path):
    with Journal(tmp_path) as journal, pytest.raises(InputError, match=r"runs other code \(other\) than this"):
        run_jobs("test", [Job(str(i), str(i), elsewhere, (i,)) for i in range(4)], journal, num_processes=2)


def test_the_digest_of_code_is_by_package():
    assert len({code_digest(), code_digest("online"), code_digest("instances", "online")}) == 3
    assert code_digest("instances", "offline", "online") == code_digest()
