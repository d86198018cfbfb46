"""A plain implementation of the rules of batches, from docs/batches/model.md alone, without code of the toolkit.

Simulators, solvers and checkers of the toolkit must agree with it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, fsum, lgamma, log
from typing import Any

__all__ = [
    "DEFAULTS",
    "POLICIES",
    "ImpossibleError",
    "Made",
    "bound",
    "calls",
    "cornered",
    "play",
    "readings",
    "rung",
    "verdict",
]

DAY = 86_400
PREDICTORS = ("copies", "speed", "history")
POLICIES = ("A1", "A2", "A2-shift", *(f"A3-{name}{shift}" for name in PREDICTORS for shift in ("", "-shift")))
DEFAULTS: dict[str, Any] = {
    "k": 0.99,
    "p0": "week",
    "active": "distinct",
    "overdue": None,
    "busy": "queue",
    "report": "at_once",
    "copies": 2,
    "replays": 10,
    "copies_lambda": 1,
    "damping": 1,
    "first": "start",
}
Row = list[Any]


class ImpossibleError(ValueError):
    """No time is left before the last call of a batch."""


@dataclass
class Made:
    contacts: list[Row]
    periods: list[tuple[int, int]]
    satisfied: tuple[int, ...]
    latency: tuple[int | None, ...]
    copies: tuple[int, ...]
    requests: tuple[int, ...]
    distributed: tuple[int, ...]
    in_time: tuple[int, ...]


class Worker:
    """One worker of a document."""

    def __init__(self, document: Mapping[str, Any], j: int) -> None:
        self.c, self.up = document["workers"][j]["c"], document["workers"][j]["up"]
        self.is_reliable = document.get("compute") == "reliable"

    def first(self, t: int) -> int | None:
        return next((max(a, t) for a, b in self.up if b > t), None)

    def seconds(self, x: int, y: int) -> int:
        return sum(max(0, min(b, y) - max(a, x)) for a, b in self.up)

    def ends(self, t: int, last: int | None) -> int:
        """Return the end of a task sent at t, after one that ends at ``last``; 2 ** 60 if it never ends."""
        left, t = self.c, t if last is None else max(t, last)
        if self.is_reliable:
            return t + left
        for a, b in self.up:
            if b > t:
                x = max(a, t)
                if b - x >= left:
                    return x + left
                left -= b - x
        return 2**60


def workers_of(document: Mapping[str, Any]) -> list[Worker]:
    return [Worker(document, j) for j in range(len(document["workers"]))]


def play(document: Mapping[str, Any], policy: str, **chosen: Any) -> Made:
    """Run one of the paper's masters on the document of an instance."""
    option = {**DEFAULTS, **chosen}
    n, batches, start = document["tasks"], document["batches"], document.get("start", 0)
    crowd = workers_of(document)
    w, m, end = len(crowd), len(batches), batches[-1][1]
    sum_c = sum(one.c for one in crowd)
    algorithm, *rest = policy.split("-")
    shifts, predictor = "shift" in rest, rest[0] if algorithm == "A3" else ""
    drops = (option["overdue"] or ("drop" if algorithm == "A3" else "carry")) == "drop"
    margin = [w * (d - s) - sum_c for s, d in batches]
    if min(margin) < (0 if algorithm == "A1" else 1):
        raise ImpossibleError
    last_call = [(w * d - sum_c) // w for _, d in batches]
    wanted, requests = option["copies_lambda"] * n, 1
    while 1 - fsum(exp(i * log(requests) - requests - lgamma(i + 1)) for i in range(wanted)) < option["k"]:
        requests += 1

    def period(active: int, i: int) -> int:
        return max(1, 9 * active * margin[min(i, m - 1)] // (10 * requests * w))

    active = option["p0"]
    if active == "week":
        since, until = max(start, batches[0][0] - 7 * DAY), batches[0][0]
        active = max(1, sum(one.seconds(since, until) > 0 for one in crowd))
    t_now = period(active, 0)
    periods = [(start, t_now)]
    spread = t_now if option["first"] == "spread" else 0
    due = [one.first(start + 2_654_435_761 * j % 2**32 * spread // 2**32) for j, one in enumerate(crowd)]
    queue: list[int | None] = [None] * w
    made: list[tuple[int, int]] = []
    rows: list[Row] = []
    running: list[tuple[int, int, int, int]] = []
    unheard: list[list[tuple[int, int]]] = [[] for _ in crowd]
    heard: list[set[int]] = [set() for _ in batches]
    ended: list[dict[int, int]] = [{} for _ in batches]
    current = task = pair = 0
    p, sent = [1.0] * n, [0] * n

    def advance(now: int) -> None:
        nonlocal current, task, p, sent, t_now
        current, task, p, sent = current + 1, 0, [1.0] * n, [0] * n
        if algorithm != "A1" and not shifts:
            seen = [j for t, j in made if now - 2 * t_now < t <= now]
            t_now = period(len(seen) if option["active"] == "connections" else len(set(seen)), current)
            periods.append((now, t_now))

    def hear(now: int, i: int, k: int) -> None:
        heard[i].add(k)
        if algorithm == "A3" and i == current and len(heard[i]) == n:
            advance(now)

    def success(one: Worker, now: int) -> float:
        left = batches[current][1] - now
        if one.c > left:
            return 0.0
        if predictor == "history":
            begins = [now - x * u for u in (DAY, 7 * DAY) for x in range(1, option["replays"] + 1)]
            seen = [b for b in begins if b >= one.up[0][0] and b + left <= now]
            if 2 * sum(one.seconds(b, b + left) < one.c for b in seen) > len(seen):
                return 0.0
        return min(0.99, 2.0 * (sum_c / w) / one.c)

    def choose(one: Worker, now: int) -> int | None:
        nonlocal task
        if current >= m or now < batches[current][0]:
            return None
        if algorithm != "A3":
            task += 1
            return task - 1
        open_ = [k for k in range(n) if k not in heard[current]]
        if predictor == "copies":
            k = min(open_, key=lambda k: (sent[k], k))
            sent[k] += 1
            return k if sent[k] <= option["copies"] else None
        s = success(one, now)
        if s <= 0:
            return None
        k = max(open_, key=lambda k: (p[k], -k))
        p[k] *= 1 - s
        return k

    now = start
    while True:
        for _, j, i, k in sorted(one for one in running if one[0] == now):
            ended[i].setdefault(k, now)
            if option["report"] == "at_once":
                hear(now, i, k)
            else:
                unheard[j].append((i, k))
        for i, (submission, deadline) in enumerate(batches):
            if deadline == now:
                if drops and current == i:
                    advance(now)
                count = sum(submission <= t <= last_call[i] for t, _ in made)
                if shifts and (count < n or 10 * count > 11 * n):
                    error = Fraction(max(count, 1), n) - 1
                    t_now = max(1, floor(t_now * (1 + error / option["damping"])))
                    periods.append((now, t_now))
        if now == end:
            break
        for j in (j for j in range(w) if due[j] == now):
            one = crowd[j]
            made.append((now, j))
            for i, k in unheard[j]:
                hear(now, i, k)
            unheard[j] = []
            i, k = current, choose(one, now)
            row: Row = [now, j]
            if k is not None:
                queue[j] = done = one.ends(now, queue[j])
                row += [i, k, done if done <= end else None]
                running.append((done, j, i, k))
            rows.append(row)
            again: int | None = now + t_now
            if algorithm == "A1":
                i, k = divmod(pair, n)
                pair += 1
                again = None if i >= m else batches[i][0] + (n > 1 and -(-k * margin[i] // ((n - 1) * w)))
            if task == n:
                advance(now)
            wait = (queue[j] or 0) if option["busy"] == "wait" else 0
            due[j] = None if again is None else one.first(max(again, now + 1, wait))
        later = [one[0] for one in running] + [t for t in due if t is not None] + [d for _, d in batches]
        now = min(t for t in later if t > now)

    firsts = Counter[tuple[int, int]]()
    for time, _, *what in rows:
        if what:
            firsts.setdefault((what[0], what[1]), time)
    each = list(enumerate(batches))
    return Made(
        rows,
        periods,
        tuple(sum(t <= deadline for t in ended[i].values()) for i, (_, deadline) in each),
        tuple(max(ended[i].values()) - s if len(ended[i]) == n else None for i, (s, _) in each),
        tuple(sum(len(row) == 5 and row[2] == i for row in rows) for i, _ in each),
        tuple(sum(s <= t <= last_call[i] for t, _ in made) for i, (s, _) in each),
        tuple(sum(b == i and t <= last_call[i] for (b, _), t in firsts.items()) for i, _ in each),
        tuple(sum(s <= t < d for t, _ in made) for _, (s, d) in each),
    )


# Hindsight


def calls(document: Mapping[str, Any], name: str, since: int, end: int, rows: Iterable[Row]) -> list[list[int]]:
    """Return for each worker the seconds of [since, end) in which a rung allows a contact, without the counts."""
    made = {(row[0], row[1]) for row in rows}
    times = {t for t, _ in made}
    return [
        [
            t
            for a, b in one.up
            for t in range(max(a, since), min(b, end))
            if name == "free" or (t, j) in made or (name == "traffic" and t in times)
        ]
        for j, one in enumerate(workers_of(document))
    ]


def most(one: Worker, times: list[int], end: int) -> int:
    """Return the largest number of tasks that end in time, by enumeration of the ends of the queue."""
    best: dict[int | None, int] = {None: 0}
    for t in times:
        for last, count in list(best.items()):
            done = one.ends(t, last)
            if done <= end:
                best[done] = max(best.get(done, 0), count + 1)
    return max(best.values())


def rung(document: Mapping[str, Any], name: str, since: int, end: int, rows: list[Row]) -> int:
    """Return the largest number of tasks of a batch that end in time on a rung; ``traffic`` is a flow by NetworkX."""
    crowd, open_ = workers_of(document), calls(document, name, since, end, rows)
    if name != "traffic":
        return min(document["tasks"], sum(most(one, times, end) for one, times in zip(crowd, open_, strict=True)))
    import networkx

    net = networkx.DiGraph()
    net.add_nodes_from(("source", "sink"))
    for t, count in Counter(row[0] for row in rows).items():
        net.add_edge("source", t, capacity=count)
    for j, (one, times) in enumerate(zip(crowd, open_, strict=True)):
        ranks = {t: ((end - t) if one.is_reliable else one.seconds(t, end)) // one.c for t in times}
        for t, rank in ranks.items():
            if rank:
                net.add_edge(t, (j, rank), capacity=1)
        top = max(ranks.values(), default=0)
        for rank in range(1, top + 1):
            net.add_edge((j, rank), (j, rank + 1) if rank < top else "sink", capacity=rank)
    return min(document["tasks"], networkx.maximum_flow_value(net, "source", "sink"))


def bound(document: Mapping[str, Any], name: str, i: int, end: int, cut: list[Any], rows: list[Row]) -> int:
    """Return the upper bound of a cut on the tasks of batch i that end by ``end``."""
    since = document["batches"][i][0]
    inside = [t for t, *_ in rows if since <= t < end and any(a <= t < b for a, b in cut)]
    count = len(inside) if name == "traffic" else 0
    for one, times in zip(workers_of(document), calls(document, name, since, end, rows), strict=True):
        last: int | None = None
        for t in times:
            if name != "traffic" or t not in inside:
                last = one.ends(t, last)
                count += last <= end
    return min(document["tasks"], count)


# The checker


def verdict(
    document: Mapping[str, Any], rows: list[Any], name: str | None = None, of: Iterable[Row] = ()
) -> tuple[int | None, str | None]:
    """Return the time and the name of the first broken rule."""
    crowd, batches, end = workers_of(document), document["batches"], document["batches"][-1][1]
    before: list[int] = []
    for row in rows:
        if not isinstance(row, list) or len(row) not in (2, 5):
            return None, "F"
        if any(type(x) is not int for x in (row[:4] if row[-1] is None else row)) or None in row[:4]:
            return None, "F"
        if not 0 <= row[1] < len(crowd) or row[:2] < before:
            return row[0], "F"
        if row[:2] == before:
            return row[0], "V5"
        before = row[:2]
    queue: list[int | None] = [None] * len(crowd)
    for t, j, *what in rows:
        one = crowd[j]
        if t < document.get("start", 0):
            return t, "V5"
        if t >= end:
            return t, "V6"
        if one.first(t) != t:
            return t, "V1"
        if what:
            i, k, stated = what
            if not (0 <= i < len(batches) and 0 <= k < document["tasks"]):
                return t, "F"
            if t < batches[i][0]:
                return t, "V4"
            queue[j] = done = one.ends(t, queue[j])
            if stated != (done if done <= end else None):
                return t, "V2"
    made = {(row[0], row[1]) for row in of}
    left = Counter(t for t, _ in made)
    for t, j, *_ in rows if name in ("traffic", "stream") else ():
        if name == "stream" and (t, j) not in made:
            return t, "H2"
        left[t] -= 1
        if left[t] < 0:
            return t, "H1"
    return None, None


# Instances with many corner cases


def cornered(seed: int, *, with_past: bool = True) -> dict[str, Any]:
    """Return a random document with ties, single seconds, and availability that begins or ends with batches or runs."""
    draw = random.Random(f"cornered {seed}")
    kind = draw.choice(["short", "short", "long", "edges", *(["days"] if with_past else [])])
    length = {"short": 8, "long": 60, "edges": 12, "days": 40}[kind]
    start = draw.choice([0, 0, 3, 11])
    t = start + draw.randint(0, length)
    if kind == "days":
        t += draw.choice([1, 3, 9, 22]) * DAY
        start = draw.choice([0, t - 5, max(0, t - DAY), max(0, t - 8 * DAY)])
    first, batches = t, []
    for _ in range(draw.randint(1, 4)):
        batches.append([t, t + draw.randint(2, length)])
        t = batches[-1][1] + draw.choice([0, 0, 1, draw.randint(0, length)])
    end = batches[-1][1]
    workers = []
    for _ in range(draw.choice([1, 2, 3, 5, 8, 14])):
        c = draw.choice([1, 2, 3, draw.randint(1, length // 2)])
        if kind == "edges":
            edges = {
                start,
                end,
                end - 1,
                end + 1,
                *(x + y for pair in batches for x in pair for y in (0, 1, -c) if x + y >= 0),
            }
            chosen = sorted(draw.sample(sorted(edges), 2 * draw.randint(0, len(edges) // 2)))
            up = [[a, b] for a, b in zip(chosen[::2], chosen[1::2], strict=True)]
        else:
            up = _intervals(
                draw, 0 if kind != "days" else first % DAY, end - first + 2 * length if kind == "days" else end + 5
            )
            if kind == "days":
                days = [day for day in range(end // DAY + 1) if draw.random() < 0.75]
                up = [[day * DAY + a, day * DAY + b] for day in days for a, b in up if b < DAY]
        workers.append({"c": c, "up": up if draw.random() < 0.95 else []})
    compute = draw.choice(["available", "available", "reliable"])
    tasks = draw.choice([1, 1, 2, 3, 4, 6, 9])
    return {
        "format": "batches/1",
        "tasks": tasks,
        "compute": compute,
        "start": start,
        "batches": batches,
        "workers": workers,
    }


def _intervals(draw: random.Random, since: int, until: int) -> list[list[int]]:
    share, longest, up = draw.choice([0.2, 0.5, 0.8, 1.0]), draw.choice([1, 3, 12]), []
    t = since + draw.choice([0, 0, draw.randint(0, longest)])
    while t < until:
        length = draw.randint(1, longest)
        up.append([t, t + length])
        t += length + 1 + int(draw.expovariate(1) * length * (1 - share) / share)
    return up


def readings(seed: int) -> dict[str, Any]:
    """Return random values of about half of the options."""
    draw = random.Random(f"readings {seed}")
    others = {
        "k": [0.5, 0.9],
        "p0": [1, 4, 20],
        "active": ["connections"],
        "overdue": ["carry", "drop"],
        "busy": ["wait"],
        "report": ["at_contact"],
        "copies": [1, 3],
        "replays": [0, 1, 2],
        "copies_lambda": [2, 3],
        "first": ["spread"],
        "damping": [2, 7],
    }
    return {name: draw.choice(values) for name, values in others.items() if draw.random() < 0.45}
