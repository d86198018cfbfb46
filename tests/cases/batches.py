"""Instances and runs of batches for tests: small random instances, one that spans weeks, and random runs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hindsched.instances.batches import Contacts, Instance, Run
from hindsched.instances.batches.generate import small
from hindsched.online.batches import POLICIES, Options, Simulation, run_policy

DAY = 86_400


def rare(seed: int) -> random.Random:
    """Return the random generator of a test case."""
    return random.Random(f"batches {seed}")


def varied(seed: int, *, largest: int = 9) -> Instance:
    """Return a random instance of varied size."""
    draw = rare(seed)
    return small(
        seed,
        workers=draw.randint(1, largest),
        tasks=draw.randint(1, largest),
        batches=draw.randint(1, 4),
        length=draw.choice([6, 14, 40]),
        longest_c=draw.choice([2, 5, 12]),
        up=draw.choice([0.2, 0.5, 0.8, 1.0]),
    )


def tiny(seed: int) -> Instance:
    """Return an instance that can be searched exhaustively."""
    draw = rare(seed)
    return small(
        seed,
        workers=draw.randint(1, 3),
        tasks=draw.randint(1, 3),
        batches=draw.randint(1, 2),
        length=draw.choice([4, 6]),
        longest_c=draw.randint(1, 3),
        up=draw.choice([0.4, 0.6, 0.8, 1.0]),
    )


def with_past(seed: int, days: int = 23) -> Instance:
    """Return an instance whose workers were available at similar times on most earlier days, for replays."""
    draw = rare(seed)
    today = varied(seed)
    shift = (days - 1) * DAY
    up = [
        [
            (a + day * DAY, b + day * DAY)
            for day in range(days)
            for a, b in today.up.of_worker(j).tolist()
            if day == days - 1 or draw.random() < 0.7
        ]
        for j in range(today.num_workers)
    ]
    batches = [(submission + shift, deadline + shift) for submission, deadline in today.batches]
    return today.replace(up=up, batches=batches, start=batches[0][0] - draw.choice([0, 9, 2 * DAY]))


def readings(seed: int) -> Options:
    """Return random options of policies."""
    draw = rare(seed)
    return Options(
        k=draw.choice([0.5, 0.99]),
        p0=draw.choice(["week", 1, 7]),
        active=draw.choice(["distinct", "connections"]),
        overdue=draw.choice([None, "carry", "drop"]),
        busy=draw.choice(["queue", "wait"]),
        report=draw.choice(["at_once", "at_contact"]),
        copies=draw.choice([1, 2, 3]),
        replays=draw.choice([2, 10]),
        copies_lambda=draw.choice([1, 2]),
        first=draw.choice(["start", "spread"]),
        damping=draw.choice([1, 3]),
    )


def runs(
    instance: Instance,
    options: Options | None = None,
    *,
    engine: str = "plain",
    policies: Sequence[str] = POLICIES,
) -> Iterator[Simulation]:
    """Yield the runs of all built-in policies that apply to an instance."""
    for policy in policies:
        least = 0 if policy == "A1" else 1
        if all(instance.margin(i) >= least for i in range(instance.num_batches)):
            yield run_policy(instance, policy, options, engine=engine)


def any_run(instance: Instance, seed: int) -> Run:
    """Return a run with contacts in random available seconds and without tasks, to which rungs can refer."""
    draw = rare(seed)
    share = draw.choice([0.05, 0.2, 0.5, 1.0])
    rows = sorted(
        (time, j)
        for j in range(instance.num_workers)
        for a, b in instance.up.of_worker(j).tolist()
        for time in range(max(a, instance.start), min(b, instance.end))
        if draw.random() < share
    )
    return Run(instance.fingerprint, Contacts.of(rows))
