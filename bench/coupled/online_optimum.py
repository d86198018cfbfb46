"""The on-line optimum beside the hindsight optimum and policies, on one problem: ``hindsched online-optimum``.

All play on the same sampled paths of the instance's chains. A policy's ratio is then a product of two numbers: its
*fault*, its expected makespan over that of the best on-line policy, and the *price* of not knowing the future, the
expected makespan of that policy over the expected hindsight optimum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from hindsched.bench.campaign.engine import code_digest
from hindsched.bench.family import Options, family_of
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.generate import paper
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.state_sources import DrawnStates
from hindsched.instances.text_files import write_text
from hindsched.offline.results import Status
from hindsched.online.coupled import make_policy, simulate
from hindsched.online.coupled.optimum import OnlineOptimum, Optimal, online_optimum
from hindsched.online.coupled.optimum.hindsight import expected_hindsight
from hindsched.online.coupled.optimum.penalised import Charge, Penalised
from hindsched.online.coupled.optimum.state_space import Space
from hindsched.online.coupled.optimum.value_iteration import problem_of
from hindsched.online.loading import policies_by_name, stdout_to_stderr

__all__ = ["COLUMNS", "RELAXED", "STUDY", "Cell", "collect", "compare", "measured", "relaxed", "sample_path", "saying"]

Reals = npt.NDArray[np.float64]

COLUMNS = (
    *("player", "how", "slots", "low", "high", "fault", "price", "price_low", "price_high", "ratio"),
    *("paths", "unfinished", "states", "seconds"),
)

#: Of the study: which instance, and these.
STUDY = ("p", "m", "n_com", "iterations", "scenario", *COLUMNS)
#: Of the free-prefetch bound on the paper's instances.
RELAXED = ("m", "n_com", "wmin", "scenario", "optimum", "bound")

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


@dataclass(frozen=True, slots=True)
class Cell:
    """One instance of the study, and what is measured on it."""

    p: int
    m: int
    n_com: int
    iterations: int
    scenario: int
    paths: int
    policies: tuple[str, ...]
    is_charged: bool

    def instance(self) -> Instance:
        """Return it: workers as the paper draws them, with T_prog = 2 and T_data = 1."""
        drawn = paper(
            m=self.m,
            n_com=self.n_com,
            wmin=1,
            scenario=self.scenario,
            trial=0,
            slots=1,
            p=self.p,
            iterations=self.iterations,
        )
        return drawn.replace(t_prog=2, t_data=1)


def measured(cell: Cell, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a cell, made now unless the folder has them."""
    policies = "-".join(cell.policies)
    numbers = f"p{cell.p}_m{cell.m}_c{cell.n_com}_k{cell.iterations}_s{cell.scenario}_{cell.paths}"
    file = folder / "cells" / f"{numbers}_{policies}{'_bound' if cell.is_charged else ''}_{_code()}.json"
    if file.exists():
        return list(msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]]))
    named = {name: getattr(cell, name) for name in ("p", "m", "n_com", "iterations", "scenario")}
    instance = cell.instance()
    found = compare(
        instance, cell.policies, options=Options(check_slots=0), paths=cell.paths, is_charged=cell.is_charged,
        progress=saying(file.stem),
    )  # fmt: skip
    rows = [named | row for row in found]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, msgspec.json.encode(rows).decode())
    return rows


def _code() -> str:
    """Return a digest of the source that cells depend on: cells of other code are made anew."""
    return code_digest(family="coupled")[:8]


def collect(folder: Path) -> Path:
    """Write all rows in the folder that were made by this code to one table."""
    rows = [
        row
        for file in sorted((folder / "cells").glob(f"*_{_code()}.json"))
        for row in msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]])
    ]
    lines = [",".join(_printed(row[key]) for key in STUDY) for row in rows]
    write_text(folder / "online_optimum.csv", "\n".join([",".join(STUDY), *lines, ""]))
    return folder / "online_optimum.csv"


def relaxed(folder: Path) -> list[dict[str, Any]]:
    """Return the free-prefetch bound beside the hindsight optimum on instances of the paper's experiment, m = 5.

    The optima are the published ones; the rows are written to free_prefetch.csv.
    """
    from hindsched.bench.coupled.optima import known_optima
    from hindsched.bench.results.records import records
    from hindsched.offline.coupled.bounds.free_prefetch import free_prefetch_bound

    optima = known_optima()
    chosen = optima[(optima["m"] == 5) & optima["wmin"].isin([1, 2, 4]) & (optima["trial"] == 0)]
    rows = []
    for known in records(chosen[chosen["scenario"] < 5]):
        point = {name: int(known[name]) for name in RELAXED[:4]}
        optimum = int(known["makespan"])
        m, n_com, wmin, scenario = (point[name] for name in RELAXED[:4])
        drawn = paper(m=m, n_com=n_com, wmin=wmin, scenario=scenario, trial=0, slots=optimum)
        bound = free_prefetch_bound(drawn)
        rows.append({**point, "optimum": optimum, "bound": bound})
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(_printed(row[key]) for key in RELAXED) for row in rows]
    write_text(folder / "free_prefetch.csv", "\n".join([",".join(RELAXED), *lines, ""]))
    return rows


def _printed(value: Any) -> str:
    return "" if value is None else f"{value:.7g}" if isinstance(value, float) else str(value)


def saying(name: str) -> Callable[[str], None]:
    """Return who tells, at most every few seconds, how far it is."""
    last = [monotonic()]

    def say(line: str) -> None:
        if monotonic() - last[0] >= _EVERY_S:
            last[0] = monotonic()
            sys.stderr.write(f"{name}: {line}\n")
            sys.stderr.flush()

    return say
