"""The claims judged by a small reproduction."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.studies.cli import studies
from hindsched.bench.bags import reproduction


def test_claims_are_judged_by_a_reproduction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MACHINES", ("M01",)), ("TASKS", (4,)), ("REFERENCES", (1800,)), ("CHECKPOINTS", (0, 1))):
        monkeypatch.setattr(reproduction, name, value)
    setup = reproduction.Setup(number=1, time_limit_s=5.0, real=False)
    reproduction.reproduce(tmp_path, setup, num_processes=1, dask=None, as_json=True)
    ran = CliRunner().invoke(studies, ["claims", "bags", "--results", str(tmp_path), "--json"])
    assert ran.exit_code == 0, ran.output
    claims = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [claim["source"] for claim in claims] == [str(number) for number in range(1, len(claims) + 1)]
    assert {claim["verdict"] for claim in claims} <= {"holds", "does not hold here", "undecided", "measured"}
    assert "does not hold here" in (tmp_path / "claims.csv").read_text()
