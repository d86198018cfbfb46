"""Look-ahead policies: the criterion against Monte Carlo and exact sums, the plain planner against the kernel."""

import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from hindsched.bench.campaign.plan import expand_policies
from hindsched.bench.coupled.verify.twins import random_instance
from hindsched.bench.run_records import Options
from hindsched.instances import Chain, InputError, check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import DrawnStates
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.online.coupled import OURS, POLICIES, Decision, Visible, check_policy, make_policy, run_policy, simulate
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.lookahead import attempts, pilot_runs, rollout
from hindsched.online.coupled.lookahead.attempts import Member, attempt_model, reach_table, tables
from hindsched.online.coupled.lookahead.kernels import compiled_planner, planner_arguments
from hindsched.online.coupled.lookahead.kernels.compiled_planner import planner_arrays
from hindsched.online.coupled.lookahead.lookahead_policies import PLANNERS
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.lookahead.planner import Planner
from hindsched.online.coupled.lookahead.plans import PlanBuilder
from hindsched.online.coupled.visible import Problem
from hindsched.online.history import History

CHAINS = (
    Chain(((0.9, 0.07, 0.03), (0.2, 0.75, 0.05), (0.1, 0.1, 0.8))),
    Chain(((0.95, 0.025, 0.025), (0.04, 0.93, 0.03), (0.1, 0.0, 0.9))),
    Chain(((0.92, 0.05, 0.03), (0.3, 0.65, 0.05), (0.2, 0.0, 0.8))),
)


def problem_of(chains: tuple[Chain, ...], *, n_com: int | None = None, t_prog: int = 3, t_data: int = 2) -> Problem:
    p = len(chains)
    return Problem(3, 5, n_com, t_prog, t_data, (2, 3, 4)[:p], (3,) * p, chains)


def of_paper(**changes: object) -> Instance:
    values = {"m": 5, "n_com": 5, "wmin": 1, "scenario": 0, "trial": 0, "slots": 400, "seed": 77, **changes}
    return paper(**values, drawn=True)  # type: ignore[arg-type]


# ---- the criterion


def test_tables_are_sums_over_all_paths() -> None:
    chain = CHAINS[0]
    made = tables([chain], 4)
    table = reach_table(made.kept[0], 4, made.stay.shape[2])
    for start in (UP, RECLAIMED):
        for t in range(6):
            reach, stay = np.zeros(5), 0.0
            for path in product((UP, RECLAIMED), repeat=t):
                states = (start, *path)
                chance = math.prod(chain.rows[a][b] for a, b in pairwise(states))
                stay += chance
                if states[-1] == UP:
                    reach[: states[:-1].count(UP) + 1] += chance
            assert table[start, :, t] == pytest.approx(reach, abs=1e-14)
            assert made.up[0, start, t] == table[start, 0, t]
            assert made.stay[0, start, t] == pytest.approx(stay, abs=1e-14)


def exactly(chains: tuple[Chain, ...], members: list[Member], slots: int) -> tuple[float, float]:
    """Return P and E[T] by the joint chain of states, needs and computation, without renewals or tables."""
    todo = tuple((m.state, m.needs) for m in members)
    mass = {(todo, slots): 1.0}
    success = expected = 0.0
    while sum(mass.values()) > 1e-9:
        later: dict[tuple[tuple[tuple[int, int], ...], int], float] = {}
        for (now, work), chance in mass.items():
            left = work
            expected += chance
            if all(need == 0 for _, need in now):
                if all(state == UP for state, _ in now):
                    left -= 1
                    if left == 0:
                        success += chance
                        continue
                after = now
            else:
                after = tuple((state, max(0, need - (state == UP))) for state, need in now)
            for states in product((UP, RECLAIMED), repeat=len(now)):
                step = math.prod(chains[m.worker].rows[a[0]][b] for m, a, b in zip(members, after, states, strict=True))
                key = tuple((b, need) for b, (_, need) in zip(states, after, strict=True)), left
                later[key] = later.get(key, 0.0) + chance * step
        mass = later
    return success, expected


@pytest.mark.parametrize(
    "members",
    [
        [Member(0, UP, 4)],
        [Member(1, RECLAIMED, 2)],
        [Member(0, UP, 3), Member(1, UP, 0)],
        [Member(0, RECLAIMED, 2), Member(1, UP, 5)],
        [Member(2, UP, 1), Member(0, RECLAIMED, 0), Member(1, UP, 2)],
    ],
)
@pytest.mark.parametrize("slots", [1, 5])
def test_attempt_is_that_of_the_joint_chain(members: list[Member], slots: int) -> None:
    found = attempt_model(problem_of(CHAINS)).attempt(members, slots)
    success, expected = exactly(CHAINS, members, slots)
    assert found.success == pytest.approx(success, rel=2e-3)
    assert found.slots == pytest.approx(expected, rel=2e-3)
    assert found.cost(40.0) == pytest.approx(expected + (1 - success) * 40, rel=2e-3)


def test_attempt_agrees_with_monte_carlo_of_the_papers_chains() -> None:
    """Seven workers, some without data, one RECLAIMED: 20,000 attempts differ by at most four standard errors."""
    instance = of_paper(m=10)
    chosen, needs, slots = [2, 3, 5, 7, 11], [0, 4, 0, 6, 2], 6
    states = [UP, UP, RECLAIMED, UP, UP]
    draw, runs = stream("test", "attempts", 1), 20_000
    now, left = np.tile(states, (runs, 1)), np.tile(needs, (runs, 1))
    todo, alive = np.full(runs, slots), np.ones(runs, dtype=bool)
    taken, won = np.zeros(runs), np.zeros(runs, dtype=bool)
    rows = np.cumsum([instance.chains[q].rows for q in chosen], axis=2)  # type: ignore[union-attr]
    while alive.any():
        taken[alive] += 1
        loaded = (left == 0).all(axis=1)
        todo -= alive & loaded & (now == UP).all(axis=1)
        left = np.where((~loaded)[:, None] & (now == UP), np.maximum(left - 1, 0), left)
        won |= alive & (todo == 0)
        alive &= todo > 0
        thresholds = rows[np.arange(len(chosen)), now]
        now = (draw.random(now.shape)[..., None] >= thresholds).sum(axis=2).clip(0, 2)
        alive &= ~(now == DOWN).any(axis=1)
    members = [Member(q, s, n) for q, s, n in zip(chosen, states, needs, strict=True)]
    found = attempt_model(Problem.of(instance)).attempt(members, slots)
    assert abs(found.success - won.mean()) < 4 * won.std() / math.sqrt(runs)
    assert abs(found.slots - taken.mean()) < 4 * taken.std() / math.sqrt(runs)


def test_short_channels_lengthen_the_needs() -> None:
    members = [Member(0, UP, 4), Member(1, UP, 1), Member(2, UP, 2)]
    short, wide = (attempt_model(problem_of(CHAINS, n_com=n_com)) for n_com in (2, 3))
    assert short.attempt(members, 3) == wide.attempt([m._replace(needs=4) for m in members], 3)
    assert short.attempt(members[:2], 3) == wide.attempt(members[:2], 3)


def test_workers_that_never_fail_have_finite_sums() -> None:
    never = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (1.0, 0.0, 0.0)))
    found = attempt_model(problem_of((never, never))).attempt([Member(0, UP, 0), Member(1, UP, 0)], 5)
    assert found.success == pytest.approx(1.0, abs=1e-5)
    assert found.slots == pytest.approx(17.0, rel=1e-3)  # one slot, and four returns of mean 4


def test_too_long_transfers_are_refused() -> None:
    with pytest.raises(InputError, match="slots to receive"):
        attempt_model(problem_of(CHAINS, t_prog=100_000))


# ---- planner and kernel


def agree(instance: Instance, options: PlannerOptions, value: float, slots: int) -> int:
    planner = Planner("mine", options, Settings(value, options.exchanges, min(2, options.futures)))
    plain = simulate(instance, planner, slots=slots)
    settings = planner.settings_for(Problem.of(instance))
    done, iterations, schedule = compiled_planner.run_kernel(
        instance, planner.options, settings, limit=slots, schedule_slots=slots
    )
    assert (done, iterations) == (plain.slots, plain.iterations)
    assert schedule == plain.schedule
    assert check(instance, schedule).is_valid
    return done


@pytest.mark.parametrize("options", list(PLANNERS.values()), ids=list(PLANNERS))
def test_plain_and_kernel_agree_on_general_instances(options: PlannerOptions) -> None:
    is_slow = options.futures > 0  # in the plain planner
    total = 0
    for number in (n for n in range(4 if is_slow else 30) if n % 10 != 9):
        instance = random_instance(number, seed=5)
        total += agree(instance, options, 5.0 + 7 * (number % 9), min(instance.slots, 8 if is_slow else 60))
    assert total > (20 if is_slow else 400)


@pytest.mark.parametrize("options", list(PLANNERS.values()), ids=list(PLANNERS))
@pytest.mark.parametrize(("m", "n_com", "wmin"), [(5, 2, 1), (10, 3, 2)])
def test_plain_and_kernel_agree_on_instances_of_the_paper(
    options: PlannerOptions, m: int, n_com: int, wmin: int
) -> None:
    p, slots = (4, 12) if options.futures else (9, 50)
    assert agree(of_paper(m=m, n_com=n_com, wmin=wmin, p=p), options, 60.0, slots) == slots


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize(("p", "slots"), [(63, 9), (64, 9), (65, 9), (129, 5), (1000, 2)])
def test_plain_and_kernel_agree_on_large_fleets(name: str, p: int, slots: int) -> None:
    is_slow = PLANNERS[name].futures > 0
    options = replace(PLANNERS[name], exchanges=PLANNERS[name].exchanges and p < 100)
    instance = of_paper(m=4 if p < 100 else 2, n_com=2, wmin=1, p=p, scenario=p)
    assert agree(instance, options, 40.0, min(slots, 3) if is_slow else slots) > 0


@pytest.mark.parametrize("name", ["hot", "auto"])
def test_few_tables_and_rows_give_the_same_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of g, and cached sets, that are discarded and computed again."""
    instance = of_paper(m=5, n_com=3, wmin=2, p=12, scenario=8)
    runs = []
    for numbers, sets in ((1 << 26, 1 << 11), (4 * 12 * 512, 2)):
        monkeypatch.setattr(attempts, "_MOST_NUMBERS", max(numbers, 5 * 2 * 21 * 512))
        monkeypatch.setattr(compiled_planner, "_PLACES", sets)
        monkeypatch.setattr(compiled_planner, "_ROWS", sets)
        attempts.attempt_model.cache_clear()
        planner_arrays.cache_clear()
        settings = Settings(50.0, PLANNERS[name].exchanges)
        runs.append(compiled_planner.run_kernel(instance, PLANNERS[name], settings, limit=900, schedule_slots=900))
        kept = attempt_model(Problem.of(instance)).most_reach_tables
        assert kept == (12 if sets > 2 else 5)
    attempts.attempt_model.cache_clear()
    planner_arrays.cache_clear()
    assert runs[0] == runs[1]


def test_pilots_of_kernel_and_plain_planner_agree() -> None:
    instance = of_paper(p=5, m=2, n_com=2)
    problem, options = Problem.of(instance), PlannerOptions()
    states = pilot_runs.pilot_states(problem)
    plain = simulate(
        instance.replace(states=states, iterations=5), Planner("pilot", options, Settings(33.0)), slots=2_000
    )
    assert plain.makespan is not None
    kernel = compiled_planner.slots_per_iteration(problem, options, Settings(33.0), states, 5)
    assert kernel == plain.makespan / 5


class Expecting(Planner):
    """A planner that records the expected number of iterations of the computations that it begins."""

    expected = 0.0

    def choose(self, visible: Visible) -> Decision:
        held = {} if visible.iteration != self._iteration else dict(self._plan)
        decision = super().choose(visible)
        chances = attempt_model(visible.problem)
        is_given_up = held != self._plan and bool(visible.computed)
        if is_given_up and all(visible.now[q] != DOWN for q in held):
            self.expected -= chances.attempt_with(held, visible.now, [0] * len(held), visible.computed).success
        is_ready = not any(visible.needs(q, y) for q, y in self._plan.items())
        is_begun = is_given_up or not visible.computed
        if self._plan and is_begun and is_ready and all(visible.now[q] == UP for q in self._plan):
            self.expected += chances.attempt_with(self._plan, visible.now, [0] * len(self._plan), 0).success
        return decision


@pytest.mark.parametrize(
    "options", [PlannerOptions(), PlannerOptions(stands_by=False, prefetches=False), PlannerOptions(exchanges=True)]
)
def test_expected_iterations_agree_with_the_plain_planner(options: PlannerOptions) -> None:
    instance = of_paper(p=6, m=2, n_com=2)
    problem = Problem.of(instance)
    planner = Expecting("pilot", options, Settings(40.0, options.exchanges))
    plain = simulate(instance.replace(iterations=1_000), planner, slots=400)
    assert plain.iterations > 2
    kernel = compiled_planner.slots_per_iteration(
        problem, options, Settings(40.0, options.exchanges), instance.source, 1_000
    )
    assert kernel == pytest.approx(400 / planner.expected, rel=1e-9)


def test_expected_iterations_have_the_mean_of_completed_ones() -> None:
    problem = Problem.of(of_paper(n_com=10, wmin=8, seed=777))
    excess, spread = [], []
    for number in range(60):
        states = DrawnStates(complete(problem.chains), ("coupled", "test", number), 3_000)
        run_state = planner_arrays(problem).run_state()
        compiled_planner._run_to_end(
            problem,
            PlannerOptions(),
            Settings(600.0),
            run_state,
            states,
            3_000,
            1_000,
            compiled_planner._Recorder(20, 0),
        )
        completed, expected = int(run_state.at[planner_arguments.ITERATION]), float(run_state.expected[0])
        excess.append(completed - expected)
        spread.append((completed, expected))
    assert abs(np.mean(excess)) < 4.0 * np.std(excess) / math.sqrt(len(excess))
    assert np.std(spread, axis=0)[1] < 0.7 * np.std(spread, axis=0)[0]


def test_v_is_right_where_a_pilot_run_completes_hardly_anything() -> None:
    """A count gives two iterations in 8,000 slots by chance; plans for V = 4,000 fail fast, and no iteration ends."""
    instance = of_paper(m=10, n_com=20, wmin=10, scenario=2, seed=777, slots=100_000, iterations=1_000)
    problem = Problem.of(instance)
    value = pilot_runs.value_of(problem, True, True)
    assert value > 8_000
    done = [
        compiled_planner.run_kernel(instance, PlannerOptions(), Settings(v), limit=100_000, schedule_slots=0)[1]
        for v in (4_000.0, value)
    ]
    assert done[0] == 0
    assert done[1] >= 4


def test_v_is_a_fixed_point_of_pilots() -> None:
    problem = Problem.of(of_paper())
    value = pilot_runs.value_of(problem, True, True)
    again = compiled_planner.slots_per_iteration(
        problem, PlannerOptions(), Settings(value), pilot_runs.pilot_states(problem), pilot_runs.PILOTS.iterations
    )
    assert again == pytest.approx(value, rel=0.25)
    assert pilot_runs.settings_of(problem, PLANNERS["hot"]) == Settings(value)
    chosen = pilot_runs.settings_of(problem, PLANNERS["auto"])
    assert any(chosen.value == factor * value for factor in PLANNERS["auto"].factors)
    assert pilot_runs.settings_of(problem, PLANNERS["roll"]) == Settings(value, True, PLANNERS["roll"].futures)


def test_exchanges_and_rollout_are_off_where_failures_are_frequent() -> None:
    problem = Problem.of(of_paper(m=10, wmin=9, scenario=3))
    settings = pilot_runs.settings_of(problem, PLANNERS["hot"])
    assert settings.value > PLANNERS["roll"].most_value
    assert (
        pilot_runs.settings_of(problem, PLANNERS["roll"])
        == pilot_runs.settings_of(problem, PLANNERS["auto"])
        == settings
    )


def test_futures_follow_the_chains() -> None:
    """Over many futures the frequencies of transitions agree with the chain."""
    problem = problem_of(CHAINS)
    counts = np.zeros((3, 3))
    for number in range(120):
        states = rollout.sample_states(problem, (UP, RECLAIMED, DOWN), slot=number // 7, number=number)
        assert states[:, 0].tolist() == [UP, RECLAIMED, DOWN]
        np.add.at(counts, (states[1, :-1], states[1, 1:]), 1)
    found = counts / counts.sum(axis=1, keepdims=True)
    errors = np.sqrt(found * (1 - found) / counts.sum(axis=1, keepdims=True))
    assert (np.abs(found - np.array(CHAINS[1].rows)) <= 4.5 * errors + 1e-12).all()


@pytest.mark.parametrize("name", [name for name in OURS if name != "roll"])  # which takes a minute
def test_every_policy_passes_the_check_for_authors(name: str) -> None:
    check_policy(make_policy(name))


def test_engines_agree_by_name() -> None:
    instance = of_paper(p=4, m=2)
    for name in OURS:
        slots = 5 if name == "roll" else 60
        plain, kernel = (run_policy(instance, name, engine=engine, slots=slots) for engine in ("plain", "kernel"))
        assert plain.schedule == kernel.schedule
        assert plain.policy == kernel.policy == name


def test_exchanges_improve_a_greedy_choice() -> None:
    """No single addition improves the greedy choice of one worker for all tasks, although two workers are better."""
    problem = Problem.of(of_paper(m=10, wmin=5))
    builder = PlanBuilder(attempt_model(problem), 400.0)
    falls = 0
    for seed in range(8):
        draw = stream("test", "exchanges", seed)
        visible = fresh(problem, [int(state) for state in draw.choice(3, size=20, p=[0.6, 0.1, 0.3])])
        plan = builder.build(visible)
        assert plan is not None
        better = builder.improve(visible, plan)
        assert sum(better.values()) == problem.tasks
        assert builder.cost(visible, better) <= builder.cost(visible, plan)
        falls += better != plan
    assert falls > 0


def fresh(problem: Problem, now: list[int]) -> Visible:
    """Return what a policy sees in slot 0 after all programs are received."""
    p = problem.num_workers
    program = tuple(problem.t_prog if state != DOWN else 0 for state in now)
    return Visible(problem, 0, 0, 0, tuple(now), {}, program, (0,) * p, 0, History(p))


# ---- whom the master serves


class Served:
    """Enrol all UP workers, and serve them in a given order."""

    name = "served"

    def __init__(self, serve: object) -> None:
        self.serve = serve

    def choose(self, visible: Visible) -> Decision:
        return Decision(dict.fromkeys(visible.up, 1), self.serve)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("serve", "letters"), [((), ("P", "I", "I")), ((2, 0), ("I", "I", "P")), ([1], ("I", "P", "I"))]
)
def test_a_policy_chooses_the_workers_that_the_master_serves(serve: object, letters: tuple[str, ...]) -> None:
    instance = Instance.from_letters(["uu", "uu", "uu"], w=[1, 1, 1], tasks=3, n_com=1, t_prog=2, t_data=1)
    run = simulate(instance, Served(serve), slots=1)
    assert run.schedule.letters == letters
    assert check(instance, run.schedule).is_valid


def test_a_worker_that_lacks_nothing_is_skipped() -> None:
    instance = Instance.from_letters(["uuu", "uuu"], w=[1, 1], tasks=2, n_com=1, t_prog=1, t_data=0)
    assert simulate(instance, Served([0, 1])).schedule.letters == ("PIC", "IPC")


@pytest.mark.parametrize("serve", [[3], [-1], [0, 0], ["a"], 5])
def test_an_invalid_order_is_refused(serve: object) -> None:
    instance = Instance.from_letters(["uu", "uu", "uu"], w=[1, 1, 1], tasks=3, n_com=1, t_prog=2, t_data=1)
    with pytest.raises(InputError, match="policy served, slot 0, rule R3"):
        simulate(instance, Served(serve))


def test_all_means_the_paper_policies_and_ours_the_look_ahead_policies() -> None:
    assert len(POLICIES) == 17
    assert not set(POLICIES) & set(OURS)
    expanded = expand_policies(["all", "ours"], ["coupled"], Options())["coupled"]
    assert tuple(expanded) == (*POLICIES, *OURS)
    assert tuple(expand_policies([], ["coupled"], Options())["coupled"]) == POLICIES
