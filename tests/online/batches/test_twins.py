"""The kernel agrees with the plain simulator in every contact and period."""

from __future__ import annotations

import pytest

from hindsched.instances.batches import Instance, check
from hindsched.instances.batches.generate import paper
from hindsched.instances.batches.volunteers import VolunteerParameters
from hindsched.online.batches import Options, run_policy
from hindsched.online.batches.policies import PAPER
from tests.cases.batches import readings, runs, varied, with_past


def agree(instance: Instance, options: Options) -> int:
    contacts = 0
    for plain in runs(instance, options, policies=PAPER):
        fast = run_policy(instance, plain.policy, options, engine="kernel")
        where = (instance, plain.policy, options)
        assert fast.run.periods == plain.run.periods, where
        assert list(fast.run.contacts.rows()) == list(plain.run.contacts.rows()), where
        assert fast == plain, where
        assert check(instance, fast.run).is_valid, where
        contacts += plain.all_contacts
    return contacts


def test_twins_on_random_instances() -> None:
    assert sum(agree(varied(seed), readings(seed)) for seed in range(90)) > 10_000


def test_twins_on_instances_with_a_past() -> None:
    assert sum(agree(with_past(seed), readings(seed)) for seed in range(12)) > 1_000


def test_twins_on_larger_crowds() -> None:
    for seed in range(6):
        agree(varied(seed, largest=45), readings(seed))


@pytest.mark.parametrize("policy", PAPER)
def test_twins_on_drawn_volunteers(policy: str) -> None:
    instance = paper(
        workers=60, tasks=8, deadline_s=4 * 3600, batches=6, first_day=25, seed=3, habits=VolunteerParameters(days=30)
    )
    options = Options(first="spread", copies_lambda=2)
    plain = run_policy(instance, policy, options, engine="plain")
    fast = run_policy(instance, policy, options, engine="kernel")
    assert list(fast.run.contacts.rows()) == list(plain.run.contacts.rows())
    assert fast.run.periods == plain.run.periods


def test_twins_where_requests_times_workers_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The period is a quotient by ten times requests times workers, here more than 2**36."""
    monkeypatch.setattr(
        "hindsched.online.batches.periods.poisson_tail", lambda mean, wanted: float(mean >= wanted)
    )  # it sums up
    sizes = [(instance.tasks * instance.num_workers, instance) for instance in map(varied, range(12))]
    chosen = [instance for size, instance in sizes if size >= 7]
    assert len(chosen) >= 3
    for instance in chosen[:3]:
        agree(instance, Options(copies_lambda=10**9, p0=2**26))
