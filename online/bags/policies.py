"""Policies by name: the schedulers of the paper, others, and policies of users (docs/bags/model.md section 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hindsched.online.bags.deadlines import deadline
from hindsched.online.bags.level import Level, Pace
from hindsched.online.bags.options import MAX_COPIES, RunOptions
from hindsched.online.bags.predictors import Predictor, make_predictor
from hindsched.online.bags.visible import Copy, Policy, Problem, Visible
from hindsched.online.bags.work_queues import ExclS1, ExclS1Dup, Wqr, WqrFt
from hindsched.online.loading import load_policy

__all__ = ["BASELINES", "PAPER_POLICIES", "POLICIES", "Fcfs", "FcfsAt", "FcfsPrdctDmd", "FcfsTr", "make_policy"]

#: The schedulers of the paper.
PAPER_POLICIES = ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD")
#: Baselines of the related work.
BASELINES = ("WQR", "WQR-FT", "EXCL-S1", "EXCL-S1-DUP")
#: The built-in schedulers: those of the paper, two that use shared checkpoints, and baselines.
POLICIES = (*PAPER_POLICIES, "LEVEL", "PACE", *BASELINES)


class Fcfs:
    """FCFS: the unfinished task of lowest index without a live copy."""

    name = "FCFS"

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the first waiting task; None if no task waits."""
        return visible.first_waiting


class FcfsAt(Fcfs):
    """FCFS-AT: FCFS with an adaptive timeout that removes late copies.

    Parameters
    ----------
    day_tolerance
        See `hindsched.online.bags.deadlines.tolerance`.
    """

    name = "FCFS-AT"

    def __init__(self, day_tolerance: Fraction | None = None) -> None:
        self.day_tolerance = day_tolerance

    def deadline(self, copy: Copy, problem: Problem) -> int:
        """Return the instant from which on a copy is late."""
        return deadline(problem, copy, self.day_tolerance)


class FcfsTr(FcfsAt):
    """FCFS-TR: FCFS-AT that replicates a task if no task waits.

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
        """Return the choice of FCFS, otherwise the task with the fewest copies, ties by the latest expected end."""
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
    """FCFS-PRDCT-DMD: FCFS-TR that saves on demand before predicted failures, and replicates those tasks first.

    Parameters
    ----------
    predictor
        The predictor of failures.
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
        ``hindsched.policies``; or a policy of your own as an object, which is copied.
    options
        Options; the built-in schedulers use ``day_tolerance``, ``max_copies`` and ``predictor``.
    **changes
        Single options by keyword; they override ``options``.

    Raises
    ------
    InputError
        For an unknown name or option, and for an unusable file or class.

    Notes
    -----
    A user's class receives those of the keywords ``predictor``, ``max_copies``, ``day_tolerance``, ``training`` and of
    ``own`` that its constructor names.

    Examples
    --------
    >>> make_policy("FCFS-TR", max_copies=2).name
    'FCFS-TR'
    """
    chosen = (options or RunOptions()).changed(**changes)
    if isinstance(text, str) and text in POLICIES:
        return _built_in(text, chosen)
    offered = {name: getattr(chosen, name) for name in ("predictor", "max_copies", "day_tolerance", "training")}
    offered.update(chosen.own)
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
    if name == ExclS1.name:
        return ExclS1()
    for replicating in (Level, Pace, Wqr, WqrFt, ExclS1Dup):
        if name == replicating.name:
            return replicating(options.max_copies)
    predictor = options.predictor or make_predictor("hour", training=options.training)
    return FcfsPrdctDmd(predictor, options.day_tolerance, options.max_copies)
