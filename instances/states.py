"""States of volatile workers: letters in files, small integers in arrays.

A *states array* has shape (p, N) and dtype ``uint8``: worker by slot, holding `UP`, `RECLAIMED` or `DOWN`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError

__all__ = [
    "DOWN",
    "LETTERS",
    "MOST_SLOTS",
    "RECLAIMED",
    "UP",
    "States",
    "from_letters",
    "frozen",
    "to_letters",
]

UP, RECLAIMED, DOWN = 0, 1, 2
#: The letter of each state, in the order of the codes.
LETTERS = "urd"
#: The largest number of slots of an instance.
MOST_SLOTS = 2**31 - 1

States = npt.NDArray[np.uint8]

_UNKNOWN = 255
_CODES = np.full(256, _UNKNOWN, dtype=np.uint8)
_CODES[np.frombuffer(LETTERS.encode(), dtype=np.uint8)] = [UP, RECLAIMED, DOWN]
_LETTER_BYTES = np.frombuffer(LETTERS.encode(), dtype=np.uint8)


def from_letters(rows: Sequence[str], owners: str = "workers") -> States:
    """Convert one string per worker to a states array.

    Parameters
    ----------
    rows
        p strings of equal length over the letters ``u``, ``r``, ``d``.
    owners
        Name of the list of workers in the file, for messages.

    Raises
    ------
    InputError
        If a letter is unknown or the lengths differ. The message names worker and slot.

    Examples
    --------
    >>> from_letters(["uur", "dru"]).tolist()
    [[0, 0, 1], [2, 1, 0]]
    """
    slots = len(rows[0]) if rows else 0
    states = np.empty((len(rows), slots), dtype=np.uint8)
    for q, row in enumerate(rows):
        place = f"{owners}[{q}].states"
        if len(row) != slots:
            raise InputError(f"{len(row)} slots, expected {slots} as in {owners}[0]", place=place)
        # "replace" turns every non-ASCII letter into one "?", so that positions stay slots
        codes = _CODES[np.frombuffer(row.encode("ascii", "replace"), dtype=np.uint8)]
        wrong = np.flatnonzero(codes == _UNKNOWN)
        if wrong.size:
            slot = int(wrong[0])
            raise InputError(
                f"letter {row[slot]!r} in slot {slot}, expected one of u (UP), r (RECLAIMED), d (DOWN)",
                place=place,
            )
        states[q] = codes
    return states


def to_letters(states: States) -> list[str]:
    """Return one string per worker, the inverse of `from_letters`.

    Examples
    --------
    >>> to_letters(from_letters(["uur", "dru"]))
    ['uur', 'dru']
    """
    return [_LETTER_BYTES[row].tobytes().decode() for row in states]


def frozen(states: States) -> States:
    """Return the states as a read-only array without other owners: a copy where necessary."""
    # the owner of a view's base could still change it, so only an array that owns its data is kept without a copy
    if states.flags.writeable or not states.flags.owndata or not states.flags.c_contiguous:
        states = np.array(states, order="C")
        states.setflags(write=False)
    return states
