"""What commands make of a schedule in a file: only of one that the checker accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hindsched import instances
from hindsched.instances.errors import InputError

__all__ = ["made_of_valid"]

T = TypeVar("T")


def made_of_valid(make: Callable[[Any, Any], T], instance: Any, path: str, refused: str) -> T:
    """Return what is made of an instance and of a schedule in a file.

    Raises
    ------
    InputError
        Naming the file: where it cannot be read, is not valid (it is ``refused``), or nothing can be made of it.
    """
    text = instances.read_schedule(path)
    try:
        verdict = instances.check(instance, text)
        if not verdict.is_valid:
            raise InputError(f"{refused}: {verdict}")
        return make(instance, text)
    except InputError as error:
        raise error.in_file(path) from None
