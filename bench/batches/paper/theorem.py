"""Theorem 1 of the paper, and the condition that it needs (docs/batches/model.md section 6), case by case."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from hindsched.instances.batches import Instance
from hindsched.online.batches import Options, run_policy

__all__ = ["Tally", "verify"]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many cases there were, and in how many each condition was wrong about them.

    Parameters
    ----------
    cases
        Instances, each with both readings of ``busy``.
    meets
        In which Algorithm 1 meets every deadline.
    printed_wrong
        Where the paper's condition (hindsight meets them) says otherwise.
    repaired_wrong
        Where the repaired condition does.
    """

    cases: int
    meets: int
    printed_wrong: int
    repaired_wrong: int


def verify(most_tasks: int = 12, most_workers: int = 14, most_c: int = 3, batches: int = 2) -> Tally:
    """Run Algorithm 1 on always available equal workers that have called before, and compare the conditions.

    Parameters
    ----------
    most_tasks, most_workers, most_c
        N, P and C go from 1 to these; D - S from C to two seconds more than the repaired condition asks for.
    batches
        M, back to back.

    Examples
    --------
    >>> tally = verify(4, 3, 1)
    >>> tally.printed_wrong > 0, tally.repaired_wrong
    (True, 0)
    """
    cases = meets = printed = repaired = 0
    for tasks, p, c in product(range(1, most_tasks + 1), range(1, most_workers + 1), range(1, most_c + 1)):
        enough = c if p >= tasks else c - (-c * (tasks - 1) // p)
        for length, busy in product(range(c, enough + 3), ("queue", "wait")):
            pairs = [(5 + i * length, 5 + (i + 1) * length) for i in range(batches)]
            instance = Instance(tasks=tasks, batches=pairs, c=[c] * p, up=[[(0, pairs[-1][1] + 9)]] * p)
            found = run_policy(instance, "A1", Options(busy=busy), engine="plain")
            is_met = found.satisfied == (tasks,) * batches
            cases += 1
            meets += is_met
            printed += is_met != (length >= c * -(-tasks // p))
            repaired += is_met != (p >= tasks or p * (length - c) >= c * (tasks - 1))
    return Tally(cases, meets, printed, repaired)
