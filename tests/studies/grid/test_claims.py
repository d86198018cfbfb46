"""The claims judged by a small run of the whole experiment."""

import json

import pytest
from click.testing import CliRunner

from docs.studies.claims import Verdict
from docs.studies.cli import studies
from docs.studies.grid.claims import judge
from docs.studies.grid.run_tables import read_rows
from hindsched.bench.grid.experiment_rows import write_rows
from tests.cases.grid_experiment import small_experiment


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return small_experiment(tmp_path_factory.mktemp("paper"))


def test_every_claim_gets_a_verdict(rows):
    found = judge(rows)
    numbers = {part for claim in found for part in claim.source.split(", ") if part.isdigit()}
    assert numbers == {*map(str, range(1, 11))}
    assert {claim.verdict for claim in found} <= {Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED}
    months = next(claim for claim in found if claim.source.startswith("5, "))
    assert months.verdict == "holds"
    dynamic = next(claim for claim in found if claim.source.startswith("3, ") and "95%" in claim.evidence)
    assert "4 seeds" in dynamic.evidence
    stale = [claim for claim in found if "only Poll fails" in claim.claim]
    assert {claim.verdict for claim in stale if "poll 0.00 ± 0.00" in claim.evidence} <= {"undecided"}
    poll = [claim for claim in found if "Poll over" in claim.claim]
    assert "72,000,000" in poll[0].evidence


def test_claims_of_written_rows_are_the_same(rows, tmp_path):
    write_rows(rows, tmp_path)
    verdicts = [claim.verdict for claim in judge(rows)]
    assert [claim.verdict for claim in judge(read_rows(tmp_path))] == verdicts
    ran = CliRunner().invoke(studies, ["claims", "grid", "--results", str(tmp_path), "--json"])
    assert [json.loads(line)["verdict"] for line in ran.stdout.splitlines()] == verdicts
    assert "does not hold here" in (tmp_path / "claims.csv").read_text()
