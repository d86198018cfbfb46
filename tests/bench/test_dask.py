"""A campaign on a Dask cluster makes the same rows, once each, although a worker dies."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import Given
from hindsched.bench.run_records import Options
from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.online.coupled import run_policy

ROOT = Path(__file__).resolve().parents[2]
SLEEPERS = """
import os, time
from pathlib import Path

def sleep(folder, number):
    (Path(folder) / f"{number}-{os.getppid()}.begun").touch()
    time.sleep(0.2)
    return {"number": number, "worker": os.getppid()}
"""


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two worker processes, each a process of its own as on a real cluster."""
    (tmp_path / "sleepers.py").write_text(SLEEPERS)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": tmp_path}
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", *common]
    processes = [subprocess.Popen(command, **quiet) for command in (scheduler, worker, worker)]
    try:
        assert any((file.exists() and file.stat().st_size) or time.sleep(0.1) for _ in range(600))
        yield json.loads(file.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_rows_are_made_once_though_a_worker_is_killed(cluster, tmp_path, monkeypatch):
    address, workers = cluster
    monkeypatch.syspath_prepend(str(tmp_path))
    import sleepers

    jobs = [Job(str(i), str(i), sleepers.sleep, (str(tmp_path), i), group=str(i // 5)) for i in range(40)]
    killed = []

    class Killing(Journal):
        """Kill a worker after ten rows."""

        def append_all(self, rows):
            super().append_all(rows)
            if not killed and len(self.path.read_text().splitlines()) >= 10:
                victim = max(workers, key=lambda process: process.pid)
                os.kill(victim.pid, signal.SIGKILL)
                killed.append(victim.pid)

    with Killing(tmp_path / "out") as journal:
        run_jobs("sleep", jobs, journal, dask=address)
    rows = [json.loads(line) for line in journal.path.read_text().splitlines()]
    assert sorted(row["number"] for row in rows) == list(range(40))
    begun = list(tmp_path.glob("*.begun"))
    assert {path.stem.partition("-")[2] for path in begun} == {str(worker.pid) for worker in workers}
    assert len(killed) == 1


def test_an_address_without_a_scheduler_is_reported_in_one_line(tmp_path):
    jobs = [Job(str(i), str(i), print, ()) for i in range(2)]
    with Journal(tmp_path) as journal, pytest.raises(InputError, match=r"^--dask: 'tcp://127\.0\.0\.1:1': ") as caught:
        run_jobs("none", jobs, journal, dask="tcp://127.0.0.1:1")
    assert "expected the address of a Dask scheduler" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_invalid_address_is_reported_in_one_line(tmp_path):
    """A separate process, since a client that connects to nothing reports its end when the interpreter ends."""
    jobs = "[Job(str(i), str(i), print, ()) for i in range(2)]"
    program = f"""
from pathlib import Path
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.instances.errors import InputError
with Journal(Path({str(tmp_path)!r})) as journal:
    for address in ("foo", "foo:bar"):
        try:
            run_jobs("none", {jobs}, journal, dask=address)
        except InputError as error:
            print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    messages = done.stdout.splitlines()
    assert [line.partition(": ")[2].partition(":")[0] for line in messages] == ["'foo'", "'foo"]
    assert all(line.endswith("expected the address of a Dask scheduler") for line in messages)


def test_a_policy_file_and_its_imports_are_sent_with_the_job(cluster, tmp_path, monkeypatch):
    """Workers that do not share the folder receive the files and run them."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "choose_first.py").write_text("def first(visible):\n    return visible.up[0]\n")
    (home / "mine.py").write_text(
        "import choose_first\n\n\nclass First:\n    name = 'first'\n\n    def choose(self, visible):\n"
        "        if visible.is_complete or not visible.up:\n            return None\n"
        "        return {choose_first.first(visible): visible.problem.tasks}\n"
    )
    monkeypatch.chdir(home)  # the workers were started elsewhere: a relative path leads nowhere there
    address, _ = cluster
    rows = (["uuruuuu", "uruuuuu"], ["uuuuuuu", "ruuuuuu"])
    sources = [
        Given(f"number {i}", "pairs", Instance.from_letters(row, w=[1, 2], tasks=2)) for i, row in enumerate(rows)
    ]
    found = score(sources, ["mine.py:First"], Options(), tmp_path / "rows", dask=address)
    assert found.failure is None
    assert found.table["policy"].tolist() == ["mine.py:First"]
    here = [run_policy(source.instance, "mine.py:First").makespan for source in sources]
    assert sorted(found.results.runs["value"].tolist()) == sorted(map(float, filter(None, here)))
