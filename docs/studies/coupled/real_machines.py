"""Policies on public traces of spot machines and of a cluster: ratios to E-IE and to the optimum, and why they differ.

Every set of machines was put into one half before any policy was tuned: `DESIGN` to find the policy ``replay``, all
others to test it. Traces are named by options; only the nine zones are part of the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from docs.studies.coupled.foresight import TRAIN_SLOTS, Point, draw
from docs.studies.coupled.lanl import LANL_SLOT_S, WHOLE_START
from docs.studies.coupled.markov import estimates, rows_of_tests
from hindsched import offline
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key, names_of
from hindsched.bench.campaign.journal import Journal
from hindsched.instances import fit
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.replay import replay
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.states import DOWN, UP, States
from hindsched.instances.text_files import read_bytes
from hindsched.instances.traces import read, read_packaged
from hindsched.offline.limits import by_processor_time
from hindsched.online.coupled import RunOptions, run_policy
from hindsched.online.coupled.lookahead.lookahead_policies import PLANNERS
from hindsched.online.coupled.lookahead.parameters import Settings
from hindsched.online.coupled.lookahead.pilot_runs import settings_of
from hindsched.online.coupled.lookahead.replays import REPLAYS, Replay, mean_replay_length
from hindsched.online.coupled.visible import Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "DESIGN", "POLICIES", "Machines", "drawn_machines", "failures", "run_all", "spot_machines"]

COLUMNS = (
    *("machines", "kind", "half", "w", "window", "policy", "makespan", "iterations", "slots"),
    *("members", "optimum", "optimum_bound"),
)
POLICIES = ("E-IE", "IE", "Y-IE", "rr", "sb", "hot", "auto", Replay.name)
#: Sets of machines on which ``replay`` was found; its test is on all others.
DESIGN = (
    *("aws16 us-west-2a", "aws4 us-east-1f", "bamboo g4dn", "aws-10-26-2022"),
    *("h100 asia-southeast1-b", "h100 europe-west1-c", "h100 us-central1-a", "h100 us-central1-c"),
    *("h100 us-east4-b", "h100 us-west1-a"),
)
#: Slots of a task; T_prog is half a task and T_data a sixth. 6 is the application in which the loss was first seen.
WORK = (2, 6, 18)
#: The task length of the instances that are solved.
SOLVED = 6
#: Largest number of slots of an instance, and of training.
_SLOTS, _TRAIN = 4_000, TRAIN_SLOTS
#: Slots of a minute of the clusters that record each machine, and the gap below which samples are thinned.
_LOG_SLOT_S, _FINE_S = 60, 100
#: Instances that a zone of the probes launches at most, and the number from which a zone counts as one node.
_PROBED, _AVAILABLE = 16, 8
_CHECKED_SLOTS = 400


@dataclass(frozen=True, slots=True)
class Machines:
    """States of a set of machines.

    Parameters
    ----------
    name
        Name of the set.
    kind
        ``one zone`` for nodes of one zone, ``one node a zone``, ``cluster`` or ``drawn``.
    states
        Shape (p, slots).
    slot_s
        Seconds of a slot.
    """

    name: str
    kind: str
    states: States
    slot_s: float

    @property
    def half(self) -> str:
        """``design`` or ``test``."""
        return "design" if self.name in DESIGN else "test"


def spot_machines(
    traces: Path | None = None, probes: Path | None = None, logs: Path | None = None, cluster: Path | None = None
) -> list[Machines]:
    """Return the packaged zones and the sets of machines in the folders that are given.

    Parameters
    ----------
    traces
        A checkout of github.com/skypilot-org/spot-traces.
    probes
        The folder ``data/h100_16_runs`` of github.com/andylizf/skynomad-artifact: one file for each round of probes.
    logs
        The folder ``traces`` of github.com/uclasystem/bamboo, with ``p3-trace.csv`` and ``g4dn-trace.csv``.
    cluster
        The table ``event_trace`` of LANL's machines in the Failure Trace Archive.

    Raises
    ------
    InputError
        Where a folder lacks a file.
    """
    found = [Machines("spot zones", "one node a zone", read_packaged("spot_aws_v100").states(slot_s=195), 195)]
    if traces is not None:
        for name, folder in (
            ("aws16", "availability/16-node/aws-08-27-2023"),
            ("aws4", "preemption/4-node/aws-08-03-2023"),
        ):
            for file in _files(traces / folder):
                zone = file.name.split("_")[0]
                found.append(Machines(f"{name} {zone}", "one zone", read(file).states(slot_s=300), 300))
        singles = (
            "availability/1-node/aws-10-26-2022",
            "preemption/1-node/aws-04-19-2023",
            "preemption/1-node/aws-04-22-2023",
        )
        for folder in singles:
            files = _files(traces / folder)
            gap = float(json.loads(read_bytes(files[0]))["metadata"]["gap_seconds"])
            states = read(*files).states(slot_s=gap)
            thin = max(1, round(300 / gap)) if gap < _FINE_S else 1
            found.append(Machines(folder.rpartition("/")[2], "one node a zone", states[:, ::thin], gap * thin))
    if probes is not None:
        counts = _probed(_files(probes))
        ranks = np.arange(_PROBED)[:, None]
        for zone, row in counts.items():
            found.append(Machines(f"h100 {zone}", "one zone", _as_states(ranks < row), 600))
        found.append(
            Machines("h100 zones", "one node a zone", _as_states(np.stack([*counts.values()]) >= _AVAILABLE), 600)
        )
    if logs is not None:
        for name in ("g4dn", "p3"):
            states = read(logs / f"{name}-trace.csv").states(slot_s=_LOG_SLOT_S, unobserved="down")
            found.append(Machines(f"bamboo {name}", "one zone", in_places(states), _LOG_SLOT_S))
    if cluster is not None:
        window = read(cluster).window(slot_s=LANL_SLOT_S, start=WHOLE_START, nodes=20)
        states = read(cluster).states(
            slot_s=LANL_SLOT_S, start=window.start, slots=min(window.slots, 20_000), nodes=window.nodes
        )
        found.append(Machines("LANL", "cluster", states, LANL_SLOT_S))
    return found


def drawn_machines(instances: int, seed: int) -> list[Machines]:
    """Return machines drawn from chains, those of the centre of the map of foresight."""
    slots = 3 * _TRAIN
    return [
        Machines(f"drawn {number}", "drawn", draw(Point(), seed, number).prefix(slots), 1.0)
        for number in range(instances)
    ]


def in_places(states: States) -> States:
    """Return states in which a machine that joins takes the first place that is free.

    Logs give a machine that replaces another a new name; a place has one machine after another.

    Examples
    --------
    >>> in_places(np.array([[0, 0, 2, 2], [2, 2, 2, 0], [2, 0, 0, 0]])).tolist()
    [[0, 0, 2, 0], [2, 0, 0, 0]]
    """
    places: list[Any] = []
    present = states != DOWN
    firsts = np.where(present.any(axis=1), present.argmax(axis=1), states.shape[1])
    for q in np.argsort(firsts, kind="stable").tolist():
        if firsts[q] == states.shape[1]:
            continue
        free = next((place for place in places if (place[firsts[q] :] == DOWN).all()), None)
        if free is None:
            free = np.full(states.shape[1], DOWN, dtype=np.uint8)
            places.append(free)
        free[present[q]] = states[q][present[q]]
    return np.stack(places)


def windows(machines: Machines, number: int) -> Iterator[tuple[int, States, States]]:
    """Yield windows that start at equal distances after the first third: number, states before and from its start."""
    slots = machines.states.shape[1]
    train = min(_TRAIN, slots // 3)
    for window in range(number):
        start = train + window * ((slots - train) // number)
        yield window, machines.states[:, start - train : start], machines.states[:, start : start + _SLOTS]


def instance_of(past: States, states: States, w: int) -> Instance:
    """Return an instance: m = 10 and n_com = 4 on 12 nodes or more, otherwise m = 4 and n_com = 2; K = 10.

    T_prog is half of a task and T_data a sixth. The chains are fitted on the past, which policies see.
    """
    p = len(states)
    tasks, n_com = (10, 4) if p >= 12 else (4, 2)
    return Instance(
        tasks=tasks, iterations=10, n_com=n_com, t_prog=-(-w // 2), t_data=max(1, round(w / 6)), w=(w,) * p,
        mu=(None,) * p, states=states, chains=[fit(row) for row in past], past=past,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Window:
    """An instance of the study as a source."""

    family: ClassVar[str] = "coupled"
    point: ClassVar[None] = None

    machines: Machines
    w: int
    window: int
    instance: Instance

    @property
    def name(self) -> str:
        """The machines, the task and the window."""
        return f"{self.machines.name} w={self.w} window={self.window}"

    @property
    def setting(self) -> str:
        """The kind of machines."""
        return self.machines.kind

    @property
    def identity(self) -> str:
        """A text of all parameters and of the content."""
        return f"{self.name} {self.instance.fingerprint}"

    def load(self) -> Instance:
        """Return the instance."""
        return self.instance


def run_all(
    sets: Sequence[Machines], folder: Path, *, number: int, work: Sequence[int] = WORK, time_limit_s: float
) -> pd.DataFrame:
    """Run all policies and the variants of ``hot`` on windows of each set; solve those with w = 6; resume.

    Returns
    -------
    pandas.DataFrame
        One row per run with `COLUMNS`. ``members`` is the mean number of workers with tasks over the slots in which an
        application computes. ``makespan`` is missing for an unfinished run.
    """
    import pandas as pd

    jobs = []
    for machines in sets:
        for window, past, states in windows(machines, number):
            for w in work:
                source = _Window(machines, w, window, instance_of(past, states, w))
                limit = time_limit_s if w == SOLVED else 0.0
                key = job_key("coupled", "online", "real machines", source.identity, POLICIES, limit)
                jobs.append(Job(key, source.name, _run, (source, limit)))
    with Journal(folder) as journal:
        run_jobs("real machines", jobs, journal, num_processes=1)
        found = [journal[job.key] for job in jobs]
    rows = [{**row["about"], **run} for row in found for run in row["runs"]]
    return pd.DataFrame(rows, columns=list(COLUMNS)).convert_dtypes()


def _run(source: _Window, time_limit_s: float) -> dict[str, Any]:
    from hindsched.online.coupled.lookahead.kernels.compiled_planner import run_kernel

    instance, machines = source.instance, source.machines
    runs = []
    for policy in POLICIES:
        run = run_policy(instance, policy, engine="kernel", schedule_slots=_CHECKED_SLOTS)
        verdict = replay(instance, run.schedule)
        if not verdict.is_valid:
            raise SelfCheckError(f"{policy} on {source.name}: the checker: {verdict}")
        runs.append(_row(policy, run.slots, run.iterations, instance, _members(run.schedule)))
    for name, settings in _variants(instance).items():
        slots, iterations, schedule = run_kernel(
            instance, PLANNERS["hot"], settings, limit=instance.slots, schedule_slots=_CHECKED_SLOTS
        )
        runs.append(_row(name, slots, iterations, instance, _members(schedule)))
    about: dict[str, Any] = {"machines": machines.name, "kind": machines.kind, "half": machines.half}
    about |= {"w": source.w, "window": source.window, "optimum": None, "optimum_bound": None}
    if time_limit_s:
        with by_processor_time():
            result = offline.solve(instance, solver="native", time_limit_s=time_limit_s)
        about |= {"optimum": result.value if result.value == result.bound else None, "optimum_bound": result.bound}
        best = min((run["makespan"] for run in runs if run["makespan"] is not None), default=None)
        if best is not None and result.bound is not None and best < result.bound:
            raise SelfCheckError(f"{source.name}: a run takes {best} slots, the proven bound is {result.bound}")
    return {"kind": "real machines", **names_of(source, instance), "about": about, "runs": runs}


def _row(policy: str, slots: int, iterations: int, instance: Instance, members: float | None) -> dict[str, Any]:
    makespan = slots if iterations == instance.iterations else None
    return {"policy": policy, "makespan": makespan, "iterations": iterations, "slots": slots, "members": members}


def _members(schedule: Any) -> float | None:
    """Return the mean number of workers that compute in a slot, over the slots in which any does."""
    if not schedule.letters or not schedule.letters[0]:
        return None
    computing = np.array([[letter == "C" for letter in row] for row in schedule.letters]).sum(axis=0)
    return round(float(computing[computing > 0].mean()), 2) if computing.any() else None


def _variants(instance: Instance) -> Mapping[str, Settings]:
    """Return ``hot`` with single parts changed: V from replays, J for a smaller hazard, or for the joint hazard."""
    problem, options = Problem.of(instance), RunOptions()
    drawn = settings_of(problem, PLANNERS["hot"]).value
    replayed = mean_replay_length(problem, options)
    assert problem.past is not None
    joint = joint_hazard(problem.past.prefix(problem.past.shape[1]))
    return {
        "hot, V replayed": Settings(replayed),
        "hot, joint hazard": Settings(drawn, hazard=joint),
        "hot, V replayed, joint hazard": Settings(replayed, hazard=joint),
        "hot, V replayed, hazard / 64": Settings(replayed, hazard=REPLAYS.hazards[-1]),
    }


def joint_hazard(states: States) -> float:
    """Return the slots in which a worker leaves UP over their expected number with independent workers, at most 1.

    The expectation takes each worker's own rate of leaving. A set fails in a slot if any of its members leaves.

    Examples
    --------
    >>> joint_hazard(np.array([[0, 2, 0, 0], [0, 2, 0, 0]]))  # each leaves with probability 1/2, both together
    0.6666666666666666
    """
    with_any, expected, _ = _leaving(states)
    return min(1.0, with_any / expected) if expected else 1.0


def _leaving(states: States) -> tuple[int, float, int]:
    """Return the slots in which workers leave UP, their expected number with independent workers, and departures."""
    up = states[:, :-1] == UP
    leaves = up & (states[:, 1:] != UP)
    rates = leaves.sum(axis=1) / np.maximum(1, up.sum(axis=1))
    stays = np.where(up, 1.0 - rates[:, None], 1.0).prod(axis=0)
    return int(leaves.any(axis=0).sum()), float((1.0 - stays).sum()), int(leaves.sum())


def failures(sets: Sequence[Machines]) -> pd.DataFrame:
    """Return a row for each set: joint failures, the effect of age, and predicted and observed success of teams of 4.

    Chains are fitted on the first half; teams of 4 attempt 6 slots of computation in the second half.
    """
    import pandas as pd

    rows = []
    for machines in sets:
        states = machines.states
        half = states.shape[1] // 2
        with_any, expected, departures = _leaving(states)
        tests = rows_of_tests(machines.name, [str(q) for q in range(len(states))], states, machines.slot_s, 0.0)
        team = min(4, len(states))
        (attempt,) = estimates(machines.name, states[:, :half], states[:, half:], members=[team], lengths=[6])
        young, old = (
            float(np.median([row[name] for row in tests if row[name] is not None] or [np.nan]))
            for name in ("young_leaves", "old_leaves")
        )
        rows.append({
            "machines": machines.name, "kind": machines.kind, "half": machines.half, "nodes": len(states),
            "slots": states.shape[1], "slot_s": machines.slot_s, "up": float((states == UP).mean()),
            "departures": departures, "slots_with_departures": with_any, "expected_if_independent": expected,
            "young_leaves": young, "old_leaves": old, "predicted": attempt["predicted"],
            "observed": attempt["observed"],
        })  # fmt: skip
    return pd.DataFrame(rows)


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.json"))
    if not files:
        raise InputError("no .json file, expected one per zone or round", file=folder)
    return files


def _probed(files: Sequence[Path]) -> dict[str, Any]:
    """Return for each zone the number of instances that started, round by round."""
    rounds = [json.loads(read_bytes(file)) for file in files]
    rounds.sort(key=lambda each: str(each["scheduled_at"]))
    zones = sorted({zone for each in rounds for zone in each["zone_results"]})
    return {
        zone: np.array([each["zone_results"].get(zone, {}).get("instances_created", 0) for each in rounds])
        for zone in zones
    }


def _as_states(is_up: Any) -> States:
    return np.where(is_up, UP, DOWN).astype(np.uint8)
