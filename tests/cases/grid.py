"""Random instances, schedules and certificates of the family grid for tests."""

from __future__ import annotations

import hashlib
import random

import numpy as np

from hindsched.instances.grid import Instance, PriceCertificate, Resource, Schedule
from hindsched.online.grid.options import CHOICES, Dgs


def random_instance(
    seed: int, *, jobs: int = 8, nodes: int = 4, span: int = 10, longest: int = 5, widest: int | None = None
) -> Instance:
    """Return an instance with at most ``jobs`` jobs and ``nodes`` nodes; some submissions coincide."""
    draw = random.Random(seed)
    m = draw.randint(1, nodes)
    count = draw.randint(1, jobs)
    submit = sorted(draw.randint(0, span) for _ in range(count))
    width = [draw.randint(1, min(m, widest or m)) for _ in range(count)]
    length = [draw.randint(1, longest) for _ in range(count)]
    return Instance(m, 60, submit, width, length)


def schedule_at(instance: Instance, starts: list[int]) -> Schedule:
    """Return the schedule with these starts, which must fit, and with the lowest free nodes."""
    rows = list(instance.rows())
    free_at = [0] * instance.nodes
    nodes: list[list[int]] = [[] for _ in rows]
    for j in sorted(range(len(rows)), key=lambda j: (starts[j], j)):
        _, width, length = rows[j]
        nodes[j] = [k for k in range(instance.nodes) if free_at[k] <= starts[j]][:width]
        for k in nodes[j]:
            free_at[k] = starts[j] + length
    return Schedule.of(instance, starts, nodes)


def serial_starts(instance: Instance, order: list[int]) -> list[int]:
    """Return the least start of each job, given the jobs before it in the order."""
    rows = list(instance.rows())
    used = [0] * (instance.horizon + 1)
    starts = [0] * len(rows)
    for j in order:
        submit, width, length = rows[j]
        start = submit
        while max(used[start : start + length]) + width > instance.nodes:
            start += 1
        starts[j] = start
        for slot in range(start, start + length):
            used[slot] += width
    return starts


def random_schedule(instance: Instance, seed: int) -> Schedule:
    """Return a valid schedule, by serial generation in a random order."""
    order = list(range(len(instance)))
    random.Random(seed).shuffle(order)
    return schedule_at(instance, serial_starts(instance, order))


def random_prices(instance: Instance, seed: int) -> PriceCertificate:
    """Return a certificate with the right form and valid limits: of nodes, of wide jobs, and of some jobs."""
    draw = random.Random(seed)
    rows = list(instance.rows())
    scale = draw.choice([1, 2, 7, 20])
    resources = [Resource(instance.nodes, _falling_intervals(draw, instance, scale))]
    wide = instance.nodes // 2 + 1
    resources.append(Resource(1, _random_intervals(draw, instance.horizon, scale), loads={wide: 1, instance.nodes: 1}))
    jobs = {j: draw.randint(0, 3) for j in range(len(rows)) if draw.random() < 0.6}
    limit = most_load({(j,): (load, rows[j][1]) for j, load in jobs.items()}, instance.nodes)
    resources.append(Resource(limit, _random_intervals(draw, instance.horizon, scale // 2), jobs=jobs))
    return PriceCertificate.of(instance, scale, resources)


def most_load(items: dict[tuple[int, ...], tuple[int, int]], nodes: int) -> int:
    """Return the largest sum of loads over all subsets whose widths fit, by enumeration."""
    chosen = [(0, 0)]
    for load, width in items.values():
        chosen += [(f + load, n + width) for f, n in chosen if n + width <= nodes]
    return max(f for f, _ in chosen)


def _random_intervals(draw: random.Random, horizon: int, most: int) -> list[tuple[int, int, int]]:
    cuts = sorted(draw.sample(range(horizon + 6), 2 * draw.randint(0, 3)))
    return [(a, b, draw.randint(0, most)) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]


def _falling_intervals(draw: random.Random, instance: Instance, scale: int) -> list[tuple[int, int, int]]:
    """Return prices that decrease over time, as good prices do."""
    end = int(instance.submit[0]) + instance.area // instance.nodes
    most = draw.randint(1, 4) * scale
    prices = [(t, t + 1, most * (end - t) // (end * instance.nodes)) for t in range(int(instance.submit[0]), end)]
    return [price for price in prices if draw.random() < 0.9]


def random_dgs(seed: int) -> Dgs:
    """Return random options of dgs for small instances."""
    draw = random.Random(seed)
    return Dgs(
        fwd=draw.randint(1, 6),
        degree=draw.randint(1, 8),
        overlay=draw.choice(CHOICES["overlay"]),
        every=draw.randint(1, 8),
        swap=draw.randint(1, 9),
        messaging=draw.choice(CHOICES["messaging"]),
        poll_slots=draw.randint(1, 9),
        poll_phase=draw.choice(CHOICES["poll_phase"]),
        explore=draw.choice(CHOICES["explore"]),
        seed=draw.randint(-5, 99),
    )


def raw_words(count: int, *name: str | int) -> list[int]:
    """Return the first words of a stream from its definition with SHA-256 and Philox, without code of the toolkit."""
    key = int.from_bytes(hashlib.sha256(repr(name).encode()).digest()[:16], "little")
    return [int(word) for word in np.random.Philox(key=key).random_raw(count)]
