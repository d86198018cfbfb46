"""Rungs and cuts of both solvers against a plain search over ends and a flow of NetworkX."""

from __future__ import annotations

import random

from hindsched.instances.batches import Contacts, Run, read_instance
from hindsched.offline import solve
from tests.cases.batches_by_hand import Row, bound, calls, cornered, rung, verdict

RUNGS = ("free", "traffic", "stream")
LATE = 5_000_000_000


def some_calls(document: dict, seed: int) -> list[Row]:
    """Return random contacts."""
    draw = random.Random(f"calls {seed}")
    share = draw.choice([0.05, 0.2, 0.5, 1.0])
    open_ = calls(document, "free", document["start"], document["batches"][-1][1], [])
    return sorted([t, j] for j, times in enumerate(open_) for t in times if draw.random() < share)


def test_values_latencies_and_certificates() -> None:
    cuts = late = 0
    for seed in range(45):
        document = cornered(seed, with_past=False)
        n, batches, end = document["tasks"], document["batches"], document["batches"][-1][1]
        instance, rows = read_instance(document), some_calls(document, seed)
        run = Run("", Contacts.of([tuple(row) for row in rows]))
        for name in RUNGS:
            values = [rung(document, name, s, d, rows) for s, d in batches]
            for solver in ("plain", "native"):
                found = solve(instance, name, of=run, solver=solver, confirm=False).certificate
                assert list(found.satisfied) == values, (seed, name, solver)
                played = [list(row) for row in found.run(instance).contacts.rows()]
                assert verdict(document, played, name, rows) == (None, None)
                for i, (s, d) in enumerate(batches):
                    in_time = {row[3] for row in played if row[2] == i and row[4] is not None and row[4] <= d}
                    assert len(in_time) == values[i]
                    answer = found.batches[i]
                    assert bound(document, name, i, d, list(answer.cut), rows) == values[i]
                    least = end + 1 if answer.latency is None else s + answer.latency
                    assert bound(document, name, i, least - 1, list(answer.latency_cut), rows) < n
                    assert least == end + 1 or rung(document, name, s, least, rows) == n
                    assert rung(document, name, s, least - 1, rows) < n
                    cuts += bool(answer.cut)
                    late += answer.latency is not None and least > d
    assert cuts > 10
    assert late > 10


def test_seconds_beyond_32_bits() -> None:
    for seed in range(12):
        document = cornered(seed, with_past=False)
        rows = some_calls(document, seed)
        late = {
            **document,
            "start": document["start"] + LATE,
            "batches": [[s + LATE, d + LATE] for s, d in document["batches"]],
            "workers": [{**one, "up": [[a + LATE, b + LATE] for a, b in one["up"]]} for one in document["workers"]],
        }
        for name in RUNGS:
            early, moved = (
                solve(read_instance(one), name, of=Run("", Contacts.of(calls_of)), solver="native").certificate
                for one, calls_of in (
                    (document, [(t, j) for t, j in rows]),
                    (late, [(t + LATE, j) for t, j in rows]),
                )
            )
            assert early.satisfied == moved.satisfied
            assert early.latency == moved.latency
