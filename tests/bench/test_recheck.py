"""Rows that can be repeated, and rows that cannot."""

import json

import pytest

from hindsched.bench.campaign.plan import Campaign, run_campaign
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.run_records import Options


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    run_campaign(Campaign([Paper(2, 2, 1, 0, 0, 300, 0, 3, 2)], ["IE"], [Options()]), folder)
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def write(folder, rows, torn=""):
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + torn)


def test_a_row_needs_no_key_and_the_last_one_may_be_torn(made, tmp_path, hindsched):
    rows = [{name: value for name, value in row.items() if name != "key"} for row in made]
    write(tmp_path, rows, torn='{"kind": "run", "inst')
    code, out, _ = hindsched("recheck", tmp_path)
    assert code == 0
    assert "1 run recomputed by the plain simulator and replayed completely: 0 differ." in out
    assert hindsched("report", tmp_path)[0] == 0


def test_a_row_without_slots_is_accepted(made, tmp_path, hindsched):
    write(tmp_path, [row | ({"slots": None} if row["kind"] == "run" else {}) for row in made])
    code, out, _ = hindsched("recheck", tmp_path)
    assert (code, "IE" in out, "slots" in out) == (1, True, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": ...}, "missing key seed"),
        ({"slots": "many"}, ', slots: "many", expected an integer'),
        ({"makespan": ...}, "missing key makespan"),
        ({"fingerprint": None}, ", fingerprint: null, expected a text"),
        ({"point": {"m": "x"}}, ', point.m: "x", expected an integer'),
        ({"point": {"m": 2}}, ", point: missing key n_com"),
        ({"estimator": "best"}, ", estimator: 'best', expected one of printed"),
        ({"policy": "XY"}, ", policy: 'XY', expected one of IP"),
        ({"family": "cats"}, ", family: 'cats', expected one of coupled"),
    ],
)
def test_a_row_that_cannot_be_repeated_is_named(made, tmp_path, hindsched, change, said):
    rows = [row if row["kind"] != "run" else {k: v for k, v in (row | change).items() if v is not ...} for row in made]
    write(tmp_path, rows)
    code, out, error = hindsched("recheck", tmp_path)
    assert (code, out) == (2, "")
    (line,) = [text for text in error.splitlines() if text.startswith("hindsched: ")]
    assert line.startswith(f"hindsched: {tmp_path / 'runs.jsonl'}: line 2{said if said[0] == ',' else ': ' + said}")


def test_what_a_policy_prints_is_no_result(tmp_path, hindsched):
    own = tmp_path / "mine.py"
    own.write_text("class Loud:\n    name = 'loud'\n    def choose(self, visible):\n        print('asked')\n")
    run_campaign(Campaign([Paper(2, 2, 1, 0, 0, 300, 0, 3, 2)], [f"{own}:Loud"], [Options()]), tmp_path)
    code, out, error = hindsched("recheck", tmp_path, "--json")
    assert (code, [json.loads(line)["differs"] for line in out.splitlines()]) == (0, [None])
    assert "asked" in error.splitlines()
