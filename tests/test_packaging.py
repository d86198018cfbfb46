"""What is installed: five packages from one place, typed, light to import, with a console script that runs."""

import importlib.util
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("instances", "offline", "online", "reductions", "bench")
HEAVY = ("ortools", "pulp", "highspy", "matplotlib", "pandas", "scipy", "numba", "joblib")


def run(*command: str | Path, **kwargs) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **kwargs)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_five_packages_come_from_one_place():
    places = set()
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None, f"{name} is a namespace, not ours"
        places.add(Path(spec.origin).resolve().parent.parent)
    assert places == {ROOT}


@pytest.mark.parametrize(
    "statement",
    [f"import {name}" for name in (*PACKAGES, "hindsched")]
    + ["import sys; sys.argv = ['hindsched', '--help']; import bench.cli"],
)
def test_imports_are_light(statement):
    check = f"{statement}; import sys; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert run(sys.executable, "-c", check).strip() == "[]"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_packages_and_the_one_import_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith("hindsched-")
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {*PACKAGES, "hindsched.py"}
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    assert {"bench/report/templates/report.html", "bench/report/templates/report.css"} <= set(names)
    data = [path.relative_to(ROOT).as_posix() for path in (ROOT / "instances" / "data").rglob("*") if path.is_file()]
    assert {"instances/data/spot_aws_v100/LICENSE", "instances/data/spot_aws_v100/NOTICE"} <= set(data) <= set(names)


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_both_kinds_of_install_give_a_console_script_that_runs(kind, wheel, tmp_path):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    (site,) = (environment / "lib").glob("python*/site-packages")
    # the new environment borrows our dependencies, but must bring the toolkit itself
    ours = sysconfig.get_paths()["purelib"]
    (site / "dependencies.pth").write_text(ours + "\n")
    what = [wheel] if kind == "wheel" else ["--no-build-isolation", "--editable", ROOT]
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", *what)
    place = run(python, "-c", "import bench; print(bench.__file__)", cwd=tmp_path).strip()
    expected = site if kind == "wheel" else ROOT
    assert Path(place).resolve().is_relative_to(expected.resolve())
    out = run(environment / "bin" / "hindsched", "generate", "--small", "--slots", "5", cwd=tmp_path)
    assert '"format":"coupled/1"' in out
