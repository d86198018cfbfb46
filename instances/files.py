"""Files of all families. The ``"format"`` of a file decides which family reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.families import family_of_format, part
from hindsched.instances.text_files import encode, quoted, read_json, write_text
from hindsched.instances.verdict import Verdict

__all__ = ["check", "is_made_for", "read", "read_schedule", "schedule_of", "write", "write_schedule"]

_SCHEDULE = (lambda family: part(family, "instances").read_schedule, "SCHEDULE_FORMATS", "a schedule")


def read(path: str | os.PathLike[str]) -> Any:
    """Read an instance of any family.

    Parameters
    ----------
    path
        A JSON file whose ``"format"`` names the family and a version: ``coupled/1``, ``bags/1``, ...

    Returns
    -------
    Instance
        Of the family's own type. Its attribute ``family`` is the family's name.

    Raises
    ------
    InputError
        If the file cannot be read. The message names the file, the place and what was expected, in one line.
    """
    return _read(path, lambda family: part(family, "instances").read_instance, "INSTANCE_FORMATS", "an instance")


def read_schedule(path: str | os.PathLike[str]) -> Any:
    """Read a schedule, or another certificate, of any family. `check` decides whether it obeys the rules.

    Raises
    ------
    InputError
        If the file cannot be read. The message names the file and the place.
    """
    return _read(path, *_SCHEDULE)


def schedule_of(document: dict[str, Any]) -> Any:
    """Return the schedule, or another certificate, of a decoded file; see `read_schedule`."""
    return _of_document(document, *_SCHEDULE)


def _read(
    path: str | os.PathLike[str],
    reader: Callable[[str], Callable[[dict[str, Any]], Any]],
    formats: str,
    what: str,
) -> Any:
    document = read_json(path)
    try:
        return _of_document(document, reader, formats, what)
    except InputError as error:
        raise error.in_file(path) from None


def _of_document(
    document: dict[str, Any], reader: Callable[[str], Callable[[dict[str, Any]], Any]], formats: str, what: str
) -> Any:
    family = family_of_format(document)
    known = getattr(part(family, "instances"), formats)
    if document["format"] not in known:
        expected = " or ".join(encode(name) for name in known)
        raise InputError(f"{quoted(document['format'])}, expected {expected}, {what}", place="format")
    return reader(family)(document)


def write(instance: Any, path: str | os.PathLike[str]) -> None:
    """Write an instance of any family; `read` returns an equal one. The file is written whole or not at all."""
    write_text(path, part(_family(instance), "instances").write_instance(instance))


def write_schedule(schedule: Any, path: str | os.PathLike[str]) -> None:
    """Write a schedule of any family; `read_schedule` returns an equal one. It is written whole or not at all."""
    write_text(path, part(_family(schedule), "instances").write_schedule(schedule))


def check(instance: Any, schedule: Any, **options: Any) -> Verdict:
    """Replay a schedule with the independent checker of the family.

    Parameters
    ----------
    instance, schedule
        Of the same family.
    **options
        Further arguments of the family's checker, such as the run that a certificate refers to.

    Raises
    ------
    InputError
        If the families differ, or the schedule has a shape that cannot be replayed.
    """
    family = _family(instance)
    if _family(schedule) != family:
        raise InputError(f"of the family {_family(schedule)}, expected {family} as the instance is", place="schedule")
    try:
        verdict: Verdict = part(family, "instances").check(instance, schedule, **options)
    except InputError as error:
        if isinstance(getattr(schedule, "instance", None), str) and not is_made_for(instance, schedule):
            raise InputError(f"made for another instance: {error}") from None
        raise
    return verdict


def is_made_for(instance: Any, schedule: Any) -> bool:
    """Return whether the schedule has this instance's fingerprint. If not, a valid replay may be a coincidence."""
    return bool(getattr(schedule, "instance", None) == instance.fingerprint)


def _family(thing: Any) -> str:
    family = getattr(type(thing), "family", None)
    if not isinstance(family, str):
        raise InputError(f"{type(thing).__name__}, expected an instance or a schedule of some family")
    return family
