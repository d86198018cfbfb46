"""Tables of solvers that are timed against each other."""

import pandas as pd
import pytest

from docs.studies.coupled.pages import solver_race
from hindsched.instances.errors import InputError

ROWS = [
    {"K": 1, "solver": "native", "instances": 4, "stopped": 0, "median_ms": 1.264, "median_ratio": 1.0, "faster": 0},
    {"K": 1, "solver": "other", "instances": 4, "stopped": 1, "median_ms": 80.0, "median_ratio": 1234.5, "faster": 2},
    {"K": 3, "solver": "native", "instances": 4, "stopped": 0, "median_ms": 20.0, "median_ratio": 1.0, "faster": 0},
    {"K": 3, "solver": "other", "instances": 4, "stopped": 2, "median_ms": 80.0, "median_ratio": 2.5, "faster": 1},
]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(solver_race, "read_rows", lambda name: pd.DataFrame(ROWS))
    return solver_race.SolverRacePage()


def test_a_median_of_stopped_solves_is_a_lower_bound(page):
    assert page.table("race").splitlines() == [
        "| solver | K = 1 | K = 3 |",
        "|---|--:|--:|",
        "| `native`, ms | 1.26 | 20 |",
        "| `other` / `native` | 1,230 (1 stopped) | > 2.5 (2 stopped) |",
    ]


def test_numbers_are_over_all_k(page):
    assert page.span("race", "other") == "2 to 1234"
    assert page.total("race", "faster", "other") == "3"
    with pytest.raises(InputError, match="expected solvers of race"):
        page.span("race", "no-such-solver")
    with pytest.raises(InputError, match="expected a column"):
        page.total("race", "slower", "other")
