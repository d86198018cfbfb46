"""Generators: instances of the paper's experiments (docs/model.md section 8), and small random ones for tests."""

from __future__ import annotations

import numpy as np

from hindsched.instances import states as st
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import MOST, Instance
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import STARTS, DrawnStates, KnownStates

__all__ = ["paper", "small"]

#: Constants of the paper's generator: the range of P_xx, and lengths as multiples of wmin.
STAY_RANGE = (0.90, 0.99)
W_FACTOR, T_DATA_FACTOR, T_PROG_FACTOR = 10, 1, 5
#: Largest numbers of workers and of states in an array (one byte each); more are refused before memory runs out.
MOST_WORKERS, MOST_STATES = 100_000, 4_000_000_000


def paper(
    *,
    m: int,
    n_com: int | None,
    wmin: int,
    scenario: int,
    trial: int,
    slots: int,
    seed: int = 0,
    p: int = 20,
    iterations: int = 10,
    mu: int | None = None,
    start: str = STARTS[0],
    drawn: bool = False,
) -> Instance:
    """Return one instance of the paper's experiments.

    A *scenario* fixes the workers: P_xx uniform in [0.90, 0.99] for each state x, P_xy = (1 - P_xx) / 2, and w_q a
    uniform integer in [wmin, 10 wmin]; T_data = wmin, T_prog = 5 wmin. A *trial* fixes their states. By default all
    workers are UP in slot 0.

    Every worker has one random stream for the scenario and one for the trial, so its first N states depend neither on
    ``slots`` nor on the number of workers.

    Parameters
    ----------
    m, n_com, wmin
        The point of the experiment; the paper has m in {5, 10}, n_com in {5, 10, 20}, wmin in 1..10.
    scenario, trial
        Numbers of the draws at this point; the paper has ten of each.
    slots
        N, the number of slots.
    seed
        Seed of the whole experiment.
    p, iterations
        20 and 10 in the paper.
    mu
        Largest number of tasks that a worker may hold; unbounded in the paper (docs/model.md section 8).
    start
        States in slot 0: ``up`` as in the paper, or ``stationary`` (see `instances.state_sources.DrawnStates`).
    drawn
        Whether the states are drawn on demand instead of all at once. The states are the same, but
        the fingerprint and the file differ (see `Instance.fingerprint`).

    Examples
    --------
    >>> short = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=50)
    >>> long = paper(m=5, n_com=10, wmin=1, scenario=0, trial=0, slots=500)
    >>> bool((long.states[:, :50] == short.states).all())
    True
    """
    most = {"wmin": MOST // W_FACTOR, "p": MOST_WORKERS, "slots": st.MOST_SLOTS}
    for name, value in (("wmin", wmin), ("p", p), ("slots", slots)):
        _expect_count(name, value, most[name])
    if not drawn and p * slots > MOST_STATES:
        raise InputError(
            f"{slots} of {p} workers are {p * slots} states, expected at most {MOST_STATES}, or drawn states",
            place="slots",
        )
    point = ("coupled", "paper", 1, seed, m, n_com or 0, wmin, scenario)
    w: list[int] = []
    chains: list[Chain] = []
    for q in range(p):
        draw = stream(*point, "worker", q)
        stays = draw.uniform(*STAY_RANGE, size=3)
        w.append(int(draw.integers(wmin, W_FACTOR * wmin, endpoint=True)))
        chains.append(_symmetric(*(float(stay) for stay in stays)))
    source = DrawnStates(chains, (*point, "states", trial), slots, start=start)
    return Instance(
        tasks=m,
        iterations=iterations,
        n_com=n_com,
        t_prog=T_PROG_FACTOR * wmin,
        t_data=T_DATA_FACTOR * wmin,
        w=tuple(w),
        mu=(mu,) * p,
        states=source if drawn else KnownStates(source.prefix(slots)),
        chains=tuple(chains),
    )


def small(
    seed: int,
    *,
    p: int = 3,
    slots: int = 12,
    tasks: int = 2,
    iterations: int = 1,
    up: float = 0.7,
    down: float = 0.1,
) -> Instance:
    """Return a random general instance for tests and first steps.

    Speeds are in 1..3, mu is null or in 1..tasks, n_com is null or in 1..p, T_prog and T_data are in 0..2. The states
    of slots are independent, and workers have the chain that the states are drawn from.

    Parameters
    ----------
    seed
        Seed of the instance; every worker has its own random stream, as in `paper`.
    p, slots, tasks, iterations
        Size of the instance.
    up, down
        Probability of UP and of DOWN in a slot; the rest is RECLAIMED.
    """
    if not (up >= 0 and down >= 0 and up + down <= 1):
        raise InputError(f"up {up} and down {down}, expected probabilities with a sum of at most 1")
    for name, value, most in (("p", p, MOST_WORKERS), ("slots", slots, st.MOST_SLOTS), ("tasks", tasks, MOST)):
        _expect_count(name, value, most)
    if p * slots > MOST_STATES // 10:  # drawn from 80 times as many bits
        raise InputError(f"{slots} of {p} workers, expected at most {MOST_STATES // 10} states", place="slots")
    draw = stream("coupled", "small", 2, seed)
    n_com = int(draw.integers(0, p, endpoint=True)) or None
    t_prog, t_data = (int(number) for number in draw.integers(0, 2, size=2, endpoint=True))
    w: list[int] = []
    mu: list[int | None] = []
    states = np.empty((p, slots), dtype=np.uint8)
    row = (up, max(0.0, 1 - up - down), down)  # rounding may make the middle number slightly negative
    for q in range(p):
        draw = stream("coupled", "small", 2, seed, "worker", q)
        w.append(int(draw.integers(1, 3, endpoint=True)))
        mu.append(int(draw.integers(0, tasks, endpoint=True)) or None)
        numbers = draw.random(slots)
        states[q] = np.where(numbers < up, st.UP, np.where(numbers < up + row[1], st.RECLAIMED, st.DOWN))
    if sum(tasks if bound is None else bound for bound in mu) < tasks:
        mu[0] = None
    states.setflags(write=False)
    return Instance(
        tasks=tasks,
        iterations=iterations,
        n_com=n_com,
        t_prog=t_prog,
        t_data=t_data,
        w=tuple(w),
        mu=tuple(mu),
        states=states,
        chains=(Chain((row, row, row)),) * p,
    )


def _expect_count(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InputError(f"{value}, expected an integer {'>= 1' if value < 1 else f'<= {most}'}", place=name)


def _symmetric(uu: float, rr: float, dd: float) -> Chain:
    u, r, d = (1 - uu) / 2, (1 - rr) / 2, (1 - dd) / 2
    return Chain(((uu, u, u), (r, rr, r), (d, d, dd)))
