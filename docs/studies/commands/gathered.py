"""Commands with many options: options that belong together reach the command as one object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

__all__ = ["gather"]


def gather(name: str, kind: type[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that passes the options named as the fields of a dataclass as one argument.

    Parameters
    ----------
    name
        Of the argument.
    kind
        The dataclass. It stands below the options that it gathers.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     p: int
    ...     m: int
    >>> @gather("size", Size)
    ... def shown(size, as_json):
    ...     return size, as_json
    >>> shown(p=20, m=5, as_json=False)
    (Size(p=20, m=5), False)
    """
    names = [field.name for field in fields(kind)]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def gathered(**given: Any) -> Any:
            return command(**{name: kind(**{each: given.pop(each) for each in names})}, **given)

        return gathered

    return decorate
