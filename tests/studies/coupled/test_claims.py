"""The claims page: metrics with intervals by hand, claims from the bare rows, and the instance of Figure 1."""

import math

import numpy as np
import pandas as pd
import pytest

from docs.studies.claims import Verdict
from docs.studies.coupled.claims import _of_figure_2, cut_off, judge, tables_of
from docs.studies.coupled.pages.published import Published
from docs.studies.coupled.paper_metrics import Makespans, aggregated, printed_numbers
from docs.studies.rows import ROWS
from hindsched import instances, offline
from hindsched.bench.coupled.versus import versus
from hindsched.online.coupled import POLICIES

PAGES = ROWS.parents[1] / "results/coupled"


@pytest.fixture(scope="module")
def runs():
    return Published()._of


@pytest.fixture(scope="module")
def tables(runs):
    return tables_of(runs)


@pytest.fixture(scope="module")
def claims(tables):
    return {claim.claim: claim for claim in judge(tables)}


def invented(number=6, seed=0):
    """Return runs on a few scenarios with three trials each, with some failures."""
    rng = np.random.default_rng(seed)
    rows = []
    for scenario in range(number):
        for trial in range(3):
            where = {"m": 5, "n_com": 5, "wmin": 1, "scenario": scenario, "trial": trial}
            for policy in POLICIES:
                makespan = None if rng.random() < 0.1 else int(rng.integers(10, 1000))
                rows.append({**where, "policy": policy, "makespan": makespan})
    return pd.DataFrame(rows).astype({"makespan": "Int64"})


def test_a_resample_in_which_each_scenario_is_drawn_once_gives_the_metrics():
    mine = Makespans(invented())
    mine._weights = np.ones((1, 6))
    expected = versus(mine.runs).set_index("policy")
    for policy in POLICIES:
        for metric in ("fails", "diff", "wins", "wins30", "stdv"):
            assert mine._resampled(policy, metric)[0] == pytest.approx(expected.loc[policy, metric]), (policy, metric)


def test_a_resample_of_one_scenario_gives_its_metrics():
    mine = Makespans(invented(seed=3))
    weights = np.zeros((1, 6))
    weights[0, 4] = 1
    mine._weights = weights
    alone = versus(mine.runs[mine.runs["scenario"] == 4]).set_index("policy")
    for policy in POLICIES:
        for metric in ("fails", "diff", "wins", "wins30"):
            assert mine._resampled(policy, metric)[0] == pytest.approx(alone.loc[policy, metric]), (policy, metric)


def test_other_means_by_hand():
    rows = [
        {"m": 5, "n_com": 5, "wmin": 1, "scenario": 0, "trial": trial, "policy": policy, "makespan": 100}
        for policy in POLICIES
        for trial in (0, 1)
    ]
    frame = pd.DataFrame(rows).astype({"makespan": "Int64"})
    assert aggregated(Makespans(frame)) == 0
    frame.loc[(frame["policy"] == "IP") & (frame["trial"] == 1), "makespan"] = None
    with_limit = (100 + 1_000_000) / 2
    assert aggregated(Makespans(frame)) == pytest.approx(100 * (with_limit - 100) / 100)


def test_every_printed_number_but_those_of_ie_by_definition_is_shown(tables):
    numbers = printed_numbers(tables["printed"])
    assert len(numbers) == 24 * 5 - 4
    assert len({(number.table, number.row, number.column) for number in numbers}) == len(numbers)
    for number in numbers:
        assert number.runs == 3000
        assert number.low is None or number.low <= number.here <= number.high, number


def test_claims_are_those_of_the_bare_rows(runs, claims):
    wide = (
        runs["printed"]
        .assign(value=lambda frame: frame["value"].astype(float).fillna(math.inf))
        .pivot_table(index="fingerprint", columns="policy", values="value")
    )
    fails = wide == math.inf
    failing = claims["where IE fails, all heuristics fail"]
    rescued = int((fails["IE"] & ~fails["E-IE"]).sum())
    infeasible = runs["printed"].query("policy == 'IE' and optimum_status == 'infeasible'")
    assert failing.evidence.startswith(
        f"IE fails on {fails['IE'].sum()} instances, {len(infeasible)} of them infeasible; E-IE finishes {rescued} of"
    )
    equal = ((wide["Y-IE"] == wide["P-IE"]) & ~fails["Y-IE"]).sum() / (~fails["Y-IE"] & ~fails["P-IE"]).sum()
    assert f"`printed`: IP 71%, IE {equal:.0%}" in claims["Y-H and P-H are mostly identical"].evidence
    assert claims["IE overtakes Y-IE where wmin > 8"].verdict is Verdict.FAILS
    assert claims["P-IE is never much worse than IE"].verdict is Verdict.HOLDS
    late = runs["printed"].query("wmin == 10 and m == 10")
    diff = versus(late).set_index("policy").loc["Y-IE", "diff"]
    assert f"−{-diff:.1f} (" in claims["IE overtakes Y-IE where wmin > 8"].evidence  # noqa: RUF001


def test_a_claim_changes_with_the_runs(runs, claims):
    """If E-IE failed wherever IE does, and took twice as long as IE elsewhere, its claims would hold."""
    slow = runs["printed"].copy()
    ie = slow[slow["policy"] == "IE"].set_index("fingerprint")["makespan"]
    for policy in (name for name in POLICIES if name not in ("IE", "Y-IE", "P-IE", "E-IAY", "E-IY")):
        mine = slow["policy"] == policy
        slow.loc[mine, "makespan"] = (2 * slow.loc[mine, "fingerprint"].map(ie)).to_numpy()
    found = {claim.claim: claim for claim in judge(tables_of({"printed": slow, "conditional": runs["conditional"]}))}
    for text in ("Y-IE is the best heuristic", "all other heuristics are slower than IE"):
        assert claims[text].verdict is Verdict.FAILS
        assert found[text].verdict is Verdict.HOLDS


def test_a_claim_on_both_tables_does_not_hold_by_one(runs):
    """IE that overtakes Y-IE in Table II alone does not do so in Table I."""
    claim = "IE overtakes Y-IE where wmin > 8"
    slow = runs["printed"][runs["printed"]["policy"].isin(["IE", "Y-IE"])].copy()
    for ms, verdict in (([10], Verdict.FAILS), ([5, 10], Verdict.HOLDS)):
        mine = (slow["policy"] == "Y-IE") & (slow["wmin"] > 8) & slow["m"].isin(ms)
        ie = slow[slow["policy"] == "IE"].set_index("fingerprint")["makespan"]
        slow.loc[mine, "makespan"] = (2 * slow.loc[mine, "fingerprint"].map(ie)).to_numpy()
        (found,) = _of_figure_2(tables_of({"printed": slow})["printed"])
        assert (found.claim, found.verdict) == (claim, verdict)
        assert found.runs == 1200


def test_a_difference_of_one_failure_is_not_decided(claims):
    """In Table I IE fails once and others never; in Table II some fail less by more than the sampling error."""
    robust = claims["IE is the most robust heuristic: it fails least"]
    assert robust.evidence.startswith("Table I: IE 1; fewer: none beyond sampling error; Table II: IE 299; fewer: E-IE")
    assert robust.verdict is Verdict.FAILS


def test_sums_are_cut_off_within_the_precision():
    coarse, error, teams = cut_off(1e-3)
    fine, _, _ = cut_off(1e-9)
    assert error <= 1e-3
    assert coarse < fine
    assert teams == 1200


def test_the_schedule_in_the_manner_of_figure_1_takes_15_slots_and_the_optimum_14():
    instance = instances.read(PAGES / "figure1.json")
    assert (instance.w, instance.tasks, instance.n_com, instance.t_prog, instance.t_data) == (
        (1, 2, 3, 4, 5),
        5,
        2,
        2,
        1,
    )
    found = {}
    for name in ("schedule", "optimum"):
        schedule = instances.read_schedule(PAGES / f"figure1_{name}.json")
        verdict = instances.check(instance, schedule)
        assert verdict.is_valid
        found[name] = verdict.outcome.makespan
        if name == "schedule":  # a channel is free in slot 3, but P4 idles
            in_slot = [letters[3] for letters in schedule.letters]
            assert in_slot[3] == "I"
            assert sum(letter in "PD" for letter in in_slot) < instance.n_com
    assert found == {"schedule": 15, "optimum": 14}
    assert offline.solve(instance).value == 14


def test_policies_compared_by_iterations_as_the_how_to_page_does():
    """The page's code runs, and its sentence has the numbers."""
    page = (PAGES.parents[1] / "howto.md").read_text(encoding="utf-8")
    section = page.split("## Compare by iterations")[1].split("\n## ")[0]
    names = {}
    exec(section.split("```python\n")[1].split("```")[0], names)
    done = names["done"]
    said = f"The optimum is {names['best']} iterations; IE completes {done['IE']}, E-IE {done['E-IE']} and `auto`"
    assert f"{said} {done['auto']}." in section
