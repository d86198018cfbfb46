"""The program Lagrangian: kernels against the plain twin, bounds against the optimum, certificates evaluated."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import InputError, check, is_made_for, read_schedule, write_schedule
from hindsched.instances.coupled import Branching, Instance, Multipliers
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.channel_feasibility import can_carry_iteration
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound
from hindsched.offline.coupled.bounds.program_lagrangian.program_node import ProgramLagrangianParameters
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import SCALE, multipliers_of_shares
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.coupled.search.parameters import PortfolioParameters
from hindsched.offline.coupled.search.portfolio import Portfolio
from hindsched.offline.limits import Limits
from tests.cases.plain_distances import PlainDistances
from tests.cases.program_lagrangian import filled, ran


def kernels(instance, horizon, program_values, seed, soonest, latest):
    """Return distances by the kernels, random multipliers and the graph; None for both without nodes."""
    iterations = instance.iterations
    paths = filled(instance, horizon)
    tables = paths.tables
    limits = np.zeros(iterations + 1, np.int64), np.full(iterations + 1, UNREACHABLE)
    for limit, given in zip(limits, (soonest, latest), strict=True):
        limit[list(given)] = list(given.values())
    graph = SlotGraph(tables, iterations, horizon, *limits)
    if graph.is_empty:
        return None, None, graph
    shares = np.random.default_rng(seed).dirichlet(np.ones(iterations), len(tables.owner)).T
    values = np.array([0, *program_values])
    caps = graph.multiplier_caps(values)
    multipliers = multipliers_of_shares(np.vstack([np.zeros(shares.shape[1]), shares]), caps)
    ran(paths.compute(graph, values, multipliers, ProgramLagrangianParameters().max_halvings))
    found = [{t: int(d) for t, d in enumerate(paths.distances(k)) if d < UNREACHABLE} for k in range(iterations + 1)]
    periods = zip(tables.owner.tolist(), tables.first.tolist(), strict=True)
    return found, dict(zip(periods, multipliers[1:].T.tolist(), strict=True)), graph


def agreed(number, soonest, latest):
    """Compare kernels and twin on all distances; return whether a last node is reached, None without nodes."""
    instance = small_instance(number, seed=5)
    program_values = np.random.default_rng(number).integers(SCALE // 4, 2 * SCALE, instance.iterations).tolist()
    horizon = min(instance.slots, 16)
    found, multipliers, graph = kernels(instance, horizon, program_values, number, soonest, latest)
    plain = PlainDistances(instance, horizon, soonest, latest)
    if found is None:
        windows = zip(plain.early[1:], plain.late[1:], strict=True)
        assert any(early is None or late is None or early > late for early, late in windows)
        return None
    assert graph.early == plain.early
    assert graph.late == plain.late
    assert found == plain.distances(program_values, multipliers)
    return bool(found[-1])


@pytest.mark.parametrize("block", range(4))
def test_kernels_and_twin_agree_value_for_value(block):
    found = [agreed(number, {}, {}) for number in range(10 * block, 10 * block + 10)]
    assert any(found)


@pytest.mark.parametrize("block", range(4))
def test_kernels_and_twin_agree_on_branch_nodes(block):
    found = []
    for number in range(25 * block, 25 * block + 25):
        iterations = small_instance(number, seed=5).iterations
        if iterations > 1:
            draw = np.random.default_rng(number)
            first, second = (int(k) for k in draw.integers(1, iterations, 2))
            found.append(agreed(number, {first: int(draw.integers(2, 9))}, {second: int(draw.integers(4, 16))}))
    assert {None, True} <= set(found)


def test_no_iteration_ends_before_arcs_allow_it():
    """This holds in schedules of least makespan and in schedules of most iterations."""
    later = 0
    for number in range(80):
        instance = small_instance(number, seed=5)
        first_ends = filled(instance, instance.slots).tables.first_ends()
        for objective in Objective:
            schedule = offline_coupled.solve(instance, objective, solver="native").schedule
            if schedule is None:
                continue
            ends = check(instance, schedule).outcome.ends
            for start, end in zip((0, *ends), ends, strict=False):
                later += first_ends[start] > start + 1
                assert end >= first_ends[start]
        assert (np.diff(first_ends[1:]) >= 0).all()
    assert later > 100


@pytest.mark.parametrize("block", range(4))
def test_never_above_the_optimum_and_every_certificate_holds(block):
    raised = met = 0
    for number in range(40 * block, 40 * block + 40):
        instance = small_instance(number, seed=6)
        answer = offline_coupled.solve(instance, solver="native")
        optimum = instance.slots + 1 if answer.value is None else answer.value
        bound = ProgramLagrangianBound(instance, instance.iterations)
        for _ in range(150):
            if not bound.work(0, instance.slots + 1):
                break
        assert bound.bound <= optimum
        met += bound.bound == optimum
        certificate = bound.certificate()
        if certificate is not None:
            raised += 1
            verdict = check(instance, certificate)
            assert verdict.is_valid
            assert bound.bound == certificate.bound <= verdict.outcome.value <= optimum
    assert raised >= 5
    assert met >= 15


def test_a_bound_that_needs_branching():
    letters = ["uuuuudruuduuuuuduuu", "uuuuuuuuurduuuuuuud", "uuuduuuuuuuuuruuuuu"]  # as in docs/bounds.md
    instance = Instance.from_letters(letters, w=[2, 1, 1], tasks=3, iterations=4, n_com=1, t_prog=3)
    assert offline_coupled.solve(instance, solver="brute").value == 19
    branched = ProgramLagrangianBound(instance, 4)
    while branched.work(0, 20) and branched.bound < 19:
        pass
    verdict = check(instance, branched.certificate())
    assert verdict.is_valid
    assert verdict.outcome.value == 19
    unbranched = ProgramLagrangianBound(instance, 4, ProgramLagrangianParameters(max_depth=0))
    while unbranched.work(0, 20):
        pass
    assert unbranched.bound == 18


def proven(number):
    """Return an instance and its certificate."""
    instance = small_instance(number, seed=7)
    bound = ProgramLagrangianBound(instance, instance.iterations)
    for _ in range(150):
        if not bound.work(0, instance.slots + 1):
            break
    return instance, bound.certificate()


def has_multipliers(number):
    """Return whether an instance has a certificate of one leaf with multipliers."""
    certificate = proven(number)[1]
    return certificate is not None and certificate.proof.num_leaves() == 1 and any(certificate.proof.program_values)


CASES = [number for number in range(20) if has_multipliers(number)]


@pytest.fixture(scope="module")
def branched():
    """Return instances, their optima and certificates with branchings: an impatient bound branches soon."""
    found = []
    for number in range(280):
        instance = small_instance(number, seed=10)
        if instance.iterations < 3:
            continue
        bound = ProgramLagrangianBound(instance, instance.iterations, ProgramLagrangianParameters(patience=1))
        for _ in range(300):
            if not bound.work(0, instance.slots + 1):
                break
        certificate = bound.certificate()
        if certificate is not None and certificate.proof.num_leaves() > 1:
            answer = offline_coupled.solve(instance, solver="native")
            found.append((instance, instance.slots + 1 if answer.value is None else answer.value, certificate))
    return found


def test_certificates_with_branchings_hold_and_survive_their_files(branched, tmp_path):
    assert len(branched) >= 5
    for instance, optimum, certificate in branched:
        verdict = check(instance, certificate)
        assert verdict.is_valid
        assert certificate.bound <= verdict.outcome.value <= optimum
        write_schedule(certificate, tmp_path / "certificate.json")
        assert read_schedule(tmp_path / "certificate.json") == certificate


def test_a_branching_that_loses_schedules_proves_nothing_above_the_optimum(branched):
    refused = 0
    for instance, optimum, certificate in branched:
        cut = certificate.proof
        nothing = Multipliers(instance.slots, (0,) * instance.iterations, (), ((0, ()),) * instance.iterations)
        for wrong in (
            replace(cut, sooner=cut.later, later=cut.sooner),
            replace(cut, sooner=nothing),
            replace(cut, later=nothing),
            replace(cut, slot=0),
            replace(cut, slot=instance.slots),
        ):
            verdict = check(instance, replace(certificate, proof=wrong))
            assert not verdict.is_valid or verdict.outcome.value <= optimum
            refused += not verdict.is_valid
        for k in (instance.iterations, instance.iterations + 7):
            assert check(instance, replace(certificate, proof=replace(cut, iteration=k))).rule == "B1"
    assert refused


def test_a_file_nested_too_deep_is_an_error_in_one_line(tmp_path):
    _, certificate = proven(CASES[0])
    proof = certificate.proof
    for _ in range(500):
        proof = Branching(1, 3, certificate.proof, proof)
    write_schedule(replace(certificate, proof=proof), tmp_path / "certificate.json")
    with pytest.raises(InputError, match="branchings nested 401 deep, expected at most 400"):
        read_schedule(tmp_path / "certificate.json")


def test_a_certificate_survives_its_file(tmp_path):
    instance, certificate = proven(CASES[0])
    write_schedule(certificate, tmp_path / "certificate.json")
    assert read_schedule(tmp_path / "certificate.json") == certificate
    assert is_made_for(instance, certificate)


def test_a_broken_rule_is_reported_by_its_name():
    refused = set()
    for number in CASES:
        instance, certificate = proven(number)
        proof = certificate.proof
        raised = tuple((q, t, tuple(x + proof.program_values[0] + 1 for x in values)) for q, t, values in proof.periods)
        nodes = tuple((first, tuple(None if d is None else d + 1 for d in row)) for first, row in proof.nodes)
        wrong = {
            "B1": [
                replace(proof, horizon=instance.slots + 1),
                replace(proof, program_values=proof.program_values[:-1]),
                replace(proof, program_values=(-1, *proof.program_values[1:])),
                replace(proof, periods=(*proof.periods, *proof.periods[:1])) if raised else None,
                replace(proof, periods=((instance.num_workers, 0, proof.program_values),)),
            ],
            "B2": [replace(proof, periods=raised)] if raised else [],
            "B3": [replace(proof, nodes=nodes)],
            "B4": [replace(certificate, bound=certificate.bound + 1)],
        }
        for rule, changed in wrong.items():
            for one in changed:
                if one is not None:
                    claim = one if rule == "B4" else replace(certificate, proof=one)
                    verdict = check(instance, claim)
                    if verdict.is_valid:  # for example where a period cannot receive a program
                        assert rule in ("B2", "B3", "B4")
                        assert verdict.outcome.value >= claim.bound
                    else:
                        assert verdict.rule in (rule, "B2", "B4")
                        refused.add(rule)
    assert refused == {"B1", "B2", "B3", "B4"}


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("programs", [-1], "proof.programs"),
        ("lives", [{"worker": 0, "slot": 0, "rents": [-3]}], "proof.lives"),
        ("nodes", [{"slot": 0}], "proof.nodes"),
        ("iteration", 1, "proof"),
        ("more", 1, "more"),
    ],
)
def test_malformed_files_are_errors_in_one_line(tmp_path, key, value, place):
    _, certificate = proven(CASES[0])
    write_schedule(certificate, tmp_path / "certificate.json")
    document = json.loads((tmp_path / "certificate.json").read_text())
    document["proof"][key] = value
    (tmp_path / "certificate.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        read_schedule(tmp_path / "certificate.json")
    assert place in str(error.value)
    assert "certificate.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_instance_without_programs_has_no_certificate():
    _, certificate = proven(CASES[0])
    free = Instance.from_letters(["uuu"], w=[1], tasks=1)
    with pytest.raises(InputError, match="t_prog"):
        check(free, certificate)


def test_whether_a_channel_can_carry_an_iteration():
    letters = ["uuud" * 40] * 6
    base = Instance.from_letters(letters, w=[1] * 6, tasks=6, n_com=1, t_prog=1, t_data=1, mu=[1] * 6)
    assert not can_carry_iteration(base)
    assert offline_coupled.solve(base).status == "infeasible"
    assert not can_carry_iteration(base.replace(n_com=2))
    assert can_carry_iteration(base.replace(n_com=4))


@pytest.mark.parametrize("number", range(40))
def test_no_instance_with_a_schedule_fails_the_channel_test(number):
    instance = small_instance(number, seed=8)
    if not can_carry_iteration(instance):
        assert offline_coupled.solve(instance, solver="cpsat").status == "infeasible"


def test_the_native_search_returns_certificates_of_the_bound_it_reports():
    found = 0
    parameters = PortfolioParameters(first_round=1)
    for number in range(60):
        instance = small_instance(number, seed=9)
        answer = Portfolio(instance, Limits(), parameters=parameters).solve(Objective.MAKESPAN, stand_by=True)
        expected = offline_coupled.solve(instance, solver="native")
        assert (answer.status, answer.value, answer.bound) == (expected.status, expected.value, expected.bound)
        assert expected.certificate is None
        if answer.certificate is not None:
            found += 1
            verdict = check(instance, answer.certificate)
            assert verdict.is_valid
            assert answer.certificate.bound <= verdict.outcome.value <= answer.bound
    assert found


def test_merits_are_the_later_use_of_a_period_in_paths():
    num_positive = 0
    for number in range(60):
        instance = small_instance(number, seed=8)
        bound = ProgramLagrangianBound(instance, instance.iterations)
        assert bound.merits(instance.slots) is None
        for _ in range(60):
            if not bound.work(0, instance.slots + 1):
                break
        merits = bound.merits(instance.slots)
        if merits is None:  # no path was ever found
            continue
        period = bound.tables.facts.period[: len(merits)]
        assert merits.shape == (len(period), instance.num_workers)
        assert (merits[period < 0] == 0).all()
        same = (period[1:] == period[:-1]) & (period[1:] >= 0)
        assert (merits[1:][same] <= merits[:-1][same] + 1e-9).all()
        first = period[0] >= 0
        assert merits[0, first] == pytest.approx(bound.statistics.used[1:, period[0, first]].sum(axis=0))
        num_positive += bool(merits.any())
    assert num_positive > 20


#: An instance with long pauses, so that boxes shrink to starts after them and are hardly halved.
_PAUSES = """
import numpy as np
from hindsched.instances.coupled import Instance
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound
from hindsched.offline.coupled.bounds.program_lagrangian.program_node import ProgramLagrangianParameters

parameters = ProgramLagrangianParameters(first_halvings=1, max_halvings=1)
draw = np.random.default_rng(4)
workers = int(draw.integers(2, 5))
lots = draw.random((workers, 110))
states = np.where(lots < 0.7, UP, np.where(lots < 0.9, RECLAIMED, DOWN)).astype(np.uint8)
for pause in (20, 62):
    states[:, pause : pause + int(draw.integers(18, 30))] = RECLAIMED
tasks, iterations, t_prog, t_data = (int(draw.integers(*ends)) for ends in ((1, 4), (2, 5), (1, 4), (0, 2)))
instance = Instance(
    tasks=tasks, iterations=iterations, n_com=1, t_prog=t_prog, t_data=t_data,
    w=(1,) * workers, mu=(None,) * workers, states=states,
)
bound = ProgramLagrangianBound(instance, iterations, parameters)
for _ in range(900):
    bound.work(int(draw.integers(0, 90)), 111)
print(bound.bound)
"""


def test_no_kernel_looks_beyond_an_array():
    """Interpreted kernels raise errors there: after slots without a start, a box may start after its compute starts."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    script = [sys.executable, "-c", _PAUSES]
    done = subprocess.run(script, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 89
