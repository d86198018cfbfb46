"""The heuristics of docs/model.md section 6: each by a case computed by hand, and their common properties."""

import math
from collections import Counter
from collections.abc import Mapping

import pytest

from hindsched.instances import Chain, InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.online.coupled import ESTIMATORS, POLICIES, Run, Visible, make_policy, simulate
from hindsched.online.coupled.criteria import TIE_TOLERANCE, Criterion, is_better, score
from hindsched.online.coupled.estimates import Estimate, Estimates
from hindsched.online.coupled.passive import Builder

# Estimates of these chains are easy: work n on SAFE takes E = n with P = 1. RISKY goes DOWN in one slot of ten and is
# never RECLAIMED: P_plus = 0.9, E_c = 0.9; work n has P = 0.9^(n-1), and under "printed" E = (1 + 0.9(n-1)) / P.
SAFE = Chain(((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
RISKY = Chain(((0.9, 0.0, 0.1), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))

DETERMINISTIC = POLICIES[:-1]


def entries(run: Run) -> dict[int, dict[int, int]]:
    return {entry.slot: dict(entry.tasks) for entry in run.schedule.configurations}


def first_choice(name: str, instance: Instance, **options: str) -> dict[int, int]:
    return dict(simulate(instance, make_policy(name, **options)).schedule.configurations[0].tasks)


def test_the_names() -> None:
    expected = "IP IE IY IAY P-IP P-IE P-IY P-IAY E-IP E-IE E-IY E-IAY Y-IP Y-IE Y-IY Y-IAY RANDOM"
    assert list(POLICIES) == expected.split()
    assert [make_policy(name).name for name in POLICIES] == list(POLICIES)


@pytest.mark.parametrize(("name", "chosen"), [("IP", 1), ("IE", 0), ("IAY", 0), ("IY", 0)])
def test_passive_by_hand(name: str, chosen: int) -> None:
    # RISKY with w = 2: P = 0.9, E = 1.9 / 0.9 = 2.11, P/E = 0.43. SAFE with w = 4: P = 1, E = 4, P/E = 0.25.
    pair = Instance.from_letters(["u" * 9] * 2, w=[2, 4], tasks=1, chains=[RISKY, SAFE])
    assert first_choice(name, pair) == {chosen: 1}


@pytest.mark.parametrize(("late", "chosen"), [(14, 0), (15, 1)])
def test_the_yield_counts_the_slots_since_the_iteration_began(late: int, chosen: int) -> None:
    # RISKY 0.9 / (2.11 + t) against SAFE 1 / (4 + t): SAFE is better from t = 14.9 on
    states = ["r" * late + "u" * 9] * 2
    pair = Instance.from_letters(states, w=[2, 4], tasks=1, chains=[RISKY, SAFE])
    assert first_choice("IY", pair) == {chosen: 1}
    assert first_choice("IAY", pair) == {0: 1}


@pytest.mark.parametrize(("late", "chosen"), [(14, 0), (15, 1)])
def test_the_time_of_the_yield_starts_again_with_every_iteration(late: int, chosen: int) -> None:
    # the first iteration takes two slots, and the next one begins in slot 2 although no worker is UP
    states = ["uu" + "r" * late + "u" * 9] * 2
    pair = Instance.from_letters(states, w=[2, 4], tasks=1, iterations=2, chains=[RISKY, SAFE])
    run = simulate(pair, make_policy("IY"))
    assert entries(run) == {0: {0: 1}, 2 + late: {chosen: 1}}


def test_the_estimator_makes_a_difference() -> None:
    # work 8 on RISKY: printed (1 + 6.3) / 0.9^7 = 15.3, undivided more; conditional 8. SAFE with w = 9 takes 9.
    pair = Instance.from_letters(["u" * 9] * 2, w=[8, 9], tasks=1, chains=[RISKY, SAFE])
    chosen = [first_choice("IE", pair, estimator=estimator) for estimator in ESTIMATORS]
    assert chosen == [{1: 1}, {0: 1}, {1: 1}]


def test_tasks_are_spread_one_by_one() -> None:
    # IE on SAFE workers of speeds 2, 3, 9: work 2; then 3 on both rather than 4; then 4; then 6, not 6 (tie)
    trio = Instance.from_letters(["u" * 9] * 3, w=[2, 3, 9], tasks=4, chains=[SAFE] * 3)
    assert first_choice("IE", trio) == {0: 3, 1: 1}
    assert first_choice("IE", trio.replace(mu=(2, None, None))) == {0: 2, 1: 2}


def test_communication_is_part_of_the_estimate() -> None:
    # one worker: 2 + 2*1 to receive and 2*3 to compute; two with one channel: max(3, 6/1) and 3
    pair = Instance.from_letters(["u" * 20] * 2, w=[3, 3], tasks=2, t_prog=2, t_data=1, n_com=1, chains=[SAFE] * 2)
    assert first_choice("IE", pair) == {0: 1, 1: 1}  # 6 + 3 < 4 + 6
    assert first_choice("IE", pair.replace(t_prog=4)) == {0: 2}  # 10 + 3 > 6 + 6
    assert first_choice("IE", pair.replace(t_prog=4, n_com=2)) == {0: 1, 1: 1}


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_ties_go_to_the_lowest_index(name: str) -> None:
    trio = Instance.from_letters(["ruu", "uuu", "uuu"], w=[1] * 3, tasks=1, chains=[RISKY] * 3)
    assert first_choice(name, trio) == {1: 1}
    assert first_choice(name, trio, ties="highest") == {2: 1}


def test_rounding_errors_are_no_reason() -> None:
    assert is_better(1.0 + 2 * TIE_TOLERANCE, 1.0)
    assert not is_better(1.0 + TIE_TOLERANCE / 2, 1.0)
    assert not is_better(-math.inf, -math.inf)
    never = Estimate(-math.inf, math.inf)
    assert all(score(criterion, never, 3) == -math.inf for criterion in Criterion)


def test_criteria_are_logarithms_of_what_the_paper_names() -> None:
    estimate = Estimate(math.log(0.3), math.log(7))
    values = [math.exp(score(criterion, estimate, 5)) for criterion in Criterion]
    assert values == pytest.approx([0.3, 1 / 7, 0.3 / 12, 0.3 / 7])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("criterion", Criterion)
def test_configurations_built_task_by_task_are_measured_as_a_whole(criterion: Criterion, estimator: str) -> None:
    measured = []

    class Measuring:
        """RANDOM, so that workers hold various data; a builder is called in every slot too."""

        name = "measuring"
        policy = make_policy("RANDOM")

        def choose(self, visible: Visible) -> Mapping[int, int] | None:
            problem = visible.problem
            estimates = Estimates(problem.chains, n_com=problem.n_com, estimator=estimator)
            candidate = Builder(criterion, estimates, problem).build(visible)
            if candidate is not None:
                needs = {q: visible.needs(q, x) for q, x in candidate.tasks.items()}
                work = max(x * problem.w[q] for q, x in candidate.tasks.items())
                assert candidate.estimate == pytest.approx(estimates.measure(needs, work), rel=1e-12)
                measured.append((len(needs) > 1, max(candidate.tasks.values()) > 1))
            return self.policy.choose(visible)

    simulate(paper(m=6, n_com=1, wmin=1, scenario=2, trial=0, slots=60, p=6), Measuring())
    simulate(paper(m=5, n_com=2, wmin=3, scenario=3, trial=0, slots=60, p=6).replace(mu=(2,) * 6), Measuring())
    assert (True, True) in measured


def test_a_received_program_counts() -> None:
    # worker 1 alone is UP in slot 0 and gets the program; in slot 3 the next iteration prefers it to worker 0
    pair = Instance.from_letters(["ruuuuu", "uuuuuu"], w=[1, 1], tasks=1, iterations=2, t_prog=2, chains=[SAFE] * 2)
    run = simulate(pair, make_policy("IE"))
    assert entries(run) == {0: {1: 1}, 3: {1: 1}}
    assert run.makespan == 4


def test_a_partial_program_counts_for_a_member_that_stays() -> None:
    # workers 2 and 3 have half the program when 3 goes DOWN: worker 2 (2 slots to go) stays before worker 0 joins
    four = Instance.from_letters(
        ["rruuuuuuu", "rruuuuuuu", "uuuuuuuuu", "uuduuuuuu"],
        w=[1] * 4,
        mu=[1] * 4,
        tasks=2,
        t_prog=4,
        chains=[SAFE] * 4,
    )
    run = simulate(four, make_policy("IE"))
    assert entries(run) == {0: {2: 1, 3: 1}, 2: {0: 1, 2: 1}}
    assert run.schedule.letters == ("..PPPPC", ".......", "PPPPIIC", "PP.....")


def test_a_reclaimed_member_leaves_when_another_goes_down() -> None:
    # in slot 2 worker 3 goes DOWN while worker 2 is RECLAIMED: it leaves, and its half of the program is lost
    four = Instance.from_letters(
        ["rruuuuuuuuuuuuu", "rruudddrrrrrrrr", "uuruuuuuuuuuuuu", "uudrrrrrrrrrrrr"],
        w=[1] * 4,
        mu=[1] * 4,
        tasks=2,
        t_prog=4,
        chains=[SAFE] * 4,
    )
    run = simulate(four, make_policy("IE"))
    assert entries(run) == {0: {2: 1, 3: 1}, 2: {0: 1, 1: 1}, 4: {0: 1, 2: 1}}
    assert run.schedule.letters == ("..PPPPIIC", "..PP.....", "PP..PPPPC", "PP.......")


@pytest.mark.parametrize("name", ["IE", "E-IE", "RANDOM"])
def test_without_capacity_there_is_no_configuration(name: str) -> None:
    # worker 1 is DOWN in slot 2, and worker 0 can hold one task of two: it leaves with its half of the program
    pair = Instance.from_letters(
        ["uuuuuuuuu", "uuduuuuuu"], w=[1, 1], mu=[1, 1], tasks=2, t_prog=4, chains=[SAFE, SAFE]
    )
    run = simulate(pair, make_policy(name))
    assert entries(run) == {0: {0: 1, 1: 1}, 2: {}, 3: {0: 1, 1: 1}}
    assert run.schedule.letters == ("PP.PPPPC", "PP.PPPPC")


@pytest.mark.parametrize("name", ["IE", "IP", "E-IE", "P-IP", "RANDOM"])
def test_a_reclaimed_member_is_waited_for_where_no_other_can_take_its_place(name: str) -> None:
    pair = Instance.from_letters(["uuuuuu", "urruuu"], w=[2, 2], mu=[1, 1], tasks=2, chains=[SAFE, SAFE])
    run = simulate(pair, make_policy(name))
    assert run.schedule.letters == ("CIIC", "CIIC")


@pytest.mark.parametrize(("arrival", "switches"), [(5, True), (6, True), (7, False), (8, False)])
def test_proactive_switches_only_for_a_strict_gain(arrival: int, switches: bool) -> None:
    # worker 0 needs 10 slots and is alone at first; worker 1 needs 3: a gain while more than 3 are left
    states = ["u" * 20, "r" * arrival + "u" * (20 - arrival)]
    pair = Instance.from_letters(states, w=[10, 3], tasks=1, chains=[SAFE, SAFE])
    for name in ("E-IE", "Y-IE", "E-IAY", "Y-IY"):
        run = simulate(pair, make_policy(name))
        assert entries(run) == ({0: {0: 1}, arrival: {1: 1}} if switches else {0: {0: 1}})
        assert run.makespan == (arrival + 3 if switches else 10)
    for name in ("IE", "IY", "P-IE"):  # P = 1 on both: no gain
        assert entries(simulate(pair, make_policy(name))) == {0: {0: 1}}


def test_the_criterion_decides_and_the_builder_proposes() -> None:
    # RISKY alone at first, 6 slots of work; SAFE arrives in slot 1 with 9 slots of work
    pair = Instance.from_letters(["u" * 20, "r" + "u" * 19], w=[6, 9], tasks=1, chains=[RISKY, SAFE])
    chosen = {name: entries(simulate(pair, make_policy(name))).get(1) for name in DETERMINISTIC}
    # builders in slot 1, each with all its work: RISKY P = 0.59, E = 5.5 / 0.59 = 9.31; SAFE P = 1, E = 9.
    # So all four propose SAFE. Held: RISKY with 5 slots left: P = 0.66, E = 4.6 / 0.66 = 7.01.
    # P gains (1), E does not (9), Y: 0.66 / 8.01 = 0.082 against 1 / 10 gains.
    for name in DETERMINISTIC:
        assert chosen[name] == ({1: 1} if name[:2] in ("P-", "Y-") else None), name


def test_the_cost_of_a_switch_includes_repeated_transfers() -> None:
    # worker 1 arrives when worker 0 has three of four program slots; it would need the whole program itself
    states = ["u" * 30, "rrr" + "u" * 27]
    pair = Instance.from_letters(states, w=[4, 3], tasks=1, t_prog=4, chains=[SAFE, SAFE])
    # slot 3: held 1 + 4 = 5, candidate 4 + 3 = 7: keep
    assert entries(simulate(pair, make_policy("E-IE"))) == {0: {0: 1}}
    # slot 3, w = 8: held 1 + 8 = 9, candidate 7: switch
    assert entries(simulate(pair.replace(w=(8, 3)), make_policy("E-IE"))) == {0: {0: 1}, 3: {1: 1}}


def test_members_that_stay_through_a_switch_keep_their_data() -> None:
    # E-IE, mu = 1: workers 0 (w = 2) and 1 (w = 9) are all there is until worker 2 (w = 2) is UP in slot 2
    trio = Instance.from_letters(
        ["u" * 12, "u" * 12, "rr" + "u" * 10], w=[2, 9, 2], mu=[1, 1, 1], tasks=2, t_prog=1, t_data=1, chains=[SAFE] * 3
    )
    run = simulate(trio, make_policy("E-IE"))
    assert entries(run) == {0: {0: 1, 1: 1}, 2: {0: 1, 2: 1}}
    assert run.schedule.letters == ("PDIICC", "PD....", "..PDCC")


def test_the_held_configuration_counts_its_reclaimed_members_as_up() -> None:
    # worker 0 is RECLAIMED in slot 1 with 3 slots left, worker 1 would take 4: E-IE waits
    pair = Instance.from_letters(["urrrruuuu", "uuuuuuuuu"], w=[4, 4], tasks=1, chains=[SAFE, SAFE])
    run = simulate(pair, make_policy("E-IE"))
    assert entries(run) == {0: {0: 1}}
    assert run.schedule.letters[0] == "CIIIICCC"


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_workers_that_are_never_up_change_nothing(name: str, estimator: str) -> None:
    instance = paper(m=4, n_com=2, wmin=1, scenario=1, trial=0, slots=400, p=5, iterations=3)
    more = Instance.from_letters(
        ["r" * 400, *("".join("urd"[code] for code in row) for row in instance.states), "d" * 400],
        w=[1, *instance.w, 1],
        tasks=4,
        iterations=3,
        n_com=2,
        t_prog=instance.t_prog,
        t_data=instance.t_data,
        chains=[SAFE, *instance.chains, SAFE],
    )
    one, two = (simulate(each, make_policy(name, estimator=estimator)) for each in (instance, more))
    assert one.schedule.letters == two.schedule.letters[1:-1]
    assert one.makespan == two.makespan is not None


def test_random_is_uniform_over_the_up_workers_with_free_capacity() -> None:
    trio = Instance.from_letters(["uu", "uu", "uu", "ru"], w=[1] * 4, tasks=3, mu=[1, 3, 3, 3])
    counts: Counter[int] = Counter()
    for seed in range(3000):
        tasks = first_choice_of_random(trio, seed)
        assert sum(tasks.values()) == 3
        assert tasks.get(0, 0) <= 1
        assert 3 not in tasks
        counts.update(tasks)
    # worker 0 gets a task unless three draws pass it by: 1 - (2/3)^3 of the runs; workers 1 and 2 share the rest
    share = 1 - (2 / 3) ** 3
    assert counts[0] / 3000 == pytest.approx(share, abs=0.04)
    assert counts[1] / 3000 == pytest.approx((3 - share) / 2, abs=0.08)


def first_choice_of_random(instance: Instance, seed: int) -> dict[int, int]:
    return dict(simulate(instance, make_policy("RANDOM", seed=seed)).schedule.configurations[0].tasks)


def test_random_follows_its_seed_and_needs_no_chains() -> None:
    instance = small(4, p=5, slots=60, tasks=5, iterations=9).replace(chains=())
    policy = make_policy("RANDOM", seed=3)
    one, again, other = (simulate(instance, each) for each in (policy, policy, make_policy("RANDOM", seed=4)))
    assert one == again
    assert one.schedule != other.schedule


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_without_chains_the_others_refuse_in_one_line(name: str) -> None:
    instance = small(4, p=2, slots=10)
    bare = instance.replace(chains=(instance.chains[0], None))
    with pytest.raises(
        InputError, match=r"^workers\[1\]\.markov: missing.* separate training trace \(import --train\)$"
    ):
        simulate(bare, make_policy(name))


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_one_policy_object_serves_many_instances(name: str) -> None:
    policy = make_policy(name)
    instances = [small(seed, p=4, slots=40, tasks=3, iterations=3) for seed in (1, 2, 1)]
    runs = [simulate(instance, policy) for instance in instances]
    assert runs[0] == runs[2] == simulate(instances[0], make_policy(name))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_workers_that_hardly_ever_succeed_are_still_compared(name: str, estimator: str) -> None:
    # P of either is far below the smallest float; worker 1 is the better by any criterion
    doomed, worse = (Chain(((up, 0.0, 1 - up), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))) for up in (0.4, 0.3))
    pair = Instance.from_letters(["uuu"] * 2, w=[5001, 5000], tasks=1, t_prog=9, chains=[worse, doomed])
    assert first_choice(name, pair, estimator=estimator) == {1: 1}
