"""Availability periods of spot in one zone: their hazards by age, learned while a policy runs.

A period is a longest run of slots with spot, or without. Its *age* is how long it lasts already. On real zones the
hazard that a period ends falls with its age: most periods are short, and those that are not last for hours. The rates
of young periods are those of four zones in the first half of the packaged trace; the rate of old ones differs between
zones and is learned.
"""

from __future__ import annotations

from bisect import bisect_right
from math import exp, log

__all__ = ["AGE_LIMITS_S", "Hazards", "Periods", "Rates"]

#: Ages at which the rate changes, in seconds; the last class has no end.
AGE_LIMITS_S = (390, 780, 1950, 3900)
#: Ends of periods an hour in each class but the last: periods without spot, and with spot.
_YOUNG_RATES_PER_H = ((0.0, 2.7, 1.15, 0.57), (0.0, 3.0, 1.15, 0.95))
#: Rate of old periods before anything is seen, an hour, and the number of ends that it counts for.
_OLD_RATE_PER_H, _PRIOR_ENDS = 0.22, 3.0
#: What is learned is rounded to these, so that few tables are made.
_OLD_RATES_PER_H = tuple(0.02 * 60 ** (i / 4) for i in range(5))
_SCALES = (0.1, 0.33, 1.0)
_HOUR_S = 3600

#: Indices of a learned rate of old periods without and with spot, and of the scale of the rates of young ones.
Rates = tuple[int, int, int]


class Hazards:
    """Probabilities that a period ends after a slot, by class of age.

    Parameters
    ----------
    rates
        What was learned, see `Periods.rates`.
    slot_s
        Seconds of a slot.

    Attributes
    ----------
    ends
        For periods without and with spot, the probability for each class.
    ages
        For each class the probability that a period that does not end is in the next class in the next slot.

    Examples
    --------
    >>> hazards = Hazards((2, 2, 2), slot_s=195)
    >>> [round(share, 3) for share in hazards.ends[1]], [round(share, 2) for share in hazards.ages]
    ([0.0, 0.15, 0.06, 0.05, 0.008], [0.5, 0.5, 0.17, 0.1, 0.0])
    """

    def __init__(self, rates: Rates, slot_s: int) -> None:
        *old, scale = rates
        self.ends = tuple(
            tuple(
                1 - exp(-rate * slot_s / _HOUR_S)
                for rate in (*(_SCALES[scale] * rate for rate in young), _OLD_RATES_PER_H[last])
            )
            for young, last in zip(_YOUNG_RATES_PER_H, old, strict=True)
        )
        starts = (0, *AGE_LIMITS_S)
        widths = [(b - a) / slot_s for a, b in zip(starts, AGE_LIMITS_S, strict=False)]
        self.ages = (*(min(1.0, 1 / width) for width in widths), 0.0)


class Periods:
    """The periods of a zone seen so far.

    Parameters
    ----------
    slot_s
        Seconds of a slot.
    """

    def __init__(self, slot_s: int) -> None:
        self._slot_s = slot_s
        self._has_spot: bool | None = None
        self._age_s = 0
        self._old_s = [0.0, 0.0]
        self._old_ends = [0.0, 0.0]
        self._young_ends, self._expected_young_ends = 0.0, 0.0

    @property
    def age_class(self) -> int:
        """The class of the age of the present period. The first period is as old as it looks."""
        return bisect_right(AGE_LIMITS_S, self._age_s - 1)

    def see(self, has_spot: bool) -> None:
        """Learn whether there is spot in the next slot."""
        if self._has_spot is None:
            self._age_s = AGE_LIMITS_S[1] + 1  # it began before the first slot
        else:
            self._learn(has_spot is not self._has_spot)
            self._age_s = self._slot_s if has_spot is not self._has_spot else self._age_s + self._slot_s
        self._has_spot = has_spot

    def _learn(self, ends: bool) -> None:
        kind, age = int(bool(self._has_spot)), self.age_class
        if age == len(AGE_LIMITS_S):
            self._old_s[kind] += self._slot_s
            self._old_ends[kind] += ends
        else:
            self._young_ends += ends
            self._expected_young_ends += _YOUNG_RATES_PER_H[kind][age] * self._slot_s / _HOUR_S

    def rates(self) -> Rates:
        """Return what is known of the zone, as indices of rounded rates."""
        old = [
            (self._old_ends[kind] + _PRIOR_ENDS) / (self._old_s[kind] / _HOUR_S + _PRIOR_ENDS / _OLD_RATE_PER_H)
            for kind in (0, 1)
        ]
        scale = (self._young_ends + _PRIOR_ENDS) / (self._expected_young_ends + _PRIOR_ENDS)
        return (_nearest(_OLD_RATES_PER_H, old[0]), _nearest(_OLD_RATES_PER_H, old[1]), _nearest(_SCALES, scale))


def _nearest(values: tuple[float, ...], value: float) -> int:
    return min(range(len(values)), key=lambda i: abs(log(values[i] / value)))
