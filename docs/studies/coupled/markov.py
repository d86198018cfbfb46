"""Tests of whether real machines are Markov chains, errors of estimates from fitted chains, and what they cost.

A chain ignores how long a state has lasted, what came before, and the time of day. For each of the three a
likelihood-ratio test (G = 2 sum observed ln(observed / expected), asymptotically chi-square) compares the transitions
of one node: are their probabilities equal at every age, after every previous state, in every quarter of the day? With
enough slots every test rejects, so each test comes with the size of its effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from docs.studies.coupled.foresight import Windows, ratios_of, trace_sources
from hindsched.bench.campaign.sources import Given, Source
from hindsched.bench.results.quantile import quantile
from hindsched.instances.chains import Chain, fit
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP, States
from hindsched.instances.text_files import read_bytes, write_text
from hindsched.online.coupled.estimates import Estimates

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.instances.traces.trace import Trace

__all__ = [
    "ESTIMATE_COLUMNS",
    "TEST_COLUMNS",
    "Machines",
    "Tasks",
    "costs",
    "costs_of",
    "drawn_again",
    "estimates",
    "keep",
    "rows_of_tests",
]

TEST_COLUMNS = (
    *("machines", "node", "slots", "leaves", "age", "before", "hour", "young_leaves", "old_leaves"),
    *("hour_ratio", "autocorrelation", "band"),
)
ESTIMATE_COLUMNS = (
    *("machines", "members", "slots", "starts", "predicted", "observed", "predicted_slots", "observed_slots"),
)

Counts = npt.NDArray[np.float64]

_DAY_S = 86_400
_QUARTERS = 4
#: Least age, in slots, of each class of ages.
_AGES = (1, 2, 5, 17, 65)
#: Lags of the mean autocorrelation.
_LAGS = 20


def rows_of_tests(
    machines: str, names: Sequence[str], states: States, slot_s: float, start_s: float
) -> list[dict[str, Any]]:
    """Return a row of tests for each node.

    Parameters
    ----------
    machines, names
        Names of the group of machines, and of its nodes.
    states
        Shape (nodes, slots).
    slot_s, start_s
        Length of a slot, and start of the first slot after a midnight, in seconds.

    Returns
    -------
    list of dict
        Keys `TEST_COLUMNS`: p-values of the three tests (None where no test is possible); rates of leaving UP per slot
        in the first four slots and from slot 65 on; the largest over the smallest rate of leaving UP among the quarters
        of the day; and the mean autocorrelation of the residuals over lags 1 to 20, with its 95 % band for white noise.
    """
    hours = ((start_s + slot_s * np.arange(states.shape[1] - 1)) % _DAY_S * _QUARTERS // _DAY_S).astype(np.int64)
    rows = []
    for name, row in zip(names, states.astype(np.int64), strict=True):
        now, after = row[:-1], row[1:]
        ages = _ages(row)[:-1]
        classes = np.searchsorted(_AGES, ages, side="right") - 1
        before = np.concatenate(([now[0]], now[:-1]))
        up = now == UP
        left = up & (after != UP)
        young, old = up & (ages <= 4), up & (ages >= _AGES[-1])
        by_quarter = [_rate(left[hours == quarter], up[hours == quarter]) for quarter in range(_QUARTERS)]
        known = [rate for rate in by_quarter if rate is not None]
        chain = fit(row)
        residual = (after == UP) - np.array([chain.rows[x][UP] for x in (0, 1, 2)])[now]
        rows.append(
            {
                "machines": machines,
                "node": name,
                "slots": row.size,
                "leaves": int(left.sum()),
                "age": _likelihood_ratio(now, after, classes),
                "before": _likelihood_ratio(now, after, before),
                "hour": _likelihood_ratio(now, after, hours),
                "young_leaves": _rate(left, young),
                "old_leaves": _rate(left, old),
                "hour_ratio": max(known) / min(known) if known and min(known) > 0 else None,
                "autocorrelation": _autocorrelation(residual),
                "band": 1.96 / (now.size * _LAGS) ** 0.5,
            }
        )
    return rows


def estimates(
    machines: str,
    train: States,
    states: States,
    *,
    members: Sequence[int],
    lengths: Sequence[int],
    teams: int = 40,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return predictions of chains fitted on one window, and observations on the next.

    An attempt starts in a slot in which all members are UP, and needs W such slots. It fails when a member is DOWN
    before its end. The predictions are the probability of success, P_plus^(W-1), and the expected slots given success,
    by the estimator ``conditional`` (docs/model.md section 5). Observations are over all starts in the window, without
    attempts that its end cuts off.

    Parameters
    ----------
    machines
        Name of the group of machines.
    train, states
        States of the same nodes, shape (nodes, slots).
    members, lengths
        Sizes of teams, and slots of computation W.
    teams, seed
        Number of teams drawn for each size, and the seed of the draws.

    Returns
    -------
    list of dict
        Keys `ESTIMATE_COLUMNS`; means over teams are weighted by starts.
    """
    chains = [fit(row) for row in train]
    given = Estimates(chains, estimator="conditional")
    draw = np.random.default_rng(seed)
    rows = []
    for size in members:
        if size > len(chains):
            continue
        chosen = {tuple(sorted(draw.choice(len(chains), size, replace=False).tolist())) for _ in range(teams)}
        for length in lengths:
            sums = np.zeros(6)
            for each in sorted(chosen):
                mask = sum(1 << q for q in each)
                begun, won, lasted = _attempts(states[list(each)], length)
                if not begun:
                    continue
                log_success, duration = given.log_success(mask, length), given.duration(mask, length)
                sums += (begun, begun * np.exp(log_success), won, 0, lasted, 0)
                if np.isfinite(duration):
                    sums += (0, 0, 0, won * duration, 0, won)
            starts, predicted, wins, expected, slots, counted = sums.tolist()
            row: dict[str, Any] = {"machines": machines, "members": size, "slots": length, "starts": int(starts)}
            row |= {"predicted": predicted / starts if starts else None, "observed": wins / starts if starts else None}
            row |= {"predicted_slots": expected / counted if counted else None}
            row |= {"observed_slots": slots / wins if wins else None}
            rows.append(row)
    return rows


def keep(path: Path, machines: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write rows of some machines to a table; the rows of other machines in it are kept."""
    heading = ",".join(columns)
    known = read_bytes(path).decode().splitlines() if path.is_file() else [heading]
    others = [line for line in known[1:] if line.partition(",")[0] != machines] if known[:1] == [heading] else []
    mine = [",".join(_printed(row[key]) for key in columns) for row in rows]
    write_text(path, "\n".join([heading, *others, *mine, ""]))


def _printed(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def costs(instance: Instance) -> dict[str, Instance]:
    """Return the instance with its chains, and with the chains of its own window, unknown to any policy."""
    own = [fit(row) for row in instance.states]
    return {"training": instance, "own window": instance.replace(chains=own)}


def drawn_again(instance: Instance, key: Sequence[str | int]) -> Instance:
    """Return the instance with states drawn from its chains instead of the real ones."""
    from hindsched.instances.state_sources import DrawnStates

    chains: list[Chain] = [chain for chain in instance.chains if chain is not None]
    return instance.replace(states=DrawnStates(chains, tuple(key), instance.slots, start="stationary"))


class Machines(NamedTuple):
    """A trace of machines: their name, the trace, seconds of a slot, and the largest number of nodes (None: all)."""

    name: str
    trace: Trace
    slot_s: float
    nodes: int | None


class Tasks(NamedTuple):
    """Task length over the mean availability period, and the number of windows."""

    task: float
    windows: int


def costs_of(
    machines: Machines,
    tasks: Tasks,
    policies: Sequence[str],
    folder: Path,
    *,
    num_processes: int,
    time_limit_s: float,
    seed: int,
) -> pd.DataFrame:
    """Return the median ratio of policies on windows of a trace, for three kinds of chains and states.

    ``training``: real states, chains of the slots before the window. ``own window``: real states, chains of the window
    itself. ``drawn``: states drawn from the chains of training.
    """
    import pandas as pd

    whole = machines.trace.window(slot_s=machines.slot_s, nodes=machines.nodes).slots
    train = whole // (tasks.windows + 1)
    windows = Windows(tasks.windows, train, (whole - train) // tasks.windows, machines.nodes)
    real = trace_sources(machines.name, machines.trace, machines.slot_s, windows, tasks=(tasks.task,))
    sources: list[Source] = []
    for source in real:
        variants = costs(source.load()) | {
            "drawn": drawn_again(source.load(), ("coupled", "markov", seed, source.name))
        }
        sources += [Given(f"{source.name}, {kind}", "markov", each) for kind, each in variants.items()]
    runs = ratios_of(sources, policies, folder, num_processes=num_processes, time_limit_s=time_limit_s, seed=seed)
    kinds = runs["instance"].astype(str).str.rpartition(", ")[2]
    rows = []
    for kind in ("training", "own window", "drawn"):
        for policy, mine in runs[kinds == kind].groupby("policy", sort=False):
            ratios = mine["high"].to_numpy()
            row = {"machines": machines.name, "chains": kind, "policy": policy, "windows": len(mine)}
            rows.append(row | {"median": quantile(ratios, 0.5), "most": float(ratios.max())})
    return pd.DataFrame(rows, columns=["machines", "chains", "policy", "windows", "median", "most"])


def _attempts(states: States, length: int) -> tuple[int, int, float]:
    """Return the number of starts in a window, of successes, and the total slots of the successes."""
    slots = states.shape[1]
    is_up = (states == UP).all(axis=0)
    up = np.flatnonzero(is_up)
    down = np.concatenate((np.flatnonzero((states == DOWN).any(axis=0)), [slots]))
    fails = down[np.searchsorted(down, up)]  # the first slot after each start in which a member is DOWN
    places = np.arange(up.size) + length - 1
    ends = np.where(places < up.size, up[np.minimum(places, up.size - 1)], slots) if up.size else up
    is_known = np.minimum(ends, fails) < slots  # attempts that the end of the window cuts off are unknown
    wins = is_known & (ends < fails)
    return int(is_known.sum()), int(wins.sum()), float((ends - up + 1)[wins].sum())


def _ages(row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each slot how long its state has lasted, from 1."""
    places = np.arange(row.size)
    begins = np.concatenate(([True], row[1:] != row[:-1]))
    return places - np.maximum.accumulate(np.where(begins, places, 0)) + 1


def _rate(events: npt.NDArray[np.bool_], at_risk: npt.NDArray[np.bool_]) -> float | None:
    total = int(at_risk.sum())
    return float((events & at_risk).sum() / total) if total else None


def _likelihood_ratio(
    now: npt.NDArray[np.int64], after: npt.NDArray[np.int64], classes: npt.NDArray[np.int64]
) -> float | None:
    """Return the p-value of the hypothesis that the next state does not depend on the class."""
    from scipy.stats import chi2

    g, freedom = 0.0, 0
    for state in range(3):
        mine = now == state
        counts = np.zeros((int(classes.max()) + 1, 3))
        np.add.at(counts, (classes[mine], after[mine]), 1)
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        if min(counts.shape) < 2:
            continue
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        g += 2 * float((counts * np.log(np.maximum(counts, 1e-300) / expected)).sum())
        freedom += (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return float(chi2.sf(g, freedom)) if freedom else None


def _autocorrelation(residual: npt.NDArray[np.float64]) -> float | None:
    centred = residual - residual.mean()
    total = float(centred @ centred)
    if not total:
        return None
    lags = range(1, min(_LAGS, residual.size - 1) + 1)
    return float(np.mean([float(centred[lag:] @ centred[:-lag]) / total for lag in lags]))
