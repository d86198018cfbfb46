"""Sources of states: an array of known states, or random streams that are drawn on demand.

The instances of every family hold their states through a source, so slots that are never read cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from hindsched.instances.chains import Chain, StateStream
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, MOST_SLOTS, UP, States, frozen
from hindsched.instances.text_files import excerpt

__all__ = ["STARTS", "DrawnStates", "KnownStates", "StateSource"]

#: How workers begin (docs/model.md section 1); the first is the default.
STARTS = ("up", "stationary")


class StateSource(Protocol):
    """States of p workers in N slots."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of workers and slots, (p, N)."""

    @property
    def identity(self) -> bytes:
        """The content of the states, for fingerprints: sources with the same identity have the same states."""

    def prefix(self, slots: int) -> States:
        """Return the states of the first ``slots`` slots, at most N; shape (p, slots), read-only."""


class KnownStates:
    """States given as an array.

    Parameters
    ----------
    states
        A states array of shape (p, N), N >= 1, or rows of state codes. The array is copied unless it has dtype
        ``uint8``, is read-only and owns its data.

    Raises
    ------
    InputError
        If the shape or type is different, or a code is not a state.
    """

    def __init__(self, states: States) -> None:
        states = np.asarray(states)
        if states.ndim != 2 or states.dtype.kind not in "iu":
            raise InputError(
                f"shape {states.shape} of {states.dtype}, expected workers by slots of 0 (UP), 1 (RECLAIMED) or 2 "
                "(DOWN); hindsched.instances.coupled.from_arrays.from_states takes booleans and letters",
                place="states",
            )
        if states.shape[1] == 0:
            raise InputError("no slot, expected at least one", place="workers[0].states")
        if states.max(initial=0) > DOWN or states.min(initial=0) < 0:
            raise InputError("another code, expected 0 (UP), 1 (RECLAIMED) or 2 (DOWN)", place="states")
        if states.dtype != np.uint8:
            states = states.astype(np.uint8)
        self._states = frozen(states)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of workers and slots, (p, N)."""
        p, slots = self._states.shape
        return p, slots

    @property
    def identity(self) -> bytes:
        """The states themselves."""
        return self._states.tobytes()

    def prefix(self, slots: int) -> States:
        """Return the states of the first ``slots`` slots, at most N; shape (p, slots), read-only."""
        return self._states[:, :slots]

    def __reduce__(self) -> tuple[type[KnownStates], tuple[States]]:
        return KnownStates, (self._states,)


class DrawnStates:
    """States drawn on demand from Markov chains, with one random stream per worker.

    Parameters
    ----------
    chains
        p chains.
    key
        Name of the streams: worker q draws from ``stream(*key, q)`` (see `hindsched.instances.random_streams.stream`).
    slots
        N.
    start
        One of `STARTS`: ``up``, or ``stationary`` for a state drawn from the chain's long-run distribution.

    Examples
    --------
    >>> chain = Chain(((0.9, 0.1, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> long = DrawnStates([chain], ("example", 7), 1_000_000)
    >>> long.prefix(4).tolist() == DrawnStates([chain], ("example", 7), 4).prefix(4).tolist()
    True
    """

    _FIRST_BLOCK = 512

    def __init__(
        self, chains: Sequence[Chain], key: Sequence[str | int], slots: int, *, start: str = STARTS[0]
    ) -> None:
        if start not in STARTS:
            raise InputError(f"{excerpt(str(start))}, expected one of {', '.join(STARTS)}", place="start")
        if slots < 1:
            raise InputError(f"{slots}, expected an integer >= 1", place="slots")
        if slots > MOST_SLOTS:
            raise InputError(f"{slots}, expected an integer <= {MOST_SLOTS}", place="slots")
        self.chains = tuple(chains)
        self.key = tuple(key)
        self.shape = (len(self.chains), slots)
        self.start = start
        self._streams = [
            StateStream(chain, stream(*self.key, q), self._first(q)) for q, chain in enumerate(self.chains)
        ]
        self._states = np.empty((len(self.chains), 0), dtype=np.uint8)

    @property
    def identity(self) -> bytes:
        """Chains, key, number of slots and, unless it is UP, the start. The number of chains is p."""
        start = () if self.start == STARTS[0] else (self.start,)
        return repr(("drawn/1", [chain.rows for chain in self.chains], self.key, self.shape[1], *start)).encode()

    def prefix(self, slots: int) -> States:
        """Return the states of the first ``slots`` slots, at most N; shape (p, slots), read-only."""
        slots = min(slots, self.shape[1])
        drawn = self._states.shape[1]
        if slots > drawn:
            block = min(max(slots, 2 * drawn, self._FIRST_BLOCK), self.shape[1]) - drawn
            states = np.empty((len(self._streams), drawn + block), dtype=np.uint8)
            states[:, :drawn] = self._states
            for row, each in zip(states, self._streams, strict=True):
                row[drawn:] = each.take(block)
            states.setflags(write=False)
            self._states = states
        return self._states[:, :slots]

    def _first(self, q: int) -> int:
        """Return the state of worker q in slot 0. Its stream is separate, so later numbers do not depend on it."""
        if self.start == "up":
            return UP
        shares = self.chains[q].stationary().cumsum()
        return int(min((shares <= stream(*self.key, q, "start").random() * shares[-1]).sum(), DOWN))

    def __reduce__(self) -> tuple[Callable[..., DrawnStates], tuple[Any, ...]]:
        return partial(DrawnStates, start=self.start), (self.chains, self.key, self.shape[1])
