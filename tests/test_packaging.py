"""The wheel installs one typed package that is light to import, and a working console script."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("instances", "offline", "online", "reductions", "bench")
HEAVY = ("ortools", "pulp", "highspy", "matplotlib", "pandas", "scipy", "numba")


def run(*command: str | Path, **kwargs) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **kwargs)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_packages_are_folders_of_the_repository_linked_into_one():
    for name in PACKAGES:
        spec = importlib.util.find_spec(f"hindsched.{name}")
        assert spec is not None
        assert spec.origin is not None, f"{name} is a namespace, not ours"
        assert Path(spec.origin).resolve().parent.parent == ROOT


@pytest.mark.parametrize("name", PACKAGES)
def test_old_names_give_the_same_modules_and_warn(name):
    modules = [f"{name}.{path.stem}" for path in sorted((ROOT / name).glob("*.py")) if path.stem != "__init__"]
    code = (
        "import sys, warnings; from importlib import import_module\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        f"    warnings.simplefilter('always'); import {name}\n"
        f"assert [w.category for w in caught] == [DeprecationWarning], caught\n"
        f"for name in {[name, *modules[:1]]}:\n"
        "    module = import_module(f'hindsched.{name}')\n"
        "    assert import_module(name) is module and module.__spec__.name == f'hindsched.{name}'\n"
    )
    run(sys.executable, "-c", code, cwd=ROOT)


@pytest.mark.parametrize(
    "statement",
    [
        "import hindsched",
        *(f"import hindsched.{name}" for name in PACKAGES),
        "import sys; sys.argv = ['hindsched', '--help']; import hindsched.bench.commands.group",
    ],
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


def test_the_wheel_contains_one_package_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith("hindsched-")
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"hindsched"}
    assert {name.split("/")[1] for name in names if name.endswith("/__init__.py")} == {"__init__.py", *PACKAGES}
    assert [name for name in names if "docs/" in name] == []
    rows = {name.rpartition("/")[2] for name in names if name.startswith("hindsched/bench/data/")}
    assert rows == {"leaderboard.csv", "paper_tables.csv"}, "rows that a command reads; others belong to docs/studies"
    assert "hindsched/py.typed" in names
    assert {"hindsched/bench/report/templates/report.html", "hindsched/bench/report/templates/report.css"} <= set(names)
    data = [path.relative_to(ROOT).as_posix() for path in (ROOT / "instances" / "data").rglob("*") if path.is_file()]
    assert "instances/data/spot_aws_v100/LICENSE" in data
    assert {f"hindsched/{path}" for path in data} <= set(names)


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_both_kinds_of_install_give_a_console_script_that_runs(kind, wheel, tmp_path):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    (site,) = (environment / "lib").glob("python*/site-packages")
    # The new environment uses these dependencies, but its own copy of the toolkit.
    ours = sysconfig.get_paths()["purelib"]
    (site / "dependencies.pth").write_text(ours + "\n")
    what = [wheel] if kind == "wheel" else ["--no-build-isolation", "--editable", ROOT]
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", *what)
    place = run(python, "-c", "import hindsched.bench; print(hindsched.bench.__file__)", cwd=tmp_path).strip()
    expected = site if kind == "wheel" else ROOT
    assert Path(place).resolve().is_relative_to(expected.resolve())
    out = run(environment / "bin" / "hindsched", "generate", "--small", "--slots", "5", cwd=tmp_path)
    assert '"format":"coupled/1"' in out


def test_the_source_distribution_gives_the_same_wheel(wheel, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=ROOT)
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    (sources,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (sources / "tests" / "test_packaging.py").is_file()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=sources)
    (again,) = tmp_path.glob("*.whl")
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def supported() -> list[str]:
    """Return the supported versions of Python except this one."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    found = [line.rpartition(" ")[2] for line in classifiers if line.startswith("Programming Language :: Python :: 3.")]
    assert found
    return [version for version in found if version != f"3.{sys.version_info.minor}"]


def interpreter(version: str) -> Path | None:
    """Return a Python of this version from the path or from pyenv; None if there is none."""
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    on_path = shutil.which(f"python{version}")
    for python in [*([Path(on_path)] if on_path else []), *sorted(kept.glob(f"{version}.*/bin/python"))]:
        if subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", supported())
def test_the_wheel_runs_on_the_other_pythons_of_this_machine(version, wheel, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    environment = tmp_path / "environment"
    run(python, "-m", "venv", "--without-pip", environment)
    to = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        environment / "bin" / "python",
        "install",
        "--quiet",
        "--no-compile",
        wheel,
    ]
    installed = subprocess.run(to, capture_output=True, text=True, check=False)
    if "No matching distribution" in installed.stderr:
        pytest.skip(f"what hindsched requires cannot be had here for Python {version}")
    assert installed.returncode == 0, installed.stderr
    hindsched = environment / "bin" / "hindsched"
    run(hindsched, "generate", "--small", "--slots", "12", "-o", "small.json", cwd=tmp_path)
    for solver in ("brute", "cpsat"):
        said = run(hindsched, "solve", "small.json", "--solver", solver, "--json", cwd=tmp_path)
        assert '"status":"optimal"' in said.replace(" ", "")
    shutil.rmtree(environment)  # three quarters of a gigabyte
