"""Compare the two simulators exactly: every heuristic on random instances and on the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np

from hindsched.bench.shared_types import Row
from hindsched.bench.verification import Sample
from hindsched.instances import Chain, check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.random_streams import stream
from hindsched.online.coupled import ESTIMATORS, POLICIES, SERVICES, TIES, Run, run_policy

__all__ = ["agree", "compare_twins", "options_of", "random_instance"]

#: Every tenth instance is from the paper's experiment.
_PAPER_EVERY = 10
_PAPER_SLOTS = 2_000


def random_instance(number: int, seed: int = 0) -> Instance:
    """Return an instance for the simulators: every tenth is from the paper's experiment, others are small and general.

    Capacities, channels, speeds, transfers and chains vary; chains may be shared by workers, so that there are ties,
    have transitions of probability 0, or differ from those that the states were drawn from.

    Examples
    --------
    >>> random_instance(9).num_workers, random_instance(9).slots
    (20, 2000)
    """
    draw = stream("twins", 1, seed, number)
    if number % _PAPER_EVERY == _PAPER_EVERY - 1:
        return paper(
            m=int(draw.choice([5, 10])),
            n_com=int(draw.choice([2, 5, 10, 20])),
            wmin=int(draw.integers(1, 10, endpoint=True)),
            scenario=number,
            trial=0,
            slots=_PAPER_SLOTS,
            seed=seed,
            drawn=True,
        )
    p = int(draw.integers(1, 8, endpoint=True))
    instance = small(
        int(draw.integers(1 << 30)),
        p=p,
        slots=int(draw.integers(20, 160)),
        tasks=int(draw.integers(1, 6, endpoint=True)),
        iterations=int(draw.integers(1, 5, endpoint=True)),
        up=float(draw.uniform(0.5, 0.95)),
        down=float(draw.uniform(0.0, 0.05)),
    )
    changes: Row = {}
    kinds = int(draw.integers(0, 3, endpoint=True))  # of chains; 0: the one that the states were drawn from
    if kinds:
        chains = [_random_chain(draw) for _ in range(p if kinds == 1 else kinds)]
        changes["chains"] = tuple(chains[int(draw.integers(len(chains)))] for _ in range(p))
    if draw.random() < 0.5:
        changes["t_prog"], changes["t_data"] = int(draw.integers(0, 9)), int(draw.integers(0, 5))
        changes["w"] = tuple(draw.integers(1, 12, size=p).tolist())
    return instance.replace(**changes)


def _random_chain(draw: np.random.Generator) -> Chain:
    rows = []
    for x in range(3):
        row = draw.dirichlet([0.5, 0.5, 0.5])
        row[x] += draw.choice([0, 3, 20])
        if draw.random() < 0.2:
            row[(x + int(draw.integers(1, 3))) % 3] = 0.0
        u, r, d = (float(share) for share in row / row.sum())
        rows.append((u, r, d))
    return Chain(tuple(rows))


def options_of(number: int, policy: str) -> Row:
    """Return the options of a run: over the instances a heuristic meets all combinations."""
    k = number + POLICIES.index(policy)
    return {
        "estimator": ESTIMATORS[k % len(ESTIMATORS)],
        "service": SERVICES[k // 3 % 3],
        "ties": TIES[k // 9 % 2],
        "seed": number,
    }


def compare_twins(instance: Instance, policy: str, **options: Any) -> Run:
    """Run a heuristic in both simulators, and return the run.

    Raises
    ------
    SelfCheckError
        If the runs differ, or the checker rejects the schedule.
    """
    fast = run_policy(instance, policy, engine="kernel", **options)
    plain = run_policy(instance, policy, engine="plain", **options)
    if fast != plain:
        letters = zip(fast.schedule.letters, plain.schedule.letters, strict=True)
        places = [
            next((t for t, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), -1) for one, two in letters
        ]
        parting = min((place for place in places if place >= 0), default="the entries or the end")
        raise SelfCheckError(f"{policy} with {options}: the simulators differ in slot {parting}")
    verdict = check(instance, fast.schedule)
    if not verdict.is_valid or (verdict.outcome.makespan, verdict.outcome.iterations) != (
        fast.makespan,
        fast.iterations,
    ):
        raise SelfCheckError(f"{policy} with {options}: the checker finds {verdict} for makespan {fast.makespan}")
    return fast


def agree(sample: Sample) -> dict[str, tuple[int, int]]:
    """Run every heuristic on random instances in both simulators.

    Parameters
    ----------
    sample
        The numbers of the instances.

    Returns
    -------
    dict
        For each heuristic the number of compared runs and of their slots.

    Raises
    ------
    SelfCheckError
        At the first difference.

    Examples
    --------
    >>> agree(Sample(1))["Y-IAY"][0]
    1
    """
    done = dict.fromkeys(POLICIES, (0, 0))
    for number in sample.numbers:
        instance = random_instance(number, sample.seed)
        for policy in POLICIES:
            with sample.keeping(instance, number):
                run = compare_twins(instance, policy, **options_of(number, policy))
            runs, slots = done[policy]
            done[policy] = runs + 1, slots + run.slots
        sample.step(f"{instance.num_workers} workers")
    return done
