"""The four schedulers of the paper, and how any policy is made from a text (docs/bags/model.md section 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hindsched.online.bags.deadlines import deadline
from hindsched.online.bags.level import Level, Pace
from hindsched.online.bags.options import MAX_COPIES, RunOptions
from hindsched.online.bags.predictors import Predictor, make_predictor
from hindsched.online.bags.visible import Copy, Policy, Problem, Visible
from hindsched.online.loading import load_policy

__all__ = ["PAPER_POLICIES", "POLICIES", "Fcfs", "FcfsAt", "FcfsPrdctDmd", "FcfsTr", "make_policy"]

#: The schedulers of the paper.
PAPER_POLICIES = ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD")
#: The built-in schedulers: those of the paper, then two that make use of shared checkpoints.
POLICIES = (*PAPER_POLICIES, "LEVEL", "PACE")


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
        See `hindsched.online.bags.deadlines.tolerance`.
    """

    name = "FCFS-AT"

    def __init__(self, day_tolerance: Fraction | None = None) -> None:
        self.day_tolerance = day_tolerance

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

    def __init__(self, day_tolerance: Fraction | None = None, max_copies: int = MAX_COPIES) -> None:
        super().__init__(day_tolerance)
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
        day_tolerance: Fraction | None = None,
        max_copies: int = MAX_COPIES,
    ) -> None:
        super().__init__(day_tolerance, max_copies)
        self.predictor = predictor


def make_policy(text: str | Policy, options: RunOptions | None = None, **changes: Any) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `POLICIES`, or ``path/to/file.py:ClassName``, or the name of an installed entry point in the group
        ``hindsched.policies``; or a policy of your own as an object, of which a copy is returned.
    options
        Of these count: ``day_tolerance``, ``max_copies`` and ``predictor`` for the schedulers that have them, and
        ``training`` and ``own`` for a class of one's own.
    **changes
        Single options by keyword, before those of ``options``.

    Raises
    ------
    InputError
        In one line: for an unknown name or option, and for a file or class that cannot be used.

    Notes
    -----
    A user's class is built without arguments, or with the keywords ``predictor``, ``max_copies``, ``day_tolerance``,
    ``training`` and those of ``own`` where its constructor has parameters of these names.

    Examples
    --------
    >>> make_policy("FCFS-TR", max_copies=2).name
    'FCFS-TR'
    """
    asked = (options or RunOptions()).changed(**changes)
    if isinstance(text, str) and text in POLICIES:
        return _built_in(text, asked)
    offered = {name: getattr(asked, name) for name in ("predictor", "max_copies", "day_tolerance", "training")}
    offered.update(asked.own)
    made: Policy = load_policy(
        text,
        offered,
        family="bags",
        built_in=POLICIES,
        protocol=Policy,
        expected="a text attribute name and a method choose(machine, instant, visible)",
    )
    return made


def _built_in(name: str, options: RunOptions) -> Policy:
    if name == Fcfs.name:
        return Fcfs()
    if name == FcfsAt.name:
        return FcfsAt(options.day_tolerance)
    if name == FcfsTr.name:
        return FcfsTr(options.day_tolerance, options.max_copies)
    if name in (Level.name, Pace.name):
        return (Level if name == Level.name else Pace)(options.max_copies)
    predictor = options.predictor or make_predictor("hour", training=options.training)
    return FcfsPrdctDmd(predictor, options.day_tolerance, options.max_copies)
