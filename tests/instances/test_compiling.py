"""The cache of machine code: it is keyed by the sources, and damaged files are replaced."""

import ast
import importlib
import importlib.util
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock
from numba.core.errors import TypingError

from hindsched.instances import InputError, compiling

HOME = Path(compiling.__file__).parents[1]


def forget_sources() -> None:
    """Clear the cache of sources, as in a new process."""
    for remembered in (compiling._cache_folder, compiling._imported_by, compiling._digest, compiling._compiler):
        remembered.cache_clear()


def test_machine_code_is_cached_for_these_sources_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder() -> str:
        forget_sources()
        return compiling.folder_name(tmp_path / "a.py")

    (tmp_path / "a.py").write_text("from b import (\n    one,\n    two as three,\n)\n")
    alone = folder()
    assert alone == folder()
    (tmp_path / "c.py").write_text("one = 1\n")
    assert folder() == alone  # no module imports it
    (tmp_path / "b.py").write_text("from c import one\ntwo = 2\n")
    with_b = folder()
    assert with_b != alone
    (tmp_path / "c.py").write_text("one = 2\n")
    assert folder() not in (with_b, alone)
    monkeypatch.setattr(compiling, "version", lambda package: "0.0")
    assert folder() not in (with_b, alone)


def test_sources_are_followed_within_a_package_only(tmp_path: Path) -> None:
    for name, text in {
        "house/__init__.py": "",
        "house/room/__init__.py": "from house import cellar\n",
        "house/room/kernels.py": "import numpy\nimport house.attic\nfrom house.room import shelf, box\n",
        "house/room/shelf.py": "from other import x\n",
        "house/attic.py": "from house.room.kernels import y\n",
        "house/cellar.py": "",
        "other.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    forget_sources()
    found = [
        str(file.relative_to(tmp_path / "house")) for file in compiling.sources_of(tmp_path / "house/room/kernels.py")
    ]
    assert found == ["attic.py", "cellar.py", "room/__init__.py", "room/kernels.py", "room/shelf.py"]


HELPER = """
from hindsched.instances.compiling import kernel

@kernel
def step(number):
    return number + 1
"""
USER = """
from helper_of_a_test import step
from hindsched.instances.compiling import kernel

@kernel("int64(int64)")
def twice(number):
    return step(step(number))

@kernel
def any_kind(number):
    return step(number)
"""

Load = Callable[[], ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Write two modules with kernels; return a function that imports them as in a new process."""
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "helper_of_a_test.py").write_text(HELPER)
    (sources / "user_of_a_test.py").write_text(USER)
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.syspath_prepend(str(sources))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def imported() -> ModuleType:
        for name in ("helper_of_a_test", "user_of_a_test"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        forget_sources()
        return importlib.import_module("user_of_a_test")

    return imported


def hits(kernel: Any) -> int:
    return sum(kernel.stats.cache_hits.values())


def files(place: Path, ending: str, kernel: str = "twice") -> list[Path]:
    found = sorted(place.glob(f"code/**/*{kernel}*.{ending}"))
    assert found
    return found


def test_earlier_machine_code_is_loaded(load: Load) -> None:
    first, second = load(), load()
    assert (first.twice(3), hits(first.twice)) == (5, 0)
    assert (second.twice(3), hits(second.twice)) == (5, 1)
    assert (first.any_kind(3), first.any_kind(0.5)) == (4, 1.5)
    assert (second.any_kind(3), second.any_kind(0.5), hits(second.any_kind)) == (4, 1.5, 2)


def test_a_change_in_a_called_function_is_noticed(load: Load, tmp_path: Path) -> None:
    assert load().twice(3) == 5
    (tmp_path / "sources" / "helper_of_a_test.py").write_text(HELPER.replace("+ 1", "+ 5"))
    after = load()
    assert (after.twice(3), hits(after.twice)) == (13, 0)


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def cut_by_a_byte(content: bytes) -> bytes:
    return content[:-1]


def empty(_: bytes) -> bytes:
    return b""


def one_bit_off(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [cut_short, cut_by_a_byte, empty, one_bit_off])
def test_a_damaged_file_is_replaced(load: Load, tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    assert load().twice(3) == 5
    (file,) = files(tmp_path, ending)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    after = load()
    assert (after.twice(3), hits(after.twice)) == (5, 0)
    assert compiling._is_whole(file)
    again = load()
    assert (again.twice(3), hits(again.twice)) == (5, 1)


def test_a_missing_file_is_replaced(load: Load, tmp_path: Path) -> None:
    assert load().twice(3) == 5
    (file,) = files(tmp_path, "nbc")
    file.unlink()
    after = load()
    assert (after.twice(3), hits(after.twice), file.exists()) == (5, 0, True)


def test_code_for_other_types_in_the_same_file_is_not_loaded(load: Load, tmp_path: Path) -> None:
    """Two processes that compile at the same time may write their code to the same file."""
    first = load()
    assert (first.any_kind(3), first.any_kind(0.5)) == (4, 1.5)
    whole, real = files(tmp_path, "nbc", "any_kind")
    real.write_bytes(whole.read_bytes())
    after = load()
    assert (after.any_kind(3), after.any_kind(0.5), hits(after.any_kind)) == (4, 1.5, 1)


def test_a_constant_is_compiled_like_other_values(load: Load, tmp_path: Path) -> None:
    (tmp_path / "sources" / "user_of_a_test.py").write_text(
        USER
        + """
@kernel
def with_constants(number):
    return step(7) + step(number) + step(True) + step(bool(number))
"""
    )
    module = load()
    assert module.with_constants(1) == 14
    assert not module.step.signatures  # no signature for Python before the first call
    assert [str(kind) for (kind,) in module.step.inner().signatures] == ["int64", "bool"]


RUN = """
import sys
sys.dont_write_bytecode = True
sys.path[:0] = {paths!r}
from numba.core import config
config.CACHE_DIR = {code!r}
import user_of_a_test as module
assert module.any_kind(3) == 4
print(sum(module.any_kind.stats.cache_misses.values()), sum(module.step.inner().stats.cache_misses.values()))
"""


def test_processes_that_start_together_compile_once(load: Load, tmp_path: Path) -> None:
    """`twice` and `step`, which it calls, are compiled at the import of the module, and `any_kind` at its call."""
    assert callable(load)  # the fixture has written the sources
    program = RUN.format(paths=[str(tmp_path / "sources"), str(HOME.parent)], code=str(tmp_path / "code"))
    command = [sys.executable, "-c", program]
    together = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    missed = [[int(word) for word in process.communicate()[0].split()] for process in together]
    assert [sum(column) for column in zip(*missed, strict=True)] == [1, 1]


def test_a_failed_compilation_releases_the_lock(load: Load, tmp_path: Path) -> None:
    module = load()
    with pytest.raises(TypingError):
        module.any_kind("no number")
    (index,) = tmp_path.glob("code/**/*any_kind*.lock")
    with FileLock(index, timeout=0):
        pass
    assert module.any_kind(3) == 4


def test_progress_counts_the_functions_of_a_kernel_and_nothing_is_reported_when_they_are_loaded(
    load: Load, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger(compiling.LOGGER), "disabled", False)
    monkeypatch.setattr(compiling, "_progress", compiling._Progress())
    caplog.set_level(logging.INFO, logger=compiling.LOGGER)
    load().any_kind(3)
    assert [record.getMessage().rsplit(": ", 1)[1] for record in caplog.records] == [
        "kernel 1 (user_of_a_test.twice), function 1 of 2",
        "kernel 1 (user_of_a_test.twice), function 2 of 2",
        "kernel 2 (user_of_a_test.any_kind), function 1 of 2",
        "kernel 2 (user_of_a_test.any_kind), function 2 of 2",
    ]
    caplog.clear()
    load().any_kind(3)
    assert caplog.records == []


def test_nothing_is_cached_without_a_writable_folder(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_is_usable", lambda folder, is_beside_sources: False)
    for _ in range(2):
        module = load()
        assert (module.twice(3), hits(module.twice)) == (5, 0)


# ------------------------------------------------------------------------------ folders that others can write to

PLANTED = """
import pickle, sys
from hashlib import sha256
from pathlib import Path


class Attack:
    def __reduce__(self):
        return exec, (f"open({sys.argv[2]!r}, 'w').close()",)


for file in Path(sys.argv[1]).rglob("*.nb?"):
    content = pickle.dumps(Attack())
    file.write_bytes(content + sha256(content).digest())
"""


def planted(folder: Path, mark: Path) -> None:
    """Replace all files of a cache by pickles that write a file when they are loaded."""
    subprocess.run([sys.executable, "-c", PLANTED, str(folder), str(mark)], check=True)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no modes of files")
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o702])
def test_a_cache_that_others_can_write_to_is_refused_before_it_is_loaded(load: Load, tmp_path: Path, mode: int) -> None:
    load()
    planted(tmp_path / "code", tmp_path / "attacked")
    (tmp_path / "code").chmod(mode)
    with pytest.raises(InputError) as caught:
        load()
    assert str(caught.value).startswith(f"{tmp_path}/code: other users can write to this folder")
    assert f"(mode {mode:04o})" in str(caught.value)
    assert "NUMBA_CACHE_DIR" in str(caught.value)
    assert not (tmp_path / "attacked").exists()
    (tmp_path / "code").chmod(0o700)
    load()  # the attack of this test works where nothing is refused
    assert (tmp_path / "attacked").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no modes of files")
def test_an_open_folder_inside_is_refused_too(load: Load, tmp_path: Path) -> None:
    load()
    (folder,) = (tmp_path / "code").glob("user_of_a_test-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o707)
    with pytest.raises(InputError, match=re.escape(f"{folder}: other users can write")):
        load()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no modes of files")
def test_other_places_that_are_open_are_passed_over_with_one_line(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiling.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(logging.getLogger(compiling.LOGGER), "disabled", False)
    load()
    (folder,) = (tmp_path / "sources/__pycache__").glob("user_of_a_test-*")
    planted(folder, tmp_path / "attacked")
    folder.chmod(0o777)
    module = load()
    assert module.twice(3) == 5
    (said,) = [record.getMessage() for record in caplog.records if "other users" in record.getMessage()]
    assert said.startswith(f"{folder}: other users can write to this folder of machine code (mode 0777)")
    assert not (tmp_path / "attacked").exists()
    assert len(list((tmp_path / "user/hindsched").glob("user_of_a_test-*"))) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no modes of files")
def test_folders_of_ones_own_are_used_with_any_umask(load: Load, tmp_path: Path) -> None:
    (tmp_path / "sticky").mkdir()
    (tmp_path / "sticky").chmod(0o1777)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    before = os.umask(0o002)
    try:
        for umask, place in ((0o002, "two"), (0o000, "zero/deeper"), (0o002, "sticky"), (0o002, "link")):
            os.umask(umask)
            compiling.config.CACHE_DIR = str(tmp_path / place)  # load() restores it
            load()
            assert hits(load().twice) == 1
            (folder,) = (tmp_path / place).glob("user_of_a_test-*")
            assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_passed_over(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    (folder,) = (tmp_path / "code").glob("user_of_a_test-*")
    planted(folder, tmp_path / "attacked")
    for place in (folder, tmp_path / "code"):
        os.chown(place, 12_345, 12_345)
        assert load().twice(3) == 5
        assert not (tmp_path / "attacked").exists()
        os.chown(place, 0, 0)
    link = folder.with_name("elsewhere")
    folder.rename(link)
    folder.symlink_to(link, target_is_directory=True)
    assert load().twice(3) == 5
    assert not (tmp_path / "attacked").exists()


def test_a_group_is_private_only_with_its_users_name_and_no_other_member(monkeypatch: pytest.MonkeyPatch) -> None:
    grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")
    monkeypatch.setattr(pwd, "getpwuid", lambda number: SimpleNamespace(pw_name="ada"))
    for name, members, expected in (("ada", [], True), ("ada", ["ada"], True), ("ada", ["bob"], False), ("lab", [], 0)):
        monkeypatch.setattr(grp, "getgrgid", lambda _, n=name, m=members: SimpleNamespace(gr_name=n, gr_mem=m))
        assert compiling._is_private_group(7) == bool(expected)


# ---------------------------------------------------------------------------------- completeness of the digest


def kernels_in(file: Path) -> list[ast.FunctionDef]:
    """Return the functions of a file that are decorated as kernels."""
    tree = ast.parse(file.read_text())
    called = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [
        function
        for function in called
        if any(ast.unparse(decorator).split("(")[0] == "kernel" for decorator in function.decorator_list)
    ]


def origin(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


FILES = [
    file
    for package in ("instances", "offline", "online")
    for file in (HOME / package).rglob("*.py")
    if kernels_in(file)
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(HOME)))
def test_the_digest_covers_everything_that_kernels_use(file: Path) -> None:
    used = {
        node.id
        for function in kernels_in(file)
        for part in function.body
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    }
    sources = compiling.sources_of(file)
    assert file in sources
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hindsched."):
            names = {alias.asname or alias.name for alias in node.names} & used
            assert not names or origin(node.module) in sources, (file, node.module, names)
