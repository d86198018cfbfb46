"""What commands make of a schedule in a file: only of one that the checker accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from hindsched import instances
from hindsched.instances.errors import InputError

__all__ = ["made_of_valid", "warn_of_another"]

T = TypeVar("T")


def warn_of_another(instance: Any, schedule: Any, message: str) -> None:
    """Print a message on standard error if a schedule is made for another instance."""
    if not instances.is_made_for(instance, schedule):
        click.echo(f"hindsched: {message}", err=True)


def made_of_valid(make: Callable[[Any, Any], T], instance: Any, path: str, refused: str) -> T:
    """Return the result of a function of an instance and of a valid schedule in a file.

    Raises
    ------
    InputError
        Naming the file: where it cannot be read, is not valid (it is ``refused``), or nothing can be made of it.
    """
    text = instances.read_schedule(path)
    try:
        verdict = instances.check(instance, text)
        if not verdict.is_valid:
            another = "" if instances.is_made_for(instance, text) else "made for another instance: "
            raise InputError(f"{refused}: {another}{verdict}")
        warn_of_another(instance, text, f"{path}: made for another instance, though valid")
        return make(instance, text)
    except InputError as error:
        raise error.in_file(path) from None
