"""Processor time of a slot of the compiled simulator against the number of workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from hindsched import online
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.online.coupled import OURS

__all__ = ["WORKERS", "growth"]

#: Numbers of workers: around the end of a word of bits, and large.
WORKERS = (20, 63, 64, 65, 129, 1_000, 10_000)
#: Runs on the same workers, of which the first fills the tables of estimates and the fastest counts as a later run.
_REPEATS = 3
#: Look-ahead policies, which plan in every slot, run on this share of the slots.
_SHARE = 20


def growth(
    policies: Sequence[str],
    *,
    workers: Sequence[int] = WORKERS,
    slots: int,
    seed: int = 0,
    step: Callable[[str], None] = lambda note: None,
) -> list[dict[str, Any]]:
    """Return one row per policy and number of workers: microseconds of a slot, in a first run and in a later one.

    The instances are the paper's with m = 10, n_com = 5 and wmin = 3, without end. Times are processor time without the
    drawing of states, and without a schedule.

    Parameters
    ----------
    policies
        Of `hindsched.online.coupled.POLICIES` and `hindsched.online.coupled.OURS`.
    workers
        Numbers of workers.
    slots
        Slots of a run, of a look-ahead policy a twentieth.
    seed
        Seed of the instances.
    step
        Called with a note after every row.
    """
    rows = []
    for p in workers:
        instance = paper(
            m=10, n_com=5, wmin=3, scenario=1, trial=0, slots=slots, seed=seed, p=p, iterations=10**6, drawn=True
        )
        instance.prefix(slots)
        for policy in policies:
            length = slots // _SHARE if policy in OURS else slots
            online.run_policy(instance, policy, slots=1, seed=seed, engine="kernel")  # loads the machine code
            times = [_seconds(instance, policy, length, seed) for _ in range(_REPEATS)]
            first_us, later_us = (round(1e6 * s / length, 3) for s in (times[0], min(times[1:])))
            rows.append({"policy": policy, "workers": p, "slots": length, "first_us": first_us, "later_us": later_us})
            step(f"{policy} on {p} workers")
    return rows


def _seconds(instance: Instance, policy: str, slots: int, seed: int) -> float:
    begun = time.process_time()
    online.run_policy(instance, policy, slots=slots, schedule_slots=0, seed=seed, engine="kernel")
    return time.process_time() - begun
