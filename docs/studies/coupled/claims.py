"""Judge the claims of the paper on coupled applications by its experiment (docs/model.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docs.studies.claims import Claim, Exhibit, Verdict, holds_if, holds_in, in_all, within
from docs.studies.coupled.lookahead import POINT
from docs.studies.coupled.paper_metrics import Makespans
from docs.studies.coupled.variants import CRITERIA
from docs.studies.rows import read_rows_with_gaps
from hindsched.bench.coupled.paper import experiment
from hindsched.bench.coupled.paper_tables import TABLES, printed_tables
from hindsched.bench.report.formatting import MINUS, count
from hindsched.bench.results.read import read_results
from hindsched.online.coupled import POLICIES
from hindsched.online.coupled.renewal_sums import modes, sums_closed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EXHIBITS", "claims_of_results", "cut_off", "judge", "tables_of"]

PRINTED, CONDITIONAL = "printed", "conditional"
_BUILDERS = ("IP", "IE", "IY", "IAY")
_SWITCHES = ("P", "E", "Y")
#: Passive heuristics beside IE, in the order of the printed numbers.
_OTHER_PASSIVE = ("IAY", "IY", "IP")
#: Precision of Theorem 5.1's sums in the claim.
_EPSILON = 1e-6
#: Largest %diff, in points, of a heuristic that is "never much worse" than IE.
_MUCH_WORSE = 5.0
#: Share of equal makespans from which on two heuristics are "mostly identical".
_MOSTLY = 0.5
#: Share of the runs from which on failures of proactive heuristics alone speak for divergence.
_DIVERGING = 0.01

EXHIBITS = (
    Exhibit(
        "Figure 1",
        "one iteration of five tasks on five workers",
        "[rebuilt](#figure-1) from its numbers; the states of the paper's figure are not at hand",
    ),
    Exhibit("Table I", "all 17 heuristics, m = 5", "[Table I](#table-i)"),
    Exhibit("Table II", "seven heuristics against IE, m = 10", "[Table II](#table-ii)"),
    Exhibit("Figure 2", "%diff against wmin", "[Figure 2](reproduction.md#figure-2), in the paper's axes"),
)

#: Runs by table, for each reading.
Tables = Mapping[str, Mapping[str, Makespans]]


def claims_of_results(folder: Path) -> list[Claim]:
    """Return the claims judged by ``runs.csv.xz``, which ``hindsched reproduce`` writes into a folder."""
    runs = read_results(folder / "runs.csv.xz").runs
    runs["makespan"] = runs["value"]
    return judge(tables_of({name: runs[runs["estimator"] == name] for name in (PRINTED, CONDITIONAL)}))


def tables_of(runs: Mapping[str, pd.DataFrame]) -> Tables:
    """Return the runs of Table I and of Table II under each reading."""
    return {
        reading: {table: Makespans(frame[frame["m"] == m]) for table, m in TABLES.items()}
        for reading, frame in runs.items()
    }


def judge(tables: Tables) -> list[Claim]:
    """Return the paper's claims with their verdicts, in the order of the paper."""
    mine = tables[PRINTED]
    return [
        *_theory(),
        *_of_tables(mine),
        *_of_failures(mine),
        *_of_pairs(tables),
        *_of_figure_2(mine),
        _apparent_yield(),
    ]


# ---- sections IV and V


def _theory() -> list[Claim]:
    terms, error, teams = cut_off(_EPSILON)
    return [
        Claim(
            "IV, Theorem 4.1",
            "both off-line problems are NP-hard",
            "proven for absences that are RECLAIMED ([model](../../model.md), section 7); `verify-reductions` tests "
            "the maps of witnesses",
            Verdict.HOLDS,
        ),
        Claim(
            "IV",
            "no polynomial algorithm has a finite ratio to the optimum, unless P = NP",
            "proven: such an algorithm would decide whether an iteration can be completed "
            "([theory](../../theory.md#no-finite-ratio))",
            Verdict.HOLDS,
        ),
        Claim(
            "V, Theorem 5.1",
            "P₊ and E_c can be computed to any precision ε in polynomial time, by cutting off the sums",
            f"with tails of the sums below 10⁻⁶ they differ from the closed forms by at most {error:.0e}, on "
            f"{count(teams)} teams of 1 to 10 workers; at most {count(terms)} terms are summed",
            Verdict.PARTLY if error <= _EPSILON else Verdict.FAILS,
            reason="the number of terms grows as 1 / (1 − Λ), Λ the product of the larger eigenvalues, which is not "  # noqa: RUF001
            "polynomial in the digits of the chains",
        ),
        Claim(
            "V",
            "the formula for E(W) is the expected duration given success",
            "it is not for W > 1 and P₊ < 1: the expectation is 1 + (W - 1) E_c / P₊ "
            "([model](../../model.md), section 5), as a Monte-Carlo test confirms",
            Verdict.FAILS,
            reason="the paper's abstract speaks of an approximation",
        ),
    ]


def cut_off(epsilon: float) -> tuple[int, float, int]:
    """Return how P₊ and E_c behave when the sums E_u and A end where a bound on both tails reaches ``epsilon``.

    With L the product of the larger eigenvalues, P(t) <= L^t, so the tails after T terms are at most L^(T+1) / (1 - L)
    and L^(T+1) ((T+1) (1-L) + L) / (1-L)^2. The teams are the first 1, 2, 5 and 10 workers of the scenarios of the
    experiment with m = 5.

    Returns
    -------
    int
        The largest number of terms.
    float
        The largest difference of P₊ or E_c to the closed form.
    int
        The number of teams.
    """
    terms, error, teams = 0, 0.0, 0
    for source in experiment(ms=[5], trials=[0], slots=1):
        workers = [modes(chain) for chain in source.load().chains if chain is not None]
        for size in (1, 2, 5, 10):
            team = workers[:size]
            ratio = float(np.prod([1 - worker.gap for worker in team]))
            length = 64
            while _tail(ratio, length) > epsilon:
                length *= 2
            t = np.arange(1, length + 1)
            tails = ratio ** (t + 1.0) * ((t + 1) * (1 - ratio) + ratio) / (1 - ratio) ** 2
            cut = int(np.argmax(tails <= epsilon)) + 1
            of_team = np.ones(cut)
            for worker in team:
                first = worker.weight * (1 - worker.gap) ** t[:cut]
                of_team *= first + worker.other_weight * (1 - worker.other_gap) ** t[:cut]
            closed = _returns(*sums_closed(team))
            found = _returns(float(of_team.sum()), float((t[:cut] * of_team).sum()))
            error = max(error, *(abs(a - b) for a, b in zip(found, closed, strict=True)))
            terms, teams = max(terms, cut), teams + 1
    return terms, error, teams


def _returns(e_u: float, a: float) -> tuple[float, float]:
    """Return P₊ and E_c, given the sums E_u and A."""
    return e_u / (1 + e_u), a / (1 + e_u) ** 2


def _tail(ratio: float, terms: int) -> float:
    return ratio ** (terms + 1) * ((terms + 1) * (1 - ratio) + ratio) / (1 - ratio) ** 2


# ---- section VII: Tables I and II


def _of_tables(tables: Mapping[str, Makespans]) -> list[Claim]:
    first = tables["I"]
    printed = printed_tables()
    of_first = printed[printed["table"] == "I"].set_index("policy")["diff"]
    faster = [policy for policy in of_first.index if of_first[policy] < 0]
    slower = {p: within(*first.intervals[p]["diff"], 0.0, above=True) for p in of_first.index if of_first[p] > 0}
    others = [policy for policy, verdict in slower.items() if verdict is Verdict.FAILS]
    undecided = [policy for policy, verdict in slower.items() if verdict is Verdict.UNDECIDED]
    leads = {policy: first.difference(policy, "Y-IE") for policy in of_first.index if policy != "Y-IE"}
    best = min(leads, key=lambda policy: leads[policy][0])
    return [
        Claim(
            "VII, Table I",
            f"{_listed(faster)} are faster than IE",
            "; ".join(f"{policy} {_with_interval(first, policy)}" for policy in faster),
            in_all(within(*first.intervals[policy]["diff"], 0.0, above=False) for policy in faster),
            printed=", ".join(_points(of_first[policy]) for policy in faster),
            runs=len(first.wide),
        ),
        Claim(
            "VII, Table I",
            "all other heuristics are slower than IE",
            "faster: " + ("; ".join(f"{p} {_with_interval(first, p)}" for p in others) or "none")
            + f"; the interval contains 0 for {_listed(undecided) or 'none'}",
            in_all(slower.values()),
            printed=", ".join(_points(of_first[policy]) for policy in others),
            runs=len(first.wide),
            reason="the reading `frozen` makes E-IE slow; nothing explains Y-IAY",
        ),
        Claim(
            "VII, Table I",
            "Y-IE is the best heuristic",
            f"the best other is {best}; its %diff less that of Y-IE is {_interval(*leads[best])}",
            in_all(within(low, high, 0.0, above=True) for _, low, high in leads.values()),
            printed=_points(of_first["Y-IE"]),
            runs=len(first.wide),
            reason="E-IE is slow only under `frozen`",
        ),
        Claim(
            "VII, Table I",
            "RANDOM is slower than IE by more than an order of magnitude",
            _with_interval(first, "RANDOM"),
            within(*first.intervals["RANDOM"]["diff"], 900.0, above=True),
            printed=_points(of_first["RANDOM"]),
            runs=len(first.wide),
        ),
        Claim(
            "VII, Tables I, II",
            "IE is the best passive heuristic",
            "; ".join(
                f"Table {table}: " + ", ".join(f"{policy} {_with_interval(mine, policy)}" for policy in _OTHER_PASSIVE)
                for table, mine in tables.items()
            ),
            in_all(
                within(*mine.intervals[policy]["diff"], 0.0, above=True)
                for mine in tables.values()
                for policy in _OTHER_PASSIVE
            ),
            printed="13.6, 24.2, 52.0; 136.7, 147.8",
            runs=_runs(tables),
        ),
        _order_of_builders(tables),
    ]  # fmt: skip


def _order_of_builders(tables: Mapping[str, Makespans]) -> Claim:
    """Judge whether IAY is a better builder than IY, and IY than IP, for each criterion and for passive heuristics."""
    found = []
    for mine in tables.values():
        for switch in ("", *(f"{name}-" for name in _SWITCHES)):
            found += [mine.difference(f"{switch}{b}", f"{switch}{a}") for a, b in (("IAY", "IY"), ("IY", "IP"))]
    lead = min(low for _, low, _ in found)
    verdict = in_all(within(low, high, 0.0, above=True) for _, low, high in found)
    size = [value for value, _, _ in found]
    return Claim(
        "VII, Tables I, II",
        "C-IAY is faster than C-IY, and C-IY than C-IP, for every criterion C",
        f"in all {len(found)} pairs of the two tables %diff rises by {min(size):.1f} to {max(size):.1f} points; the "
        f"least end of an interval is {lead:.1f}",
        verdict,
        printed=f"{MINUS}10.4, {MINUS}3.4, 19.4 for C = E",
        runs=_runs(tables),
    )


# ---- section VII: failures


def _of_failures(tables: Mapping[str, Makespans]) -> list[Claim]:
    wide = _joined(tables)
    fails = wide == np.inf
    of_ie = fails["IE"]
    finishes = {policy: int((of_ie & ~fails[policy]).sum()) for policy in POLICIES if policy != "IE"}
    most = max(finishes, key=lambda policy: finishes[policy])
    by_table = {table: {p: int(mine.metrics[p]["fails"]) for p in POLICIES} for table, mine in tables.items()}
    pair = {table: (found["Y-IE"], found["P-IE"]) for table, found in by_table.items()}
    more, low, high = tables["II"].difference("P-IE", "Y-IE", "fails")
    diverging = {f"{c}-{b}": int((fails[f"{c}-{b}"] & ~fails[b]).sum()) for c in _SWITCHES for b in _BUILDERS}
    worst = max(diverging, key=lambda policy: diverging[policy])
    random_low, random_high = tables["I"].intervals["RANDOM"]["fails"]
    return [
        Claim(
            "VII",
            "where IE fails, all heuristics fail",
            f"IE fails on {int(of_ie.sum())} instances, {_infeasible(tables)} of them infeasible; {most} finishes "
            f"{finishes[most]} of the others, and each of the 12 proactive heuristics at least "
            f"{min(finishes[policy] for policy in diverging)}",
            holds_if(not any(finishes.values())),
            printed="81 instances with m = 10",
            runs=len(wide),
        ),
        _most_robust(tables),
        Claim(
            "VII, Tables I, II",
            "Y-IE and P-IE fail equally often",
            "; ".join(f"Table {table}: {first} and {second}" for table, (first, second) in pair.items())
            + f", {more:.0f} more ({low:.0f} to {high:.0f})",
            holds_in([first == second for first, second in pair.values()]),
            printed="2 and 2; 141 and 141",
            runs=len(wide),
        ),
        Claim(
            "VII, Table I",
            "RANDOM does not fail",
            f"RANDOM fails {by_table['I']['RANDOM']} times ({random_low:.0f} to {random_high:.0f})",
            holds_if(by_table["I"]["RANDOM"] == 0),
            printed="0",
            runs=len(tables["I"].wide),
            reason="the paper's claim that all heuristics fail where IE does contradicts it too",
        ),
        Claim(
            "VII",
            "proactive heuristics do not diverge: they do not change configurations for ever",
            f"substitute: runs that fail where the passive heuristic with the same builder finishes, below "
            f"{_DIVERGING:.0%}; {worst} has most, {diverging[worst]}, the three with the builder IE at most "
            f"{max(diverging[f'{c}-IE'] for c in _SWITCHES)}",
            Verdict.SUBSTITUTE if diverging[worst] < _DIVERGING * len(wide) else Verdict.UNDECIDED,
            runs=len(wide),
        ),
    ]  # fmt: skip


def _most_robust(tables: Mapping[str, Makespans]) -> Claim:
    """Judge whether IE fails least, by the differences of failures in each table."""
    parts: list[str] = []
    verdicts: list[Verdict] = []
    for table, mine in tables.items():
        others = {policy: mine.difference(policy, "IE", "fails") for policy in POLICIES if policy != "IE"}
        found = {policy: within(low, high, 0.0, above=True) for policy, (_, low, high) in others.items()}
        verdicts += found.values()
        fewer = sorted((others[policy], policy) for policy, verdict in found.items() if verdict is Verdict.FAILS)
        listed = ", ".join(f"{policy} by {-by:.0f} ({-high:.0f} to {-low:.0f})" for (by, low, high), policy in fewer)
        parts.append(
            f"Table {table}: IE {mine.metrics['IE']['fails']:.0f}; fewer: {listed or 'none beyond sampling error'}"
        )
    return Claim(
        "VII, Tables I, II",
        "IE is the most robust heuristic: it fails least",
        "; ".join(parts),
        in_all(verdicts),
        printed="1; 81",
        runs=_runs(tables),
        reason="the rules or draws of the paper were easier ([upstream](reproduction.md#what-stays-unexplained))",
    )


def _infeasible(tables: Mapping[str, Makespans]) -> int:
    """Return the number of instances without a schedule."""
    runs = (mine.runs[mine.runs["policy"] == "IE"] for mine in tables.values())
    return sum(int((each["optimum_status"] == "infeasible").sum()) for each in runs)


# ---- section VII: pairs of heuristics


def _of_pairs(tables: Tables) -> list[Claim]:
    parts = []
    for reading in (PRINTED, CONDITIONAL):
        shares = _equal_makespans(_joined(tables[reading]))
        parts.append(f"`{reading}`: " + ", ".join(f"{builder} {share:.0%}" for builder, share in shares.items()))
    mine = tables[PRINTED]
    shares = _equal_makespans(_joined(mine))
    few = [builder for builder, share in shares.items() if share <= _MOSTLY]
    points = [at for makespans in mine.values() for at in makespans.diff_by_wmin("P-IE")]
    worst, end = max(value for value, _, _ in points), max(high for _, _, high in points)
    worse = [100 - makespans.metrics["P-IE"]["wins30"] for makespans in mine.values()]
    return [
        Claim(
            "VII",
            "Y-H and P-H are mostly identical",
            "substitute: equal makespans of Y-H and P-H, by builder H: " + "; ".join(parts),
            Verdict.UNDECIDED if few else Verdict.SUBSTITUTE,
            runs=2 * len(_joined(mine)),
            reason="the paper gives no measure" + "".join(f"; Y-{b} and P-{b} differ on half of the runs" for b in few),
        ),
        Claim(
            "VII, Figure 2",
            "P-IE is never much worse than IE",
            f"its largest %diff at the {len(points)} points (m, wmin) is {_points(worst)}, and the largest end "
            f"of an interval {_points(end)}; it takes more than 1.3 times as long on {worse[0]:.1f} % (m = 5) and "
            f"{worse[1]:.1f} % (m = 10) of the trials",
            holds_if(end <= _MUCH_WORSE),
            runs=_runs(mine),
        ),
    ]


def _equal_makespans(wide: pd.DataFrame) -> dict[str, float]:
    """Return the share of equal makespans of Y-H and P-H among the instances that both finish, by builder H."""
    found = {}
    for builder in _BUILDERS:
        one, other = wide[f"Y-{builder}"], wide[f"P-{builder}"]
        both = (one < np.inf) & (other < np.inf)
        found[builder] = float((one[both] == other[both]).mean())
    return found


# ---- section VII: Figure 2


def _of_figure_2(tables: Mapping[str, Makespans]) -> list[Claim]:
    beyond = {table: mine.diff_by_wmin("Y-IE")[8:] for table, mine in tables.items()}
    listed = "; ".join(
        f"m = {TABLES[table]}: " + ", ".join(_interval(*found) for found in each) for table, each in beyond.items()
    )
    return [
        Claim(
            "VII, Figure 2",
            "IE overtakes Y-IE where wmin > 8",
            f"%diff of Y-IE at wmin = 9, 10: {listed}",
            in_all(within(low, high, 0.0, above=True) for each in beyond.values() for _, low, high in each),
            runs=sum(int((mine.wide.reset_index()["wmin"] > 8).sum()) for mine in tables.values()),
        ),
    ]


# ---- section VI


def _apparent_yield() -> Claim:
    """Judge whether AY is an unstable criterion for a switch, by changes and makespans beside those of Y."""
    runs = read_rows_with_gaps("variants")
    runs = runs[runs["policy"].isin(CRITERIA)]
    runs = runs.assign(rate=100 * runs["changes"] / runs["counted"], failed=runs["makespan"].isna())
    parts = []
    for builder in ("IE", "IAY"):
        mine, other = (runs[runs["policy"] == f"{criterion}-{builder}"].set_index(POINT) for criterion in ("AY", "Y"))
        longer = (mine["makespan"].astype(float) / other["makespan"].astype(float)).dropna()
        rates = f"{mine['rate'].astype(float).median():.1f} and {other['rate'].astype(float).median():.1f}"
        fails = f"{int(mine['failed'].sum())} and {int(other['failed'].sum())}"
        parts.append(
            f"AY-{builder} and Y-{builder} change {rates} times in 100 slots (medians), fail {fails} times; makespans "
            f"of AY over Y: median {longer.median():.2f}, 95 % of the runs up to {longer.quantile(0.95):.2f}"
        )
    return Claim(
        "VI",
        "AY is too unstable as a criterion for a switch",
        f"m = 5: {'; '.join(parts)}",
        Verdict.UNDECIDED,
        runs=len(runs),
        reason="the paper gives no measure; by these, AY is as stable as Y",
    )


# ---- words


def _joined(tables: Mapping[str, Makespans]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([mine.wide for mine in tables.values()])


def _runs(tables: Mapping[str, Makespans]) -> int:
    return sum(len(mine.wide) for mine in tables.values())


def _with_interval(mine: Makespans, policy: str) -> str:
    return _interval(mine.metrics[policy]["diff"], *mine.intervals[policy]["diff"])


def _interval(value: float, low: float, high: float) -> str:
    return f"{_points(value)} ({_points(low)} to {_points(high)})"


def _points(value: float) -> str:
    return f"{value:,.1f}".replace("-", MINUS)


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    return " and ".join([", ".join(found[:-1]), *found[-1:]] if len(found) > 1 else found)
