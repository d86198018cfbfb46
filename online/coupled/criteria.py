"""The criteria P, E, Y and AY of the paper's heuristics, as scores: a larger score is better (docs/model.md section 6).

The heuristic ``C-IH`` builds candidates by criterion H and switches by criterion C: E-IE uses E for both.
"""

from __future__ import annotations

from enum import StrEnum

from hindsched.online.coupled.estimates import Estimate, log_sum
from hindsched.online.coupled.options import Ties

__all__ = ["TIES", "TIE_TOLERANCE", "Criterion", "is_better", "score"]

#: The names of `Ties`; the first is the default.
TIES = tuple(Ties)

#: Scores (logarithms) that differ by less are equal (see `TIES`); default 1e-12. It covers rounding errors of values
#: that are equal in exact arithmetic, and is far below any difference that matters to a scheduler.
TIE_TOLERANCE = 1e-12


class Criterion(StrEnum):
    """The quantity by which a heuristic compares configurations."""

    #: the probability P that the iteration succeeds; maximised
    P = "P"
    #: the expected duration E of the iteration given success; minimised
    E = "E"
    #: the yield P / (E + t), with t the slots since the iteration began; maximised
    Y = "Y"
    #: the apparent yield P / E; maximised
    AY = "AY"


def score(criterion: Criterion, estimate: Estimate, elapsed: int) -> float:
    """Return the logarithm of the criterion's value; of 1 / E for criterion E.

    Logarithms distinguish values that underflow to 0 or overflow, such as P_plus^(W-1) of a long iteration.

    Parameters
    ----------
    criterion
        The criterion.
    estimate
        log P and log E of the configuration.
    elapsed
        t, slots since the present iteration began.

    Examples
    --------
    >>> import math
    >>> quarter_in_six = Estimate(math.log(1 / 4), math.log(6))
    >>> round(math.exp(score(Criterion.Y, quarter_in_six, elapsed=2)), 9)
    0.03125
    """
    log_probability, log_duration = estimate
    match criterion:
        case Criterion.P:
            return log_probability
        case Criterion.E:
            return -log_duration
        case Criterion.Y:
            return log_probability - log_sum(log_duration, elapsed)
        case Criterion.AY:
            return log_probability - log_duration


def is_better(value: float, than: float) -> bool:
    """Return whether one score is better than another by more than the tolerance."""
    return value > than + TIE_TOLERANCE
