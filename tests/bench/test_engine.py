"""The campaign engine makes each row once, in any number of processes and after interruptions."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import pytest

from hindsched.bench.campaign.child_process import limited
from hindsched.bench.campaign.engine import FailedJobsError, Job, Runs, code_digest, run_jobs
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


def test_an_interrupted_campaign_resumes_where_it_stopped(tmp_path):
    with Journal(tmp_path) as journal:
        with pytest.raises(KeyboardInterrupt):
            run_jobs("test", jobs(fail_at_three), journal, num_processes=1)
        assert [f"job {i}" in journal for i in range(6)] == [True, True, True, False, False, False]
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square), journal, num_processes=1)
    rows = journal.path.read_text().splitlines()
    assert len(rows) == 6


def test_rows_record_code_and_version(tmp_path):
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square)[:1], journal, num_processes=1)
        row = journal["job 0"]
    assert {"version", "code", "python", "numpy", "ortools", "machine"} <= set(row)


def test_progress_is_printed_on_standard_error(tmp_path, capsys):
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
    """Wait at most a minute for a condition; return whether it came true."""
    return any(condition() or time.sleep(0.05) for _ in range(1200))


@pytest.mark.skipif(os.name != "posix", reason="other systems do not inform a process of the end of its parent")
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
    stat = Path(f"/proc/{process}/stat")  # a process that has ended may not be collected yet
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


def test_a_long_group_hands_over_finished_rows(tmp_path):
    handed = []

    class Watching(Journal):
        def append_all(self, rows):
            handed.append(len(rows))
            super().append_all(rows)

    group = [Job(str(i), str(i), where, (i,), group="one") for i in range(5)]
    with Watching(tmp_path) as journal:
        run_jobs("test", group, journal, num_processes=2)
        assert [journal[str(i)]["number"] for i in range(5)] == list(range(5))
    assert len(handed) > 1


def test_the_rest_of_a_long_group_goes_to_the_process_with_its_shared_data(tmp_path):
    groups = [Job(str(i), str(i), where, (i,), group=str(i // 8)) for i in range(24)]
    with Journal(tmp_path) as journal:
        run_jobs("test", groups, journal, num_processes=2)
        rows = sorted((journal[str(i)] for i in range(24)), key=lambda row: row["ended"])
    held = {process: [row["number"] // 8 for row in rows if row["process"] == process] for process in _processes(rows)}
    loads = sum(1 + sum(a != b for a, b in pairwise(groups)) for groups in held.values())
    assert loads <= 10, held  # 3 groups in 2 processes: 4 or 5 loads, against 20 if each job loaded its instance


def wait_long(number: int) -> dict[str, int]:
    time.sleep(0.3)
    return {"number": number, "process": os.getpid()}


def test_an_idle_process_takes_a_part_of_a_long_group(tmp_path):
    group = [Job(str(i), str(i), wait_long, (i,), group="one") for i in range(16)]
    with Journal(tmp_path) as journal:
        run_jobs("test", group, journal, num_processes=2)
        rows = [journal[str(i)] for i in range(16)]
    assert [row["number"] for row in rows] == list(range(16))
    assert len(_processes(rows)) == 2
    assert len({row["process"] for row in rows[:4]}) == 1  # a second in one process


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


def square_or_die(number: int) -> dict[str, int]:
    return die(number) if number == 2 else square(number)


def failed(message: str, number: int, *_: object) -> dict[str, object]:
    return {"failure": message, "number": number}


def test_a_job_that_ends_its_process_costs_its_own_row_alone(tmp_path):
    some = [Job(str(i), f"number {i}", square_or_die, (i,), group="one", failed=failed) for i in range(6)]
    for _ in range(2):  # the same command does not try it again
        with Journal(tmp_path) as journal:
            with pytest.raises(FailedJobsError, match=r"^number 2: its process ended with exit code 9$"):
                run_jobs("test", some, journal, num_processes=2)
            assert [journal[str(i)].get("square") for i in range(6)] == [0, 1, None, 9, 16, 25]
            assert journal["2"]["failure"] == "number 2: its process ended with exit code 9"
    assert len(rows_of(tmp_path)) == 6


def rows_of(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def die_once(number: int, folder: str) -> dict[str, int]:
    mark = Path(folder) / f"{number}.died"
    if number % 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def test_a_process_that_is_lost_once_costs_nothing(tmp_path):
    some = [Job(str(i), str(i), die_once, (i, str(tmp_path)), failed=failed) for i in range(6)]
    with Journal(tmp_path / "out") as journal:
        run_jobs("test", some, journal, num_processes=2)
        assert [journal[str(i)]["square"] for i in range(6)] == [0, 1, 4, 9, 16, 25]


def loop(number: int) -> dict[str, int]:
    with limited():
        while number == 1:
            time.sleep(0.01)
    return square(number)


def test_a_run_beyond_its_limit_is_stopped_and_has_another_try_with_more_time(tmp_path):
    some = [Job(str(i), str(i), loop, (i,), group="one", failed=failed) for i in range(3)]
    with Journal(tmp_path) as journal:
        for limit_s, rows in ((0.5, 3), (0.4, 3), (0.6, 4)):
            with pytest.raises(FailedJobsError, match=r"^1: not finished after 0\.[56] s$"):
                run_jobs("test", some, journal, num_processes=1, runs=Runs(limit_s))
            assert len(rows_of(tmp_path)) == rows
        assert [journal[str(i)].get("square") for i in range(3)] == [0, None, 4]
        with pytest.raises(FailedJobsError, match=r"^1: not finished after 0\.1 s$"):
            run_jobs("test", some, journal, num_processes=1, runs=Runs(0.1, retries_failed=True))


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit, BaseException, MemoryError])
def test_whatever_a_job_raises_costs_its_own_row_alone(tmp_path, raised):
    some = [Job(str(i), str(i), raise_at_one, (i, raised), failed=failed) for i in range(3)]
    with Journal(tmp_path) as journal:
        with pytest.raises(FailedJobsError, match=rf"^1: raised {raised.__name__}$"):
            run_jobs("test", some, journal, num_processes=1, runs=Runs())
        assert [journal[str(i)].get("square") for i in range(3)] == [0, None, 4]


def raise_at_one(number: int, raised: type[BaseException]) -> dict[str, int]:
    if number == 1:
        raise raised
    return square(number)


def test_an_error_of_the_toolkit_ends_the_work_with_its_trace(tmp_path):
    with Journal(tmp_path) as journal, pytest.raises(ZeroDivisionError) as caught:
        run_jobs("test", [Job("a", "a", divide, (0,))], journal, runs=Runs())
    assert "in divide" in str(caught.value.__cause__)


def divide(number: int) -> dict[str, float]:
    return {"inverse": 1 / number}


def test_a_process_leaves_no_temporary_file_and_no_process_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Journal(tmp_path / "out") as journal, pytest.raises(FailedJobsError):
        run_jobs("test", [Job("a", "a", leave_much_and_die, (str(tmp_path),))], journal, runs=Runs())
    assert {path.name for path in tmp_path.iterdir()} == {"out", "started"}
    started = [int(line) for line in (tmp_path / "started").read_text().split()]
    assert len(started) == 2
    assert until(lambda: not any(is_alive(process) for process in started))


def leave_much_and_die(folder: str) -> dict[str, int]:
    tempfile.mkdtemp()
    with (Path(folder) / "started").open("a") as file:
        file.write(f"{subprocess.Popen(['sleep', '600']).pid}\n")
    return die(0)


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
