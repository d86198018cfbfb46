"""Slots per second of the compiled simulator and of its plain twin, for every heuristic on the same instances."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from docs.studies.machine import machine
from hindsched import online
from hindsched.instances import SelfCheckError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.online import coupled as online_coupled

__all__ = ["kind_of", "loading_times", "race", "sample", "summary"]

#: Runs of the compiled simulator, of which the fastest counts.
_REPEATS = 3
#: Horizon of long runs, in slots.
_LONG = 1_000_000


def kind_of(policy: str) -> str:
    """Return whether a built-in heuristic is ``passive``, ``proactive`` or ``random``.

    Examples
    --------
    >>> kind_of("IAY"), kind_of("Y-IAY"), kind_of("RANDOM")
    ('passive', 'proactive', 'random')
    """
    return "random" if policy == "RANDOM" else "proactive" if "-" in policy else "passive"


def sample(number: int, seed: int = 0) -> Instance:
    """Return an instance of the paper's experiment; 60 consecutive numbers cover its 60 points."""
    m, n_com, wmin = (5, 10)[number % 2], (5, 10, 20)[number // 2 % 3], 1 + number * 7 % 10
    return paper(
        m=m, n_com=n_com, wmin=wmin, scenario=number % 10, trial=number // 10 % 10, slots=_LONG, seed=seed, drawn=True
    )


def race(
    policies: Sequence[str],
    *,
    instances: int,
    slots: int,
    estimator: str = "printed",
    seed: int = 0,
    step: Callable[[str], None] = lambda note: None,
) -> list[dict[str, Any]]:
    """Run heuristics on instances of the paper in both simulators; return one row per run.

    Times are processor time without the drawing of states. Both simulators run the first ``slots`` slots and write the
    whole schedule; the compiled one counts with the fastest of three runs. Another run of up to 1,000,000 slots without
    a schedule gives ``long_slots_per_s``.

    Parameters
    ----------
    policies
        Of `hindsched.online.coupled.POLICIES`.
    instances
        Number of instances, see `sample`.
    slots
        Slots that both simulators run.
    estimator, seed
        Estimator of the runs, and seed of the instances.
    step
        Called with a note after every run.

    Raises
    ------
    SelfCheckError
        Where the two runs differ.
    """
    rows = []
    for number in range(instances):
        instance = sample(number, seed)
        instance.prefix(2 * slots)
        for policy in policies:
            options: dict[str, Any] = {"estimator": estimator, "seed": number}
            online.run_policy(instance, policy, slots=1, engine="kernel", **options)  # loads the machine code
            plain_s, plain = _timed(instance, policy, slots=slots, engine="plain", **options)
            times, runs = zip(
                *(_timed(instance, policy, slots=slots, engine="kernel", **options) for _ in range(_REPEATS)),
                strict=True,
            )
            if any(run != plain for run in runs):
                raise SelfCheckError(f"{policy} on instance {number}: the simulators differ")
            long = online.run_policy(instance, policy, schedule_slots=0, engine="kernel", **options)
            long_s, _ = _timed(instance, policy, schedule_slots=0, engine="kernel", **options)
            rows.append(
                {
                    "policy": policy,
                    "instance": number,
                    "slots": plain.slots,
                    "plain_s": plain_s,
                    "kernel_s": min(times),
                    "long_slots": long.slots,
                    "long_s": long_s,
                }
            )
            step(f"{policy} on instance {number}")
    return rows


def _timed(instance: Instance, policy: str, **options: Any) -> tuple[float, online_coupled.Run]:
    begun = time.process_time()
    run = online.run_policy(instance, policy, **options)
    return max(time.process_time() - begun, 1e-9), run


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return medians over the instances for every heuristic, and for each kind of heuristic."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["policy"], []).append(row)
    for row in rows:
        groups.setdefault(f"all {kind_of(row['policy'])}", []).append(row)
    return [
        {
            "policy": name,
            "runs": len(group),
            "plain_slots_per_s": round(median(row["slots"] / row["plain_s"] for row in group)),
            "kernel_slots_per_s": round(median(row["slots"] / row["kernel_s"] for row in group)),
            "ratio": round(median(row["plain_s"] / row["kernel_s"] for row in group), 1),
            "long_slots_per_s": round(median(row["long_slots"] / row["long_s"] for row in group)),
        }
        for name, group in groups.items()
    ]


def loading_times() -> dict[str, Any]:
    """Return processor seconds of compilation and of loading machine code in a new process, and the machine."""
    code = (
        "import time; from hindsched import online\n"
        "from hindsched.instances import Chain; from hindsched.instances.coupled import Instance\n"
        "chain = Chain(((0.9, 0.05, 0.05),) * 3)\n"
        "pair = Instance.from_letters(['uuu', 'uuu'], w=[1, 1], tasks=2, chains=[chain] * 2)\n"
        "begun = time.process_time()\n"
        "online.run_policy(pair, 'Y-IE', engine='kernel')\n"
        "print(time.process_time() - begun)"
    )
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        cold, warm = (
            float(
                subprocess.run(
                    [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
                ).stdout
            )
            for _ in range(2)
        )
    return {"compile_s": round(cold - warm, 1), "load_s": round(warm, 2), "machine": machine()}
