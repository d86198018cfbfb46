"""An immutable dictionary for the fields of immutable objects."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

__all__ = ["FrozenDict"]

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """An immutable dictionary. It can be copied, pickled and hashed by its items.

    Examples
    --------
    >>> tasks = FrozenDict({0: 2})
    >>> tasks[1] = 3
    Traceback (most recent call last):
    TypeError: a FrozenDict cannot be changed
    """

    def _refuse(self, *arguments: Any, **keywords: Any) -> NoReturn:
        raise TypeError("a FrozenDict cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[K, V]], tuple[dict[K, V]]]:
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenDict[K, V]:
        return self
