"""The paper's four schedulers, and how any policy is made from a text (docs/bags/model.md section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from instances.bags.model import Instance
from instances.errors import InputError
from online.bags.deadlines import day_tolerance_of, deadline
from online.bags.predictors import Predictor, make_predictor
from online.bags.visible import Copy, Policy, Problem, Visible
from online.loading import load_entry_point, load_file

__all__ = ["MAX_COPIES", "POLICIES", "Fcfs", "FcfsAt", "FcfsPrdctDmd", "FcfsTr", "make_policy"]

#: The built-in schedulers.
POLICIES = ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD")
#: Live copies that replication leaves a task, the first one included.
MAX_COPIES = 3


class Fcfs:
    """FCFS: the lowest-index task not done and without a live copy."""

    name = "FCFS"

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the first task that waits; None if none does."""
        return visible.first_waiting


class FcfsAt(Fcfs):
    """FCFS-AT: FCFS with an adaptive timeout: copies that are late are given up.

    Parameters
    ----------
    day_tolerance
        See `online.bags.deadlines.tolerance`.
    """

    name = "FCFS-AT"

    def __init__(self, day_tolerance: str | float | Fraction | None = None) -> None:
        self.day_tolerance = day_tolerance_of(day_tolerance)

    def deadline(self, copy: Copy, problem: Problem) -> int:
        """Return when a copy is late."""
        return deadline(problem, copy, self.day_tolerance)


class FcfsTr(FcfsAt):
    """FCFS-TR: FCFS-AT, and a machine for which nothing waits replicates a task.

    Parameters
    ----------
    day_tolerance
        See `FcfsAt`.
    max_copies
        Only tasks with fewer live copies are replicated.
    """

    name = "FCFS-TR"

    def __init__(self, day_tolerance: str | float | Fraction | None = None, max_copies: int = MAX_COPIES) -> None:
        super().__init__(day_tolerance)
        if isinstance(max_copies, bool) or not isinstance(max_copies, int) or max_copies < 1:
            raise InputError(f"{max_copies!r}, expected an integer >= 1", place="max_copies")
        self.max_copies = max_copies

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return what FCFS does, else the task with the fewest copies, and of these the one expected last."""
        first = super().choose(machine, instant, visible)
        if first is not None:
            return first
        ranks = []
        for task in visible.unfinished:
            copies = visible.copies(task)
            if len(copies) < self.max_copies:
                expected_end = min(copy.expected_end for copy in copies)
                ranks.append((not visible.is_endangered(task), len(copies), -expected_end, task))
        return min(ranks)[-1] if ranks else None


class FcfsPrdctDmd(FcfsTr):
    """FCFS-PRDCT-DMD: FCFS-TR that saves on demand where a failure is predicted, and replicates those tasks first.

    Parameters
    ----------
    predictor
        Who predicts.
    day_tolerance, max_copies
        See `FcfsTr`.
    """

    name = "FCFS-PRDCT-DMD"

    def __init__(
        self,
        predictor: Predictor,
        day_tolerance: str | float | Fraction | None = None,
        max_copies: int = MAX_COPIES,
    ) -> None:
        super().__init__(day_tolerance, max_copies)
        self.predictor = predictor


def make_policy(
    text: str,
    *,
    predictor: str | Predictor | None = None,
    max_copies: int = MAX_COPIES,
    day_tolerance: str | float | Fraction | None = None,
    training: Instance | None = None,
    options: Mapping[str, object] | None = None,
) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `POLICIES`, or ``path/to/file.py:ClassName``, or the name of an installed entry point in the group
        ``hindsched.policies``.
    predictor, training
        For FCFS-PRDCT-DMD: see `online.bags.predictors.make_predictor`.
    max_copies, day_tolerance
        See `FcfsTr`.
    options
        More keywords on offer to a user's class, which gets those that its constructor names, and of those above.

    Raises
    ------
    InputError
        In one line: for an unknown name or option, and for a file or class that cannot be used.

    Examples
    --------
    >>> make_policy("FCFS-TR", max_copies=2).name
    'FCFS-TR'
    """
    timed = FcfsTr(day_tolerance, max_copies)  # refuses bad options, whoever uses them
    if text in POLICIES and text != FcfsPrdctDmd.name:
        return {"FCFS": Fcfs(), "FCFS-AT": FcfsAt(timed.day_tolerance), "FCFS-TR": timed}[text]
    made_predictor = make_predictor(predictor, training=training) if isinstance(predictor, str) else predictor
    if text == FcfsPrdctDmd.name:
        if made_predictor is None:
            raise InputError(f"none, expected one for {text}, such as hour:FILE or oracle", place="predictor")
        return FcfsPrdctDmd(made_predictor, timed.day_tolerance, max_copies)
    offer = {
        "predictor": made_predictor,
        "max_copies": max_copies,
        "day_tolerance": timed.day_tolerance,
        "training": training,
        **(options or {}),
    }
    path, colon, class_name = text.rpartition(":")
    if colon and path.endswith(".py"):
        made = load_file(path, class_name, offer)
    else:
        made = load_entry_point("hindsched.policies", text, offer)
        if made is None:
            raise InputError(
                f"{text!r}, expected one of {', '.join(POLICIES)}, or path/to/file.py:ClassName, "
                "or an entry point of the group hindsched.policies",
                place="policy",
            )
    if not isinstance(made, Policy) or not isinstance(made.name, str):
        raise InputError(
            "expected a text attribute name and a method choose(machine, instant, visible)", place=f"policy {text}"
        )
    if not (made.name and made.name.isprintable()):
        raise InputError(f"name {made.name!r}, expected one line of text", place=f"policy {text}")
    return made
