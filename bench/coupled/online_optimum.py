"""The on-line optimum beside the hindsight optimum and policies, on one problem: ``hindsched online-optimum``.

All play on the same sampled paths of the instance's chains. A policy's ratio is then a product of two numbers: its
*fault*, its expected makespan over that of the best on-line policy, and the *price* of not knowing the future, the
expected makespan of that policy over the expected hindsight optimum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from time import monotonic, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.bench.family import family_of
from hindsched.bench.run_records import Options
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.state_sources import DrawnStates
from hindsched.offline.results import Status
from hindsched.online.coupled import make_policy, simulate
from hindsched.online.coupled.optimum import OnlineOptimum, Optimal, online_optimum
from hindsched.online.coupled.optimum.hindsight import expected_hindsight
from hindsched.online.coupled.optimum.penalised import Charge, Penalised
from hindsched.online.coupled.optimum.state_space import Space
from hindsched.online.coupled.optimum.value_iteration import problem_of
from hindsched.online.loading import policies_by_name, stdout_to_stderr

__all__ = ["COLUMNS", "compare", "sample_path", "saying"]

Reals = npt.NDArray[np.float64]

COLUMNS = (
    *("player", "how", "slots", "low", "high", "fault", "price", "price_low", "price_high", "ratio"),
    *("paths", "unfinished", "states", "seconds"),
)

PLAYERS = HINDSIGHT, CHARGED, OPTIMUM, PLAYED = "hindsight", "charged hindsight", "on-line optimum", "its policy"
_COVERED = 0.95  # by an interval
#: Means of fewer paths have no interval, and are not corrected; values agree that differ by such a share of the mean.
_FEWEST, _ROUNDING = 3, 1e-9
#: A path's hindsight optimum is known.
_PROVEN = (Status.OPTIMAL, Status.INFEASIBLE)
_SLOTS = 1_000_000
_EVERY_S = 5.0
#: Charges that are tried, on so many paths: the cost of a failure in mean hindsight optima of an iteration.
_FAILED, _SHARES, _TRIALS = (0.5, 1.0, 1.5, 2.0), (0.5, 1.0), 20
#: The expected hindsight optimum is exact where sets times joint states of the workers are no more than this.
_MOST_EXACT = 30_000


class _From(DrawnStates):
    """States drawn from chains that start in given states."""

    def __init__(self, chains: Sequence[Chain], key: Sequence[str | int], slots: int, begin: tuple[int, ...]) -> None:
        self.begin = begin
        super().__init__(chains, key, slots)

    @property
    def identity(self) -> bytes:
        """That of drawn states, and where they start."""
        return super().identity + repr(self.begin).encode()

    def _first(self, q: int) -> int:
        return self.begin[q]

    def __reduce__(self) -> tuple[Any, ...]:
        return _From, (self.chains, self.key, self.shape[1], self.begin)


def sample_path(instance: Instance, seed: int, path: int, slots: int = _SLOTS) -> Instance:
    """Return the instance with states drawn from its chains, from its own states in slot 0."""
    now = tuple(int(state) for state in instance.prefix(1)[:, 0])
    chains = [chain for chain in instance.chains if chain is not None]
    return instance.replace(states=_From(chains, ("online-optimum", seed, path), slots, now))


def compare(
    instance: Instance,
    policies: Sequence[str],
    *,
    options: Options | None = None,
    paths: int = 300,
    seed: int = 0,
    tolerance: float = 1e-6,
    most_states: int | None = None,
    is_charged: bool = False,
    progress: Callable[[str], None] | None = None,
    refuse: Callable[[InputError], None] | None = None,
) -> list[dict[str, Any]]:
    """Return a row for the hindsight optimum, for the on-line optimum, for its policy as it is run, and each policy.

    Parameters
    ----------
    instance
        Its chains count, and of its states those in slot 0 only.
    policies
        As for `hindsched.online.coupled.make_policy`.
    options
        Of the policies and of the solver.
    paths, seed
        How many paths are sampled, at least 1, and the seed of these and of the policies that draw.
    tolerance, most_states
        Of `online.coupled.optimum.online_optimum`. Where there are too many states, the on-line optimum is None.
    is_charged
        Whether to add the bound of `hindsched.online.coupled.optimum.penalised`, the charge chosen on other paths.
    progress
        Is told in one line how far it is.
    refuse
        Is told why a policy has no row, as it breaks a rule or raises; None: that is raised.

    Returns
    -------
    Rows with the keys `COLUMNS`. ``low`` and ``high`` are proven bounds where ``how`` is ``exact``, else a 95 %
    interval, by Student's t. What is sampled is corrected by the mean of the best policy on the same paths, since its
    true mean is known (a control variate: the regression on it, at its true mean); that of the best policy itself is
    not, as a check. There is no interval where fewer than 3 paths are sampled, or all values agree. A run that is not
    done in 1,000,000 slots makes the mean None, and counts as unfinished. Where the optimum of a path is not proven in
    time no further one is sought, and ``how`` says so. ``seconds`` is the processor time of the on-line optimum.

    Raises
    ------
    InputError
        As `online_optimum` does, but for too many states; for two policies of one name, or of that of another row.
    SelfCheckError
        If a run is shorter than the hindsight optimum of its path, or the check of the best policy fails.
    """
    asked = options or Options()
    family = family_of(instance)
    say = progress or (lambda line: None)
    if paths < 1:
        raise InputError(f"{paths}, expected an integer >= 1", place="paths")
    named = policies_by_name(policies, make_policy, taken=PLAYERS)
    begun = process_time()
    optimum = _optimum(instance, tolerance, most_states, progress)
    taken = process_time() - begun
    best_policy = Optimal(optimum) if isinstance(optimum, OnlineOptimum) else None
    charged = _charged(instance, seed, asked, say) if is_charged else None
    players = [HINDSIGHT, *[CHARGED] * is_charged, *[PLAYED] * (best_policy is not None), *named]
    found: dict[str, list[float]] = {name: [] for name in players}
    is_proven = True
    for path in range(paths):
        drawn = sample_path(instance, seed, path)
        least = 0.0
        if is_proven:
            answer = family.solve(drawn, asked)
            is_proven = answer.status in _PROVEN
            least = _value(answer.value) if is_proven else float(answer.lower or 0)
            found[HINDSIGHT].append(least)
        if charged is not None:
            found[CHARGED].append(charged(drawn))
        if best_policy is not None:
            found[PLAYED].append(_value(simulate(drawn, best_policy).makespan))
        for name, policy in list(named.items()):
            try:
                with stdout_to_stderr():
                    played = family.run(drawn, policy, asked, seed)
            except InputError as error:
                if refuse is None:
                    raise
                refuse(error)
                del named[name], found[name]
            else:
                found[name].append(_value(played.value))
        for name, values in found.items():
            if name not in (HINDSIGHT, CHARGED) and values[-1] < least:
                raise SelfCheckError(f"{name} takes {values[-1]} slots on path {path}, where {least} are needed")
        say(f"paths: {path + 1}/{paths}")
    if not is_proven:
        found[HINDSIGHT].clear()
    rows = _rows(instance, optimum, {name: np.array(values) for name, values in found.items()})
    for row in rows:
        row["seconds"] = taken if row["player"] == OPTIMUM and row["slots"] is not None else None
    return rows


def _charged(
    instance: Instance, seed: int, options: Options, say: Callable[[str], None]
) -> Callable[[Instance], float] | None:
    """Return the clairvoyant's charged makespan of a path, by the charge that bounds best on paths drawn apart.

    None: an optimum of these is not proven in time.
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
        say(f"charges: {len(means)} tried")
    charge = max(means, key=lambda each: means[each])
    return lambda path: penalised.bound(path.prefix(slots), charge)


def _charges(scale: float) -> list[Charge]:
    tried = [Charge(failed * scale, share) for failed, share in product(_FAILED, _SHARES)]
    return [Charge(scale, 0.0), *tried]  # the first is hindsight itself


def _optimum(
    instance: Instance, tolerance: float, most_states: int | None, progress: Callable[[str], None] | None
) -> OnlineOptimum | int:
    """Return the on-line optimum, or the number of states where these are too many."""
    space = Space(problem_of(instance)[0], most_states, refuses=False)
    if most_states is not None and space.states > most_states:
        return space.states
    return online_optimum(instance, tolerance=tolerance, most_states=most_states, progress=progress)


def _value(makespan: Any) -> float:
    return np.inf if makespan is None else float(makespan)


def _rows(instance: Instance, optimum: OnlineOptimum | int, found: dict[str, Reals]) -> list[dict[str, Any]]:
    best = optimum if isinstance(optimum, OnlineOptimum) else None
    luck = None if best is None else found[PLAYED] - best.value
    rows = [_row(name, values, luck) for name, values in found.items()]
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


def _row(name: str, values: Reals, luck: Reals | None) -> dict[str, Any]:
    """Return the mean of some values, corrected by the luck that the best policy, whose mean is known, had on them."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"player": name}
    if not values.size:
        return row | {"how": "not proven in time"}
    row |= {"how": "sampled", "paths": values.size, "unfinished": int(np.isinf(values).sum())}
    if row["unfinished"] or (luck is not None and np.isinf(luck).any()):
        return row
    paths = values.size
    degrees, share = paths - 1, 1 / paths  # of freedom; of the variance of a value, that of the mean
    if luck is not None and name != PLAYED and paths >= _FEWEST and np.ptp(luck):
        values = values - np.cov(values, luck)[0, 1] / luck.var(ddof=1) * luck
        share += float(luck.mean() ** 2 / luck.var()) / paths
        degrees -= 1
    mean = float(values.mean())
    row["slots"] = mean
    if paths >= _FEWEST and np.ptp(values) > _ROUNDING * mean:
        from scipy.special import stdtrit

        variance = paths * float(values.var()) / degrees
        half = float(stdtrit(degrees, (1 + _COVERED) / 2)) * (variance * share) ** 0.5
        row |= {"low": mean - half, "high": mean + half}
    return row


def saying(name: str) -> Callable[[str], None]:
    """Return who tells, at most every few seconds, how far it is."""
    last = [monotonic()]

    def say(line: str) -> None:
        if monotonic() - last[0] >= _EVERY_S:
            last[0] = monotonic()
            sys.stderr.write(f"{name}: {line}\n")
            sys.stderr.flush()

    return say
