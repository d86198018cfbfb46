"""Classes from files and installed packages of other people, made into objects, with errors of one line."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from instances.errors import InputError

__all__ = ["expect_family", "load_entry_point", "load_file"]


def load_file(path: str, class_name: str, options: Mapping[str, object]) -> object:
    """Return an object of a class in a Python file.

    Parameters
    ----------
    path
        The file. It is executed anew for every call.
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
    name = f"_policy_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        exec(compile(file.read_bytes(), path, "exec"), vars(module))  # no byte code is cached beside the file
    except (Exception, SystemExit) as error:  # somebody else's file may raise anything
        del sys.modules[name]
        raise InputError(f"cannot be imported: {_told(error)}", file=path) from error
    if not hasattr(module, class_name):
        raise InputError(f"no class {class_name!r} in it", file=path)
    return _make(getattr(module, class_name), options, f"{path}:{class_name}")


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
    instances.errors.InputError: policy mine.py:Mine: for the family bags, expected one for coupled
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
