"""Instances of the family bags for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hindsched.instances.bags import Instance, Store
from hindsched.instances.bags.generate import small
from hindsched.instances.random_streams import stream


def letters(*rows: str, ticks: list[int], **others: Any) -> Instance:
    """Return an instance from strings of states, by default with slots of one tick and one task of one segment."""
    return Instance.from_letters(rows, ticks=ticks, **{"slot": 1, "tasks": 1, "segments": 1, **others})


def randoms(number: int, *, seed: int = 0, **fixed: Any) -> Iterator[Instance]:
    """Yield small random instances of every kind; ``fixed`` are arguments of `small` that are not drawn."""
    for i in range(number):
        draw = stream("tests", "bags", seed, i)
        drawn: dict[str, Any] = {
            "machines": int(draw.integers(1, 7)),
            "slots": int(draw.integers(1, 30)),
            "tasks": int(draw.integers(1, 9)),
            "segments": int(draw.integers(1, 5)),
            "slot": int(draw.integers(1, 9)),
            "ticks": (1, int(draw.integers(1, 13))),
            "store": (Store.SHARED, Store.PRIVATE)[int(draw.integers(2))],
            "on_demand": bool(draw.integers(2)),
            "up": float(draw.choice([0.4, 0.6, 0.8, 1.0])),
            "stay": float(draw.choice([0.0, 0.5, 0.8])),
        }
        drawn["down"] = (1 - drawn["up"]) * float(draw.choice([0.0, 0.5, 1.0]))
        clock = int(draw.integers(0, 3))
        drawn["clock_s"] = None if clock == 0 else int(draw.integers(0, 604_800))
        instance = small(seed * 1_000_000 + i, **{**drawn, **fixed})
        # long ticks, so that runs extend over day, night and weekend
        yield instance.replace(
            tick_ms=int(draw.choice([1, 60_000, 1_800_000])), reference_s=int(draw.integers(1, 9000))
        )


def tiny(number: int, *, seed: int = 0, **fixed: Any) -> Iterator[Instance]:
    """Yield instances for exhaustive search, most of them long enough to complete all tasks; see `randoms`."""
    for i in range(number):
        draw = stream("tests", "bags", "tiny", seed, i)
        drawn: dict[str, Any] = {
            "machines": int(draw.integers(1, 4)),
            "slots": int(draw.integers(3, 8)),
            "tasks": int(draw.integers(1, 4)),
            "segments": int(draw.integers(1, 4)),
            "slot": int(draw.integers(1, 3)),
            "ticks": (1, 3),
            "up": float(draw.choice([0.7, 0.85])),
            "down": float(draw.choice([0.05, 0.15])),
        }
        yield small(seed * 1_000_000 + i, **{**drawn, **fixed})


def chained(number: int, *, seed: int = 0, **fixed: Any) -> Iterator[Instance]:
    """Yield instances with three segments or more, small enough for a model of every segment; see `randoms`."""
    for i in range(number):
        draw = stream("tests", "bags", "chained", seed, i)
        drawn: dict[str, Any] = {
            "machines": int(draw.integers(2, 5)),
            "slots": int(draw.integers(10, 25)),
            "tasks": int(draw.integers(2, 5)),
            "segments": int(draw.integers(3, 6)),
            "slot": int(draw.integers(3, 10)),
            "ticks": (2, int(draw.integers(4, 20))),
            "up": 0.85,
            "down": float(draw.choice([0.05, 0.15])),
        }
        yield small(seed * 1_000_000 + i, **{**drawn, **fixed})
