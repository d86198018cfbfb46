"""Random jobs: chains by share and stability, independent of the number of slots and zones."""

import numpy as np
import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline.generate import generate


def test_a_zone_depends_neither_on_the_number_of_slots_nor_on_other_zones():
    assert (generate(3, zones=3, slots=90).spot[:2, :40] == generate(3, zones=2, slots=40).spot).all()
    assert generate(3) == generate(3)
    assert generate(3) != generate(4)


def test_shares_and_stability():
    spot = generate(1, slots=20_000, up=0.3, stay=0.9).spot[0]
    assert abs(spot.mean() - 0.3) < 0.03
    assert abs((spot[1:] == spot[:-1]).mean() - (0.9 + 0.1 * (0.3**2 + 0.7**2))) < 0.01
    assert generate(1, slots=50, up=1, stay=0).spot.all()
    assert not generate(1, slots=50, up=0, stay=1).spot.any()
    assert np.ptp(generate(1, slots=50, up=0.5, stay=1).spot[0].astype(int)) == 0


def test_moves_and_deadline():
    job = generate(1, zones=2, slots=5, slot_s=10, deadline_s=59, move_delay_s=3, move_cost=7)
    assert (job.move_delay_s, job.move_cost, job.slots, job.work_s) == (((0, 3), (3, 0)), ((0, 7), (7, 0)), 5, 30)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"up": 1.1}, "up"),
        ({"stay": -0.1}, "stay"),
        ({"zones": 0}, "zones"),
        ({"slots": 0}, "slots"),
        ({"slot_s": 0}, "slot_s"),
        ({"slots": 5, "slot_s": 10, "deadline_s": 60}, "deadline_s: 60 s are 6 slots of 10 s, expected 5"),
        ({"work_s": 0}, "work_s"),
        ({"up": float("nan")}, "up: nan, expected a probability"),
        ({"slots": 10**8, "slot_s": 1}, "slots: 100000000, expected an integer from 1 to 10000000"),
        ({"zones": 1000, "slots": 10**5}, "slots: 100000 of 1000 zones, expected at most 10000000 together"),
    ],
)
def test_wrong_numbers(options, place):
    with pytest.raises(InputError, match=place):
        generate(1, **options)
