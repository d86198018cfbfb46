"""Availability periods and positions against a tick-by-tick evaluation of the states."""

from __future__ import annotations

import numpy as np
import pytest

from hindsched.instances.bags import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from tests.cases.bags import letters, tiny


def plain(instance: Instance) -> list[tuple[int, list[int]]]:
    """Return machine and UP ticks of every period with UP ticks."""
    found = []
    for q, row in enumerate(instance.states):
        ticks: list[int] = []
        for t, letter in enumerate([*row.tolist(), DOWN]):
            if letter == UP:
                ticks += range(t * instance.slot, (t + 1) * instance.slot)
            if letter == DOWN and ticks:
                found.append((q, ticks))
                ticks = []
    return found


def cut(instance: Instance) -> AvailabilityPeriods:
    return AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)


@pytest.mark.parametrize("down", [0.0, 0.2])
def test_positions_agree_with_ticks(down: float) -> None:
    for instance in tiny(40, seed=1, up=0.6, down=down, slots=12):
        periods, expected = cut(instance), plain(instance)
        assert periods.machine.tolist() == [q for q, _ in expected]
        for tau in (0, 1, instance.horizon // 2, instance.horizon):
            done = [[tick for tick in ticks if tick < tau] for _, ticks in expected]
            assert periods.caps(tau).tolist() == [len(ticks) for ticks in done]
            rows = []
            for s, (q, _) in enumerate(expected):
                g, ticks = instance.ticks[q], done[s]
                for j in range(len(ticks) // g):
                    first, last = ticks[j * g :], ticks[len(ticks) - (len(ticks) // g - j) * g :]
                    rows.append((s, q, j, g, first[0], first[g - 1] + 1, last[0], last[g - 1] + 1))
            at = periods.positions(tau)
            columns = (
                at.period,
                at.machine,
                at.number,
                at.ticks,
                at.first_start,
                at.first_end,
                at.last_start,
                at.last_end,
            )
            assert list(zip(*(column.tolist() for column in columns), strict=True)) == rows


def test_without_up_slots_there_are_no_periods() -> None:
    periods = cut(letters("rrd", "ddd", ticks=[1, 1]))
    assert periods.machine.size == 0
    assert len(periods.positions(3)) == 0
    assert periods.counts(3).sum() == 0


def test_arrays_are_read_only() -> None:
    periods = cut(letters("uru", ticks=[1]))
    with pytest.raises(ValueError, match="read-only"):
        periods.start[0] = 5
    assert np.all(periods.before == [0, 1, 2])
