"""Centralised schedulers for comparison (docs/grid/model.md section 3.6).

Two promise a start at submission, three decide when nodes become free. All but `asap_pinned` count nodes only; `place`
chooses the nodes afterwards. The module is written to be read; `hindsched.online.grid.kernels` has compiled twins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from hindsched.instances.grid import Instance
from hindsched.online.grid.options import AsapCounted, AsapPinned, Easy, Fcfs, Queue
from hindsched.online.grid.runs import Run

__all__ = ["place", "simulate_asap_counted", "simulate_asap_pinned", "simulate_easy", "simulate_fcfs", "simulate_queue"]


def simulate_asap_pinned(instance: Instance) -> Run:
    """Give each job the least start at which enough nodes are free for it, and the lowest of these nodes.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 3])
    >>> simulate_asap_pinned(trio).starts.tolist()
    [0, 3, 0]
    """
    runs: list[list[tuple[int, int]]] = [[] for _ in range(instance.nodes)]
    starts, nodes = [], []
    for submit, width, length in instance.rows():
        for start in sorted({submit, *(end for row in runs for _, end in row if end > submit)}):
            free = [
                k for k, row in enumerate(runs) if all(end <= start or start + length <= begin for begin, end in row)
            ]
            if len(free) >= width:
                break
        starts.append(start)
        nodes.append(free[:width])
        for k in free[:width]:
            runs[k].append((start, start + length))
    return Run.of(AsapPinned().name, instance, starts, nodes)


def simulate_asap_counted(instance: Instance) -> Run:
    """Give each job the least start at which it fits after placing the earlier jobs, by the number of nodes.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 3])
    >>> simulate_asap_counted(trio).starts.tolist()
    [0, 3, 0]
    """
    promised: list[tuple[int, int, int]] = []  # start, end, width

    def used(slot: int) -> int:
        return sum(width for start, end, width in promised if start <= slot < end)

    starts: list[int] = []
    for submit, width, length in instance.rows():
        promised = [run for run in promised if run[1] > submit]
        for start in sorted({submit, *(end for _, end, _ in promised)}):
            rises = [begin for begin, _, _ in promised if start < begin < start + length]
            if all(used(slot) + width <= instance.nodes for slot in (start, *rises)):
                break
        starts.append(start)
        promised.append((start, start + length, width))
    return _placed(AsapCounted().name, instance, starts)


def simulate_queue(instance: Instance, rule: str) -> Run:
    """Start the jobs that fit, in one pass through the waiting jobs, in each slot in which a job ends or arrives.

    Examples
    --------
    >>> trio = Instance(nodes=1, slot_s=60, submit=[0, 1, 2], width=[1, 1, 1], length=[3, 5, 1])
    >>> simulate_queue(trio, "length").starts.tolist()
    [0, 4, 3]
    """
    rows = list(instance.rows())
    keys = {
        "length": lambda j: (rows[j][2], j),
        "area": lambda j: (rows[j][1] * rows[j][2], j),
        "width": lambda j: (rows[j][1], j),
        "file": lambda j: (0, j),
    }

    def choose(waiting: list[int], free: int, running: list[tuple[int, int]], now: int) -> list[int]:
        chosen = []
        for j in sorted(waiting, key=keys[rule]):
            if rows[j][1] <= free:
                free -= rows[j][1]
                chosen.append(j)
        return chosen

    return _placed(Queue().name, instance, _by_events(instance, choose))


def simulate_fcfs(instance: Instance) -> Run:
    """Start the first job of the queue as soon as it fits; no job overtakes.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 1])
    >>> simulate_fcfs(trio).starts.tolist()
    [0, 3, 4]
    """
    rows = list(instance.rows())

    def choose(waiting: list[int], free: int, running: list[tuple[int, int]], now: int) -> list[int]:
        chosen = []
        for j in waiting:
            if rows[j][1] > free:
                break
            free -= rows[j][1]
            chosen.append(j)
        return chosen

    return _placed(Fcfs().name, instance, _by_events(instance, choose))


def simulate_easy(instance: Instance) -> Run:
    """Start the first job of the queue as soon as it fits; another may overtake if that does not delay the first.

    The first job that does not fit has a reservation: the slot in which it will fit, by the ends of running jobs. A
    later job starts now if it ends by then, or leaves enough nodes for the first job then.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 3])
    >>> simulate_easy(trio).starts.tolist()
    [0, 3, 0]
    """
    rows = list(instance.rows())

    def choose(waiting: list[int], free: int, running: list[tuple[int, int]], now: int) -> list[int]:
        chosen: list[int] = []
        queue = list(waiting)
        while queue and rows[queue[0]][1] <= free:
            free -= rows[queue[0]][1]
            chosen.append(queue.pop(0))
        if not queue:
            return chosen
        busy = sorted([*running, *((now + rows[j][2], j) for j in chosen)])
        then = free  # nodes that are free at the reservation if no further job starts
        for reserved, _ in busy:
            then = free + sum(rows[j][1] for end, j in busy if end <= reserved)
            if then >= rows[queue[0]][1]:
                break
        spare = then - rows[queue[0]][1]
        for j in queue[1:]:
            _, width, length = rows[j]
            is_over = now + length <= reserved
            if width <= free and (is_over or width <= spare):
                free -= width
                spare -= 0 if is_over else width
                chosen.append(j)
        return chosen

    return _placed(Easy().name, instance, _by_events(instance, choose))


def place(instance: Instance, starts: Sequence[int]) -> list[list[int]]:
    """Return nodes for starts that are feasible by count: jobs by (start, index), each on the lowest free nodes.

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 0, 0], width=[1, 1, 2], length=[2, 1, 3])
    >>> place(trio, [0, 0, 1])
    [[0], [1], [1, 2]]
    """
    rows = list(instance.rows())
    free = set(range(instance.nodes))
    ends: list[tuple[int, int]] = []
    nodes: list[list[int]] = [[] for _ in rows]
    for j in sorted(range(len(rows)), key=lambda j: (starts[j], j)):
        while ends and ends[0][0] <= starts[j]:
            free.update(nodes[heappop(ends)[1]])
        nodes[j] = sorted(free)[: rows[j][1]]
        free.difference_update(nodes[j])
        heappush(ends, (starts[j] + rows[j][2], j))
    return nodes


def _placed(name: str, instance: Instance, starts: Sequence[int]) -> Run:
    return Run.of(name, instance, starts, place(instance, starts))


def _by_events(
    instance: Instance, choose: Callable[[list[int], int, list[tuple[int, int]], int], list[int]]
) -> list[int]:
    """Return the starts by a rule that chooses in each slot in which a job ends or arrives.

    The rule receives the waiting jobs by index, the number of free nodes, the running jobs as (end, job), and the slot,
    after ended jobs have left and submitted jobs have joined.
    """
    rows = list(instance.rows())
    starts = [0] * len(rows)
    free = instance.nodes
    running: list[tuple[int, int]] = []
    waiting: list[int] = []
    coming = 0
    while coming < len(rows) or waiting:
        times = [running[0][0]] if running else []
        now = min([*times, rows[coming][0]] if coming < len(rows) else times)
        while running and running[0][0] <= now:
            free += rows[heappop(running)[1]][1]
        while coming < len(rows) and rows[coming][0] <= now:
            waiting.append(coming)
            coming += 1
        for j in choose(waiting, free, list(running), now):
            waiting.remove(j)
            starts[j] = now
            free -= rows[j][1]
            heappush(running, (now + rows[j][2], j))
    return starts
