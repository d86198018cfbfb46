"""A run in machine code: what is remembered between runs, and what grows during one."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from instances.chains import Chain
from instances.coupled.model import Instance
from instances.coupled.schedule import NOT_ENROLLED, Configuration, Schedule
from instances.sources import StateSource
from instances.streams import stream
from online.coupled import estimates as plain
from online.coupled.kernels import layout, slots
from online.coupled.kernels.compiling import Bytes, Ints, Reals, Words
from online.coupled.kernels.growing import grow_sets
from online.coupled.kernels.masks import fill_masks
from online.coupled.sums import modes

__all__ = ["MOST_WORKERS", "run_kernel"]

#: A set of workers is a word.
MOST_WORKERS = 64

_BLOCK = 512
#: Half of it is free when a slot begins, for the at most 64 * 64 sets that one choice looks at.
_FIRST_SETS = 1 << 14
_ROWS = 1 << 14
_NODES = 1 << 13
_MOST_ALONE = 1 << 12


def run_kernel(
    instance: Instance, choice: layout.Choice, *, seed: int, limit: int, schedule_slots: int
) -> tuple[int, int, Schedule]:
    """Run a built-in heuristic; return slots simulated, iterations completed and the schedule of the first slots.

    Parameters
    ----------
    instance
        With at most `MOST_WORKERS` workers, and chains unless the choice is RANDOM.
    choice
        The heuristic.
    seed
        Of RANDOM.
    limit
        Slots to simulate at most.
    schedule_slots
        Slots to record at most.
    """
    p = instance.num_workers
    application = layout.Application(
        instance.tasks,
        instance.iterations,
        p + 1 if instance.n_com is None else instance.n_com,
        instance.channels,
        instance.t_prog,
        instance.t_data,
        np.array(instance.w, dtype=np.int64),
        np.array(instance.capacities, dtype=np.int64),
    )
    memory: _Memory | None = None
    if choice.switch != layout.RANDOM:
        memory = _memory(plain.complete(instance.chains))
    longest = instance.t_prog + max(instance.capacities) * instance.t_data
    tables = _no_tables() if memory is None else memory.tables(choice.is_printed, longest)
    plans = _no_plans() if memory is None else memory.plans(instance.w, choice.is_printed, instance.tasks)
    trace = _trace(p, instance.tasks)
    masks = _masks_of(instance.source)
    numbers = _Numbers(seed, instance.tasks)
    standing = layout.Standing(*(np.zeros(n, dtype=np.int64) for n in (layout.NUMBERS + 1, p, p, p, p, p)))
    recorder = _Recorder(p, schedule_slots)
    while True:
        done = int(standing.at[layout.SLOT])
        states = masks.first(min(limit, 2 * done + _BLOCK))
        until = min(limit, states.up.size)
        code = slots.run(
            application, choice, tables, plans, trace, states, standing, recorder.room(until), numbers.words, until
        )
        done, iterations = (int(standing.at[place]) for place in (layout.SLOT, layout.ITERATION))
        if code == slots.DONE and (done == limit or iterations == instance.iterations):
            return done, iterations, recorder.schedule(instance.fingerprint, done, int(standing.at[layout.ENTRIES]))
        if code == slots.MORE_SETS and memory is not None:
            memory.grow()
            tables = memory.tables(choice.is_printed, longest)
        elif code == slots.MORE_ENTRIES:
            recorder.grow()
        elif code == slots.MORE_NUMBERS:
            numbers.grow(int(standing.at[layout.NUMBERS]))
            standing.at[layout.NUMBERS] = 0


class _Memory:
    """What the estimates of one set of chains remember, for all runs with these chains."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        of_worker = [modes(chain) for chain in chains]
        order = sorted(range(len(chains)), key=lambda q: of_worker[q])
        self._modes = np.array([of_worker[q] for q in order])
        self._order = np.array(order, dtype=np.int64)
        self._single = np.array([plain.estimate_set([each]) for each in of_worker])
        self._matrices = np.array([plain.up_or_reclaimed(chain) for chain in chains])
        self._sets = np.zeros((_FIRST_SETS, 4))
        self._count = np.zeros(1, dtype=np.int64)
        self._not_down_slots = np.full(_ROWS, -1.0)
        self._not_down = np.empty((_ROWS, len(chains)))
        self._stays = np.empty((_ROWS, len(chains)))
        self._plans: dict[tuple[tuple[int, ...], bool], layout.Plans] = {}
        self._alone: dict[bool, Reals] = {}

    def tables(self, is_printed: bool, longest: int) -> layout.Tables:
        """Return the tables for one estimator, with transfers of up to ``longest`` slots."""
        alone = self._alone.get(is_printed)
        columns = min(longest, _MOST_ALONE) + 1
        if alone is None or alone.shape[1] < columns:
            alone = self._alone[is_printed] = np.full((len(self._order), columns), np.nan)
        return layout.Tables(
            self._modes,
            self._order,
            self._single,
            self._matrices,
            self._sets,
            self._sets.view(np.uint64),
            self._count,
            self._not_down_slots,
            self._not_down,
            self._stays,
            alone,
        )

    def plans(self, w: tuple[int, ...], is_printed: bool, tasks: int) -> layout.Plans:
        """Return the tree of partial configurations for workers of these speeds."""
        found = self._plans.get((w, is_printed))
        nodes = max(_NODES, 2 * tasks + 2)
        if found is None or len(found.work) < nodes:
            if len(self._plans) >= 2:
                self._plans.clear()
            found = self._plans[w, is_printed] = _plans(len(w), nodes)
        return found

    def grow(self) -> None:
        """Make room for more sets."""
        more = np.zeros((4 * len(self._sets), 4))
        grow_sets(self._sets.view(np.uint64), more.view(np.uint64))
        self._sets = more


@lru_cache(maxsize=4)
def _memory(chains: tuple[Chain, ...]) -> _Memory:
    return _Memory(chains)


@lru_cache(maxsize=1)
def _no_tables() -> layout.Tables:
    return _Memory([Chain(((1.0, 0.0, 0.0),) * 3)]).tables(True, 0)


@lru_cache(maxsize=1)
def _no_plans() -> layout.Plans:
    return _plans(1, 1)


def _plans(p: int, nodes: int) -> layout.Plans:
    return layout.Plans(
        np.zeros(1, dtype=np.int64),
        np.empty((nodes, p), dtype=np.int64),
        np.empty((nodes, p)),
        np.empty((nodes, p)),
        np.empty(nodes, dtype=np.uint64),
        np.empty(nodes, dtype=np.int64),
    )


def _trace(p: int, tasks: int) -> layout.Trace:
    def ints(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    return layout.Trace(
        worker=ints(tasks),
        clear=np.zeros(tasks),
        lowest=np.zeros(tasks + 1),
        node=ints(tasks + 1),
        num_holders=ints(tasks + 1),
        holders=ints(p),
        built=ints(p),
        firm=ints(1),
        close=np.zeros(1, dtype=np.uint64),
        workers=ints(p),
        before=ints(p),
        need=ints(p),
        alone=np.zeros(p),
        low=np.zeros(p),
    )


class _Masks:
    """The states of one source as bit masks, as far as somebody looked."""

    def __init__(self, source: StateSource) -> None:
        self._source = weakref.ref(source)
        self._up: Words = np.empty(0, dtype=np.uint64)
        self._down: Words = np.empty(0, dtype=np.uint64)

    def first(self, slots: int) -> layout.States:
        """Return the masks of at least the first ``slots`` slots."""
        known = self._up.size
        source = self._source()
        if slots > known and source is not None:
            states = source.prefix(max(slots, min(2 * known, source.shape[1])))
            self._up, self._down = (_longer(masks, states.shape[1]) for masks in (self._up, self._down))
            fill_masks(states, known, self._up, self._down)
        return layout.States(self._up, self._down)


_masks: weakref.WeakKeyDictionary[StateSource, _Masks] = weakref.WeakKeyDictionary()


def _masks_of(source: StateSource) -> _Masks:
    found = _masks.get(source)
    if found is None:
        found = _masks[source] = _Masks(source)
    return found


def _longer(masks: Words, slots: int) -> Words:
    more = np.empty(slots, dtype=np.uint64)
    more[: masks.size] = masks
    return more


class _Numbers:
    """The 32-bit words that RANDOM draws from."""

    def __init__(self, seed: int, tasks: int) -> None:
        self._generator = stream("coupled", "policy", "RANDOM", seed)
        self._block = 1024 + 2 * tasks
        self.words: Words = np.empty(0, dtype=np.uint64)

    def grow(self, used: int) -> None:
        """Throw away what was used, and draw more."""
        more = self._generator.integers(0, 2**32, size=self._block, dtype=np.uint32)
        self.words = np.concatenate((self.words[used:], more.astype(np.uint64)))
        self._block = min(2 * self._block, 1 << 20)


class _Recorder:
    """The schedule of the first slots as the kernel writes it."""

    def __init__(self, p: int, slots: int) -> None:
        self._slots = slots
        self._letters: Bytes = np.empty((0, p), dtype=np.uint8)
        self._entries: Ints = np.empty(16 * p + 64, dtype=np.int64)

    def room(self, until: int) -> layout.Record:
        """Return the record with room for the letters of slots before ``until``, as far as they are wanted."""
        known, p = self._letters.shape
        wanted = min(until, self._slots)
        if wanted > known:
            more = np.full((wanted, p), ord(NOT_ENROLLED), dtype=np.uint8)
            more[:known] = self._letters
            self._letters = more
        return layout.Record(self._letters, self._entries)

    def grow(self) -> None:
        """Make room for more entries."""
        self._entries = np.concatenate((self._entries, np.empty_like(self._entries)))

    def schedule(self, fingerprint: str, done: int, end: int) -> Schedule:
        """Return the schedule; ``end`` is where the entries end."""
        letters = np.ascontiguousarray(self._letters[:done].T)
        entries = []
        flat = self._entries[:end].tolist()
        i = 0
        while i < end:
            last = i + 2 + 2 * flat[i + 1]
            entries.append(
                Configuration(flat[i], dict(zip(flat[i + 2 : last : 2], flat[i + 3 : last : 2], strict=True)))
            )
            i = last
        return Schedule(fingerprint, tuple(row.tobytes().decode("ascii") for row in letters), tuple(entries))
