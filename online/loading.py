"""Load policies and predictors of users: from objects, Python files and entry points, with errors of one line."""

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
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN, part
from hindsched.instances.text_files import excerpt

__all__ = [
    "GROUP",
    "expect_family",
    "load_entry_point",
    "load_file",
    "load_module",
    "load_policy",
    "policies_by_name",
    "source_files",
    "split_file",
    "stdout_to_stderr",
]

#: The group of entry points in which an installed package offers policies.
GROUP = "hindsched.policies"


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send prints of user code to standard error; standard output is for results.

    Examples
    --------
    >>> with stdout_to_stderr():
    ...     print("look")
    """
    with redirect_stdout(sys.stderr):
        yield


@stdout_to_stderr()
def load_policy(
    policy: Any, offered: Mapping[str, object], *, family: str, built_in: Sequence[str], protocol: type, expected: str
) -> Any:
    """Return a user's policy, checked as far as possible without running it.

    Parameters
    ----------
    policy
        ``path/to/file.py:ClassName``, the name of an entry point of `GROUP`, or an object. An object is copied, so that
        no run sees what an earlier run left in it.
    offered
        Keyword arguments; the constructor receives those that it names.
    family
        The family of problems it must be for.
    built_in
        The names of the family's built-in policies, for messages.
    protocol
        The protocol it must satisfy, checkable at run time.
    expected
        The protocol in words, for messages.

    Raises
    ------
    InputError
        For an unknown name, an unusable file or class, a class in place of an object, or a policy of another family.
    """
    if isinstance(policy, str):
        place = f"policy {policy}"
        path, class_name = split_file(policy)
        made = load_file(path, class_name, offered) if class_name else load_entry_point(GROUP, policy, offered)
        if made is None:
            raise InputError(f"{excerpt(policy)}{_expected(policy, family, built_in)}", place="policy")
        expect_family(made, family, policy)
    else:
        place = f"policy {type(policy).__name__}"
        if isinstance(policy, type):
            raise InputError(f"the class {policy.__name__}, expected an object of it", place="policy")
        expect_family(policy, family, type(policy).__name__)
        try:
            made = copy.deepcopy(policy)
        except Exception as error:  # the object may hold what cannot be copied
            raise InputError(f"cannot be copied: {_in_one_line(error)}", place=place) from error
    if not isinstance(made, protocol):
        raise InputError(f"expected {expected}", place=place)
    name = getattr(made, "name", type(made).__name__)
    if not (isinstance(name, str) and name and name.isprintable()):
        raise InputError(f"name {name!r}, expected one line of text", place=place)
    return made


def _expected(name: str, family: str, built_in: Sequence[str]) -> str:
    """Return what is wrong with the name of a policy that does not exist."""
    if name.endswith(".py"):
        return f", expected the class as well: {name}:ClassName"
    by_fold = {known.casefold(): known for known in built_in}
    close = get_close_matches(name.casefold(), by_fold, cutoff=0.7)
    if close:
        swapped = [other for other in close if sorted(other) == sorted(name.casefold())]  # Y-EI means Y-IE, not Y-IY
        return f", expected a policy of {family}: did you mean {by_fold[(swapped or close)[0]]}?"
    known = f"{', '.join(built_in)}, or path/to/file.py:ClassName, or an entry point of the group {GROUP}"
    for other in BUILT_IN:
        if other != family and name in part(other, "online").POLICIES:
            return f" is a policy of {other}, expected for {family} one of {known}"
    return f", expected one of {known}"


def split_file(policy: str) -> tuple[str, str]:
    """Return the Python file and the class that the text of a policy names; empty where it names none.

    Examples
    --------
    >>> split_file("mine.py:Mine"), split_file("mine.py"), split_file("greedy")
    (('mine.py', 'Mine'), ('mine.py', ''), ('', ''))
    """
    if policy.endswith(".py"):
        return policy, ""
    path, _, class_name = policy.rpartition(":")
    return (path, class_name) if path.endswith(".py") else ("", "")


def load_file(path: str, class_name: str, options: Mapping[str, object]) -> object:
    """Return an object of a class in a Python file.

    Parameters
    ----------
    path
        The file; see `load_module`.
    class_name
        The class (or function) to call.
    options
        Keyword arguments; the constructor receives those that it names.

    Raises
    ------
    InputError
        Naming the file and the fault: no such file or class, an error on import or in the constructor.
    """
    module = load_module(path)
    if not hasattr(module, class_name):
        raise InputError(f"no class {class_name!r} in it", file=path)
    with stdout_to_stderr():
        return _make(getattr(module, class_name), options, f"{path}:{class_name}")


@stdout_to_stderr()
def load_module(path: str) -> ModuleType:
    """Return the module of a Python file. Every call executes it again; it may import modules of its folder.

    Raises
    ------
    InputError
        Naming the file and the fault: no such file, or an error on import.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("no such file", file=path)
    # a name per path: two files of one name do not collide, and pickle finds the file's classes
    name = f"_policy_{hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        with _neighbours_of(file.resolve()):
            exec(compile(file.read_bytes(), path, "exec"), vars(module))  # no byte code is cached next to the file
    except (Exception, SystemExit) as error:  # the file may raise anything
        del sys.modules[name]
        raise InputError(f"cannot be imported: {_in_one_line(error)}", file=path) from error
    return module


@contextmanager
def _neighbours_of(file: Path) -> Iterator[None]:
    """Let imports find the modules of a file's folder; forget them afterwards, since another file may have others."""
    folder = str(file.parent)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()  # a neighbour may be new
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
    """Return a policy's file and the modules of its folder that it imports, directly or indirectly.

    Raises
    ------
    InputError
        For a file that does not exist or cannot be parsed.
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
            raise InputError(f"cannot be imported: {_in_one_line(error)}", file=path) from error
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in {name.partition(".")[0] for name in names}:
                module = Path(path).parent / name
                waiting += [module.with_suffix(".py")] if module.with_suffix(".py").is_file() else []
                waiting += sorted(module.rglob("*.py")) if (module / "__init__.py").is_file() else []
    return list(found)


@stdout_to_stderr()
def load_entry_point(group: str, name: str, options: Mapping[str, object]) -> object | None:
    """Return an object made by an installed entry point; None if no entry point has this name.

    Raises
    ------
    InputError
        Naming an entry point that cannot be imported or called.
    """
    for point in importlib.metadata.entry_points(group=group, name=name):
        place = f"entry point {name} = {point.value}"
        try:
            factory = point.load()
        except (Exception, SystemExit) as error:  # the package may raise anything
            raise InputError(f"cannot be imported: {_in_one_line(error)}", place=place) from error
        return _make(factory, options, place)
    return None


def policies_by_name(policies: Iterable[str], make: Callable[[str], Any], taken: Collection[str]) -> dict[str, str]:
    """Return the texts of policies by the policies' names, each once.

    Parameters
    ----------
    policies
        Texts as the user wrote them.
    make
        Makes a policy from a text.
    taken
        Reserved names; only a policy whose text equals its name may have one of them.

    Raises
    ------
    InputError
        For two policies of one name, or a reserved name.
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
    """Raise an `InputError` for a policy that declares another family of problems.

    Parameters
    ----------
    made
        A policy; its optional attribute ``family`` names the family it is for.
    family
        The family it must be for.
    place
        The policy as the user named it, for the message.

    Examples
    --------
    >>> class Mine:
    ...     family = "bags"
    >>> expect_family(Mine(), "coupled", "mine.py:Mine")
    Traceback (most recent call last):
    hindsched.instances.errors.InputError: policy mine.py:Mine: for the family bags, expected one for coupled
    """
    declared = getattr(made, "family", None)
    if declared is not None and declared != family:
        raise InputError(f"for the family {declared}, expected one for {family}", place=f"policy {place}")


def _make(factory: Any, options: Mapping[str, object], place: str) -> object:
    if not callable(factory):
        raise InputError(f"{type(factory).__name__}, expected a class", place=place)
    try:
        parameters = inspect.signature(factory).parameters
        return factory(**{key: value for key, value in options.items() if key in parameters})
    except (Exception, SystemExit) as error:  # the constructor may raise anything
        raise InputError(f"cannot be made: {_in_one_line(error)}", place=place) from error


def _in_one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
