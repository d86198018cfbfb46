"""The checkers agree with an independent implementation on runs and cut certificates with random changes."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

from hindsched.instances.batches import check, read_instance, read_schedule
from tests.cases.batches_by_hand import POLICIES, ImpossibleError, Row, bound, calls, cornered, play, readings, verdict

NO_ROWS: list[Any] = [
    [],
    [1],
    [1, 0, 0],
    "a",
    None,
    {},
    [1.0, 0],
    [1, "0"],
    [True, 0],
    [1, 0, 0, 0, 2.5],
    [1, 0, 0, None, 2],
]


def run_of(document: dict, seed: int) -> list[Row]:
    draw = random.Random(f"policy {seed}")
    try:
        return play(document, draw.choice(POLICIES), **readings(seed)).contacts
    except ImpossibleError:
        return []


def tampered(document: dict, run: list[Row], draw: random.Random) -> list[Any]:
    """Return the rows of a run after one to three changes."""
    rows: list[Any] = [list(row) for row in run]
    n, w, m = document["tasks"], len(document["workers"]), len(document["batches"])
    edges = [x for pair in document["batches"] for x in pair]
    times = [document["start"] - 1, document["start"], *edges, edges[-1] + 1, draw.randint(0, edges[-1])]
    for _ in range(draw.choice([1, 1, 2, 3])):
        new = [draw.choice(times), draw.randrange(w), draw.randrange(m), draw.randrange(n), draw.choice([None, *times])]
        place = draw.randrange(len(rows)) if rows else 0
        row = rows[place] if rows else None
        what = draw.randrange(9)
        if what == 0 or not isinstance(row, list) or len(row) not in (2, 5):
            rows.insert(place, draw.choice([new, new[:2]]))
        elif what == 1:
            rows.insert(place, list(row))
        elif what == 2:
            rows[place] = draw.choice(NO_ROWS)
        elif what == 3:
            del rows[place]
        elif what == 4:
            rows[place] = row[:2] if len(row) == 5 else row + new[2:]
        else:
            column = draw.randrange(len(row))
            wide = [-1, (0, w, m, n, 0)[column], -(2**31), 10**12, -(2**62)]
            near = [(row[column] or 0) + 1, (row[column] or 0) - 1]
            row[column] = draw.choice([new[column], new[column], *near, draw.choice(wide)])
        if draw.random() < 0.5 and all(isinstance(one, list) and one for one in rows):
            rows.sort(key=lambda one: [x if isinstance(x, int) else 0 for x in one[:2]])
    return rows


def elsewhere(document: dict, run: list[Row], draw: random.Random) -> list[Row]:
    """Return most contacts of a run, without tasks, and a few contacts that are not in the run."""
    kept = {(t, j) for t, j, *_ in run if draw.random() < 0.9}
    open_ = calls(document, "free", document["start"], document["batches"][-1][1], [])
    every = [(t, j) for j, times in enumerate(open_) for t in times]
    return sorted(map(list, kept.union(draw.sample(every, min(len(every), draw.randint(1, 3))))))


def test_runs_and_certificates() -> None:
    seen = Counter[str | None]()
    for seed in range(170):
        document, draw = cornered(seed), random.Random(f"tampered {seed}")
        instance, run = read_instance(document), run_of(document, seed)
        for name in (None, None, None, "free", "traffic", "stream", "traffic", "stream"):
            is_elsewhere = name in ("traffic", "stream") and draw.random() < 0.7
            rows = elsewhere(document, run, draw) if is_elsewhere else tampered(document, run, draw)
            text = {"format": "batches-run/1", "instance": "", "contacts": rows, "rung": name}
            of = {"format": "batches-run/1", "instance": "", "contacts": run}
            found = check(instance, read_schedule(json.loads(json.dumps(text))), of=read_schedule(of))
            expected = verdict(document, rows, name, run)
            assert (found.time, found.rule) == expected, (seed, name, rows)
            seen[expected[1]] += 1
    assert min(seen[rule] for rule in ("F", "V1", "V2", "V4", "V5", "V6", "H1", "H2", None)) > 20, seen


def test_cut_certificates() -> None:
    seen = Counter[str | None]()
    for seed in range(200):
        document, draw = cornered(seed, with_past=False), random.Random(f"claim {seed}")
        instance, run = read_instance(document), run_of(document, seed)
        batches, end = document["batches"], document["batches"][-1][1]
        for name in ("free", "traffic", "stream"):
            satisfied, cuts = [], []
            broken = None
            for i, (_, deadline) in enumerate(batches):
                edges = sorted(draw.sample(range(end + 6), 2 * draw.randint(0, 3)))
                cut = [[a, b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
                if name != "traffic" and draw.random() < 0.9:
                    cut = []
                draw.shuffle(cut)
                error = draw.choice([-1, 1]) if draw.random() < 0.1 else 0
                satisfied.append(bound(document, name, i, deadline, cut, run) + error)
                cuts.append(cut)
                if broken is None and (error or (cut and name != "traffic")):
                    broken = deadline
            claim = read_schedule({"rung": name, "satisfied": satisfied, "cut": cuts})
            of = read_schedule({"format": "batches-run/1", "instance": "", "contacts": run})
            found = check(instance, claim, of=of)
            assert (found.time, found.rule) == (broken, None if broken is None else "H3"), (seed, name)
            seen[found.rule] += 1
    assert min(seen[rule] for rule in ("H3", None)) > 100, seen
