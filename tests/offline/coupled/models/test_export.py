"""Models in files; ``hindsched solve --write-model`` writes the model of the makespan completely or not at all."""

import sys
from pathlib import Path

import pulp
import pytest
from google.protobuf import text_format
from ortools.sat import cp_model_pb2
from ortools.sat.python import cp_model

from hindsched import offline
from hindsched.bench.cli import main
from hindsched.instances import InputError, write
from hindsched.instances.coupled import Instance
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.backends.pulp_runs import run
from hindsched.offline.coupled.no_communication import team_cpsat as cpsat
from hindsched.offline.coupled.no_communication import team_ilp as ilp
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.limits import Limits

SIMPLE = Instance.from_letters(["uruur", "uuruu", "ruuuu"], w=[1, 1, 2], mu=[1, 1, 1], tasks=2)
PROBLEM = CommonSlots.of_rows(["1101101", "10111d1", "0111111"], tasks=2, aim=Aim.WIDEST)
BEST = 4
GENERAL = Instance.from_letters(
    ["uuuruuuuuuru", "uruuuuuuuuuu", "uuuuuruuuduu"], w=[1, 2, 1], tasks=2, iterations=2, t_prog=1, t_data=1, n_com=1
)


def value_of_proto(path: Path) -> int:
    """Return the optimum of CP-SAT's model in a file."""
    proto = cp_model_pb2.CpModelProto()
    if path.suffix == ".pb":
        proto.ParseFromString(path.read_bytes())
    else:
        text_format.Parse(path.read_text(), proto)
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(str(proto))
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


def value_in(path: Path) -> int:
    """Return the optimum of the model in a file, as a makespan."""
    if path.suffix == ".mps":
        _, program = pulp.LpProblem.fromMPS(str(path))
        assert run(program, "highs", Limits(), None).is_proven
        return round(program.objective.value())
    return value_of_proto(path)


def test_the_mps_file_is_the_same_program(tmp_path: Path) -> None:
    path = tmp_path / "model.mps"
    ilp.write_model(PROBLEM, path)
    _, program = pulp.LpProblem.fromMPS(str(path), sense=pulp.LpMaximize)
    claim = run(program, "highs", Limits(), None)
    assert claim.is_proven
    assert abs(program.objective.value()) == BEST


def test_the_lp_file_names_what_the_docstring_names(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    ilp.write_model(PROBLEM, path)
    text = path.read_text()
    assert all(name in text for name in ("Maximize", "slot_0:", "own_slots_1:", "all_tasks:", "down_1_5:", "level_1"))


@pytest.mark.parametrize("name", ["model.pb", "model.pbtxt"])
def test_the_proto_is_the_same_model(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    cpsat.write_model(PROBLEM, path)
    assert value_of_proto(path) == BEST


@pytest.mark.parametrize("write", [ilp.write_model, cpsat.write_model])
def test_another_suffix_raises(tmp_path: Path, write: object) -> None:
    with pytest.raises(InputError, match="expected a name that ends in"):
        write(PROBLEM, tmp_path / "model.txt")  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["model.lp", "model.mps"])
def test_a_missing_folder_raises(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        ilp.write_model(PROBLEM, tmp_path / "nowhere" / name)


@pytest.mark.parametrize("name", ["model.mps", "model.pb", "model.pbtxt"])
@pytest.mark.parametrize("instance", [SIMPLE, GENERAL])
def test_the_model_in_the_file_has_the_same_optimum(instance: Instance, name: str, tmp_path: Path) -> None:
    offline_coupled.write_model(instance, tmp_path / name)
    last = 1 if instance is GENERAL else 0  # the general models count the last slot, not the slots
    assert value_in(tmp_path / name) + last == offline.solve(instance).value
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_lp_file_can_be_read_by_a_person(tmp_path: Path) -> None:
    offline_coupled.write_model(SIMPLE, tmp_path / "model.lp", solver="ilp-highs")
    assert "all_tasks: x_0 + x_1 + x_2 = 2" in (tmp_path / "model.lp").read_text()


@pytest.mark.parametrize(
    ("name", "solver", "complaint"),
    [
        ("model.txt", "auto", "expected a name that ends in .lp or .mps or .pbtxt or .pb"),
        ("model", "auto", "expected a name that ends in"),
        ("model.pb", "ilp-cbc", "expected a name that ends in .lp or .mps"),
        ("model.lp", "cpsat", "expected a name that ends in .pbtxt or .pb"),
        ("model.lp", "native", "solver: 'native' has no model to write, expected one of auto, cpsat"),
        ("nowhere/model.lp", "auto", "cannot be written: no such directory"),
        ("nowhere/model.pb", "auto", "cannot be written: no such directory"),
    ],
)
@pytest.mark.parametrize("instance", [SIMPLE, GENERAL])
def test_a_failed_export_leaves_no_file(
    instance: Instance, name: str, solver: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=complaint):
        offline_coupled.write_model(instance, tmp_path / name, solver=solver)
    assert list(tmp_path.iterdir()) == []


def test_a_time_limit_ends_the_construction(tmp_path: Path) -> None:
    for name in ("model.lp", "model.pb"):
        with pytest.raises(InputError, match="time limit ended"):
            offline_coupled.write_model(GENERAL, tmp_path / name, time_limit_s=1e-9)
    assert list(tmp_path.iterdir()) == []


def test_impossible_iterations_raise(tmp_path: Path) -> None:
    never = Instance.from_letters(["uddd", "dddu"], w=[1, 1], tasks=2, t_prog=1, mu=[1, 1])
    for name in ("model.lp", "model.pb"):
        with pytest.raises(InputError, match="provably take longer"):
            offline_coupled.write_model(never, tmp_path / name)


def hindsched(*arguments: str) -> int:
    """Call the command line; return the exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["hindsched", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)


def test_the_command_writes_the_model_and_solves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, model = tmp_path / "simple.json", tmp_path / "model.lp"
    write(SIMPLE, file)
    assert hindsched("solve", str(file), "--write-model", str(model), "--json") == 0
    assert '"status":"optimal"' in capsys.readouterr().out
    assert model.stat().st_size > 100


@pytest.mark.parametrize(
    "arguments", [["{file}", "{file}"], ["{file}", "--objective", "iterations"], ["{file}", "--solver", "brute"]]
)
def test_the_command_refuses_unwritable_models(arguments: list[str], tmp_path: Path) -> None:
    file, model = tmp_path / "simple.json", tmp_path / "model.lp"
    write(SIMPLE, file)
    given = [argument.format(file=file) for argument in arguments]
    assert hindsched("solve", *given, "--write-model", str(model)) == 2
    assert not model.exists()
