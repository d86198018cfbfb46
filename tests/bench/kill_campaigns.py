"""Kill campaigns at random instants and compare their rows, after resuming, with those of an undisturbed run.

::

    python tests/bench/kill_campaigns.py --kills 60 --seed 1

Each kill ends ``campaign`` or ``score`` with two processes, by SIGKILL, SIGTERM or SIGINT, or one of its workers by
SIGKILL. The same command then resumes.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hindsched.instances import write
from hindsched.instances.coupled.generate import small

CAMPAIGN = """
policies = ["IE", "P-IP", "RANDOM", "mine.py:Mine"]
[[instances]]
m = [2, 3]
n_com = [2]
wmin = [1]
scenarios = 3
trials = 3
slots = 2000
p = 4
iterations = 2
[[instances]]
files = ["one.json"]
"""
MINE = """
class Mine:
    name = "mine"
    def choose(self, visible):
        if visible.is_complete or not visible.up:
            return None
        return {visible.up[0]: visible.problem.tasks}
"""
#: Seconds within which a campaign ends after SIGTERM.
PATIENCE_S = 5.0


def rows_in(folder):
    """Return the rows of a folder by key, without what depends on the clock."""
    rows = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    keys = [row["key"] for row in rows]
    assert len(keys) == len(set(keys)), "a row is computed twice"
    return {row["key"]: {name: value for name, value in row.items() if name != "runtime_s"} for row in rows}


def commands(folder):
    """Return the commands that are killed, without their results folder."""
    (folder / "mine.py").write_text(MINE)
    (folder / "small.toml").write_text(CAMPAIGN)
    files = [folder / name for name in ("one.json", "two.json", "three.json", "four.json", "five.json")]
    for seed, file in enumerate(files):
        write(small(seed, p=4, slots=60, tasks=1), file)
    start = [sys.executable, "-m", "hindsched"]
    policies = ["--policy", "all", "--policy", f"{folder}/mine.py:Mine"]
    return {
        "campaign": [*start, "campaign", str(folder / "small.toml"), "--jobs", "2"],
        "score": [*start, "score", *map(str, files), *policies, "--jobs", "2"],
    }


def children_of(process):
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def kill_once(command, folder, after_s, how):
    """Start a command, kill it or one of its workers after some seconds, and return whether it was still at work."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    campaign = subprocess.Popen([*command, "--results", str(folder)], **quiet)
    time.sleep(after_s)
    was_running = campaign.poll() is None
    if how == "worker":
        workers = children_of(campaign.pid)
        for worker in workers[:1]:
            os.kill(worker, signal.SIGKILL)
        assert campaign.wait() == 0, "a lost worker ends a campaign"
        return was_running and bool(workers)
    campaign.send_signal(getattr(signal, how))
    sent = time.monotonic()
    campaign.wait()
    assert time.monotonic() - sent < PATIENCE_S, f"{how} ends a campaign late"
    return was_running


def run_kills(folder, number, seed, report=print):
    """Kill commands ``number`` times while they work, and compare rows whenever a command is complete."""
    draw = random.Random(seed)
    known = commands(folder)
    expected, lasts = {}, {}
    for name, command in known.items():
        started = time.monotonic()
        subprocess.run([*command, "--results", str(folder / name)], check=True, capture_output=True)
        lasts[name] = time.monotonic() - started
        expected[name] = rows_in(folder / name)
        report(f"{name}: {len(expected[name])} rows in {lasts[name]:.1f} s")
    kills = compared = 0
    while kills < number:
        name = draw.choice(list(known))
        out = folder / f"{name}-{kills}"
        for _ in range(draw.randint(1, 4)):
            how = draw.choice(["SIGKILL", "SIGKILL", "SIGTERM", "SIGINT", "worker"])
            kills += kill_once(known[name], out, draw.uniform(0.2, lasts[name]), how)
        subprocess.run([*known[name], "--results", str(out)], check=True, capture_output=True)
        assert rows_in(out) == expected[name], f"{name}: rows differ, seed {seed}"
        compared += 1
        report(f"{kills} kills, {compared} commands resumed, rows equal")
    return kills, compared


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Kill campaigns at random instants, and compare their rows.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        total, resumed = run_kills(Path(scratch), given.kills, given.seed)
    print(f"{total} kills, {resumed} commands resumed: all rows equal those of undisturbed runs")
