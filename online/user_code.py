"""Calls of code that others wrote: an error becomes an `InputError` of one line."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TypeVar

from hindsched.instances.errors import InputError

__all__ = ["call_user_code"]

T = TypeVar("T")


def call_user_code(function: Callable[..., T], *arguments: object, place: str) -> T:
    """Return what a function returns; an `InputError` says what it raised, in which file and line.

    Parameters
    ----------
    function
        A method of a policy or predictor.
    *arguments
        Its arguments.
    place
        The place in the run, for the message: policy and slot.
    """
    try:
        return function(*arguments)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the code may raise anything, SystemExit too
        at = traceback.extract_tb(error.__traceback__)[-1]
        name = getattr(function, "__name__", type(function).__name__)
        what = f"{name} raised {type(error).__name__}: {error} ({at.filename}, line {at.lineno})"
        raise InputError(" ".join(what.split()), place=place) from error
