"""Classes from files and installed packages of other people, made into objects, with errors of one line."""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import importlib.metadata
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.textio import excerpt

__all__ = ["GROUP", "aside", "by_name", "expect_family", "load_entry_point", "load_file", "own_policy", "source_files"]

#: The group of entry points in which an installed package offers policies.
GROUP = "hindsched.policies"


@contextmanager
def aside() -> Iterator[None]:
    """Send what other people's code prints to standard error, for standard output is for results.

    Examples
    --------
    >>> with aside():
    ...     print("look")
    """
    with redirect_stdout(sys.stderr):
        yield


@aside()
def own_policy(
    policy: Any, offered: Mapping[str, object], *, family: str, built_in: Sequence[str], protocol: type, expected: str
) -> Any:
    """Return a policy of somebody's own, checked as far as can be without running it.

    Parameters
    ----------
    policy
        ``path/to/file.py:ClassName``, the name of an entry point of `GROUP`, or an object, of which a copy is returned:
        no run sees what an earlier one has left in it.
    offered
        Keyword arguments on offer; those that the constructor names are passed.
    family
        For which family of problems it is asked.
    built_in
        The names of the family's own policies, for messages.
    protocol
        What it must be, a protocol that can be checked at run time.
    expected
        The same in words.

    Raises
    ------
    InputError
        In one line: for an unknown name, a file or class that cannot be used, a class in place of an object, and a
        policy of another family.
    """
    if isinstance(policy, str):
        place = f"policy {policy}"
        path, colon, class_name = policy.rpartition(":")
        is_file = colon and path.endswith(".py")
        made = load_file(path, class_name, offered) if is_file else load_entry_point(GROUP, policy, offered)
        if made is None:
            raise InputError(
                f"{excerpt(policy)}, expected one of {', '.join(built_in)}, or path/to/file.py:ClassName, "
                f"or an entry point of the group {GROUP}",
                place="policy",
            )
        expect_family(made, family, policy)
    else:
        place = f"policy {type(policy).__name__}"
        if isinstance(policy, type):
            raise InputError(f"the class {policy.__name__}, expected an object of it", place="policy")
        expect_family(policy, family, type(policy).__name__)
        try:
            made = copy.deepcopy(policy)
        except Exception as error:  # somebody else's object may hold what cannot be copied
            raise InputError(f"cannot be copied: {_told(error)}", place=place) from error
    if not isinstance(made, protocol):
        raise InputError(f"expected {expected}", place=place)
    name = getattr(made, "name", type(made).__name__)
    if not (isinstance(name, str) and name and name.isprintable()):
        raise InputError(f"name {name!r}, expected one line of text", place=place)
    return made


@aside()
def load_file(path: str, class_name: str, options: Mapping[str, object]) -> object:
    """Return an object of a class in a Python file.

    Parameters
    ----------
    path
        The file. It is executed anew for every call; what it imports at its top may lie beside it.
    class_name
        The class (or function) to call.
    options
        Keyword arguments on offer; those that the constructor names are passed.

    Raises
    ------
    InputError
        Naming the file, and what is wrong: no such file or class, an error on import or in the constructor.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("no such file", file=path)
    # a name of its own, so that two files of one name do not meet, and the file's classes can be found again
    name = f"_policy_{hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        with _neighbours_of(file.resolve()):
            exec(compile(file.read_bytes(), path, "exec"), vars(module))  # no byte code is cached beside the file
    except (Exception, SystemExit) as error:  # somebody else's file may raise anything
        del sys.modules[name]
        raise InputError(f"cannot be imported: {_told(error)}", file=path) from error
    if not hasattr(module, class_name):
        raise InputError(f"no class {class_name!r} in it", file=path)
    return _make(getattr(module, class_name), options, f"{path}:{class_name}")


@contextmanager
def _neighbours_of(file: Path) -> Iterator[None]:
    """Let imports find the modules beside a file, and forget these afterwards: another file may have others."""
    folder = str(file.parent)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()  # a neighbour may have been written a moment ago
    known, writes = set(sys.modules), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            place = getattr(sys.modules[name], "__file__", None)
            if place is not None and Path(place).is_relative_to(folder):
                del sys.modules[name]


def source_files(path: str) -> list[Path]:
    """Return a policy's file and the modules beside it that it imports, directly or through each other.

    Raises
    ------
    InputError
        Where a file is not there or cannot be parsed.
    """
    found: dict[Path, None] = {}
    waiting = [Path(path)]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found[file] = None
        try:
            tree = ast.parse(file.read_bytes())
        except OSError:
            raise InputError("no such file", file=path) from None
        except (SyntaxError, ValueError) as error:
            raise InputError(f"cannot be imported: {_told(error)}", file=path) from error
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in {name.partition(".")[0] for name in names}:
                beside = Path(path).parent / name
                waiting += [beside.with_suffix(".py")] if beside.with_suffix(".py").is_file() else []
                waiting += sorted(beside.rglob("*.py")) if (beside / "__init__.py").is_file() else []
    return list(found)


@aside()
def load_entry_point(group: str, name: str, options: Mapping[str, object]) -> object | None:
    """Return an object made by an installed entry point, or None if there is none of this name.

    Raises
    ------
    InputError
        Naming the entry point, where it cannot be imported or made.
    """
    for point in importlib.metadata.entry_points(group=group, name=name):
        place = f"entry point {name} = {point.value}"
        try:
            factory = point.load()
        except (Exception, SystemExit) as error:  # somebody else's package may raise anything
            raise InputError(f"cannot be imported: {_told(error)}", place=place) from error
        return _make(factory, options, place)
    return None


def by_name(policies: Iterable[str], make: Callable[[str], Any], taken: Collection[str]) -> dict[str, str]:
    """Return policies by name, each once.

    Parameters
    ----------
    policies
        As they are asked for.
    make
        Makes one.
    taken
        Names of other rows, which only what is asked for by this very name may have.

    Raises
    ------
    InputError
        For two policies that no table could tell apart.
    """
    found: dict[str, str] = {}
    for policy in policies:
        name = make(policy).name
        if found.setdefault(name, policy) != policy:
            raise InputError("two policies of this name, expected a name for each", place=f"policy {name}")
        if name in taken and policy != name:
            raise InputError("another row has this name, expected a name of its own", place=f"policy {name}")
    return found


def expect_family(made: object, family: str, place: str) -> None:
    """Refuse a policy that says it is for another family of problems.

    Parameters
    ----------
    made
        A policy; its attribute ``family``, if it has one, is the name of the family it is for.
    family
        The family it is asked for.
    place
        How the user called it.

    Raises
    ------
    InputError
        In one line, naming both families.

    Examples
    --------
    >>> class Mine:
    ...     family = "bags"
    >>> expect_family(Mine(), "coupled", "mine.py:Mine")
    Traceback (most recent call last):
    hindsched.instances.errors.InputError: policy mine.py:Mine: for the family bags, expected one for coupled
    """
    told = getattr(made, "family", None)
    if told is not None and told != family:
        raise InputError(f"for the family {told}, expected one for {family}", place=f"policy {place}")


def _make(factory: Any, options: Mapping[str, object], place: str) -> object:
    if not callable(factory):
        raise InputError(f"{type(factory).__name__}, expected a class", place=place)
    try:
        parameters = inspect.signature(factory).parameters
        return factory(**{key: value for key, value in options.items() if key in parameters})
    except (Exception, SystemExit) as error:  # somebody else's constructor may raise anything
        raise InputError(f"cannot be made: {_told(error)}", place=place) from error


def _told(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
