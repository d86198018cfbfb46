"""Both simulators agree with a third one, written from the page of the model alone."""

from __future__ import annotations

from typing import Any

import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import read_instance
from hindsched.online.batches import Options, run_policy
from hindsched.online.batches.simulate import Simulation
from tests.cases.batches_by_hand import DEFAULTS, POLICIES, ImpossibleError, Made, cornered, play, readings


def made(run: Simulation) -> Made:
    rows = [list(row) for row in run.run.contacts.rows()]
    assert run.all_contacts == len(rows)
    return Made(
        rows,
        list(run.run.periods),
        run.satisfied,
        run.latency,
        run.copies,
        run.requests,
        run.distributed,
        run.contacts,
    )


def compare(document: dict[str, Any], options: dict[str, Any], policies: tuple[str, ...] = POLICIES) -> int:
    """Return how many runs were compared."""
    instance, runs = read_instance(document), 0
    for policy in policies:
        try:
            expected = play(document, policy, **options)
        except ImpossibleError:
            for engine in ("plain", "kernel"):
                with pytest.raises(InputError):
                    run_policy(instance, policy, Options(**options), engine=engine)
            continue
        for engine in ("plain", "kernel"):
            assert made(run_policy(instance, policy, Options(**options), engine=engine)) == expected, (policy, engine)
            runs += 1
    return runs


def test_instances_full_of_corners_under_all_readings() -> None:
    seen = {name: {DEFAULTS[name]} for name in DEFAULTS}
    runs = 0
    for seed in range(90):
        options = readings(seed)
        runs += compare(cornered(seed), options)
        for name, value in options.items():
            seen[name].add(value)
    assert runs > 800
    assert all(len(values) > 1 for values in seen.values())


def test_replays_of_days_change_the_choices_of_history() -> None:
    changed = 0
    for seed in range(2_000, 2_040):
        document = cornered(seed)
        try:
            changed += play(document, "A3-history").contacts != play(document, "A3-speed").contacts
        except ImpossibleError:
            continue
        compare(document, {}, ("A3-history", "A3-history-shift"))
    assert changed > 2
