"""Runs of the paper's heuristics in machine code: the arrays, and the calls of the kernels."""

from __future__ import annotations

import weakref

import numpy as np

from hindsched.instances.array_types import Bytes, Ints, Words
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import NOT_ENROLLED, Configuration, Schedule
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import StateSource
from hindsched.online.coupled import estimates as plain
from hindsched.online.coupled.kernels import arguments, simulation_kernels
from hindsched.online.coupled.kernels.application import application_of
from hindsched.online.coupled.kernels.bit_sets import num_words
from hindsched.online.coupled.kernels.estimate_tables import EstimateTables, estimate_tables_of, no_tables, no_tree
from hindsched.online.coupled.kernels.state_bits import fill_masks

__all__ = ["run_kernel"]

_BLOCK = 512


def run_kernel(
    instance: Instance, heuristic: arguments.Heuristic, *, seed: int, limit: int, schedule_slots: int
) -> tuple[int, int, Schedule]:
    """Run a built-in heuristic; return slots simulated, iterations completed and the schedule of the first slots.

    Parameters
    ----------
    instance
        With chains unless the heuristic is RANDOM.
    heuristic
        The heuristic.
    seed
        Seed of RANDOM.
    limit
        Largest number of slots to simulate.
    schedule_slots
        Largest number of slots to record.
    """
    p = instance.num_workers
    application = application_of(instance)
    known: EstimateTables | None = None
    if heuristic.switch != arguments.RANDOM:
        known = estimate_tables_of(plain.complete(instance.chains))
    longest = instance.t_prog + max(instance.capacities) * instance.t_data
    context = arguments.BuildContext(
        application,
        heuristic,
        no_tables() if known is None else known.tables(heuristic.estimator, longest),
        no_tree() if known is None else known.tree(instance.w, heuristic.estimator, instance.tasks),
        _trace(p, instance.tasks),
    )
    masks = _masks_of(instance.source)
    numbers = _Numbers(seed, instance.tasks)
    run_state = _run_state(p)
    nothing_received = _run_state(p)
    recorder = _Recorder(p, schedule_slots)
    while True:
        done = int(run_state.at[arguments.SLOT])
        states = masks.first(min(limit, 2 * done + _BLOCK))
        until = min(limit, len(states.up))
        code = simulation_kernels.run(
            context, states, run_state, nothing_received, recorder.room(until), numbers.words, until
        )
        done, iterations = (int(run_state.at[place]) for place in (arguments.SLOT, arguments.ITERATION))
        if code == simulation_kernels.DONE and (done == limit or iterations == instance.iterations):
            return done, iterations, recorder.schedule(instance.fingerprint, done, int(run_state.at[arguments.ENTRIES]))
        if code == simulation_kernels.MORE_SETS and known is not None:
            known.grow()
            context = context._replace(tables=known.tables(heuristic.estimator, longest))
        elif code == simulation_kernels.MORE_ENTRIES:
            recorder.grow()
        elif code == simulation_kernels.MORE_RANDOM:
            numbers.grow(int(run_state.at[arguments.RANDOM_USED]))
            run_state.at[arguments.RANDOM_USED] = 0


def _run_state(p: int) -> arguments.RunState:
    def ints(size: int = p) -> Ints:
        return np.zeros(size, dtype=np.int64)

    return arguments.RunState(
        at=ints(arguments.NUM_HOLDERS + 1),
        tasks=ints(),
        program=ints(),
        data=ints(),
        need=ints(),
        holders=ints(),
        members=_empty_set(p),
        lacking=_empty_set(p),
        received=_empty_set(p),
        waiting=ints(),
        key=np.zeros(2, dtype=np.uint64),
        kept=np.zeros(1),
    )


def _empty_set(p: int) -> Words:
    return np.zeros(num_words(p), dtype=np.uint64)


def _trace(p: int, tasks: int) -> arguments.BuildTrace:
    def ints(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    return arguments.BuildTrace(
        worker=ints(tasks),
        clear=np.zeros(tasks),
        lowest=np.zeros(tasks + 1),
        node=ints(tasks + 1),
        num_holders=ints(tasks + 1),
        holders=ints(p),
        built=ints(p),
        guaranteed=ints(1),
        chosen=_empty_set(p),
        close=_empty_set(p),
        known_up=_empty_set(p),
        enrolled=_empty_set(p),
        workers=ints(p),
    )


class _Masks:
    """The states of one source that are drawn so far, as sets of workers."""

    def __init__(self, source: StateSource) -> None:
        self._source = weakref.ref(source)
        self._up: Words = np.empty((0, num_words(source.shape[0])), dtype=np.uint64)
        self._down = self._up

    def first(self, slots: int) -> arguments.States:
        """Return the sets of at least the first ``slots`` slots."""
        known = len(self._up)
        source = self._source()
        if slots > known and source is not None:
            states = source.prefix(max(slots, min(2 * known, source.shape[1])))
            self._up, self._down = (_longer(masks, states.shape[1]) for masks in (self._up, self._down))
            fill_masks(states, known, self._up, self._down)
        return arguments.States(self._up, self._down)


_masks: weakref.WeakKeyDictionary[StateSource, _Masks] = weakref.WeakKeyDictionary()


def _masks_of(source: StateSource) -> _Masks:
    found = _masks.get(source)
    if found is None:
        found = _masks[source] = _Masks(source)
    return found


def _longer(masks: Words, slots: int) -> Words:
    more = np.empty((slots, masks.shape[1]), dtype=np.uint64)
    more[: len(masks)] = masks
    return more


class _Numbers:
    """The 32-bit words that RANDOM draws from."""

    def __init__(self, seed: int, tasks: int) -> None:
        self._generator = stream("coupled", "policy", "RANDOM", seed)
        self._block = 1024 + 2 * tasks
        self.words: Words = np.empty(0, dtype=np.uint64)

    def grow(self, used: int) -> None:
        """Drop the words that are used, and draw more."""
        more = self._generator.integers(0, 2**32, size=self._block, dtype=np.uint32)
        self.words = np.concatenate((self.words[used:], more.astype(np.uint64)))
        self._block = min(2 * self._block, 1 << 20)


class _Recorder:
    """The schedule of the first slots, as the kernel writes it."""

    def __init__(self, p: int, slots: int) -> None:
        self._slots = slots
        self._letters: Bytes = np.empty((p, 0), dtype=np.uint8)
        self._entries: Ints = np.empty(16 * p + 64, dtype=np.int64)

    def room(self, until: int) -> arguments.Record:
        """Return the record with room for the letters of slots before ``until``, as far as these are recorded."""
        p, known = self._letters.shape
        wanted = min(until, self._slots)
        if wanted > known:
            more = np.full((p, wanted), ord(NOT_ENROLLED), dtype=np.uint8)
            more[:, :known] = self._letters
            self._letters = more
        return arguments.Record(self._letters, self._entries)

    def grow(self) -> None:
        """Double the room for entries."""
        self._entries = np.concatenate((self._entries, np.empty_like(self._entries)))

    def schedule(self, fingerprint: str, done: int, end: int) -> Schedule:
        """Return the schedule; ``end`` is where the entries end."""
        letters = self._letters[:, :done]
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
