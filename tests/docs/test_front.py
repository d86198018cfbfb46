"""The commands and Python lines of the front page give the results that it shows."""

import csv
import re
from pathlib import Path
from statistics import median

import pytest

from docs.studies import front
from docs.studies.rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_lines_give_the_ratio_of_the_picture(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(code, {})
    ratio, verdict = capsys.readouterr().out.split(maxsplit=1)
    optimum, makespan = map(int, re.findall(r"ends after (\d+) slots, the heuristic IE after (\d+)", README)[0])
    assert float(ratio) == pytest.approx(makespan / optimum)
    assert f"{makespan} / {optimum} = {makespan / optimum:.2f}" in README
    assert "valid" in verdict


def test_the_median_is_that_of_the_stored_windows():
    with (ROWS / "front_windows.csv").open() as file:
        rows = list(csv.DictReader(file))
    ratio = median(float(row["ratio"]) for row in rows)
    assert f"over {len(rows)}\nwindows of the same nine days its median is {ratio:.2f}" in README
    (shown,) = (row for row in rows if row["start"] == front.START)
    assert (shown["optimum"], shown["makespan"]) == ("36", "56")


def test_it_fits_a_screen():
    assert len(README.split()) < 450
