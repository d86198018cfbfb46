"""The claims on bags are judged by the rows of the studies, and the page has them."""

import csv
import json
import lzma
from pathlib import Path
from statistics import mean

import pytest
from click.testing import CliRunner

from docs.studies.bags import sweeps, traces
from docs.studies.bags.claims import judge
from docs.studies.bags.evidence import READINGS, SETTINGS, Evidence, by_bag, change, run_of, setting_of
from docs.studies.claims import Claim
from docs.studies.cli import studies
from docs.studies.rows import ROWS
from hindsched.bench.report.formatting import MINUS
from hindsched.instances.bags import Store, ideal_time
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.generate import paper
from hindsched.online.bags import PAPER_POLICIES, run_policy


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with lzma.open(ROWS / "bags_traces.csv.xz", "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    return judge(Evidence.stored())


def test_a_change_has_one_value_per_trace(rows: list[dict[str, str]]) -> None:
    one, other = (run_of(policy, Store.SHARED, "at once") for policy in ("FCFS-TR", "FCFS"))
    mine = [row for row in rows if (row["machines"], row["when"]) == ("M04", "weekday")]
    keys = {(row["trace"], row["seed"]) for row in mine}
    values = [
        mean(float(row[one]) / float(row[other]) - 1 for row in mine if (row["trace"], row["seed"]) == key)
        for key in keys
    ]
    found = change(Evidence.stored().of("weekday", machines="M04"), one, other)
    assert found.num == len(keys) == 40
    assert found.mean == pytest.approx(mean(values))
    assert found.low < found.mean < found.high


def test_no_ratio_is_below_one_and_sharing_never_hurts_the_optimum(rows: list[dict[str, str]]) -> None:
    for row in rows:
        best = {store: float(row[traces.optimum_column(store, on_demand=False)]) for store in Store}
        demand = {store: float(row[traces.optimum_column(store, on_demand=True)]) for store in Store}
        assert best[Store.SHARED] <= best[Store.PRIVATE] + 1e-4
        assert row["FCFS shared unnoticed"] == row["FCFS private unnoticed"]  # by a theorem
        for name, store, absence in traces.RUNS:
            saves = name in ("FCFS-PRDCT-DMD", "oracle")
            assert float(row[traces.column(name, store, absence)]) >= (demand if saves else best)[store] - 1e-4


def test_a_row_is_the_mean_of_its_starts(rows: list[dict[str, str]]) -> None:
    row = next(
        row
        for row in rows
        if [row[name] for name in ("trace", "seed", "when", *traces.BAG_COLUMNS)]
        == ["rooms", "1", "weekday", "M04", "25", "1800", "1"]
    )
    found = []
    for start in traces.starts_of("weekday", 1):
        one = paper(
            "M04", checkpoints=1, store="private", on_demand=True, start=start, slots=2000, seed=1, trace="rooms"
        )
        turnaround = run_policy(one, "FCFS-TR", absence="noticed").turnaround
        assert turnaround is not None
        found.append(turnaround / ideal_time(one))
    assert float(row["FCFS-TR private noticed"]) == pytest.approx(mean(found), abs=1e-4)


def test_starts_are_every_two_hours_by_day_and_every_hour_of_a_weekend() -> None:
    by_day = {start % traces._WEEK for seed in range(20) for start in traces.starts_of("weekday", seed)}
    assert by_day == {(24 * day + hour) * 30 for day in range(5) for hour in range(8, 23, 2)}
    ends = {start for seed in range(24) for start in traces.starts_of("weekend", seed)}
    assert len({start % traces._WEEK for start in ends}) == 24
    assert {time_of_week(start * 120_000) for start in ends} == {TimeOfWeek.WEEKEND}


def test_every_claim_of_the_paper_is_judged_once(claims: list[Claim]) -> None:
    sentences = [(claim.source, claim.claim) for claim in claims]
    assert len(set(sentences)) == len(sentences)
    page = (ROWS.parents[1] / "results" / "bags" / "claims.md").read_text(encoding="utf-8")
    for claim in claims:
        assert claim.claim in page


def test_fcfs_is_fair_only_where_absences_are_noticed(claims: list[Claim]) -> None:
    (said,) = (claim for claim in claims if "FCFS does fairly" in claim.claim)
    assert str(said.verdict) == "holds in part"
    rows = Evidence.stored().of("weekday", machines="M04", tasks=75, reference_s=1800)
    for reading in READINGS:
        excess = []
        for store in Store:
            runs = [run_of(policy, store, reading) for policy in PAPER_POLICIES]
            best = min(runs, key=lambda run: float(rows[run].sum()))
            excess.append(change(rows, runs[0], best).mean)
        assert f"{reading}: {100 * mean(excess):+.1f} %" in said.evidence.replace(MINUS, "-")


def test_at_weekends_only_independent_machines_count(rows: list[dict[str, str]]) -> None:
    for row in rows:
        if (row["trace"], row["when"]) == ("rooms", "weekend"):
            for policy in PAPER_POLICIES:
                runs = {setting_of(policy, Store.PRIVATE, absence) for _, absence in SETTINGS}
                assert len({row[run] for run in runs}) == 1  # nothing fails
    assert set(Evidence.stored().of("weekend")["trace"]) == {"independent"}


def test_cases_are_different_runs(claims: list[Claim]) -> None:
    settings = [[setting_of(policy, *setting) for policy in PAPER_POLICIES] for setting in SETTINGS]
    assert len({tuple(runs) for runs in settings}) == len(settings) == 4
    mine = Evidence.stored().of("weekday", machines="M01")
    more = 0
    for fcfs, late, replicated, predicted in settings:
        more += sum(each.low > 0 and each.mean > 0.001 for each in by_bag(mine, replicated, [fcfs, late, predicted]))
    (said,) = (claim for claim in claims if claim.claim == "FCFS-TR is best")
    assert f"in {12 * len(settings)} cases" in said.evidence
    assert f"more in {more};" in said.evidence


def test_table_2_is_exact_with_a_ratio_of_its_own(claims: list[Claim]) -> None:
    (said,) = (claim for claim in claims if claim.claim == "eight ideal times")
    assert "8 equal to the last digit with the ratio 1.69218 for type D" in said.evidence


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "_NUM_STARTS", {"weekday": 1, "weekend": 1})
    monkeypatch.setattr(traces, "BAGS", (("M01", 25, 1800, 0),))
    for name, value in (("_CHECKPOINTS", (1,)), ("HITS", (500,)), ("FALSE", (5,)), ("PREDICTORS", ("hour",))):
        monkeypatch.setattr(sweeps, name, value)
    monkeypatch.setattr(sweeps, "OPTIONS", {"handover": (("boundary",), ("FCFS",)), "mix": sweeps.OPTIONS["mix"]})


@pytest.mark.usefixtures("small")
def test_the_studies_run(tmp_path: Path) -> None:
    for name in ("traces", "sweeps"):
        ran = CliRunner().invoke(studies, [f"bags-{name}", "--seeds", "1", "--results", str(tmp_path), "--json"])
        assert ran.exit_code == 0, ran.output
    found = Evidence.stored(tmp_path)
    assert found.traces["when"].tolist() == ["weekday", "weekend"] * 2
    # without checkpoints the stores differ only in who notices an absence
    assert (found.traces["FCFS shared noticed"] == found.traces["FCFS private noticed"]).all()
    assert (found.traces["FCFS-AT shared unnoticed"] == found.traces["FCFS-AT private unnoticed"]).all()
    assert set(found.sweeps["option"]) == {"handover", "mix", "noisy", "predictor"}
    assert set(found.sweeps.loc[found.sweeps["option"] == "mix", "machines"]) == {"M04"}


def test_the_claims_are_printed(tmp_path: Path, claims: list[Claim]) -> None:
    ran = CliRunner().invoke(studies, ["claims", "bags", "--results", str(tmp_path), "--json"])
    assert ran.exit_code == 0, ran.output
    assert [json.loads(line)["claim"] for line in ran.stdout.splitlines()] == [claim.claim for claim in claims]
