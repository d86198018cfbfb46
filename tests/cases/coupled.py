"""Random instances of coupled that every exact solver can solve, and checks of results."""

import random
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import small
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.results import Status

# ------------------------------------------------------------------------------------------------- random instances


def tiny(seed: int) -> Instance:
    """Return a random instance of the general problem; every fourth is one where channels and stand-by tend to matter.

    At most 3 workers, 9 slots and 3 iterations: the exhaustive search takes milliseconds.
    """
    draw = random.Random(seed)
    if seed % 4 == 0:
        rows = ["".join(_sticky(draw, slots=9)) for _ in range(3)]
        w = [draw.randint(1, 2) for _ in rows]
        return Instance.from_letters(rows, w=w, tasks=1, iterations=3, t_prog=2, n_com=draw.choice((1, 2)))
    down = draw.choice((0, 0.05, 0.15))
    return small(
        seed,
        p=draw.choice((2, 2, 2, 3)),
        slots=draw.randint(6, 9),
        tasks=draw.choice((1, 2, 2, 3)),
        iterations=draw.randint(1, 3),
        up=draw.uniform(0.55, 1 - down),
        down=down,
    )


def _sticky(draw: random.Random, slots: int) -> Iterator[str]:
    state = draw.choice("uuurd")
    for _ in range(slots):
        yield state
        if draw.random() > 0.8:
            state = draw.choice("uuurrd")


@st.composite
def without_communication(
    draw: st.DrawFn, most_workers: int = 4, most_slots: int = 9, letters: str = "uuurd"
) -> Instance:
    """Draw an instance whose programs and data take no time; hypothesis reduces it if a test fails."""
    p, slots = draw(st.integers(1, most_workers)), draw(st.integers(1, most_slots))
    tasks = draw(st.integers(1, 4))
    mu = draw(st.lists(st.one_of(st.none(), st.integers(0, tasks)), min_size=p, max_size=p))
    if sum(tasks if bound is None else bound for bound in mu) < tasks:
        mu[0] = None
    return Instance.from_letters(
        draw(st.lists(st.text(letters, min_size=slots, max_size=slots), min_size=p, max_size=p)),
        w=draw(st.lists(st.integers(1, 3), min_size=p, max_size=p)),
        mu=mu,
        tasks=tasks,
        iterations=draw(st.integers(1, 3)),
    )


@st.composite
def team_problems(draw: st.DrawFn, letters: str = "uurd", most_rows: int = 4, most_slots: int = 8) -> CommonSlots:
    """Draw a problem of common slots for the exhaustive back end."""
    p, slots = draw(st.integers(1, most_rows)), draw(st.integers(1, most_slots))
    rows = draw(st.lists(st.lists(st.sampled_from(letters), min_size=slots, max_size=slots), min_size=p, max_size=p))
    states, tasks = np.array(rows), draw(st.integers(1, 4))
    w, most = (draw(st.lists(st.integers(low, 3), min_size=p, max_size=p)) for low in (1, 0))
    return CommonSlots(states == "u", states == "d", np.array(w), np.array(most), tasks, draw(st.sampled_from(Aim)))


def dense_team_problem(
    p: int, slots: int, density: float, *, seed: int, aim: Aim, tasks: int, w: int = 1
) -> CommonSlots:
    """Return a problem with equal workers, each UP in a slot with the same probability and never DOWN."""
    up = np.random.default_rng(seed).random((p, slots)) < density
    return CommonSlots(up, np.zeros_like(up), np.full(p, w), np.ones(p, dtype=np.int64), tasks, aim)


# --------------------------------------------------------------------------------------------- checks of results


def proven_value(instance: Instance, result: CoupledResult, solver: str) -> int | None:
    """Return the value of a result, or None without a schedule, after the checker has replayed the schedule.

    The result has to be proven, by the solver named.
    """
    assert result.by == solver
    if result.value is None:
        assert (result.status, result.bound, result.schedule) == (Status.INFEASIBLE, None, None)
        return None
    assert result.status is Status.OPTIMAL
    verdict = check(instance, result.schedule)
    assert verdict.is_valid, verdict
    if result.objective is Objective.MAKESPAN:
        assert verdict.outcome.makespan == result.value == result.schedule.slots
    else:
        assert verdict.outcome.iterations == result.value
        assert result.schedule.slots == instance.slots
    return result.value


def assert_honest(result: CoupledResult, best: int, instance: Instance) -> None:
    """Assert that the bounds of a stopped solver contain the optimum, ``best``."""
    assert result.bound is not None
    if result.objective is Objective.MAKESPAN:
        assert result.bound <= best
        assert result.value is None or result.value >= best
    else:
        assert result.bound >= best
        assert result.value is not None
        assert result.value <= best
    assert (result.status is Status.OPTIMAL) == (result.value == result.bound)
    assert result.schedule is None or check(instance, result.schedule).is_valid
