"""A claim of a paper, the evidence here, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Claim", "Verdict", "holds_if", "holds_in"]


class Verdict(StrEnum):
    """What the evidence says of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold here"
    UNDECIDED = "undecided"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim and the verdict on it.

    Parameters
    ----------
    source
        Place in the paper: a section, table or figure, or a number in a list.
    claim
        What the paper says; with the verdict `Verdict.MEASURED` a question that the paper does not ask.
    evidence
        What the runs, or a proof, show.
    verdict
        Whether the evidence supports the claim.
    """

    source: str
    claim: str
    evidence: str
    verdict: Verdict


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
