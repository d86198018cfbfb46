"""Variants of stand-by, baselines without chains, and renewal processes."""

import numpy as np
import pytest

from docs.studies.coupled.baselines import LongestUp, MostUp
from docs.studies.coupled.foresight import PERIOD, TRAIN_SLOTS, Point
from docs.studies.coupled.renewal import SHAPES, draw_periods, draw_renewal, sources
from docs.studies.coupled.variants import VARIANTS, WithStandBy, points, run_variants
from hindsched import instances, offline
from hindsched.instances.coupled import Instance, generate
from hindsched.instances.states import UP
from hindsched.online.coupled import make_policy, run_policy
from hindsched.online.coupled.simulate import simulate


@pytest.mark.parametrize("policy", [*VARIANTS, "longest-up", "most-up"])
def test_runs_are_valid_and_never_better_than_the_optimum(policy):
    own = {"longest-up": LongestUp, "most-up": MostUp}
    for seed in range(6):
        instance = generate.paper(m=3, n_com=2, wmin=1, scenario=seed, trial=0, slots=3000, p=6, iterations=3)
        run = simulate(instance, (own[policy] if policy in own else VARIANTS[policy])())
        assert instances.check(instance, run.schedule).is_valid
        optimum = offline.solve(instance).value
        assert run.makespan is None or run.makespan >= optimum


def test_a_heuristic_with_stand_by_equals_itself_where_stand_by_gives_nothing():
    """Without program and data there is nothing to keep or to send."""
    for seed in range(4):
        instance = generate.paper(m=3, n_com=2, wmin=1, scenario=seed, trial=0, slots=3000, p=6, iterations=3)
        free = instance.replace(t_prog=0, t_data=0)
        with_stand_by = simulate(free, WithStandBy(make_policy("E-IE")))
        assert with_stand_by.makespan == run_policy(free, "E-IE", engine="plain").makespan


def test_parts_of_stand_by_differ_in_whom_they_enrol():
    """One worker computes. ``send`` enrols the idle worker until it has the program, ``keep`` never."""
    chain = ((0.98, 0.01, 0.01), (0.5, 0.4, 0.1), (0.5, 0.1, 0.4))
    pair = Instance.from_letters(["u" * 40, "u" * 40], w=[1, 9], tasks=1, iterations=2, t_prog=3, t_data=1, n_com=2)
    pair = pair.replace(chains=[instances.Chain(chain)] * 2)
    letters = {name: simulate(pair, VARIANTS[name]()).schedule.letters[1] for name in ("keep", "send")}
    assert letters["keep"].strip(".") == ""
    assert letters["send"].startswith("PPP")
    assert set(letters["send"][4:]) <= {"."}


def test_a_study_resumes_and_counts_changes(tmp_path):
    first = run_variants(points([1], [0])[:2], tmp_path, policies=["AY-IE", "E-IE+sb"])
    again = run_variants(points([1], [0])[:2], tmp_path, policies=["AY-IE", "E-IE+sb"])
    assert first.equals(again)
    assert (first["makespan"] >= first["optimum"]).all()
    assert (first["changes"] > 0).all()


def test_baselines_choose_by_the_past():
    """Worker 0 has been UP longest in slot 4, worker 1 most often; worker 2 is the fastest."""
    instance = Instance.from_letters(["rruuuuuu", "uuuruuuu", "rrrruuuu"], w=[2, 2, 1], tasks=1, iterations=1)
    late = instance.replace(t_prog=0, t_data=0)
    chosen = {}
    for policy in (LongestUp(), MostUp()):

        class From4:
            name = "from 4"

            def choose(self, visible, policy=policy):
                found = policy.choose(visible)
                return found if visible.slot >= 4 else {}

        chosen[policy.name] = simulate(late, From4()).schedule.configurations[-1].tasks
    assert chosen == {"longest-up": {0: 1}, "most-up": {1: 1}}


@pytest.mark.parametrize("kind", SHAPES)
def test_renewal_processes_have_the_mean_and_heavy_tails(kind):
    lengths = draw_periods(kind, 60.0, 200_000, np.random.default_rng(1))
    assert lengths.mean() == pytest.approx(60, rel=0.03)
    assert lengths.std() > 1.8 * 60
    instance = draw_renewal(kind, Point(), 0, 0)
    assert instance.states.shape[0] == 12
    share = (instance.states == UP).mean()
    assert share == pytest.approx(2 / 3, abs=0.08)  # an absence takes half a period
    leaves = [1 - chain.rows[UP][UP] for chain in instance.chains]
    assert 1 / np.mean(leaves) == pytest.approx(PERIOD, rel=0.5)
    assert TRAIN_SLOTS == 3000


def test_the_study_has_all_machines():
    names = {source.name.split(" task=")[0].split()[0] for source in sources(1, 1, 0)}
    assert names == {"drawn", "weibull", "lognormal", "spot", "spot-reclaimed"}
