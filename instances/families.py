"""The registry of families.

A family has a folder of its name in each package (``instances/coupled``, ``offline/coupled``, ...), which is imported
at first use. A family from outside is an installed entry point of the group ``hindsched.families``, or is added by
`register`: one module that offers everything, or has one attribute per package.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt, quoted

__all__ = ["BUILT_IN", "GROUP", "PACKAGES", "family_of_format", "names", "part", "register", "registered", "unregister"]

#: The families of the toolkit, in the order in which help and messages list them.
BUILT_IN = ("coupled", "bags", "batches", "grid", "deadline")
#: The packages in which a family has a part.
PACKAGES = ("instances", "offline", "online", "bench")
#: The group of entry points that adds families.
GROUP = "hindsched.families"

_FORMAT = re.compile(r"([a-z][a-z0-9_]*)(?:-[a-z]+)*/[0-9]+")
#: Formats older than the rule that a format begins with its family's name.
_OLD_FORMATS = {"schedule/1": "coupled"}

_registered: dict[str, Any] = {}


def names() -> tuple[str, ...]:
    """Return the names of all families: built-in, registered and installed ones."""
    installed = [point.name for point in entry_points(group=GROUP)]
    return tuple(dict.fromkeys([*BUILT_IN, *_registered, *installed]))


def register(name: str, module: Any) -> None:
    """Add a family to this process.

    Parameters
    ----------
    name
        Prefix of the formats of its files: ``NAME/1``, ``NAME-schedule/1``.
    module
        An object with everything that the family offers, either directly or in one attribute per package
        (``instances``, ``offline``, ``online``, ``bench``). docs/contributing.md lists it.

    Raises
    ------
    InputError
        If a built-in family has this name, or a format cannot begin with it.
    """
    if name in BUILT_IN or not _FORMAT.fullmatch(f"{name}/1"):
        raise InputError(f"{name!r}, expected a name in lower case that no family of the toolkit has", place="family")
    _registered[name] = module


def registered() -> dict[str, Any]:
    """Return the families that `register` has added, by name, for another process."""
    return dict(_registered)


def unregister(name: str) -> None:
    """Remove a registered family."""
    _registered.pop(name, None)


def part(family: str, package: str) -> Any:
    """Return what a family offers to a package. For a built-in family this is the module ``hindsched.package.family``.

    Parameters
    ----------
    family
        One of `names`.
    package
        One of `PACKAGES`.

    Raises
    ------
    InputError
        If the family does not exist. The message lists the families that do.
    """
    if family in BUILT_IN:
        return import_module(f"hindsched.{package}.{family}")
    module = _registered.get(family)
    if module is None:
        module = _installed(family)
    return getattr(module, package, module)


def _installed(family: str) -> ModuleType:
    for point in entry_points(group=GROUP, name=family):
        try:
            loaded: ModuleType = point.load()
        except (Exception, SystemExit) as error:  # a package from outside may raise anything
            text = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"cannot be imported: {text}", place=f"family {family} = {point.value}") from error
        _registered[family] = loaded
        return loaded
    raise InputError(f"{excerpt(str(family))}, expected one of {', '.join(names())}", place="family")


def family_of_format(document: dict[str, Any]) -> str:
    """Return the family of a parsed file, by its ``"format"``.

    Raises
    ------
    InputError
        If there is no format, or no family has it.

    Examples
    --------
    >>> family_of_format({"format": "coupled/2"}), family_of_format({"format": "schedule/1"})
    ('coupled', 'coupled')
    """
    if "format" not in document:
        raise InputError(f'missing key format, expected "NAME/1" with one of {", ".join(names())}')
    text = document["format"]
    if isinstance(text, str):
        if text in _OLD_FORMATS:
            return _OLD_FORMATS[text]
        match = _FORMAT.fullmatch(text)
        if match and (match[1] in BUILT_IN or match[1] in names()):  # listing the installed families is slow
            return match[1]
    raise InputError(f"{quoted(text)}, expected a format of one of {', '.join(names())}", place="format")
