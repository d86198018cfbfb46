"""Comparisons of proactive heuristics: each reading by hand, and equal in both simulators."""

import pytest

from hindsched.bench.coupled.verify.twins import compare_twins, options_of, random_instance
from hindsched.instances import Chain, InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.online import coupled as online_coupled
from hindsched.online.coupled import POLICIES, Comparison, Estimator, RunOptions, make_policy, run_policy, simulate

PROACTIVE = [name for name in POLICIES if "-" in name]
OTHERS = [comparison for comparison in Comparison if comparison is not Comparison.UPDATED]
ALWAYS_UP = Chain(((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))


@pytest.mark.parametrize("comparison", OTHERS)
def test_both_simulators_agree_on_general_instances(comparison: Comparison) -> None:
    for number in (n for n in range(60) if n % 10 != 9):
        instance = random_instance(number, seed=17)
        for policy in PROACTIVE:
            compare_twins(instance, policy, comparison=comparison, **options_of(number, policy))


@pytest.mark.parametrize("estimator", Estimator)
@pytest.mark.parametrize(("m", "n_com", "wmin"), [(5, 5, 1), (10, 2, 2), (10, 20, 10)])
def test_both_simulators_agree_on_instances_of_the_paper(m: int, n_com: int, wmin: int, estimator: Estimator) -> None:
    instance = paper(m=m, n_com=n_com, wmin=wmin, scenario=4, trial=0, slots=1200, drawn=True)
    runs = [
        compare_twins(instance, policy, comparison=comparison, estimator=estimator)
        for comparison in OTHERS
        for policy in PROACTIVE[m % 3 :: 3]
    ]
    assert min(run.slots for run in runs) > 20


def test_each_comparison_is_another_and_passive_heuristics_make_none() -> None:
    instance = paper(m=5, n_com=5, wmin=2, scenario=1, trial=0, slots=3000, drawn=True)
    for policy in ("E-IE", "Y-IAY"):
        runs = {run_policy(instance, policy, comparison=name).schedule for name in Comparison}
        assert len(runs) == len(Comparison)
    for policy in ("IE", "RANDOM"):
        assert len({run_policy(instance, policy, comparison=name).schedule for name in Comparison}) == 1


def taken(instance: Instance, comparison: str, policy: str = "E-IE") -> dict[int, dict[int, int]]:
    run = compare_twins(instance, policy, comparison=comparison)
    return {entry.slot: dict(entry.tasks) for entry in run.schedule.configurations}


def test_progress_counts_or_not() -> None:
    """Worker 0 needs 10 slots, worker 1 needs 7 and comes UP in slot 4, when 6 are left to worker 0."""
    pair = Instance.from_letters(["u" * 20, "rrrr" + "u" * 16], w=[10, 7], tasks=1, chains=[ALWAYS_UP] * 2)
    stays, goes = {0: {0: 1}}, {0: {0: 1}, 4: {1: 1}}
    assert taken(pair, "updated") == stays
    assert taken(pair, "candidate-fresh") == stays  # nothing is sent, so there is nothing to forget
    assert taken(pair, "held-frozen") == goes  # 7 < 10: the computation is lost
    assert taken(pair, "frozen") == goes


def test_received_data_counts_or_not() -> None:
    """Worker 0 computes the first iteration; worker 1, a little faster, comes UP in the second.

    Worker 0 has the program by then and needs 8 slots; worker 1 needs 7, and 5 more for the program.
    """
    letters = ["u" * 60, "r" * 15 + "u" * 45]
    pair = Instance.from_letters(letters, w=[8, 7], tasks=1, iterations=2, t_prog=5, chains=[ALWAYS_UP] * 2)
    first = {0: {0: 1}, 13: {0: 1}}  # the second iteration begins in slot 13, passively: the program counts
    assert taken(pair, "updated") == first
    assert taken(pair, "candidate-fresh") == first  # 5 + 7 against the 6 that are left to worker 0
    assert taken(pair, "held-frozen") == first  # 5 + 7 against 8, the value when it was chosen
    assert taken(pair, "frozen") == {**first, 15: {1: 1}}  # 5 + 7 against 5 + 8: its program does not count either
    faster = pair.replace(w=(8, 2))
    assert taken(faster, "held-frozen")[15] == {1: 1}  # 5 + 2 against 8
    assert 15 not in taken(faster, "candidate-fresh")  # against 6
    assert 15 not in taken(faster, "updated")


def test_a_candidate_ignores_the_data_of_its_workers() -> None:
    """Worker 1 computed the first iteration, was RECLAIMED when the second began, and is back with its program."""
    letters = ["rrr" + "u" * 57, "u" * 8 + "rr" + "u" * 50]
    pair = Instance.from_letters(letters, w=[6, 3], tasks=1, iterations=2, t_prog=5, chains=[ALWAYS_UP] * 2)
    start = {0: {1: 1}, 8: {0: 1}}  # in slot 8 worker 0 alone is UP: 5 + 6 slots
    assert taken(pair, "updated") == {**start, 10: {1: 1}}  # 3 against 9
    assert taken(pair, "held-frozen") == {**start, 10: {1: 1}}
    assert taken(pair, "frozen") == {**start, 10: {1: 1}}  # 5 + 3 against 11
    assert taken(pair, "candidate-fresh") == {**start, 10: {1: 1}}  # 8 against 9
    slower = ["rrr" + "u" * 57, "u" * 10 + "rr" + "u" * 48]
    pair = Instance.from_letters(slower, w=[6, 5], tasks=1, iterations=2, t_prog=5, chains=[ALWAYS_UP] * 2)
    start = {0: {1: 1}, 10: {0: 1}}
    assert taken(pair, "updated") == {**start, 12: {1: 1}}  # 5 against 9
    assert taken(pair, "held-frozen") == {**start, 12: {1: 1}}  # 5 against 11
    assert taken(pair, "frozen") == {**start, 12: {1: 1}}  # 10 against 11
    assert taken(pair, "candidate-fresh") == start  # 10 against 9


def test_the_value_kept_is_of_the_time_of_the_choice() -> None:
    """Under Y the time since the start of the iteration counts; a held value keeps the time of its choice."""
    chain = Chain(((0.9, 0.05, 0.05), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
    letters = ["u" * 40, "r" * 9 + "u" * 31]
    pair = Instance.from_letters(letters, w=[20, 19], tasks=1, chains=[chain] * 2)
    assert 9 in taken(pair, "held-frozen", "P-IP")
    assert taken(pair, "held-frozen", "Y-IP") == {0: {0: 1}}  # the chance is a little better, but 9 slots are gone


def test_the_default_is_the_reading_of_the_model() -> None:
    assert RunOptions() == RunOptions(comparison=Comparison.UPDATED)
    assert next(iter(Comparison)) is Comparison.UPDATED
    instance = paper(m=5, n_com=5, wmin=1, scenario=2, trial=0, slots=600)
    for policy in ("E-IP", "Y-IE"):
        assert simulate(instance, make_policy(policy)) == run_policy(instance, policy, comparison="updated")


def test_single_options_override_the_options_object() -> None:
    instance = paper(m=5, n_com=5, wmin=2, scenario=1, trial=0, slots=3000, drawn=True)
    options = RunOptions(estimator=Estimator.CONDITIONAL, comparison=Comparison.FROZEN)
    run = run_policy(instance, "E-IE", options)
    assert run == run_policy(instance, "E-IE", estimator="conditional", comparison="frozen")
    assert run_policy(instance, "E-IE", options, comparison="updated") == run_policy(
        instance, "E-IE", estimator="conditional"
    )
    assert make_policy("E-IE", options).name == "E-IE"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"comparison": "cold"}, "comparison: 'cold', expected one of updated, frozen, held-frozen, candidate-fresh"),
        ({"estimator": 3}, "estimator: 3, expected one of printed, conditional"),
        ({"schedule_slots": -1}, "schedule_slots: -1, expected an integer >= 0"),
        ({"tie": "lowest"}, "tie: no such option, expected one of estimator, service, ties"),
    ],
)
def test_unknown_options_are_refused_in_one_line(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        make_policy("IE", **changes)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1


def test_a_users_policy_receives_the_comparison(tmp_path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "class Own:\n"
        "    def __init__(self, comparison):\n        self.name = f'own {comparison}'\n"
        "    def choose(self, visible):\n        return None\n"
    )
    assert online_coupled.make_policy(f"{path}:Own", comparison="frozen").name == "own frozen"
