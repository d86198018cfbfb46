"""The claims judged by a small run of the whole experiment, and verdicts that follow the rows."""

import json
from collections import Counter
from copy import deepcopy

import pytest
from click.testing import CliRunner

from docs.studies.claims import Verdict
from docs.studies.cli import studies
from docs.studies.grid.claims import judge
from docs.studies.grid.run_tables import read_rows
from docs.studies.rows import ROWS
from hindsched.bench.grid.experiment_rows import write_rows
from tests.cases.grid_experiment import small_experiment


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return small_experiment(tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def stored():
    return read_rows(ROWS)


def verdict(rows, claim):
    (found,) = [each for each in judge(rows) if each.claim.startswith(claim)]
    return found.verdict


def test_every_claim_gets_one_verdict_with_every_workload(rows):
    found = judge(rows)
    assert max(Counter(claim.claim for claim in found).values()) == 1
    assert {"Table I", "Table II", "Table III", "Section 5", "Figures 4, 5", "Figures 5, 6"} <= {
        claim.source for claim in found
    }
    dynamic = next(claim for claim in found if claim.source == "Table III")
    assert all(name in dynamic.evidence for name in ("wide 28%", "wide 95%", "narrow 28%", "narrow 95%"))
    assert "4 seeds" in dynamic.evidence
    poll = next(claim for claim in found if "72,000,000" in claim.claim)
    assert poll.verdict is Verdict.HOLDS
    assert "in a day" in poll.evidence


def test_claims_of_written_rows_are_the_same(rows, tmp_path):
    write_rows(rows, tmp_path)
    verdicts = [claim.verdict for claim in judge(rows)]
    assert [claim.verdict for claim in judge(read_rows(tmp_path))] == verdicts
    ran = CliRunner().invoke(studies, ["claims", "grid", "--results", str(tmp_path), "--json"])
    assert [json.loads(line)["verdict"] for line in ran.stdout.splitlines()] == verdicts
    assert "undecided" in (tmp_path / "claims.csv").read_text()


@pytest.mark.parametrize(("most", "expected"), [(416, "undecided"), (420, "holds"), (430, "holds")])
def test_a_maximum_that_is_not_seen_is_no_refutation(stored, most, expected):
    rows = [row | {"most": most} if row["part"] == "reach" and row["degree"] == 20 else row for row in stored]
    assert verdict(rows, "a search at degree 20") == expected


@pytest.mark.parametrize(
    ("executed", "expected"), [(0.95, "holds"), (0.85, "does not hold here"), (None, "holds in part")]
)
def test_overbooked_days_are_those_on_which_more_than_the_grid_is_requested(stored, executed, expected):
    rows = deepcopy(stored)
    for row in rows if executed is not None else ():
        days = row["days"]
        if days["requested"]:
            days["executed"] = [
                executed if requested > 1 else old
                for requested, old in zip(days["requested"], days["executed"], strict=True)
            ]
    assert verdict(rows, "EU is 90 %") == expected


def test_days_after_the_last_whole_day_of_submissions_do_not_count(stored):
    rows = deepcopy(stored)
    for row in rows:
        whole = row.get("submitted_slots", 0) // 1440
        for name, value in (("requested", 2.0), ("executed", 0.1)):
            row.get("days", {}).get(name, [])[whole:] = [value] * len(row.get("days", {}).get(name, [])[whole:])
    assert verdict(rows, "EU is 90 %") == verdict(stored, "EU is 90 %")


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "holds in part"), (5.0, "holds"), (0.01, "does not hold here")])
def test_the_order_of_methods_is_judged_by_the_ratio_of_pull_to_push(stored, factor, expected):
    rows = [row | {"pull": row["pull"] * factor} if row.get("pull") else row for row in stored]
    assert verdict(rows, "Push sends the fewest") == expected


def test_waits_by_degree_are_paired_by_seed(stored):
    assert verdict(stored, "jobs wait least at degree 10") == "holds in part"
    short = [
        row | {"total_wait": row["total_wait"] // 10_000} if row.get("degree") == 10 and "total_wait" in row else row
        for row in stored
    ]
    assert verdict(short, "jobs wait least at degree 10") == "holds"
    same = [row | {"total_wait": row["jobs"]} if row.get("policy") == "dgs" else row for row in stored]
    assert verdict(same, "above degree 10") == "undecided"


@pytest.mark.parametrize(
    ("mix", "load", "factor", "expected"),
    [
        ("narrow", 0.95, 1.0, "undecided"),
        ("narrow", 0.95, 2.0, "holds"),
        ("narrow", 0.95, 0.5, "does not hold here"),
        ("wide", 0.95, 0.01, "undecided"),
        ("narrow", 0.28, 0.01, "undecided"),
    ],
)
def test_only_workloads_that_can_reach_the_printed_ratio_decide_on_it(stored, mix, load, factor, expected):
    rows = [
        row | {"pull": row["pull"] * factor} if row.get("pull") and (row["mix"], row["load"]) == (mix, load) else row
        for row in stored
    ]
    assert verdict(rows, "Push sends more than ten times") == expected


def test_messages_of_a_power_of_the_degree_near_one_are_linear(stored):
    rows = [
        row | dict.fromkeys(("push", "pull"), row["allocated_nodes"] * row["degree"]) if row.get("pull") else row
        for row in stored
        if row.get("mix") != "wide"
    ]
    assert verdict(rows, "the number of messages is linear") == "holds"
    squares = [row | {"push": row["push"] * row["degree"]} if row.get("push") else row for row in rows]
    assert verdict(squares, "the number of messages is linear") == "holds in part"


def test_one_of_many_differences_has_to_be_far_from_zero(stored):
    """Jobs wait longer at degree 20 by a difference whose own interval excludes 0, but not if all hold jointly."""
    paper = [row for row in stored if row["part"] == "paper" and row["policy"] == "dgs"]

    def waits(row, extra):
        return row | {"total_wait": row["jobs"] + (extra[row["seed"]] if row["degree"] == 20 else 0)}

    near = [waits(row, [300_000, 650_000, 1_000_000, 1_350_000, 1_700_000]) for row in paper]
    far = [waits(row, [900_000, 950_000, 1_000_000, 1_050_000, 1_100_000]) for row in paper]
    others = [row for row in stored if row["part"] != "paper"]
    assert verdict(near + others, "above degree 10") == "undecided"
    assert verdict(far + others, "above degree 10") == "does not hold here"


def test_a_statistic_that_the_paper_may_not_use_is_a_substitute(stored):
    assert verdict(stored, "waits grow with the width") == "agrees by a substitute"
    rows = deepcopy(stored)
    for row in rows:
        for name, wait in row.get("waits", {}).get("width", {}).items():
            wait[0] = 1_000.0 if name == "1" else 1.0
    assert verdict(rows, "waits grow with the width") == "does not hold here"
