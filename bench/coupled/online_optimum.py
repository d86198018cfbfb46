"""The on-line optimum beside the hindsight optimum and policies, on one problem: ``hindsched online-optimum``.

All play on the same sampled paths of the instance's chains. A policy's ratio is then a product of two numbers: its
*fault*, its expected makespan over that of the best on-line policy, and the *price* of not knowing the future, the
expected makespan of that policy over the expected hindsight optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.family import Options, family_of
from instances.chains import Chain
from instances.coupled.model import Instance
from instances.errors import InputError, SelfCheckError
from instances.sources import Drawn
from online.coupled import make_policy, simulate
from online.coupled.optimum import OnlineOptimum, Optimal, online_optimum
from online.coupled.optimum.hindsight import expected_hindsight
from online.coupled.optimum.solve import problem_of
from online.coupled.optimum.space import Space

__all__ = ["COLUMNS", "compare", "sample_path"]

Reals = npt.NDArray[np.float64]

COLUMNS = (
    *("player", "how", "slots", "low", "high", "fault", "price", "price_low", "price_high", "ratio"),
    *("paths", "unfinished", "states"),
)

HINDSIGHT, OPTIMUM, PLAYED = "hindsight", "on-line optimum", "its policy"
_Z = 1.959963984540054  # of a 95 % interval
_SLOTS = 1_000_000
#: The expected hindsight optimum is computed exactly where it takes no more sets than so many.
_MOST_SETS = 3_000


class _From(Drawn):
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
    progress: Callable[[str], None] | None = None,
) -> list[dict[str, Any]]:
    """Return a row for the hindsight optimum, for the on-line optimum, for its policy as it is run, and each policy.

    Parameters
    ----------
    instance
        Its chains count, and of its states those in slot 0 only.
    policies
        As for `online.coupled.make_policy`.
    options
        Of the policies and of the solver.
    paths, seed
        How many paths are sampled, at least 2, and the seed of these and of the policies that draw.
    tolerance, most_states
        Of `online.coupled.optimum.online_optimum`. Where there are too many states, the on-line optimum is None.
    progress
        Is told in one line how far it is.

    Returns
    -------
    Rows with the keys `COLUMNS`. ``low`` and ``high`` are proven bounds where ``how`` is ``exact``, else a 95 %
    interval. What is sampled is corrected by the mean of the best policy on the same paths, since its true mean is
    known (a control variate); that of the best policy itself is not, as a check. A run that is not done in 1,000,000
    slots makes the mean None, and counts as unfinished.

    Raises
    ------
    InputError
        As `online_optimum` does, but for too many states.
    SelfCheckError
        If a run is shorter than the hindsight optimum of its path, or the check of the best policy fails.
    """
    asked = options or Options()
    family = family_of(instance)
    say = progress or (lambda line: None)
    names = [make_policy(policy).name for policy in policies]
    optimum = _optimum(instance, tolerance, most_states, progress)
    best_policy = Optimal(optimum) if isinstance(optimum, OnlineOptimum) else None
    found: dict[str, list[float]] = {HINDSIGHT: [], PLAYED: [], **{name: [] for name in names}}
    for path in range(paths):
        drawn = sample_path(instance, seed, path)
        answer = family.solve(drawn, asked)
        best = float(answer.value) if answer.value is not None and answer.status == "optimal" else None
        if best is None and answer.status != "infeasible":
            raise InputError(
                f"path {path} has no proven optimum within the time limit, expected a longer one", place="time-limit"
            )
        found[HINDSIGHT].append(np.inf if best is None else best)
        if best_policy is not None:
            found[PLAYED].append(_value(simulate(drawn, best_policy).makespan))
        for policy, name in zip(policies, names, strict=True):
            found[name].append(_value(family.run(drawn, policy, asked, seed).value))
        for name, values in found.items():
            if values and values[-1] < found[HINDSIGHT][-1]:
                raise SelfCheckError(f"{name} takes {values[-1]} slots on path {path}, less than the hindsight optimum")
        say(f"paths: {path + 1}/{paths}")
    return _rows(instance, optimum, {name: np.array(values) for name, values in found.items() if values})


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
        exact = expected_hindsight(instance, best.longest, most_sets=_MOST_SETS)
        if exact is not None:
            slots = (exact.lower + exact.upper) / 2
            hindsight |= {"how": "exact", "slots": slots, "low": exact.lower, "high": exact.upper, "paths": None}
        row = dict.fromkeys(COLUMNS)
        row |= {"player": OPTIMUM, "how": "exact", "slots": best.value, "low": best.lower, "high": best.upper}
        rows.insert(1, row | {"states": best.states})
    elif isinstance(optimum, int):
        rows.insert(1, dict.fromkeys(COLUMNS) | {"player": OPTIMUM, "how": "too many states", "states": optimum})
    for row in rows:
        slots, least = row["slots"], hindsight["slots"]
        row["ratio"] = None if slots is None or least is None else slots / least
        if best is None:
            continue
        if row is not hindsight:
            row["fault"] = None if slots is None else slots / best.value
        if least is not None:
            row["price"] = best.value / least
            row["price_low"] = best.lower / hindsight["high"]
            row["price_high"] = best.upper / max(hindsight["low"], 1.0)
    return rows


def _row(name: str, values: Reals, luck: Reals | None) -> dict[str, Any]:
    """Return the mean of some values, corrected by the luck that the best policy, whose mean is known, had on them."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"player": name, "how": "sampled", "paths": values.size, "unfinished": int(np.isinf(values).sum())}
    if row["unfinished"] or (luck is not None and np.isinf(luck).any()):
        return row
    if luck is not None and name != PLAYED and luck.std():
        values = values - np.cov(values, luck)[0, 1] / luck.var(ddof=1) * luck
    mean = float(values.mean())
    half = _Z * float(values.std(ddof=1)) / values.size**0.5
    return row | {"slots": mean, "low": mean - half, "high": mean + half}
