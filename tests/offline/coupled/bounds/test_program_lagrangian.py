"""The bound by rents: kernels against the plain twin, never above the optimum, and judged by the evaluator."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from docs.studies.coupled.program_lagrangian import small_instance
from hindsched.instances import InputError, check, is_made_for, read_schedule, write_schedule
from hindsched.instances.coupled import Division, Instance, Multipliers
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.program_lagrangian import subgradient
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.channel_feasibility import can_carry
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR
from hindsched.offline.coupled.bounds.program_lagrangian.multipliers import SCALE, _divide
from hindsched.offline.coupled.bounds.program_lagrangian.plain_distances import Plain
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import MOST_HALVINGS
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.coupled.search.parameters import PortfolioParameters
from hindsched.offline.coupled.search.portfolio import Portfolio
from hindsched.offline.limits import Limits
from tests.cases.program_lagrangian import filled, ran


def kernels(instance, horizon, pi, seed, soonest, latest):
    """Distances by the kernels, without a limit of halvings, and the rents: those of the search, drawn at random."""
    iterations = instance.iterations
    distances = filled(instance, horizon)
    tables = distances.tables
    limits = np.zeros(iterations + 1, np.int64), np.full(iterations + 1, FAR)
    for limit, told in zip(limits, (soonest, latest), strict=True):
        limit[list(told)] = list(told.values())
    graph = Graph(tables, iterations, horizon, *limits)
    if graph.is_empty:
        return None, None, graph
    shares = np.random.default_rng(seed).dirichlet(np.ones(iterations), len(tables.owner)).T
    rents = _divide(np.vstack([np.zeros(shares.shape[1]), shares]), graph.caps(np.array([0, *pi])))
    ran(distances.find(graph, np.array([0, *pi]), rents, MOST_HALVINGS))
    found = [{t: int(d) for t, d in enumerate(distances.of(k)) if d < FAR} for k in range(iterations + 1)]
    by_life = {
        (int(tables.owner[life]), int(tables.first[life])): rents[1:, life].tolist() for life in range(rents.shape[1])
    }
    return found, by_life, graph


def agreed(number, soonest, latest):
    """Let kernels and twin agree on all distances; tell whether a last node is reached; None without nodes."""
    instance = small_instance(number, seed=5)
    pi = np.random.default_rng(number).integers(SCALE // 4, 2 * SCALE, instance.iterations).tolist()
    horizon = min(instance.slots, 16)
    found, rents, graph = kernels(instance, horizon, pi, number, soonest, latest)
    plain = Plain(instance, horizon, soonest, latest)
    if found is None:
        windows = zip(plain.early[1:], plain.late[1:], strict=True)
        assert any(early is None or late is None or early > late for early, late in windows)
        return None
    assert graph.early == plain.early
    assert graph.late == plain.late
    assert found == plain.distances(pi, rents)
    return bool(found[-1])


@pytest.mark.parametrize("block", range(4))
def test_kernels_and_twin_agree_value_for_value(block):
    found = [agreed(number, {}, {}) for number in range(10 * block, 10 * block + 10)]
    assert any(found)


@pytest.mark.parametrize("block", range(4))
def test_kernels_and_twin_agree_on_parts_of_the_schedules(block):
    found = []
    for number in range(25 * block, 25 * block + 25):
        iterations = small_instance(number, seed=5).iterations
        if iterations > 1:
            draw = np.random.default_rng(number)
            first, second = (int(k) for k in draw.integers(1, iterations, 2))
            found.append(agreed(number, {first: int(draw.integers(2, 9))}, {second: int(draw.integers(4, 16))}))
    assert {None, True} <= set(found)


def test_no_iteration_ends_before_arcs_allow_it():
    """In schedules of best makespan, and of the most iterations; not by what the windows say of a horizon."""
    later = 0
    for number in range(80):
        instance = small_instance(number, seed=5)
        distances = filled(instance, instance.slots)
        first_ends = distances.tables.first_ends()
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
        bound = RentBound(instance, instance.iterations)
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


def test_what_no_multipliers_prove_of_all_schedules_they_prove_of_two_parts(monkeypatch):
    letters = ["uuuuudruuduuuuuduuu", "uuuuuuuuurduuuuuuud", "uuuduuuuuuuuuruuuuu"]  # as in docs/bounds.md
    instance = Instance.from_letters(letters, w=[2, 1, 1], tasks=3, iterations=4, n_com=1, t_prog=3)
    assert offline_coupled.solve(instance, solver="brute").value == 19
    divided = RentBound(instance, 4)
    while divided.work(0, 20) and divided.bound < 19:
        pass
    verdict = check(instance, divided.certificate())
    assert verdict.is_valid
    assert verdict.outcome.value == 19
    monkeypatch.setattr(subgradient, "MOST_DIVISIONS", 0)
    undivided = RentBound(instance, 4)
    while undivided.work(0, 20):
        pass
    assert undivided.bound == 18


def proven(number):
    """An instance with a certificate of the bound by rents."""
    instance = small_instance(number, seed=7)
    bound = RentBound(instance, instance.iterations)
    for _ in range(150):
        if not bound.work(0, instance.slots + 1):
            break
    return instance, bound.certificate()


def has_rents(number):
    """Whether an instance has a certificate of one part with rents."""
    certificate = proven(number)[1]
    return certificate is not None and certificate.proof.parts() == 1 and any(certificate.proof.programs)


CASES = [number for number in range(20) if has_rents(number)]


@pytest.fixture(scope="module")
def divided():
    """Instances, their optima and certificates whose schedules are divided: impatient searches divide soon."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subgradient, "_PATIENCE", 1)
        for number in range(280):
            instance = small_instance(number, seed=10)
            if instance.iterations < 3:
                continue
            bound = RentBound(instance, instance.iterations)
            for _ in range(300):
                if not bound.work(0, instance.slots + 1):
                    break
            certificate = bound.certificate()
            if certificate is not None and certificate.proof.parts() > 1:
                answer = offline_coupled.solve(instance, solver="native")
                found.append((instance, instance.slots + 1 if answer.value is None else answer.value, certificate))
    return found


def test_certificates_of_divided_schedules_hold_and_survive_their_files(divided, tmp_path):
    assert len(divided) >= 5
    for instance, optimum, certificate in divided:
        verdict = check(instance, certificate)
        assert verdict.is_valid
        assert certificate.bound <= verdict.outcome.value <= optimum
        write_schedule(certificate, tmp_path / "rents.json")
        assert read_schedule(tmp_path / "rents.json") == certificate


def test_a_division_that_leaves_schedules_out_proves_nothing_above_the_optimum(divided):
    refused = 0
    for instance, optimum, certificate in divided:
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


def test_a_file_that_divides_for_ever_is_told_in_one_line(tmp_path):
    _, certificate = proven(CASES[0])
    proof = certificate.proof
    for _ in range(500):
        proof = Division(1, 3, certificate.proof, proof)
    write_schedule(replace(certificate, proof=proof), tmp_path / "rents.json")
    with pytest.raises(InputError, match="divided more than 400 times"):
        read_schedule(tmp_path / "rents.json")


def test_a_certificate_survives_its_file(tmp_path):
    instance, certificate = proven(CASES[0])
    write_schedule(certificate, tmp_path / "rents.json")
    assert read_schedule(tmp_path / "rents.json") == certificate
    assert is_made_for(instance, certificate)


def test_what_breaks_a_rule_is_refused_by_its_name():
    refused = set()
    for number in CASES:
        instance, certificate = proven(number)
        proof = certificate.proof
        raised = tuple((q, t, tuple(x + proof.programs[0] + 1 for x in paid)) for q, t, paid in proof.rents)
        nodes = tuple((first, tuple(None if d is None else d + 1 for d in row)) for first, row in proof.nodes)
        wrong = {
            "B1": [
                replace(proof, horizon=instance.slots + 1),
                replace(proof, programs=proof.programs[:-1]),
                replace(proof, programs=(-1, *proof.programs[1:])),
                replace(proof, rents=(*proof.rents, *proof.rents[:1])) if raised else None,
                replace(proof, rents=((instance.num_workers, 0, proof.programs),)),
            ],
            "B2": [replace(proof, rents=raised)] if raised else [],
            "B3": [replace(proof, nodes=nodes)],
            "B4": [replace(certificate, bound=certificate.bound + 1)],
        }
        for rule, changed in wrong.items():
            for one in changed:
                if one is not None:
                    claim = one if rule == "B4" else replace(certificate, proof=one)
                    verdict = check(instance, claim)
                    if verdict.is_valid:  # as where a life cannot be sent a program at all
                        assert rule in ("B2", "B3", "B4")
                        assert verdict.outcome.value >= claim.bound
                    else:
                        assert verdict.rule in (rule, "B2", "B4")
                        refused.add(rule)
    assert refused == {"B1", "B2", "B3", "B4"}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("programs", [-1], "proof.programs"),
        ("lives", [{"worker": 0, "slot": 0, "rents": [-3]}], "proof.lives"),
        ("nodes", [{"slot": 0}], "proof.nodes"),
        ("iteration", 1, "proof"),
        ("more", 1, "more"),
    ],
)
def test_malformed_files_are_told_in_one_line(tmp_path, key, value, said):
    _, certificate = proven(CASES[0])
    write_schedule(certificate, tmp_path / "rents.json")
    document = json.loads((tmp_path / "rents.json").read_text())
    document["proof"][key] = value
    (tmp_path / "rents.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as told:
        read_schedule(tmp_path / "rents.json")
    assert said in str(told.value)
    assert "rents.json" in str(told.value)
    assert "\n" not in str(told.value)


def test_where_programs_cost_nothing_there_is_nothing_to_evaluate():
    _, certificate = proven(CASES[0])
    free = Instance.from_letters(["uuu"], w=[1], tasks=1)
    with pytest.raises(InputError, match="t_prog"):
        check(free, certificate)


def test_a_channel_that_can_never_carry_an_iteration_is_told_from_one_that_can():
    lives = ["uuud" * 40] * 6
    base = Instance.from_letters(lives, w=[1] * 6, tasks=6, n_com=1, t_prog=1, t_data=1, mu=[1] * 6)
    assert not can_carry(base)
    assert offline_coupled.solve(base).status == "infeasible"
    assert not can_carry(base.replace(n_com=2))
    assert can_carry(base.replace(n_com=4))


@pytest.mark.parametrize("number", range(40))
def test_nothing_is_called_impossible_that_has_a_schedule(number):
    instance = small_instance(number, seed=8)
    if not can_carry(instance):
        assert offline_coupled.solve(instance, solver="cpsat").status == "infeasible"


def test_the_native_search_hands_out_certificates_of_the_bound_it_reports():
    found = 0
    for number in range(60):
        instance = small_instance(number, seed=9)
        parameters = PortfolioParameters(first_round=1)
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


def test_merits_are_what_paths_use_of_a_life_from_a_slot_on():
    told = 0
    for number in range(60):
        instance = small_instance(number, seed=8)
        bound = RentBound(instance, instance.iterations)
        assert bound.merits(instance.slots) is None
        for _ in range(60):
            if not bound.work(0, instance.slots + 1):
                break
        merits = bound.merits(instance.slots)
        if merits is None:  # no path was ever found
            continue
        life = bound._distances.tables.facts.life[: len(merits)]
        assert merits.shape == (len(life), instance.num_workers)
        assert (merits[life < 0] == 0).all()
        same = (life[1:] == life[:-1]) & (life[1:] >= 0)
        assert (merits[1:][same] <= merits[:-1][same] + 1e-9).all()
        first = life[0] >= 0
        assert merits[0, first] == pytest.approx(bound.usage.by_life[1:, life[0, first]].sum(axis=0))
        told += bool(merits.any())
    assert told > 20


#: An instance with long pauses, so that boxes are narrowed to starts after them, where hardly any box is halved.
_PAUSES = """
import numpy as np
from hindsched.instances.coupled import Instance
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline.coupled.bounds.program_lagrangian import subgradient
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound

subgradient._FIRST_HALVINGS = subgradient.MOST_HALVINGS = 1
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
bound = RentBound(instance, iterations)
for _ in range(900):
    bound.work(int(draw.integers(0, 90)), 111)
print(bound.bound)
"""


def test_no_kernel_looks_beyond_an_array():
    """Interpreted, where that is an error: after slots without a start a box may start after those it computes from."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    script = [sys.executable, "-c", _PAUSES]
    done = subprocess.run(script, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 89
