"""The published runs are complete and never better than the optimum; a sample of cheap ones is repeated."""

import numpy as np
import pytest

from docs.studies.coupled.optima import known_optima
from docs.studies.rows import ROWS
from hindsched.bench.campaign.jobs import simulate
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import family_named
from hindsched.bench.results.read import read_results
from hindsched.bench.run_records import Options
from hindsched.online import coupled as online_coupled


@pytest.fixture(scope="module")
def runs():
    return read_results(ROWS / "paper_runs.csv.xz").runs


def test_every_heuristic_ran_on_every_instance(runs):
    counts = runs.groupby(["estimator", "fingerprint"])["policy"].agg(["size", "nunique"])
    assert (counts == len(online_coupled.POLICIES)).all(axis=None)
    assert counts.loc["printed"].shape[0] == 6000


def test_no_run_is_better_than_the_published_optimum(runs):
    point = ["m", "n_com", "wmin", "scenario", "trial"]
    optima = known_optima()[[*point, "status", "makespan"]].rename(columns={"makespan": "best"})
    both = runs.astype(dict.fromkeys(point, "Int64")).merge(optima, on=point, validate="many_to_one")
    assert len(both) == len(runs)
    assert (both["optimum_status"] == both["status"]).all()
    assert (both["optimum"].fillna(0) == both["best"].fillna(0)).all()
    finished = both[both["value"].notna()]
    assert (finished["status"] == "optimal").all()
    assert (finished["value"] >= finished["best"]).all()


def test_random_runs_are_repeated(runs):
    short = runs[runs["value"] <= 1000]
    drawn = short.sample(60, random_state=np.random.default_rng(7))
    for row in drawn.itertuples():
        numbers = (int(row.m), int(row.n_com), int(row.wmin), int(row.scenario), int(row.trial))
        instance = Paper(*numbers, int(row.limit), int(row.instance_seed), 20, 10).load()
        options = Options(run=(("estimator", row.estimator),), check_slots=0)
        assert simulate(family_named("coupled"), instance, row.policy, options).value == row.value
