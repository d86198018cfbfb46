"""The instance type of OFF-LINE-COUPLED: workers with states, an application, a master with bounded bandwidth."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

from hindsched.instances import states as st
from hindsched.instances.base_instance import BaseInstance, as_integer
from hindsched.instances.errors import InputError
from hindsched.instances.state_sources import DrawnStates, KnownStates, StateSource
from hindsched.instances.text_files import excerpt

if TYPE_CHECKING:
    from hindsched.instances.chains import Chain

__all__ = ["MOST", "Instance"]

#: The largest number in an instance: a product of two still fits 64 bits.
MOST = 2**31 - 1


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """A tightly-coupled application on p volatile workers with known states (docs/model.md section 1).

    An instance is immutable and is validated when it is made. Equality, hash and `fingerprint` follow the content.

    Parameters
    ----------
    tasks
        m, tasks per iteration.
    iterations
        K, iterations to complete (the makespan objective).
    n_com
        Largest number of workers that the master can send to in one slot; None: unbounded.
    t_prog
        Slots to receive the program.
    t_data
        Slots to receive the data of one task.
    w
        p integers: UP slots that worker q needs to compute one task.
    mu
        p integers or None: largest number of tasks that worker q may hold; None: unbounded.
    states
        The (p, N) states array (see `instances.states`), or a source of states (see `instances.state_sources`). N is
        the number of known slots and the deadline.
    chains
        p Markov chains or None; empty if there are none. Heuristics need them, optima do not.
    names
        Names of the workers in pictures; empty: their numbers. Names are not part of the content, so instances that
        differ only in names are equal.
    past
        States before slot 0, shape (p, H), which on-line policies see from the start; None: none are known.

    Raises
    ------
    InputError
        If a value is invalid. The message names the worker and the field.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuu", "uru"], w=[1, 1], tasks=2)
    >>> pair.num_workers, pair.slots, pair.capacities
    (2, 3, (2, 2))
    """

    family: ClassVar[str] = "coupled"
    _argument_names: ClassVar[Mapping[str, str]] = {"source": "states"}

    tasks: int
    iterations: int
    n_com: int | None
    t_prog: int
    t_data: int
    w: tuple[int, ...]
    mu: tuple[int | None, ...]
    source: StateSource = field(repr=False)
    chains: tuple[Chain | None, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    past: KnownStates | None = field(repr=False)

    def __init__(
        self,
        tasks: int,
        iterations: int,
        n_com: int | None,
        t_prog: int,
        t_data: int,
        w: Sequence[int],
        mu: Sequence[int | None],
        states: st.States | StateSource,
        chains: Sequence[Chain | None] = (),
        names: Sequence[str] = (),
        past: st.States | KnownStates | None = None,
    ) -> None:
        p = len(w)
        if p == 0:
            raise InputError("no worker, expected at least one", place="workers")
        for name, values in (("mu", mu), ("markov", chains or (None,) * p), ("names", names or ("",) * p)):
            if len(values) != p:
                raise InputError(f"{len(values)} values, expected one per worker, {p}", place=name)
        source = states if isinstance(states, KnownStates | DrawnStates) else KnownStates(cast(st.States, states))
        if source.shape[0] != p:
            raise InputError(f"{source.shape[0]} rows, expected one per worker, {p}", place="states")
        before = past if past is None or isinstance(past, KnownStates) else KnownStates(past)
        if before is not None and before.shape[0] != p:
            raise InputError(f"{before.shape[0]} rows, expected one per worker, {p}", place="past")
        checked = {
            "tasks": as_integer(tasks, 1, MOST, "tasks"),
            "iterations": as_integer(iterations, 1, MOST, "iterations"),
            "n_com": None if n_com is None else as_integer(n_com, 1, MOST, "n_com"),
            "t_prog": as_integer(t_prog, 0, MOST, "t_prog"),
            "t_data": as_integer(t_data, 0, MOST, "t_data"),
            "w": tuple(as_integer(value, 1, MOST, f"workers[{q}].w") for q, value in enumerate(w)),
            "mu": tuple(
                None if value is None else as_integer(value, 0, MOST, f"workers[{q}].mu") for q, value in enumerate(mu)
            ),
            "source": source,
            "chains": tuple(chains) or (None,) * p,
            "names": tuple(names),
            "past": before,
        }
        for q, called in enumerate(names):
            if not (isinstance(called, str) and called and called.isprintable()):
                raise InputError(f"{excerpt(str(called))}, expected one line of text", place=f"workers[{q}].name")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if sum(self.capacities) < self.tasks:
            raise InputError(
                f"{self.tasks} tasks, expected at most {sum(self.capacities)}, the sum of the workers' mu",
                place="tasks",
            )

    @classmethod
    def from_letters(
        cls,
        states: Sequence[str],
        *,
        w: Sequence[int],
        tasks: int,
        iterations: int = 1,
        n_com: int | None = None,
        t_prog: int = 0,
        t_data: int = 0,
        mu: Sequence[int | None] | None = None,
        chains: Sequence[Chain | None] = (),
    ) -> Instance:
        """Return an instance from one string of states per worker; by default nothing is bounded or sent."""
        return cls(
            tasks=tasks,
            iterations=iterations,
            n_com=n_com,
            t_prog=t_prog,
            t_data=t_data,
            w=tuple(w),
            mu=(None,) * len(w) if mu is None else tuple(mu),
            states=st.from_letters(states),
            chains=tuple(chains),
        )

    @property
    def num_workers(self) -> int:
        """Number of workers, p."""
        return len(self.w)

    def name_of(self, worker: int) -> str:
        """Return the name of a worker in pictures."""
        return self.names[worker] if self.names else f"worker {worker}"

    @property
    def slots(self) -> int:
        """N, the number of known slots and the deadline."""
        return self.source.shape[1]

    @property
    def states(self) -> st.States:
        """The whole (p, N) states array, read-only. It is drawn if necessary; `prefix` draws a part of it."""
        return self.source.prefix(self.slots)

    def prefix(self, slots: int) -> st.States:
        """Return the states of the first ``slots`` slots, at most N, without drawing later ones; read-only."""
        return self.source.prefix(slots)

    @property
    def capacities(self) -> tuple[int, ...]:
        """Largest number of tasks that each worker can hold: mu, or m if mu is unbounded or larger."""
        return tuple(self.tasks if mu is None else min(mu, self.tasks) for mu in self.mu)

    @property
    def channels(self) -> int:
        """Largest number of workers that can be served in one slot: n_com, or p if n_com is unbounded or larger."""
        return self.num_workers if self.n_com is None else min(self.n_com, self.num_workers)

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content. It binds schedules and results to this instance.

        For drawn states the digest covers the chains and the key, so nothing is drawn. The same states given as an
        array have a different fingerprint.
        """
        digest = hashlib.sha256(b"coupled/1\0")
        numbers = (self.tasks, self.iterations, self.n_com, self.t_prog, self.t_data, self.w, self.mu)
        digest.update(repr((numbers, self.source.shape)).encode())
        digest.update(repr([None if chain is None else chain.rows for chain in self.chains]).encode())
        digest.update(self.source.identity)
        if self.past is not None:
            digest.update(b"past" + self.past.identity)
        return f"sha256:{digest.hexdigest()}"
