"""Test whether other hosts help to predict a host's availability, beyond the host's own history.

All predictors are logistic regressions, fitted every midnight to the past of all hosts. They differ in what they know
about a host at an hour t:

- ``own``: its present state and how long it lasts, its share of time, and how often the outcome was good before: from
  the present state, at this hour of the day, and at this hour of the week.
- ``neighbours``: also how often the outcome was good at this hour for the hosts whose past is most correlated with its.
- ``present``: also how far the crowd, and the neighbours, are from their usual level at this hour. A common shock shows
  there.
- ``cluster``: also how often the outcome was good at this hour for hosts with a similar daily profile, and the host's
  own share shrunk to theirs.
- ``all``: all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from docs.studies.batches.evidence import Rows, select
from docs.studies.estimates import Estimate, estimate
from hindsched.bench.batches.experiment import TIMES
from hindsched.instances.batches.availability import Ints
from hindsched.instances.batches.from_trace import from_trace
from hindsched.instances.batches.volunteers import DAY, HOUR, WEEK, VolunteerParameters, draw_volunteer
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.traces import Trace

__all__ = ["OTHERS", "QUESTIONS", "TASKS", "Question", "forecast", "gain", "measure", "measure_all", "together"]

#: The predictors beside ``own``, and the kinds of features that they add to it.
OTHERS: dict[str, tuple[str, ...]] = {name: (name,) for name in ("neighbours", "present", "cluster")}
OTHERS["all"] = tuple(OTHERS)

_DAY_H, _WEEK_H = 24, 168
#: Hours around an hour of the day that count as this hour.
_AROUND_H = (-1, 0, 1)
_NEIGHBOURS, _CLUSTERS, _HOST_BLOCKS = 10, 6, 10
#: Weight, in observations, of the wider share to which a share at an hour of the day or of the week is shrunk.
_PRIOR = 6
#: Hosts at hours to which a regression is fitted, at most.
_PAIRS = 30_000
#: The end of the volunteers' weeks, 8 December, and their number; the last one is predicted.
_UNTIL, _WEEKS = 251 * DAY, 5

_Reals: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """What is predicted at an hour t.

    Parameters
    ----------
    horizon_h
        Hours until the outcome.
    c
        Seconds of computing. None: is the host available at t + horizon? Otherwise: does it have ``c`` available
        seconds until then? This is asked of hosts that are available at t, as a master does at a contact.
    """

    horizon_h: int
    c: int | None = None


#: The question of a master in the paper's settings.
TASKS = tuple(Question(deadline_s // HOUR, c) for deadline_s, c in TIMES)
QUESTIONS = (*map(Question, (1, 4, 12, 24)), *TASKS, *(Question(12, part * HOUR) for part in (3, 6)))


def volunteers(workers: int) -> Iterator[Ints]:
    """Yield the intervals, in seconds of the five weeks before 8 December, of drawn volunteers who stay that long."""
    since, until = _UNTIL - _WEEKS * WEEK, _UNTIL
    drawn = (draw_volunteer(0, j, VolunteerParameters()).ups for j in count())
    present = (ups for ups in drawn if len(ups) and ups[0, 0] <= since and ups[-1, 1] >= until)
    for ups in islice(present, workers):
        inside = np.clip(ups, since, until) - since
        yield inside[inside[:, 0] < inside[:, 1]]


def measure_all(trace: Trace, workers: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the hosts of a trace and of drawn volunteers, see `measure`.

    Raises
    ------
    InputError
        When the trace has fewer than four whole days.
    """
    begin = min(row[0].start for row in trace.intervals)
    days = int((max(row[-1].stop for row in trace.intervals) - begin) // DAY)
    if days < 4:
        raise InputError(f"{days} days, expected at least 4: two of them are history", place="--trace")
    hours = days * _DAY_H
    up = from_trace(trace, tasks=1, batches=[(0, hours * HOUR)], c=1, homogeneous=True).up
    yield from measure("hosts", [up.of_worker(j) for j in range(up.num_workers)], hours, 2 * _DAY_H)
    yield from measure("volunteers", list(volunteers(workers)), _WEEKS * _WEEK_H, (_WEEKS - 1) * _WEEK_H)


def measure(source: str, crowd: Sequence[Ints], hours: int, first_h: int) -> Iterator[dict[str, Any]]:
    """Yield the Brier score and the share of right forecasts of each predictor, by day and by block of hosts.

    Parameters
    ----------
    source
        Name of the hosts.
    crowd
        Available intervals of each host in seconds, shape (n, 2).
    hours
        Length of the trace.
    first_h
        Hour of the first forecast, a midnight. Regressions are fitted to the second half of what is before.
    """
    for question in QUESTIONS:
        found, outcomes = forecast(crowd, question, hours, first_h)
        errors = {name: np.square(chances - outcomes) for name, chances in found.items()}
        misses = {name: ((chances > 0.5) != outcomes).astype(float) for name, chances in found.items()}
        is_asked = ~np.isnan(np.sum(list(found.values()), axis=0))
        days = np.broadcast_to(np.arange(hours) // _DAY_H, is_asked.shape)
        hosts = np.broadcast_to(np.arange(len(crowd))[:, None] % _HOST_BLOCKS, is_asked.shape)
        for blocks, of in (("days", days), ("hosts", hosts)):
            for block in np.unique(of[is_asked]):
                mine = is_asked & (of == block)
                row = {"source": source, "horizon_h": question.horizon_h, "c": question.c}
                row |= {"blocks": blocks, "block": int(block), "forecasts": int(mine.sum())}
                row |= {f"brier_{name}": float(error[mine].mean()) for name, error in errors.items()}
                row |= {f"right_{name}": 1 - float(miss[mine].mean()) for name, miss in misses.items()}
                error = np.where(mine, found["own"] - outcomes, 0.0)
                yield row | {"together": float(np.square(error.sum(axis=0)).sum() / np.square(error).sum())}


def forecast(
    crowd: Sequence[Ints], question: Question, hours: int, first_h: int
) -> tuple[dict[str, _Reals], npt.NDArray[np.bool_]]:
    """Return the chance of a good outcome by each predictor, and the outcomes; shape (hosts, hours).

    Chances are NaN where nothing is asked or known. A forecast at hour t uses nothing after t.
    """
    states, seconds, stay = (np.array(parts) for parts in zip(*(_at_hours(ups, hours) for ups in crowd), strict=True))
    horizon, moments = question.horizon_h, hours - question.horizon_h
    outcomes = np.zeros(states.shape, dtype=bool)
    outcomes[:, :moments] = states[:, horizon:]
    if question.c is not None:
        outcomes[:, :moments] = seconds[:, horizon:] - seconds[:, :moments] >= question.c
    is_asked = np.ones_like(states) if question.c is None else states.copy()
    is_asked[:, moments:] = False
    features, kinds = _features(states.astype(float), stay, outcomes.astype(float), horizon)
    found = {}
    for name, kept in {"own": (), **OTHERS}.items():
        mine = features[:, :, [kind in ("own", *kept) for kind in kinds]]
        found[name] = np.full(states.shape, np.nan)
        for midnight in range(first_h, moments, _DAY_H):
            past, day = np.zeros_like(is_asked), np.zeros_like(is_asked)
            known = slice(first_h // 2, max(first_h // 2, midnight - horizon))
            past[:, known] = is_asked[:, known]
            day[:, midnight : midnight + _DAY_H] = is_asked[:, midnight : midnight + _DAY_H]
            pairs = np.flatnonzero(past)
            if pairs.size > _PAIRS:
                pairs = stream("batches", "correlated", midnight).choice(pairs, _PAIRS, replace=False)
            if pairs.size:
                weights, scale = _fit(mine.reshape(-1, mine.shape[2])[pairs], outcomes.ravel()[pairs])
                found[name][day] = _predict(mine[day], weights, scale)
    return found, outcomes


def _at_hours(ups: Ints, hours: int) -> tuple[npt.NDArray[np.bool_], Ints, Ints]:
    """Return a host's state, its available seconds so far, and how long its state has lasted, at every full hour."""
    moments = np.arange(hours) * HOUR
    edges = np.concatenate(([0, 0], ups.ravel())).reshape(-1, 2).astype(np.int64)
    row = np.searchsorted(edges[:, 0], moments, side="right") - 1
    begin, end = edges[row].T
    before = np.concatenate(([0], np.cumsum(edges[:, 1] - edges[:, 0])))[row]
    is_up = moments < end
    return is_up, before + np.minimum(moments, end) - begin, moments - np.where(is_up, begin, end)


def _features(states: _Reals, stay: Ints, outcomes: _Reals, horizon: int) -> tuple[_Reals, list[str]]:
    """Return the features of each host at each hour, shape (hosts, hours, features), and the kind of each.

    Every feature stands also in a product with the present state.
    """
    hours = states.shape[1]
    sums, num = _sums(outcomes, _DAY_H, horizon)
    at_hour = _share(sums, num)
    share = _share(_so_far(states, 1), np.arange(hours))
    daily, num_daily = _sums(states, _DAY_H, 1)
    level = (daily + _PRIOR * share) / (num_daily + _PRIOR)
    weekly, num_weekly = _sums(outcomes, _WEEK_H, horizon)
    same = [_so_far(kind, horizon) for kind in (outcomes * states, states, outcomes * (1 - states), 1 - states)]
    from_state = np.where(states > 0, _share(same[0], same[1]), _share(same[2], same[3]))
    lately = np.zeros_like(states)
    lately[:, _DAY_H:] = _so_far(states, 0)[:, _DAY_H:] - _so_far(states, _DAY_H)[:, _DAY_H:]
    own = [logit(from_state), logit(at_hour), logit((weekly + _PRIOR * at_hour) / (num_weekly + _PRIOR))]
    own += [logit(share), lately / _DAY_H]
    own.append(np.log(np.minimum(stay, _DAY_H * HOUR) / HOUR + 0.05))
    turn = 2 * np.pi * np.arange(hours) / _DAY_H
    own += [np.broadcast_to(wave, states.shape) for wave in (np.sin(turn), np.cos(turn))]
    crowd, usual = (np.clip(part.mean(axis=0), 0.001, 0.999) for part in (states, level))
    change = np.diff(crowd, prepend=crowd[0])
    shock = [np.broadcast_to(part, states.shape) for part in (logit(crowd) - logit(usual), change)]
    theirs, deviation, profile = (np.full(states.shape, 0.5) for _ in range(3))
    for midnight in range(_DAY_H, hours, _DAY_H):
        day = slice(midnight, midnight + _DAY_H)
        weights = _neighbours(states[:, :midnight])
        theirs[:, day] = weights @ at_hour[:, day]
        deviation[:, day] = weights @ (states - level)[:, day]
        labels = _clusters(states[:, :midnight])
        for label in np.unique(labels):
            profile[labels == label, day] = at_hour[labels == label, day].mean(axis=0)
    added = {
        "own": own,
        "neighbours": [logit(theirs)],
        "present": [*shock, deviation],
        "cluster": [logit(profile), logit((sums + 0.5 + _PRIOR * profile) / (num + 1 + _PRIOR))],
    }
    kinds = ["own", *(kind for kind, parts in added.items() for _ in range(2 * len(parts)))]
    columns = [states, *(column for parts in added.values() for part in parts for column in (part, part * states))]
    return np.stack(columns, axis=2), kinds


def _sums(values: _Reals, cycle: int, lag: int) -> tuple[_Reals, _Reals]:
    """Return the sum of the values a cycle ago, two ago and so on, an hour around each, and their number."""
    sums, num = np.zeros_like(values), np.zeros(values.shape[1])
    for back in (k + around for k in range(cycle, values.shape[1], cycle) for around in _AROUND_H):
        if lag <= back < values.shape[1]:
            sums[:, back:] += values[:, :-back]
            num[back:] += 1
    return sums, num


def _so_far(values: _Reals, lag: int) -> _Reals:
    """Return the sum of the values up to ``lag`` hours ago."""
    sums = np.cumsum(values, axis=1)
    return np.concatenate((np.zeros((len(values), lag)), sums), axis=1)[:, : values.shape[1]]


def _share(good: _Reals, num: npt.NDArray[Any]) -> _Reals:
    share: _Reals = (good + 0.5) / (num + 1)
    return share


def _neighbours(states: _Reals) -> _Reals:
    """Return the weights of the hosts most correlated with each host; shape (hosts, hosts)."""
    centred = states - states.mean(axis=1, keepdims=True)
    spread = np.linalg.norm(centred, axis=1, keepdims=True)
    centred /= np.where(spread > 0, spread, 1)
    correlation = centred @ centred.T
    np.fill_diagonal(correlation, -2)
    last = min(_NEIGHBOURS, len(states) - 1) - 1
    least = -np.partition(-correlation, last, axis=1)[:, last : last + 1]
    weights = np.where(correlation >= least, np.maximum(correlation, 0.01), 0)
    normed: _Reals = weights / weights.sum(axis=1, keepdims=True)
    return normed


def _clusters(states: _Reals) -> Ints:
    """Return the cluster of each host, by its share of time in each three hours of the day."""
    parts = np.arange(states.shape[1]) % _DAY_H // 3
    profile = np.stack([states[:, parts == part].mean(axis=1) for part in range(8)], axis=1)
    by_share = np.argsort(profile.mean(axis=1), kind="stable")
    centres = profile[by_share[np.linspace(0, len(states) - 1, _CLUSTERS).astype(int)]]
    for _ in range(20):  # k-means
        labels: Ints = np.square(profile[:, None] - centres).sum(axis=2).argmin(axis=1)
        centres = np.array(
            [profile[labels == k].mean(axis=0) if (labels == k).any() else centres[k] for k in range(_CLUSTERS)]
        )
    return labels


def _fit(features: _Reals, outcomes: npt.NDArray[np.bool_]) -> tuple[_Reals, _Reals]:
    """Return the weights of a logistic regression with a ridge of 1, by Newton's method, and means and deviations."""
    scale = np.stack((features.mean(axis=0), features.std(axis=0) + 1e-9))
    x = np.column_stack((np.ones(len(features)), (features - scale[0]) / scale[1]))
    ridge = np.r_[1e-3, np.ones(features.shape[1])]
    weights = np.zeros(x.shape[1])
    for _ in range(12):
        chances = expit(x @ weights)
        curvature = (x * (chances * (1 - chances))[:, None]).T @ x + np.diag(ridge)
        weights += np.linalg.solve(curvature, x.T @ (outcomes - chances) - ridge * weights)
    return weights, scale


def _predict(features: _Reals, weights: _Reals, scale: _Reals) -> _Reals:
    chances: _Reals = expit(weights[0] + ((features - scale[0]) / scale[1]) @ weights[1:])
    return chances


def gain(rows: Rows, predictor: str, what: str = "brier") -> Estimate:
    """Return what a predictor gains over ``own``, over days or over blocks of hosts, whichever interval is wider.

    The gain is in percent of the Brier score of ``own``, or in percent points of right forecasts (``right``). Blocks
    count by their number of forecasts.

    Examples
    --------
    >>> row = {"blocks": "days", "forecasts": 5, "brier_own": 0.2}
    >>> round(gain([row | {"brier_all": 0.1}, row | {"brier_all": 0.2}], "all").mean, 1)
    25.0
    """
    found = []
    for blocks in sorted({row["blocks"] for row in rows}):
        mine = select(rows, blocks=blocks)
        num = np.array([row["forecasts"] for row in mine])
        own, other = (np.array([row[f"{what}_{name}"] for row in mine]) for name in ("own", predictor))
        gains = 100 * (other - own if what == "right" else (own - other) / np.average(own, weights=num))
        mean = np.average(gains, weights=num)
        found.append(estimate((mean + num / num.mean() * (gains - mean)).tolist()))
    return max(found, key=lambda one: one.high - one.low)


def together(rows: Rows) -> Estimate:
    """Return how much more the sum of the errors of ``own`` over hosts varies than if hosts were independent."""
    return estimate(row["together"] for row in select(rows, blocks="days"))
