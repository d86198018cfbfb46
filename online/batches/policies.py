"""Masters by name: those of the paper, ``booking``, and policies of users (docs/batches/model.md section 3)."""

from __future__ import annotations

from hindsched.online.batches.algorithms import Copying, OneBurst, Periodic, Predicting, history, speed
from hindsched.online.batches.booking import Booking
from hindsched.online.batches.options import Options
from hindsched.online.batches.visible import Policy
from hindsched.online.loading import load_policy

__all__ = ["PAPER", "POLICIES", "make_policy"]

#: The masters of the paper.
PAPER = (
    "A1",
    "A2",
    "A2-shift",
    "A3-copies",
    "A3-speed",
    "A3-history",
    "A3-copies-shift",
    "A3-speed-shift",
    "A3-history-shift",
)
#: The built-in masters: the paper's, and one that books calls (docs/batches/booking.md).
POLICIES = (*PAPER, Booking.name)

_PREDICTORS = {"speed": speed, "history": history}


def make_policy(text: str | Policy, options: Options | None = None) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `POLICIES`, or ``path/to/file.py:ClassName``, or the name of an installed entry point in the group
        ``hindsched.policies``; or a policy of your own as an object, which is copied.
    options
        Options of the built-in masters; a user's class receives them if its constructor names ``options``.

    Raises
    ------
    InputError
        For an unknown name, and for an unusable file or class.

    Examples
    --------
    >>> make_policy("A2-shift").name
    'A2-shift'
    """
    options = options or Options()
    if isinstance(text, str) and text in POLICIES:
        return _built_in(text, options)
    made: Policy = load_policy(
        text,
        {"options": options},
        family="batches",
        built_in=POLICIES,
        protocol=Policy,
        expected="a method contact(visible)",
    )
    return made


def _built_in(name: str, options: Options) -> Policy:
    if name == Booking.name:
        return Booking(options)
    if name == "A1":
        return OneBurst(name, options)
    if name.startswith("A2"):
        return Periodic(name, options)
    predictor = name.split("-")[1]
    return Copying(name, options) if predictor == "copies" else Predicting(name, options, _PREDICTORS[predictor])
