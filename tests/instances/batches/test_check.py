"""The checker of runs: runs by hand, runs of policies, and the rules that their mutants break."""

from __future__ import annotations

import pytest

from hindsched.instances import InputError
from hindsched.instances.batches import Instance, Rung, check, read_schedule
from tests.cases.batches import rare, readings, runs, varied

PAIR = Instance(tasks=2, batches=[(1, 4), (5, 9)], c=[1, 2], up=[[(0, 2), (3, 6), (8, 12)], [(0, 9)]], start=1)


def verdict(rows: list, rung: str | None = None, of: list | None = None, instance: Instance = PAIR) -> tuple:
    def run(contacts: list, rung: str | None) -> object:
        return read_schedule({"format": "batches-run/1", "instance": "", "contacts": contacts, "rung": rung})

    found = check(instance, run(rows, rung), of=None if of is None else run(of, None))
    return found.time, found.rule


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], (None, None)),
        ([[1, 0, 0, 0, 2], [1, 1, 0, 1, 3]], (None, None)),
        ([[1, 0, 0, 0, 2], [3, 0, 0, 0, 4]], (None, None)),  # a second copy
        ([[8, 1, 1, 0, None]], (None, None)),  # ends at 10, after E
        ([[1, 0, 0]], (None, "F")),
        ([[1, 0, 0, 0, 2.0]], (None, "F")),
        ([[1, True]], (None, "F")),
        (["a"], (None, "F")),
        ([[1, 0, 0, None, 2]], (None, "F")),
        ([[1, 1], [1, 0]], (1, "F")),
        ([[3, 0], [1, 0]], (1, "F")),
        ([[1, 2]], (1, "F")),
        ([[1, -1]], (1, "F")),
        ([[1, 0], [1, 0]], (1, "V5")),
        ([[0, 0]], (0, "V5")),
        ([[-5, 0]], (-5, "V5")),
        ([[9, 1]], (9, "V6")),
        ([[10, 0]], (10, "V6")),
        ([[2, 0]], (2, "V1")),
        ([[1, 0, 0, 2, 2]], (1, "F")),
        ([[1, 0, 2, 0, 2]], (1, "F")),
        ([[1, 0, -1, 0, 2]], (1, "F")),
        ([[4, 1, 1, 0, 6]], (4, "V4")),
        ([[1, 0, 0, 0, 3]], (1, "V2")),
        ([[1, 0, 0, 0, None]], (1, "V2")),
        ([[1, 1, 0, 0, 3], [2, 1, 0, 1, 4]], (2, "V2")),  # the second task waits for the first and ends at 5
        ([[8, 1, 1, 0, 10]], (8, "V2")),
        # form and order of all rows are checked first, then their content, row by row
        ([[2, 0], [1, 0]], (1, "F")),
        ([[2, 0], [3, 0], [3]], (None, "F")),
        ([[0, 0], [9, 1]], (0, "V5")),
        ([[2, 0, 0, 5, 7], [9, 1]], (2, "V1")),
        ([[1, 0, 0, 0, 9], [9, 1]], (1, "V2")),
    ],
)
def test_runs_by_hand(rows: list, expected: tuple) -> None:
    assert verdict(rows) == expected


def test_certificates_are_compared_with_the_run() -> None:
    run = [[1, 0], [3, 1]]
    assert verdict([[1, 0, 0, 0, 2]], "stream", run) == (None, None)
    assert verdict([[1, 1, 0, 0, 3]], "stream", run) == (1, "H2")
    assert verdict([[1, 1, 0, 0, 3]], "traffic", run) == (None, None)
    assert verdict([[1, 0, 0, 0, 2], [1, 1, 0, 1, 3]], "traffic", run) == (1, "H1")
    assert verdict([[1, 0, 0, 0, 2], [2, 1, 0, 1, 4]], "traffic", run) == (2, "H1")
    assert verdict([[2, 1, 0, 1, 4]], "free") == (None, None)
    assert verdict([[1, 0, 0, 0, 3]], "stream", run) == (1, "V2")  # V rules are checked before H rules
    with pytest.raises(InputError, match="rung"):
        verdict([], "traffic")


def test_the_outcome_of_a_run() -> None:
    text = {"format": "batches-run/1", "instance": "", "contacts": []}
    text["contacts"] = [[1, 0, 0, 0, 2], [1, 1, 0, 1, 3], [3, 0, 0, 0, 4], [5, 0, 1, 0, 6], [7, 1, 1, 1, 9]]
    outcome = check(PAIR, read_schedule(text)).outcome
    assert (outcome.satisfied, outcome.latency, outcome.copies) == ((2, 2), (2, 4), (3, 2))
    text["contacts"][-1] = [8, 1, 1, 1, None]
    outcome = check(PAIR, read_schedule(text)).outcome
    assert (outcome.satisfied, outcome.latency) == ((2, 1), (2, None))


def test_a_late_end_counts_for_the_latency() -> None:
    late = Instance(tasks=1, batches=[(0, 2), (9, 10)], c=[3], up=[[(0, 9)]])
    text = {"format": "batches-run/1", "instance": "", "contacts": [[0, 0, 0, 0, 3]]}
    outcome = check(late, read_schedule(text)).outcome
    assert (outcome.satisfied, outcome.latency) == ((0, 0), (3, None))


def _mutants(rows: list, draw, instance: Instance):
    """Yield mutated rows, the rule that they break with its time, and whether it is certainly the first one."""
    place = draw.randrange(len(rows))
    time, worker, *sent = rows[place]
    others = [r for r in rows if r[0] == time]
    yield (
        [*rows[:place], [time, instance.num_workers, *sent], *rows[place + 1 :]],
        ("F", time),
        others[-1] == rows[place],
    )
    yield [*rows[: place + 1], rows[place], *rows[place + 1 :]], ("V5", time), True
    if sent and sent[2] is not None:
        wrong = [time, worker, sent[0], sent[1], sent[2] + draw.choice([-1, 1])]
        yield [*rows[:place], wrong, *rows[place + 1 :]], ("V2", time), True
        wrong = [time, worker, sent[0], instance.tasks, sent[2]]
        yield [*rows[:place], wrong, *rows[place + 1 :]], ("F", time), True
        if sent[0] + 1 < instance.num_batches and instance.batches[sent[0] + 1][0] > time:
            wrong = [time, worker, sent[0] + 1, sent[1], sent[2]]
            yield [*rows[:place], wrong, *rows[place + 1 :]], ("V4", time), True


def test_runs_of_policies_are_accepted_and_their_mutants_refused() -> None:
    seen = set()
    for seed in range(40):
        instance, draw = varied(seed), rare(seed)
        for simulated in runs(instance, readings(seed)):
            found = check(instance, simulated.run)
            assert found.is_valid, found
            outcome = found.outcome
            assert outcome.satisfied == simulated.satisfied
            assert outcome.latency == simulated.latency
            assert outcome.copies == simulated.copies
            rows = [list(row) for row in simulated.run.contacts.rows()]
            for mutant, (rule, time), is_sure in _mutants(rows, draw, instance) if rows else ():
                if is_sure:
                    assert verdict(mutant, instance=instance) == (time, rule)
                    seen.add(rule)
    assert seen == {"F", "V5", "V2", "V4"}


def test_the_contacts_of_a_run_are_a_certificate_of_every_rung() -> None:
    for seed in range(15):
        instance = varied(seed)
        for simulated in runs(instance):
            rows = [list(row) for row in simulated.run.contacts.rows()]
            for rung in Rung:
                assert verdict(rows, str(rung), rows, instance) == (None, None)
