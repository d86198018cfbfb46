"""Jobs with a deadline for tests: by hand, and drawn ones with moving prices, delays and any overhead."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hindsched.instances.deadline import Guard, Instance, Kind, Placement, Run, Schedule, Zone
from hindsched.instances.deadline.generate import generate
from hindsched.instances.deadline.model import spot_from_text
from hindsched.instances.deadline.schedule import runs_of

#: Shorter names for placements.
SPOT, DEMAND = (0, Kind.SPOT), (0, Kind.ON_DEMAND)
CENT, DOLLAR = 1, 3


def job(*spots: str, work_s: int, overhead_s: int = 0, slot_s: int = 10, late_s: int = 0, **more: object) -> Instance:
    """Return a job whose zones have the given spot; prices are 1 and 3 an hour."""
    zones = [Zone(spot_from_text(spot), CENT, DOLLAR) for spot in spots]
    return Instance(slot_s, len(spots[0]) * slot_s + late_s, work_s, overhead_s, zones, **more)


def guards(instance: Instance) -> list[Guard]:
    """Return the guards that fit an instance."""
    return [*Guard] if instance.num_zones == 1 else [Guard.LATCHED]


def schedule(text: str, finish: int | None, cost: int) -> Schedule:
    """Return a schedule from a letter a slot: ``s`` and ``o`` in zone 0, ``S`` and ``O`` in zone 1, ``.`` nothing."""
    placements = [None if letter == "." else (int(letter.isupper()), Kind(letter.lower())) for letter in text]
    return Schedule(None, runs_of(placements), finish, cost)


def letters(runs: Sequence[Run], slots: int) -> str:
    """Return the inverse of `schedule`: a letter a slot."""
    found = ["."] * slots
    for run in runs:
        letter = str(run.kind).upper() if run.zone else str(run.kind)
        found[run.first : run.end] = letter * (run.end - run.first)
    return "".join(found)


def drawn(seed: int, *, most_slots: tuple[int, int, int] = (7, 5, 4), zones: int | None = None) -> Instance:
    """Return a tiny job: one to three zones, any relation of work, overhead and slots, some with moving prices."""
    rng = random.Random(seed)
    count = zones or rng.choice([1, 1, 2, 3])
    slots, slot_s = rng.randint(1, most_slots[count - 1]), rng.choice([1, 7, 10, 195])
    made = generate(
        seed,
        zones=count,
        slots=slots,
        slot_s=slot_s,
        deadline_s=slots * slot_s + rng.randrange(slot_s),
        work_s=rng.randint(1, max(1, slots * slot_s)),
        overhead_s=rng.choice([0, 1, slot_s // 2, slot_s, slot_s + 3, 3 * slot_s]),
        up=rng.random(),
        stay=rng.random(),
        spot_price=rng.randint(0, 9),
        on_demand_price=rng.randint(0, 30),
    )
    if rng.random() < 0.4:
        made = made.replace(
            zones=[
                Zone(
                    zone.spot,
                    tuple(rng.randint(0, 9) for _ in range(slots)),
                    tuple(rng.randint(0, 30) for _ in range(slots)),
                    region=rng.choice(["a", "b"]),
                )
                for zone in made.zones
            ]
        )
    if count > 1:
        delays, costs = (
            [[0 if a == b else rng.randint(0, most) for b in range(count)] for a in range(count)]
            for most in (2 * slot_s, 1)
        )
        made = made.replace(move_delay_s=delays, move_cost=costs)
    return made


def drawn_placements(instance: Instance, rng: random.Random) -> list[Placement]:
    """Return placements of all slots, which may be impossible."""
    places: list[Placement] = [None, *((z, kind) for z in range(instance.num_zones) for kind in Kind)]
    found = [rng.choice(places)]
    while len(found) < instance.slots:
        found.append(found[-1] if rng.random() < 0.5 else rng.choice(places))
    return found
