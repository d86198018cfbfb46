"""Every model can be written to a file that others can read."""

from pathlib import Path

import pulp
import pytest
from google.protobuf import text_format
from ortools.sat import cp_model_pb2
from ortools.sat.python import cp_model

from instances import InputError
from offline.coupled.common_slots import cpsat, ilp
from offline.coupled.common_slots.problem import Aim, CommonSlots
from offline.coupled.common_slots.pulp_runs import run
from offline.limits import Limits

PROBLEM = CommonSlots.of_rows(["1101101", "10111d1", "0111111"], tasks=2, aim=Aim.WIDEST)
BEST = 4


def test_the_mps_file_is_the_same_program(tmp_path: Path) -> None:
    path = tmp_path / "model.mps"
    ilp.write_model(PROBLEM, path)
    _, program = pulp.LpProblem.fromMPS(str(path), sense=pulp.LpMaximize)
    outcome = run(program, "highs", Limits(), None)
    assert outcome.is_proven
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
    proto = cp_model_pb2.CpModelProto()
    if path.suffix == ".pb":
        proto.ParseFromString(path.read_bytes())
    else:
        text_format.Parse(path.read_text(), proto)
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(str(proto))
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    assert solver.objective_value == BEST


@pytest.mark.parametrize("write", [ilp.write_model, cpsat.write_model])
def test_another_ending_is_refused(tmp_path: Path, write: object) -> None:
    with pytest.raises(InputError, match="expected a name that ends in"):
        write(PROBLEM, tmp_path / "model.txt")  # type: ignore[operator]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["model.lp", "model.mps"])
def test_a_folder_that_is_not_there_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        ilp.write_model(PROBLEM, tmp_path / "nowhere" / name)
