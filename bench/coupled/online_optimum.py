"""Compare the on-line optimum of an instance with the hindsight optimum and with policies.

All of them use the same sampled paths of the instance's Markov chains. The ratio of a policy is the product of its
*fault* and the *price* of not knowing the future. The fault is its expected makespan divided by that of the best
on-line policy; the price is the latter divided by the expected hindsight optimum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import monotonic, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.bench.family import family_of
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.state_sources import DrawnStates
from hindsched.offline.results import Number, Status
from hindsched.online.coupled import make_policy, simulate
from hindsched.online.coupled.optimum import OnlineOptimum, Optimal, online_optimum
from hindsched.online.coupled.optimum.hindsight import expected_hindsight
from hindsched.online.coupled.optimum.penalised import Charge, Penalised
from hindsched.online.coupled.optimum.state_space import Space
from hindsched.online.coupled.optimum.value_iteration import problem_of
from hindsched.online.loading import policies_by_name, stdout_to_stderr

__all__ = ["COLUMNS", "Sampling", "compare", "progress_printer", "sample_path"]

Reals = npt.NDArray[np.float64]

COLUMNS = (
    *("player", "how", "slots", "low", "high", "fault", "price", "price_low", "price_high", "ratio"),
    *("paths", "unfinished", "states", "seconds"),
)

#: Rows besides those of policies, by their names in the column ``player``.
PLAYERS = HINDSIGHT, CHARGED, OPTIMUM, OPTIMAL_POLICY = (
    "hindsight",
    "charged hindsight",
    "on-line optimum",
    "its policy",
)
#: Confidence level of intervals.
_CONFIDENCE = 0.95
#: Least number of paths for an interval; relative difference below which values count as equal.
_FEWEST, _ROUNDING = 3, 1e-9
_PROVEN = (Status.OPTIMAL, Status.INFEASIBLE)
#: Slot limit of a run.
_SLOTS = 1_000_000
#: Seconds between two progress messages.
_EVERY_S = 5.0
#: Costs of a failure, in mean hindsight optima of an iteration, and shares that are tried as charges, on 20 paths.
_FAILED, _SHARES, _TRIALS = (0.5, 1.0, 1.5, 2.0), (0.5, 1.0), 20
#: Largest product of worker sets and joint states for which the expected hindsight optimum is computed exactly.
_MOST_EXACT = 30_000


class _From(DrawnStates):
    """States drawn from chains that start in given states."""

    def __init__(self, chains: Sequence[Chain], key: Sequence[str | int], slots: int, initial: tuple[int, ...]) -> None:
        self.initial = initial
        super().__init__(chains, key, slots)

    @property
    def identity(self) -> bytes:
        """The identity of drawn states, with the initial states."""
        return super().identity + repr(self.initial).encode()

    def _first(self, q: int) -> int:
        return self.initial[q]

    def __reduce__(self) -> tuple[Any, ...]:
        return _From, (self.chains, self.key, self.shape[1], self.initial)


def sample_path(instance: Instance, seed: int, path: int, slots: int = _SLOTS) -> Instance:
    """Return the instance with states sampled from its chains, starting in its states of slot 0."""
    initial = tuple(int(state) for state in instance.prefix(1)[:, 0])
    chains = [chain for chain in instance.chains if chain is not None]
    return instance.replace(states=_From(chains, ("online-optimum", seed, path), slots, initial))


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of `compare`.

    Parameters
    ----------
    paths, seed
        Number of sampled paths, at least 1, and the seed of paths and of random policies.
    tolerance, most_states
        As for `hindsched.online.coupled.optimum.online_optimum`; with more states there is no on-line optimum.
    is_charged
        Whether to add the bound of `hindsched.online.coupled.optimum.penalised`, with a charge chosen on other paths.
    """

    paths: int = 300
    seed: int = 0
    tolerance: float = 1e-6
    most_states: int | None = None
    is_charged: bool = False


def compare(
    instance: Instance,
    policies: Sequence[str],
    *,
    options: Options | None = None,
    sampling: Sampling | None = None,
    progress: Callable[[str], None] | None = None,
    refuse: Callable[[InputError], None] | None = None,
) -> list[Row]:
    """Return rows for the hindsight optimum, the on-line optimum, simulations of the optimal policy, and each policy.

    Estimates are corrected by a control variate: the mean of the optimal policy on the same paths, whose true mean is
    known. The estimate of the optimal policy itself is not corrected, as a check.

    Parameters
    ----------
    instance
        Its chains and its states in slot 0 are used.
    policies
        As for `hindsched.online.coupled.make_policy`.
    options
        Options of the policies and of the solver.
    sampling
        The sampled paths and the bounds; None: the defaults.
    progress
        Called with a progress message of one line.
    refuse
        Called with the error of a policy that breaks a rule or raises, which then has no row; None: it is raised.

    Returns
    -------
    list of dict
        Rows with the keys `COLUMNS`. ``low`` and ``high`` are proven bounds if ``how`` is ``exact``, else a 95 %
        interval by Student's t; they are None for fewer than 3 paths, and if all values are equal. A run that is not
        finished in 1,000,000 slots makes the mean None. If the optimum of a path is not proven in time, there is no
        hindsight optimum, and ``how`` says so. ``seconds`` is the processor time of the on-line optimum.

    Raises
    ------
    InputError
        As `online_optimum` raises it, except for too many states; and for two rows with the same name.
    SelfCheckError
        If a run is shorter than the hindsight optimum of its path, or the check of the optimal policy fails.
    """
    options, sampling = options or Options(), sampling or Sampling()
    family = family_of(instance)
    if family.under(options) is not family:
        raise InputError("iterations, expected makespan", place="objective")
    report = progress or (lambda line: None)
    if sampling.paths < 1:
        raise InputError(f"{sampling.paths}, expected an integer >= 1", place="paths")
    named = policies_by_name(policies, make_policy, taken=PLAYERS)
    started = process_time()
    optimum = _optimum(instance, sampling, progress)
    seconds = process_time() - started
    best_policy = Optimal(optimum) if isinstance(optimum, OnlineOptimum) else None
    charged = _charged(instance, sampling.seed, options, report) if sampling.is_charged else None
    players = [HINDSIGHT, *[CHARGED] * sampling.is_charged, *[OPTIMAL_POLICY] * (best_policy is not None), *named]
    found: dict[str, list[float]] = {name: [] for name in players}
    is_proven = True
    for path in range(sampling.paths):
        drawn = sample_path(instance, sampling.seed, path)
        least = 0.0
        if is_proven:
            answer = family.solve(drawn, options)
            is_proven = answer.status in _PROVEN
            least = _value(answer.value) if is_proven else float(answer.lower or 0)
            found[HINDSIGHT].append(least)
        if charged is not None:
            found[CHARGED].append(charged(drawn))
        if best_policy is not None:
            found[OPTIMAL_POLICY].append(_value(simulate(drawn, best_policy).makespan))
        for name, policy in list(named.items()):
            try:
                with stdout_to_stderr():
                    record = family.run(drawn, policy, options, sampling.seed)
            except InputError as error:
                if refuse is None:
                    raise
                refuse(error)
                del named[name], found[name]
            else:
                found[name].append(_value(record.value))
        for name, values in found.items():
            if name not in (HINDSIGHT, CHARGED) and values[-1] < least:
                raise SelfCheckError(f"{name} takes {values[-1]} slots on path {path}, whose optimum is {least}")
        report(f"paths: {path + 1}/{sampling.paths}")
    if not is_proven:
        found[HINDSIGHT].clear()
    rows = _rows(instance, optimum, {name: np.array(values) for name, values in found.items()})
    for row in rows:
        row["seconds"] = seconds if row["player"] == OPTIMUM and row["slots"] is not None else None
    return rows


def _charged(
    instance: Instance, seed: int, options: Options, report: Callable[[str], None]
) -> Callable[[Instance], float] | None:
    """Return the penalised hindsight makespan of a path, with the charge that gives the best bound on other paths.

    The result is None if an optimum of these paths is not proven in time.
    """
    penalised = Penalised(instance)
    family = family_of(instance)
    drawn = [sample_path(instance, -1 - seed, path) for path in range(_TRIALS)]
    best = []
    for each in drawn:
        answer = family.solve(each, options)
        if answer.status not in _PROVEN:
            return None
        best.append(float(answer.value or 0))
    slots = int(4 * max(best)) + 1
    scale = float(np.mean(best)) / instance.iterations
    means = {}
    for charge in _charges(scale):
        means[charge] = float(np.mean([penalised.bound(each.prefix(slots), charge) for each in drawn]))
        report(f"charges: {len(means)} tried")
    charge = max(means, key=lambda each: means[each])
    return lambda path: penalised.bound(path.prefix(slots), charge)


def _charges(scale: float) -> list[Charge]:
    tried = [Charge(failed * scale, share) for failed, share in product(_FAILED, _SHARES)]
    return [Charge(scale, 0.0), *tried]  # the first charge gives the hindsight optimum


def _optimum(instance: Instance, sampling: Sampling, progress: Callable[[str], None] | None) -> OnlineOptimum | int:
    """Return the on-line optimum, or the number of states if there are too many."""
    most_states = sampling.most_states
    space = Space(problem_of(instance)[0], most_states, refuses=False)
    if most_states is not None and space.states > most_states:
        return space.states
    return online_optimum(instance, tolerance=sampling.tolerance, most_states=most_states, progress=progress)


def _value(makespan: Number | None) -> float:
    return np.inf if makespan is None else float(makespan)


def _rows(instance: Instance, optimum: OnlineOptimum | int, found: dict[str, Reals]) -> list[Row]:
    best = optimum if isinstance(optimum, OnlineOptimum) else None
    deviation = None if best is None else found[OPTIMAL_POLICY] - best.value
    rows = [_row(name, values, deviation) for name, values in found.items()]
    hindsight = rows[0]
    if best is not None:
        exact = expected_hindsight(instance, best.longest, most_sets=_MOST_EXACT // 3**instance.num_workers)
        if exact is not None:
            slots = (exact.lower + exact.upper) / 2
            hindsight |= {"how": "exact", "slots": slots, "low": exact.lower, "high": exact.upper, "paths": None}
        row = dict.fromkeys(COLUMNS)
        row |= {"player": OPTIMUM, "how": "exact", "slots": best.value, "low": best.lower, "high": best.upper}
        rows.insert(1 + (CHARGED in found), row | {"states": best.states})
    elif isinstance(optimum, int):
        rows.insert(
            1 + (CHARGED in found),
            dict.fromkeys(COLUMNS) | {"player": OPTIMUM, "how": "too many states", "states": optimum},
        )
    for row in rows:
        slots, least = row["slots"], hindsight["slots"]
        row["ratio"] = None if slots is None or least is None else slots / least
        if best is None:
            continue
        if row["player"] not in (HINDSIGHT, CHARGED):
            row["fault"] = None if slots is None else slots / best.value
        if least is not None:
            row["price"] = best.value / least
            if hindsight["low"] is not None:
                row["price_low"] = best.lower / hindsight["high"]
                row["price_high"] = best.upper / max(hindsight["low"], 1.0)
    return rows


def _row(name: str, values: Reals, deviation: Reals | None) -> Row:
    """Return the mean of values, with the deviation of the optimal policy from its mean as a control variate."""
    row: Row = dict.fromkeys(COLUMNS) | {"player": name}
    if not values.size:
        return row | {"how": "not proven in time"}
    row |= {"how": "sampled", "paths": values.size, "unfinished": int(np.isinf(values).sum())}
    if row["unfinished"] or (deviation is not None and np.isinf(deviation).any()):
        return row
    paths = values.size
    degrees, share = paths - 1, 1 / paths  # degrees of freedom; variance of the mean as a share of that of a value
    if deviation is not None and name != OPTIMAL_POLICY and paths >= _FEWEST and np.ptp(deviation):
        values = values - np.cov(values, deviation)[0, 1] / deviation.var(ddof=1) * deviation
        share += float(deviation.mean() ** 2 / deviation.var()) / paths
        degrees -= 1
    mean = float(values.mean())
    row["slots"] = mean
    if paths >= _FEWEST and np.ptp(values) > _ROUNDING * mean:
        from scipy.special import stdtrit

        variance = paths * float(values.var()) / degrees
        half = float(stdtrit(degrees, (1 + _CONFIDENCE) / 2)) * (variance * share) ** 0.5
        row |= {"low": mean - half, "high": mean + half}
    return row


def progress_printer(name: str) -> Callable[[str], None]:
    """Return a function that prints progress messages, at most one every few seconds."""
    last = [monotonic()]

    def report(line: str) -> None:
        if monotonic() - last[0] >= _EVERY_S:
            last[0] = monotonic()
            sys.stderr.write(f"{name}: {line}\n")
            sys.stderr.flush()

    return report
