"""Cut certificates: bounds compared with their definition, and broken claims."""

from __future__ import annotations

import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import Compute, CutCertificate, Instance, Run, Rung, check
from hindsched.instances.batches.cut_certificate import CutBounds
from tests.cases.batches import any_run, rare, varied


def _ends(instance: Instance, j: int, seconds: list[int], submission: int, deadline: int) -> int:
    """Return the number of tasks that worker j ends by the deadline if it is sent one in each of these seconds."""
    up = {second for a, b in instance.up.of_worker(j).tolist() for second in range(a, b)}
    queue = sorted(second for second in seconds if second in up and submission <= second < deadline)
    now, done = submission, 0
    for second in queue:
        now, left = max(now, second), instance.c[j]
        while left and now < deadline:
            left -= instance.compute is Compute.RELIABLE or now in up
            now += 1
        if left:
            break
        done += 1
    return done


def test_bounds_follow_their_definition() -> None:
    for seed in range(60):
        instance, draw = varied(seed), rare(seed)
        run = any_run(instance, seed)
        times = run.contacts.time.tolist()
        for i, (submission, due) in enumerate(instance.batches):
            deadline = draw.choice([due, instance.end, (submission + due) // 2])
            borders = sorted(draw.sample(range(submission, deadline + 1), min(4, deadline + 1 - submission)))
            cut = [(a, b) for a, b in zip(borders[::2], borders[1::2], strict=False) if a < b]
            inside = {second for a, b in cut for second in range(a, b)}
            window = range(submission, deadline)
            expected = {
                Rung.FREE: sum(
                    _ends(instance, j, list(window), submission, deadline) for j in range(instance.num_workers)
                ),
                Rung.STREAM: sum(
                    _ends(
                        instance,
                        j,
                        [t for t, who in zip(times, run.contacts.worker.tolist(), strict=True) if who == j],
                        submission,
                        deadline,
                    )
                    for j in range(instance.num_workers)
                ),
                Rung.TRAFFIC: sum(t in inside and t in window for t in times)
                + sum(
                    _ends(instance, j, [t for t in set(times) if t not in inside], submission, deadline)
                    for j in range(instance.num_workers)
                ),
            }
            for rung, count in expected.items():
                bound = CutBounds(instance, rung, run).bound(i, deadline, cut if rung is Rung.TRAFFIC else ())
                assert bound == min(instance.tasks, count), (seed, rung)


LONE = Instance(tasks=2, batches=[(0, 4)], c=[2], up=[[(0, 9)]])
NO_RUN = Run("", any_run(LONE, 0).contacts)


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        (CutCertificate(Rung.FREE, (2,), ((),)), None),
        (CutCertificate(Rung.FREE, (1,), ((),)), "H3"),
        (CutCertificate(Rung.FREE, (2,), (((0, 1),),)), "H3"),
        (CutCertificate(Rung.STREAM, (2,), (((0, 1),),)), "H3"),
        (CutCertificate(Rung.TRAFFIC, (2,), (((3, 1),),)), "H3"),
        (CutCertificate(Rung.TRAFFIC, (2,), (((0, 2), (1, 3)),)), "H3"),
    ],
)
def test_bounds_are_compared_with_the_claim(claim: CutCertificate, rule: str | None) -> None:
    found = check(LONE, claim, of=NO_RUN)
    assert found.rule == rule
    assert found.time == (None if rule is None else 4)


def test_a_certificate_needs_its_run_and_one_cut_per_batch() -> None:
    with pytest.raises(InputError, match="rung"):
        check(LONE, CutCertificate(Rung.STREAM, (2,), ((),)))
    with pytest.raises(InputError, match="cut"):
        check(LONE, CutCertificate(Rung.FREE, (2,), ()))
