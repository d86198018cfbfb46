"""The native search after its first round: bounds, dives and beams are valid."""

import pytest

from hindsched import offline
from hindsched.bench.coupled.verify.general_agreement import SETTINGS, general_instance
from hindsched.instances import check
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.sentinels import OPEN, REFUTED
from hindsched.offline.coupled.bounds.slot_lagrangian.chain_search import make_slot_relaxation
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_bound import SlotLagrangianBound
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import SlotLagrangianParameters, reset_statistics
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search import beam
from hindsched.offline.coupled.search.beam import Beam
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.modes import NO_STAND_BY, STAND_BY
from hindsched.offline.coupled.search.parameters import BeamParameters, PortfolioParameters
from hindsched.offline.coupled.search.portfolio import Portfolio
from hindsched.offline.coupled.search.workspace import LimitError, Workspace
from hindsched.offline.limits import Limit, Limits
from hindsched.offline.results import Status


def stopped(instance: Instance, looks: int, first_round: int) -> Portfolio:
    """Return a portfolio that stops at the n-th check of the clock."""
    parameters = PortfolioParameters(first_round=first_round)
    portfolio = Portfolio(instance, Limits(), parameters=parameters)
    left = iter(range(looks))

    def check() -> None:
        if next(left, None) is None:
            raise LimitError(Limit.TIME)

    portfolio.workspace.check = check
    return portfolio


@pytest.mark.parametrize("block", range(5))
def test_in_rounds_the_answer_is_the_same(block):
    for number in range(40 * block, 40 * block + 40):
        instance = general_instance(number, seed=1)
        for objective, stand_by in SETTINGS:
            expected = offline.solve(instance, objective, solver="native", stand_by=stand_by)
            for first_round in (1, 5):
                parameters = PortfolioParameters(first_round=first_round)
                result = Portfolio(instance, Limits(), parameters=parameters).solve(objective, stand_by)
                assert (result.status, result.value, result.bound) == (expected.status, expected.value, expected.bound)
                assert result.schedule is None or check(instance, result.schedule).is_valid


def test_the_exact_search_has_a_long_turn_before_bounds_and_local_search():
    """It needs only an incumbent and takes 0.2 s, while a round of the bounds takes some seconds."""
    instance = paper(m=5, n_com=20, wmin=1, scenario=2, trial=2, slots=1_000_000)
    result = Portfolio(instance, Limits()).solve(Objective.MAKESPAN, stand_by=False)
    assert (result.status, result.value) == (Status.OPTIMAL, 105)
    assert result.certificate is None  # the Lagrangian bound has not started


def test_a_beam_survives_the_growth_of_its_tables():
    """Growing tables discard the sets of an expansion, so they have to grow before it."""
    found = 0
    for number in range(100):
        instance = general_instance(number, seed=6)
        workspace = Workspace(instance, Limits(), first_block=2)
        incumbent = Incumbent(workspace, instance.iterations)
        Beam(workspace, STAND_BY, instance.iterations, 20).work(incumbent)
        if incumbent.is_found:
            found += 1
            schedule = emit(instance, incumbent.plan, slots=incumbent.cost)
            assert check(instance, schedule).outcome.makespan == incumbent.cost
    assert found > 20


def test_a_beam_finds_the_only_end_of_a_long_iteration() -> None:
    """Programs take two slots of the channel and the computation 100, which are all UP slots."""
    instance = Instance.from_letters(["u" * 102 + "r" * 98] * 2, w=[100, 100], tasks=2, n_com=1, t_prog=1, mu=[1, 1])
    workspace = Workspace(instance, Limits())
    incumbent = Incumbent(workspace, 1)
    Beam(workspace, STAND_BY, 1, 4).work(incumbent)
    assert incumbent.cost == 102


def test_beams_do_not_grow_without_end(monkeypatch) -> None:
    """Each beam is twice as wide as the last while it takes little effort, up to the limit of the parameters."""
    widths = []
    monkeypatch.setattr(beam, "Beam", lambda *given: widths.append(given[3]) or Beam(*given))
    workspace = Workspace(general_instance(1, seed=6), Limits())
    beams = beam.BeamSequence(workspace, STAND_BY, 1, share=4, parameters=BeamParameters(max_words=100))
    incumbent = Incumbent(workspace, 1)
    for _ in range(6):
        beams.work(incumbent, 10**9)
    assert widths == [20, 40, 80, 100, 100, 100]


@pytest.mark.parametrize("looks", [1, 2, 3, 5, 8])
def test_a_bound_is_a_bound_whenever_the_search_is_stopped(looks):
    for number in range(60):
        instance = general_instance(number, seed=2)
        for objective, stand_by in SETTINGS:
            optimum = offline.solve(instance, objective, solver="native", stand_by=stand_by).value
            result = stopped(instance, looks, first_round=2).solve(objective, stand_by)
            sign = 1 if objective is Objective.MAKESPAN else -1
            if optimum is None:
                assert result.value is None
            else:
                assert sign * result.bound <= sign * optimum
                assert result.value is None or sign * result.value >= sign * optimum


@pytest.mark.parametrize("stand_by", [True, False])
def test_the_slot_lagrangian_refutes_no_optimum(stand_by):
    refuted = 0
    for number in range(0, 150):
        instance = general_instance(number, seed=3)
        if instance.t_prog == 0:
            continue
        optimum = offline.solve(instance, solver="native", stand_by=stand_by).value or instance.slots + 1
        workspace = Workspace(instance, Limits())
        while workspace.slots_known() < instance.slots:
            workspace.grow()
        bound = SlotLagrangianBound(workspace, STAND_BY if stand_by else NO_STAND_BY, instance.iterations)
        relaxation = make_slot_relaxation(instance.num_workers, instance.slots, instance.iterations)
        reset_statistics(workspace.table, workspace.problem, relaxation.multipliers)
        for end in range(instance.iterations, instance.slots + 1):
            outcome = bound.refute(relaxation, instance.iterations, end, rounds=10, steps=10**6)
            assert outcome in (OPEN, REFUTED)
            assert outcome == OPEN or end < optimum
            refuted += outcome == REFUTED
    assert refuted > 1000


@pytest.mark.parametrize(("objective", "stand_by"), SETTINGS)
def test_the_least_bound_of_all_branch_nodes_is_a_bound(objective, stand_by):
    impatient = SlotLagrangianParameters(patience=1, child_patience=1)
    branched = raised = 0
    for number in range(150):
        instance = general_instance(number, seed=4)
        if instance.t_prog == 0:
            continue
        optimum = offline.solve(instance, objective, solver="native", stand_by=stand_by).value
        iterations = instance.iterations if objective is Objective.MAKESPAN else 0
        workspace = Workspace(instance, Limits())
        known = iterations or -instance.slots
        bound = SlotLagrangianBound(workspace, STAND_BY if stand_by else NO_STAND_BY, iterations, impatient)
        incumbent = Incumbent(workspace, iterations)
        incumbent.cost = instance.slots + 1 if iterations else 0  # no schedule limits the bound
        bound.work(incumbent, 20_000, known)
        if optimum is not None:
            assert bound.bound <= (optimum if iterations else -optimum)
        branched += len(bound._pool) > 2
        raised += bound.bound > known
    assert branched > 10
    assert raised > 30


def test_the_slot_lagrangian_charges_programs_to_the_channel():
    instance = paper(m=20, n_com=20, wmin=1, scenario=0, trial=0, slots=512, p=100)
    assert offline_coupled.free_prefetch_bound(instance, "makespan") == 61
    workspace = Workspace(instance, Limits())
    bound = SlotLagrangianBound(workspace, STAND_BY, 10)
    relaxation = make_slot_relaxation(100, 100, 10)
    reset_statistics(workspace.table, workspace.problem, relaxation.multipliers)
    assert bound.refute(relaxation, 10, 79, rounds=40, steps=10**6) == REFUTED
    assert bound.refute(relaxation, 10, 81, rounds=5, steps=10**6) == OPEN  # 81 is the optimum, by cpsat


def test_dominance_charges_the_channel_in_the_relaxed_search_too():
    """A label that sends programs to computing workers at no cost must not dominate."""
    states = [
        "druudruruuuuuuuuuuuu",
        "rruururruuuuurururuu",
        "rudrruruururruuurdur",
        "uurururuuuurruruuuur",
        "ruuuuruuuuuurruuurur",
    ]
    instance = Instance.from_letters(
        states, w=[2, 3, 2, 1, 2], mu=[1, 2, None, None, 2], tasks=4, iterations=3, n_com=1, t_prog=1
    )
    parameters = PortfolioParameters(first_round=1)
    result = Portfolio(instance, Limits(), parameters=parameters).solve(Objective.MAKESPAN, stand_by=True)
    assert (result.status, result.value) == (Status.OPTIMAL, 16)
