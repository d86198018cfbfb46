"""The masters by name, and how any policy is made from a text (docs/batches/model.md section 3)."""

from __future__ import annotations

from instances.errors import InputError
from online.batches.algorithms import Copying, OneBurst, Periodic, Predicting, history, speed
from online.batches.booking import Booking
from online.batches.options import Options
from online.batches.visible import Policy
from online.loading import load_entry_point, load_file

__all__ = ["PAPER", "POLICIES", "make_policy"]

#: The masters of the paper; there is machine code for them.
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
#: The built-in masters: the paper's, and one that books calls (docs/batches/beyond.md).
POLICIES = (*PAPER, Booking.name)

_PREDICTORS = {"speed": speed, "history": history}


def make_policy(text: str, options: Options | None = None) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `POLICIES`, or ``path/to/file.py:ClassName``, or the name of an installed entry point in the group
        ``hindsched.policies``.
    options
        Readings, for the built-in ones; a class of yours gets them where its constructor has a parameter ``options``.

    Raises
    ------
    InputError
        In one line: for an unknown name, and for a file or class that cannot be used.

    Examples
    --------
    >>> make_policy("A2-shift").name
    'A2-shift'
    """
    options = options or Options()
    if text in POLICIES:
        return _built_in(text, options)
    path, colon, class_name = text.rpartition(":")
    if colon and path.endswith(".py"):
        made = load_file(path, class_name, {"options": options})
    else:
        made = load_entry_point("hindsched.policies", text, {"options": options})
        if made is None:
            raise InputError(
                f"{text!r}, expected one of {', '.join(POLICIES)}, or path/to/file.py:ClassName, "
                "or an entry point of the group hindsched.policies",
                place="policy",
            )
    if not isinstance(made, Policy):
        raise InputError("expected a method contact(visible)", place=f"policy {text}")
    name = getattr(made, "name", type(made).__name__)
    if not (isinstance(name, str) and name and name.isprintable()):
        raise InputError(f"name {name!r}, expected one line of text", place=f"policy {text}")
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
