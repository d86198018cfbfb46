"""Plain implementations of the schedulers of grid, slot by slot, from docs/grid/model.md alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Container, Sequence
from typing import Any

Job = tuple[int, int, int]
Entry = tuple[int, int]
_COUNTERS = ("searches", "queries", "first", "second", "pull", "push", "poll", "forwards", "answers", "refusals")
_MASK = 2**64 - 1


class Words:
    """The words of a random stream: Philox4x64-10, whose key is the SHA-256 digest of the name."""

    def __init__(self, *name: str | int, at: int = 0) -> None:
        self.key = int.from_bytes(hashlib.sha256(repr(name).encode()).digest()[:16], "little")
        self.at = at
        self.block: tuple[int, list[int]] = (0, [])

    def next(self) -> int:
        """Return the next word; the counter of the first block is 1."""
        number = self.at // 4 + 1
        if self.block[0] != number:
            self.block = (number, self._philox(number))
        self.at += 1
        return self.block[1][(self.at - 1) % 4]

    def _philox(self, number: int) -> list[int]:
        c, k0, k1 = [number, 0, 0, 0], self.key & _MASK, self.key >> 64
        for _ in range(10):
            a, b = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
            c = [(b >> 64) ^ c[1] ^ k0, b & _MASK, (a >> 64) ^ c[3] ^ k1, a & _MASK]
            k0, k1 = (k0 + 0x9E3779B97F4A7C15) & _MASK, (k1 + 0xBB67AE8584CAA73B) & _MASK
        return c

    def below(self, n: int) -> int:
        """Return a number below n."""
        return (self.next() * n) >> 64

    def some(self, k: int, pool: Sequence[int]) -> list[int]:
        """Return k random members of a pool."""
        a = list(pool)
        for i in range(min(k, len(a))):
            other = i + self.below(len(a) - i)
            a[i], a[other] = a[other], a[i]
        return a[:k]


def static(nodes: int, degree: int, seed: int) -> list[list[int]]:
    """Return the neighbour lists of the static overlay."""
    d = min(degree, nodes - 1)
    return [Words("grid", "overlay", seed, k).some(d, [x for x in range(nodes) if x != k]) for k in range(nodes)]


class Caches:
    """Caches of the overlay Cyclon: entries (node, age), or None for an empty place."""

    def __init__(self, nodes: int, degree: int, seed: int, swap: int) -> None:
        self.seed, self.swap = seed, swap
        self.places: list[list[Entry | None]] = [[(x, 0) for x in row] for row in static(nodes, degree, seed)]

    def lists(self) -> list[list[int]]:
        """Return the nodes in each cache."""
        return [[entry[0] for entry in row if entry] for row in self.places]

    def join(self, k: int, introducer: int | None) -> None:
        """Let node k forget its entries and copy those of an introducer."""
        known = [] if introducer is None else [(introducer, 0), *(e for e in self.places[introducer] if e)]
        d = len(self.places[k])
        taken = [entry for entry in known if entry[0] != k][:d]
        self.places[k] = [*taken, *[None] * (d - len(taken))]

    def round(self, i: int, down: Container[int] = ()) -> None:
        """Execute round i, in which every node exchanges entries with its oldest neighbour."""
        draw = Words("grid", "shuffle", self.seed, i)
        for p in range(len(self.places)):
            if p in down:
                continue
            mine = self.places[p] = [entry and (entry[0], entry[1] + 1) for entry in self.places[p]]
            filled = [z for z, entry in enumerate(mine) if entry]
            if not filled:
                continue
            oldest = max(filled, key=lambda z: (mine[z][1], -z))  # type: ignore[index]
            q = mine[oldest][0]  # type: ignore[index]
            if q in down:
                mine[oldest] = None
                continue
            sent = draw.some(self.swap - 1, [z for z in filled if z != oldest])
            message = [(p, 0), *(mine[z] for z in sent)]
            given = draw.some(self.swap, [z for z, entry in enumerate(self.places[q]) if entry])
            reply = [self.places[q][z] for z in given]
            mine[oldest] = None
            self._merge(p, reply, sent)
            self._merge(q, message, given)

    def _merge(self, k: int, entries: Sequence[Entry | None], over: list[int]) -> None:
        row, over = self.places[k], list(over)
        for entry in entries:
            assert entry is not None
            if entry[0] == k or any(held and held[0] == entry[0] for held in row):
                continue
            if None in row:
                row[row.index(None)] = entry
            elif over:
                row[over.pop(0)] = entry


def dgs(
    nodes: int,
    jobs: Sequence[Job],
    *,
    fwd: int,
    degree: int,
    overlay: str,
    messaging: str,
    explore: str,
    seed: int,
    every: int,
    swap: int,
    poll_slots: int,
    poll_phase: str,
    latency: int = 0,
    retries: int = 0,
    mtbf: int = 0,
    mttr: int = 1,
    restarts: int = 0,
    cancel_percent: int = 0,
    cancel_slots: int = 1,
) -> tuple[list[int | None], list[list[int]], dict[str, int]]:
    """Return the starts, nodes and counters of a run of dgs."""
    cyclon = Caches(nodes, degree, seed, swap)
    lists = cyclon.lists()
    runs: list[list[Job]] = [[] for _ in range(nodes)]  # for each node: slot of confirmation, start, end
    polled: list[int] = [-1] * nodes
    starts: list[int | None] = [None] * len(jobs)
    held: list[list[int]] = [[] for _ in jobs]
    names = [*_COUNTERS, "allocated_nodes", "failed_reach", "failed_stale"]
    if mtbf or cancel_percent or retries:
        names += ["outages", "lost_runs", "lost_slots", "moved", "failed_lost", "cancelled", "retries"]
    count = dict.fromkeys(names, 0)
    down: dict[int, int] = {}  # nodes that are down, with the slot in which they failed
    clocks = [Words("grid", "outage", seed, k) for k in range(nodes)]
    introducers = [Words("grid", "join", seed, k) for k in range(nodes)]
    change: dict[int, int] = {}  # slot in which a node fails or returns

    def unit(word: int) -> float:
        return ((word >> 11) + 0.5) / 2**53

    def duration(word: int, mean: int) -> int:
        return max(1, math.ceil(-math.log(unit(word)) * mean))

    for k in range(nodes if mtbf else 0):
        starts_down = unit(clocks[k].next()) < mttr / (mtbf + mttr)
        change[k] = 0 if starts_down else duration(clocks[k].next(), mtbf)
    cancel: dict[int, int] = {}
    for j, job in enumerate(jobs):
        draw = Words("grid", "cancel", seed, at=2 * j)
        if draw.below(100) < cancel_percent:
            cancel[j] = job[0] + duration(draw.next(), cancel_slots)

    def is_free(x: int, start: int, end: int, before: float) -> bool:
        if x in down and down[x] < before:
            return False
        return all(end <= a or b <= start for c, a, b in runs[x] if c < before)

    def search(b: int, r: int, n: int, s: int) -> tuple[int, list[int]] | None:
        found: dict[int, int] = {}  # candidates, with the node in whose list each was found first
        count["searches"] += 1
        count["forwards"] += 1

        fresh = r - latency + 1 if latency else float("inf")

        def at(start: int) -> tuple[int, list[int]] | None:
            free = [
                x
                for x, by in found.items()
                if is_free(x, start, start + s, min(fresh, polled[by] if messaging == "poll" else fresh))
            ]
            return (start, free[:n]) if len(free) >= n else None

        def add(m: int, counter: str) -> tuple[int, list[int]] | None:
            count[counter] += len(lists[m])
            for x in lists[m]:
                found.setdefault(x, m)
            return at(r)

        offer = add(b, "first")
        queried: list[int] = []
        while offer is None:
            rest = [m for m in lists[b] if m not in queried]
            if not rest and explore == "further" and len(found) < n:
                rest = [m for m in found if m not in queried]
            if not rest:
                break
            queried.append(rest[0])
            if rest[0] in down:
                continue
            count["queries"] += 1
            offer = add(rest[0], "second")
        start = r
        most = max([r, *(end for row in runs for _, _, end in row)])
        while offer is None and len(found) >= n and start < most:
            start += 1
            offer = at(start)
        return offer

    def push(x: int) -> None:
        count["push"] += sum(x in row for row in lists)

    def free(j: int, now: int, failed: int = -1) -> bool:
        """Release the run of a job; return whether it has started."""
        start = starts[j]
        assert start is not None
        for x in held[j]:
            runs[x] = [run for run in runs[x] if run[1] != start]
            if x != failed:
                push(x)
        starts[j], held[j] = None, []
        return start < now

    due: dict[int, int] = {j: job[0] for j, job in enumerate(jobs)}  # slot of the next search
    lost, again = [0] * len(jobs), [0] * len(jobs)
    slot = -1
    while due or any(starts[j] is not None and starts[j] + job[2] > slot + 1 for j, job in enumerate(jobs)):
        slot += 1
        for k in sorted(change, key=lambda k: (k not in down, k)):
            if change[k] != slot:
                continue
            if k in down:
                word = introducers[k].next()
                others = [x for x in range(nodes) if x not in down]
                del down[k]
                change[k] = slot + duration(clocks[k].next(), mtbf)
                if overlay == "cyclon":
                    cyclon.join(k, others[word * len(others) >> 64] if others else None)
                    lists = cyclon.lists()
                push(k)
            else:
                count["outages"] += 1
                for j, job in enumerate(jobs):
                    if k in held[j] and starts[j] + job[2] > slot:  # type: ignore[operator]
                        before, width = starts[j], len(held[j])
                        due[j] = slot
                        if not free(j, slot, k):
                            count["moved"] += 1
                            continue
                        count["lost_runs"] += 1
                        count["lost_slots"] += width * (slot - before)  # type: ignore[operator]
                        lost[j] += 1
                        if lost[j] > restarts:
                            count["failed_lost"] += 1
                            del due[j]
                down[k] = slot
                change[k] = slot + duration(clocks[k].next(), mttr)
        for j in [j for j in cancel if cancel[j] == slot]:
            runs_still = starts[j] is not None and starts[j] + jobs[j][2] > slot  # type: ignore[operator]
            if runs_still:
                free(j, slot)
            if runs_still or j in due:
                count["cancelled"] += 1
                due.pop(j, None)
        if overlay == "cyclon" and slot and slot % every == 0:
            cyclon.round(slot // every, down)
            lists = cyclon.lists()
        for k in range(nodes):
            if slot % poll_slots == (k % poll_slots if poll_phase == "own" else 0):
                polled[k] = slot
                count["poll"] += len(lists[k]) if slot <= jobs[-1][0] and k not in down else 0
        for j in sorted(j for j in due if due[j] == slot):
            del due[j]
            r, (_, n, s) = slot, jobs[j]
            draw = Words("grid", "job", seed, at=64 * j)
            entry = draw.below(nodes)
            entry = next((k % nodes for k in range(entry, entry + nodes) if k % nodes not in down), entry)
            offers = [search(b, r, n, s) for b in draw.some(fwd, [k for k in lists[entry] if k not in down])]
            made = sorted((offer[0], i, offer[1]) for i, offer in enumerate(offers) if offer)
            count["answers"] += len(made)
            for start, _, taken in made:
                if all(is_free(x, start, start + s, float("inf")) for x in taken):
                    starts[j], held[j] = start, sorted(taken)
                    count["allocated_nodes"] += n
                    for x in taken:
                        runs[x].append((slot, start, start + s))
                        push(x)
                    break
                count["refusals"] += 1
            else:
                if made and again[j] < retries:
                    again[j] += 1
                    count["retries"] += 1
                    due[j] = slot + max(1, latency, poll_slots if messaging == "poll" else 1)
                else:
                    count["failed_stale" if made else "failed_reach"] += 1
    count["pull"] = count["first"] + count["second"]
    return starts, held, count


def with_a_centre(nodes: int, jobs: Sequence[Job], policy: str, rule: str = "length") -> list[int]:
    """Return the starts of a scheduler that counts free nodes."""
    starts: dict[int, int] = {}
    keys: dict[str, Callable[[int], Any]] = {
        "length": lambda j: (jobs[j][2], j),
        "width": lambda j: (jobs[j][1], j),
        "area": lambda j: (jobs[j][1] * jobs[j][2], j),
        "file": lambda j: j,
    }

    def used(slot: int) -> int:
        return sum(jobs[j][1] for j, start in starts.items() if start <= slot < start + jobs[j][2])

    def earliest(j: int, slot: int) -> int:
        while any(used(t) + jobs[j][1] > nodes for t in range(slot, slot + jobs[j][2])):
            slot += 1
        return slot

    if policy == "asap_counted":
        for j, job in enumerate(jobs):
            starts[j] = earliest(j, job[0])
    slot = 0
    while len(starts) < len(jobs):
        waiting = [j for j, job in enumerate(jobs) if job[0] <= slot and j not in starts]
        is_event = any(jobs[j][0] == slot for j in waiting) or slot in {s + jobs[j][2] for j, s in starts.items()}
        for j in sorted(waiting, key=keys[rule if policy == "queue" else "file"]) if is_event else ():
            if used(slot) + jobs[j][1] > nodes:
                if policy == "fcfs":
                    break
                continue
            first = min((i for i in waiting if i not in starts), default=j)
            promised = earliest(first, slot)
            starts[j] = slot
            if policy == "easy" and first != j and earliest(first, slot) > promised:
                del starts[j]
        slot += 1
    return [starts[j] for j in range(len(jobs))]
