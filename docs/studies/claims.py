"""A claim of a paper, a number that it prints, and the verdict on a claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Claim", "Exhibit", "PrintedNumber", "Verdict", "holds_if", "holds_in", "in_all", "reached", "within"]


class Verdict(StrEnum):
    """What the evidence says of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold here"
    UNDECIDED = "undecided"
    SUBSTITUTE = "agrees by a substitute"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim and the verdict on it: one row, whatever the number of workloads that test it.

    Parameters
    ----------
    source
        Place in the paper: a section, table or figure.
    claim
        What the paper says, in other words; with the verdict `Verdict.MEASURED` a question that the paper does not ask.
    evidence
        What the runs, or a proof, show by the paper's own statistic, with an interval where there is one. If the
        statistic is another one, the evidence names it, and the verdict is not `Verdict.HOLDS`.
    verdict
        Whether the evidence supports the claim.
    printed
        Number that the paper prints, as it prints it.
    runs
        Number of runs behind the evidence; None for a proof or a computation.
    reason
        Why the paper and the evidence differ, or why the claim is undecided.
    """

    source: str
    claim: str
    evidence: str
    verdict: Verdict
    printed: str = ""
    runs: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number of a printed table beside the number here.

    Parameters
    ----------
    table
        Table or figure of the paper.
    row, column
        Its place in the table.
    printed
        The paper's number; None where the paper leaves a place empty.
    here
        The number of the reproduction; None where it has none.
    low, high
        Ends of the 95 % interval of ``here``; None without an interval.
    runs
        Number of runs behind ``here``; None for a computation.
    """

    table: str
    row: str
    column: str
    printed: float | None
    here: float | None
    low: float | None = None
    high: float | None = None
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table or figure of the paper and where it stands here.

    Parameters
    ----------
    source
        Number of the table or figure.
    shows
        What it shows, in other words.
    here
        The section, table or picture that repeats it, as Markdown; or why it cannot be repeated.
    """

    source: str
    shows: str
    here: str


def holds_if(condition: bool) -> Verdict:
    """Return `Verdict.HOLDS` if a condition is true, else `Verdict.FAILS`."""
    return Verdict.HOLDS if condition else Verdict.FAILS


def holds_in(cases: Sequence[bool]) -> Verdict:
    """Return the verdict on a claim that is tested in several cases.

    Examples
    --------
    >>> [str(holds_in(cases)) for cases in ([True, True], [True, False], [False])]
    ['holds', 'holds in part', 'does not hold here']
    """
    return Verdict.HOLDS if all(cases) else Verdict.PARTLY if any(cases) else Verdict.FAILS


def in_all(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim that must hold in every case: one case in which it fails refutes it.

    Examples
    --------
    >>> str(in_all([Verdict.HOLDS, Verdict.UNDECIDED])), str(in_all([Verdict.UNDECIDED, Verdict.FAILS]))
    ('undecided', 'does not hold here')
    """
    found = set(verdicts)
    return next((worst for worst in (Verdict.FAILS, Verdict.UNDECIDED) if worst in found), Verdict.HOLDS)


def reached(most_here: float, printed: float) -> Verdict:
    """Return the verdict on "up to x", which says that the paper saw x: not to see it does not refute it.

    Examples
    --------
    >>> str(reached(430, 420)), str(reached(300, 420))
    ('holds', 'undecided')
    """
    return Verdict.HOLDS if most_here >= printed else Verdict.UNDECIDED


def within(low: float, high: float, bar: float, *, above: bool) -> Verdict:
    """Return whether an interval is above (or below) a bar; undecided if the interval holds the bar.

    Examples
    --------
    >>> [str(within(low, high, 0, above=True)) for low, high in ((1, 2), (-1, 2), (-2, -1))]
    ['holds', 'undecided', 'does not hold here']
    """
    if low <= bar <= high:
        return Verdict.UNDECIDED
    return holds_if(low > bar if above else high < bar)
