"""The on-line optimum, compared with a plain decision process, its own policy, and hindsight."""

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest

from hindsched import instances
from hindsched.bench.coupled.online_optimum import Sampling, _row, compare, sample_path
from hindsched.instances.chains import Chain
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.errors import InputError
from hindsched.offline.solve import solve
from hindsched.online.coupled.optimum import Optimal, horizon_value, online_optimum
from hindsched.online.coupled.optimum.hindsight import expected_hindsight, hindsight_of_path
from hindsched.online.coupled.optimum.plain_optimum import plain_horizon, plain_optimum
from hindsched.online.coupled.simulate import simulate


def drawn_chain(draw):
    rows = [0.6 * np.eye(3)[x] + 0.4 * draw.dirichlet([1, 1, 1]) for x in range(3)]
    return Chain(tuple(tuple(float(number) for number in row) for row in rows))


def tiny(seed, *, t_data=(0, 1), most=2):
    """Draw an instance of one or two workers; some are not UP in slot 0, some are never DOWN."""
    draw = np.random.default_rng([15, seed])
    p, m = int(draw.integers(1, 3)), int(draw.integers(1, 3))
    mu = [int(draw.integers(0, m + 1)) or None for _ in range(p)]
    if sum(m if bound is None else bound for bound in mu) < m:
        mu[0] = None
    return Instance.from_letters(
        ["udr"[int(draw.integers(0, 3))] if seed % 3 == 0 else "u" for _ in range(p)],
        w=[int(length) for length in draw.integers(1, most + 1, p)],
        tasks=m,
        iterations=int(draw.integers(1, 3)),
        n_com=int(draw.integers(0, p + 1)) or None,
        t_prog=int(draw.integers(0, 3)),
        t_data=int(draw.integers(t_data[0], t_data[1] + 1)),
        mu=mu,
        chains=[drawn_chain(draw) for _ in range(p)],
    )


@pytest.mark.parametrize("seed", range(16))
def test_two_models_of_the_rules_agree(seed):
    """Loads and dominance give the value of the plain decision process."""
    instance = tiny(seed)
    found = online_optimum(instance, tolerance=1e-8, keep_policy=False)
    truth = plain_optimum(instance)
    assert found.value == pytest.approx(truth, rel=1e-7)
    assert found.lower - 1e-7 <= truth <= found.upper + 1e-7
    for objective in ("makespan", "iterations"):
        for horizon in (1, 6):
            value = horizon_value(instance, horizon, objective=objective)
            assert value == pytest.approx(plain_horizon(instance, horizon, objective=objective), abs=1e-9)


def test_more_data_for_a_task_than_a_slot():
    """Two data slots per task, two tasks on one of two workers, one channel: partly sent data counts."""
    draw = np.random.default_rng(7)
    chains = [drawn_chain(draw), drawn_chain(draw)]
    pair = Instance.from_letters(["u", "u"], w=[1, 2], tasks=2, n_com=1, t_prog=1, t_data=2, chains=chains)
    assert online_optimum(pair, tolerance=1e-8).value == pytest.approx(plain_optimum(pair), rel=1e-7)


def test_without_decisions_the_value_is_that_of_a_chain():
    """One worker and one task need T_prog + T_data + w UP slots without DOWN between: a small chain."""
    rows = ((0.7, 0.2, 0.1), (0.5, 0.4, 0.1), (0.6, 0.1, 0.3))
    alone = Instance.from_letters(["u"], w=[3], tasks=1, t_prog=2, t_data=1, chains=[Chain(rows)])
    steps = 6
    matrix = np.zeros((3 * steps, 3 * steps))  # (steps done before this slot, state), from DOWN with nothing
    for done in range(steps):
        for x in range(3):
            after = 0 if x == 2 else done + (x == 0)
            for y in range(3):
                if after < steps:
                    matrix[3 * done + x, 3 * after + y] += rows[x][y]
    # program survives R1 no more than data does, so the chain is exact
    expected = np.linalg.solve(np.eye(3 * steps) - matrix, np.ones(3 * steps))
    assert online_optimum(alone, tolerance=1e-9).value == pytest.approx(expected[0], rel=1e-8)


@pytest.mark.parametrize("n_com", [1, None])
def test_its_policy_has_the_expected_makespan(n_com):
    """On drawn states the checker accepts every schedule, and the mean makespan is the value."""
    drawn = paper(m=2, n_com=n_com, wmin=1, scenario=4, trial=0, slots=2, p=3, iterations=2).replace(t_prog=2)
    optimum = online_optimum(drawn)
    policy = Optimal(optimum)
    makespans, hindsight = [], []
    for path in range(400):
        states = sample_path(drawn, 1, path, slots=5_000)
        run = simulate(states, policy)
        makespans.append(run.makespan)
        if path < 40:
            verdict = instances.check(states, run.schedule)
            assert verdict.is_valid, verdict
            assert verdict.outcome.makespan == run.makespan
            hindsight.append(solve(states).value)
            assert hindsight[-1] <= run.makespan
    error = np.std(makespans, ddof=1) / len(makespans) ** 0.5
    assert abs(np.mean(makespans) - optimum.value) < 3.5 * error
    assert sum(hindsight) < sum(makespans[:40])


def test_no_policy_expects_less():
    drawn = paper(m=2, n_com=1, wmin=1, scenario=7, trial=0, slots=2, p=3, iterations=1).replace(t_prog=2)
    rows = {row["player"]: row for row in compare(drawn, ["E-IE", "RANDOM"], sampling=Sampling(paths=100))}
    assert rows["hindsight"]["low"] < rows["on-line optimum"]["slots"]
    for policy in ("its policy", "E-IE", "RANDOM"):
        assert rows[policy]["high"] > rows["on-line optimum"]["slots"]
        assert rows[policy]["ratio"] == pytest.approx(rows[policy]["fault"] * rows[policy]["price"])
    assert rows["RANDOM"]["fault"] > 1.1
    many = compare(drawn, [], sampling=Sampling(paths=5, most_states=1_000))
    assert [row["how"] for row in many] == ["sampled", "too many states"]
    assert many[1]["states"] > 1_000


def test_confidence_intervals_have_their_coverage():
    """About 95 % of many intervals from five paths each contain the true mean, with and without correction."""
    draw = np.random.default_rng(3)
    luck = draw.normal(size=(4_000, 5))
    values = 7.0 + luck + draw.normal(size=luck.shape)
    for drawn, control in ((values, luck), (values, None)):
        rows = [_row("E-IE", drawn[i], None if control is None else control[i]) for i in range(len(drawn))]
        held = np.mean([row["low"] <= 7.0 <= row["high"] for row in rows])
        assert 0.935 < held < 0.965


def test_too_few_paths_have_no_interval():
    drawn = paper(m=2, n_com=1, wmin=1, scenario=7, trial=0, slots=2, p=3, iterations=1).replace(t_prog=2)
    for row in compare(drawn, ["RANDOM"], sampling=Sampling(paths=2)):
        if row["how"] == "sampled":
            assert row["slots"] > 0
            assert (row["low"], row["high"]) == (None, None)
        assert (row["price_low"], row["price_high"]) == (None, None)
    two = _row("hindsight", np.array([8.0, 30.0]), np.array([-4.0, 11.0]))  # any two points lie on a line
    assert (two["slots"], two["low"]) == (19.0, None)
    alike = _row("hindsight", np.array([10.0, 10.0, 40.0]), np.array([-4.0, -4.0, 26.0]))  # and these do
    assert (alike["low"], alike["high"]) == (None, None)
    with pytest.raises(InputError, match="paths: 0, expected an integer >= 1"):
        compare(drawn, [], sampling=Sampling(paths=0))


@pytest.mark.parametrize("seed", range(12))
def test_sets_of_states_find_the_hindsight_optimum_of_a_path(seed):
    instance = small(seed, p=2 + seed % 2, slots=14, tasks=1 + seed % 3, iterations=1 + seed % 2)
    assert hindsight_of_path(instance) == solve(instance).value


def test_expected_hindsight_is_the_sum_over_all_futures():
    """Within four slots it is the sum over all paths; without a horizon it is below the on-line optimum."""
    half = Chain(((0.5, 0.3, 0.2), (0.5, 0.5, 0.0), (0.7, 0.0, 0.3)))
    pair = Instance.from_letters(["u", "u"], w=[2, 1], tasks=1, n_com=1, t_prog=1, chains=[half, half])
    optimum = online_optimum(pair)
    slots, truth = 4, 0.0
    for path in product(product(range(3), repeat=2), repeat=slots - 1):
        columns = ((0, 0), *path)
        chance = 1.0
        for before, after in pairwise(columns):
            chance *= half.rows[before[0]][after[0]] * half.rows[before[1]][after[1]]
        if chance:
            states = pair.replace(states=np.array(columns, dtype=np.uint8).T)
            truth += chance * (hindsight_of_path(states) or slots)
    within = expected_hindsight(pair, optimum.longest, horizon=slots)
    assert within.lower == pytest.approx(truth, abs=1e-12)
    found = expected_hindsight(pair, optimum.longest)
    assert found.upper - found.lower < 1e-5
    assert found.upper < optimum.lower
    assert expected_hindsight(pair, optimum.longest, most_sets=3) is None


@pytest.mark.parametrize("tolerance", [np.nan, 0.0, -1.0, 1.0, np.inf])
def test_a_tolerance_that_nothing_meets_is_refused(tolerance):
    half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    alone = Instance.from_letters(["u"], w=[1], tasks=1, chains=[half])
    for find in (online_optimum, plain_optimum, partial(expected_hindsight, longest=9.0)):
        with pytest.raises(InputError, match=r"tolerance: .*, expected a number above 0 and below 1"):
            find(alone, tolerance=tolerance)


def test_a_tolerance_below_the_rounding_of_the_values_is_refused():
    lost = Chain(((0.5, 0.0, 0.5), (0.5, 0.5, 0.0), (0.1, 0.0, 0.9)))
    pair = Instance.from_letters(["u", "u"], w=[6, 7], tasks=1, iterations=2, t_prog=2, n_com=1, chains=[lost, lost])
    # by the last bits of the processor, rounding shows in the first iteration or in the second
    said = r"tolerance: 1e-12, expected more: every sweep rounds values up to (1,106|2,\d{3}) slots"
    with pytest.raises(InputError, match=said):
        online_optimum(pair, tolerance=1e-12)
    assert online_optimum(pair, tolerance=1e-9).value == pytest.approx(2189.01, abs=0.01)


def test_problems_without_answer_are_refused():
    never = Chain(((0.5, 0.0, 0.5), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    lost = Instance.from_letters(["u"], w=[2], tasks=1, chains=[never])
    with pytest.raises(InputError, match=r"workers\[0\].markov"):
        online_optimum(lost)
    assert horizon_value(lost, 3) == pytest.approx(2.5)
    with pytest.raises(InputError, match="workers"):
        online_optimum(lost.replace(chains=()))
    drawn = paper(m=10, n_com=5, wmin=1, scenario=0, trial=0, slots=1)
    with pytest.raises(InputError, match="states"):
        online_optimum(drawn)
