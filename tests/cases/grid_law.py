"""Plain implementations of the schedulers of grid, slot by slot, from docs/grid/model.md alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
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

    def round(self, i: int) -> None:
        """Execute round i, in which every node exchanges entries with its oldest neighbour."""
        draw = Words("grid", "shuffle", self.seed, i)
        for p in range(len(self.places)):
            mine = self.places[p] = [entry and (entry[0], entry[1] + 1) for entry in self.places[p]]
            filled = [z for z, entry in enumerate(mine) if entry]
            if not filled:
                continue
            oldest = max(filled, key=lambda z: (mine[z][1], -z))  # type: ignore[index]
            q = mine[oldest][0]  # type: ignore[index]
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
) -> tuple[list[int | None], list[list[int]], dict[str, int]]:
    """Return the starts, nodes and counters of a run of dgs."""
    cyclon = Caches(nodes, degree, seed, swap)
    lists = cyclon.lists()
    runs: list[list[Job]] = [[] for _ in range(nodes)]  # for each node: slot of confirmation, start, end
    polled: list[int] = [-1] * nodes
    starts: list[int | None] = [None] * len(jobs)
    held: list[list[int]] = [[] for _ in jobs]
    count = dict.fromkeys([*_COUNTERS, "allocated_nodes", "failed_reach", "failed_stale"], 0)

    def is_free(x: int, start: int, end: int, before: float) -> bool:
        return all(end <= a or b <= start for c, a, b in runs[x] if c < before)

    def search(b: int, r: int, n: int, s: int) -> tuple[int, list[int]] | None:
        found: dict[int, int] = {}  # candidates, with the node in whose list each was found first
        count["searches"] += 1
        count["forwards"] += 1

        def at(start: int) -> tuple[int, list[int]] | None:
            free = [
                x
                for x, by in found.items()
                if is_free(x, start, start + s, polled[by] if messaging == "poll" else float("inf"))
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
            count["queries"] += 1
            offer = add(rest[0], "second")
        start = r
        while offer is None and len(found) >= n:
            start += 1
            offer = at(start)
        return offer

    coming = 0
    for slot in range(jobs[-1][0] + 1 if jobs else 0):
        if overlay == "cyclon" and slot and slot % every == 0:
            cyclon.round(slot // every)
            lists = cyclon.lists()
        for k in range(nodes):
            if slot % poll_slots == (k % poll_slots if poll_phase == "own" else 0):
                polled[k] = slot
                count["poll"] += len(lists[k])
        while coming < len(jobs) and jobs[coming][0] == slot:
            j, (r, n, s) = coming, jobs[coming]
            coming += 1
            draw = Words("grid", "job", seed, at=64 * j)
            entry = draw.below(nodes)
            offers = [search(b, r, n, s) for b in draw.some(fwd, lists[entry])]
            made = sorted((offer[0], i, offer[1]) for i, offer in enumerate(offers) if offer)
            count["answers"] += len(made)
            for start, _, taken in made:
                if all(is_free(x, start, start + s, float("inf")) for x in taken):
                    starts[j], held[j] = start, sorted(taken)
                    count["allocated_nodes"] += n
                    for x in taken:
                        runs[x].append((slot, start, start + s))
                        count["push"] += sum(x in row for row in lists)
                    break
                count["refusals"] += 1
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
