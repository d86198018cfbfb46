"""The four criteria of the paper's heuristics, as scores of which more is better (docs/model.md section 6)."""

from __future__ import annotations

from enum import StrEnum

from hindsched.online.coupled.estimates import Estimate, log_sum
from hindsched.online.coupled.options import Ties

__all__ = ["TIES", "TIE_TOLERANCE", "Criterion", "is_better", "score"]

#: The names of `Ties`; the first is the default.
TIES = tuple(Ties)

#: Values of a criterion within this relative distance are equal (see `TIES`). It covers the rounding
#: errors of values that are equal on paper, and nothing a scheduler could care about.
TIE_TOLERANCE = 1e-12


class Criterion(StrEnum):
    """What a heuristic asks of a configuration."""

    #: the probability P that the iteration succeeds, to be large
    P = "P"
    #: its expected duration E given success, to be small
    E = "E"
    #: the yield P / (E + t), with t the slots since the iteration began
    Y = "Y"
    #: the apparent yield P / E
    AY = "AY"


def score(criterion: Criterion, estimate: Estimate, elapsed: int) -> float:
    """Return the logarithm of the criterion's value; of 1 / E where E is to be small.

    Logarithms keep apart what floats would call 0 or infinite: P_plus^(W-1) of a long iteration.

    Parameters
    ----------
    criterion
        What is asked.
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
    """Whether one score is better than another by more than the tolerance."""
    return value > than + TIE_TOLERANCE
