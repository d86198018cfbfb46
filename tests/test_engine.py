"""The campaign engine: each row once, in any number of processes, whatever happens in between."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.engine import Job, run_jobs
from bench.journal import Journal


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
from bench.engine import Job, run_jobs
from bench.journal import Journal

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
