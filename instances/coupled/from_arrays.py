"""Instances from arrays of states, with defaults for everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hindsched.instances import states as st
from hindsched.instances.chains import Chain, fit
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError

__all__ = ["from_states"]


def from_states(
    states: Any,
    *,
    tasks: int | None = None,
    iterations: int = 1,
    w: int | Sequence[int] = 1,
    n_com: int | None = None,
    t_prog: int = 0,
    t_data: int = 0,
    mu: int | Sequence[int | None] | None = None,
    absent: Literal["down", "reclaimed"] = "down",
    past: Any = None,
    keep_past: bool = False,
) -> Instance:
    """Return an instance of `coupled` on workers with these states.

    Parameters
    ----------
    states
        Shape (p, N), worker by slot: booleans (True: UP), codes (0 UP, 1 RECLAIMED, 2 DOWN), or p strings of the
        letters u, r, d.
    tasks
        m, tasks per iteration; None: the number of workers.
    iterations, n_com, t_prog, t_data
        The application and the master; see `Instance`.
    w, mu
        One value for all workers, or one per worker.
    absent
        Meaning of False: ``down`` loses what the worker holds, ``reclaimed`` does not.
    past
        States before slot 0 for the fit of the workers' Markov chains, in any of these forms. None: there are no
        chains, and heuristics that need them refuse the instance. Chains are never fitted on ``states``.
    keep_past
        Whether the instance also holds ``past``, which the policy ``replay`` uses.

    Raises
    ------
    InputError
        If a shape, type or number is invalid. An integer array with only 0 and 1 is refused because it is ambiguous.

    Examples
    --------
    >>> pair = from_states([[True, True, False], [True, False, True]], tasks=1)
    >>> pair.states.tolist(), pair.n_com
    ([[0, 0, 2], [0, 2, 0]], None)
    >>> from_states(["uur", "udu"]).tasks
    2
    """
    codes = _codes(states, absent, "states")
    p = len(codes)
    chains: tuple[Chain, ...] = ()
    before = None
    if past is not None:
        before = _codes(past, absent, "past")
        if len(before) != p:
            raise InputError(f"{len(before)} workers, expected {p} as in states", place="past")
        if before.shape[1] > 1:
            chains = tuple(fit(row) for row in before)
    if isinstance(w, Sequence | np.ndarray) and len(w) != p:  # an instance takes p from w
        raise InputError(f"{len(w)} values, expected one per worker, {p}", place="w")
    return Instance(
        tasks=p if tasks is None else tasks,
        iterations=iterations,
        n_com=n_com,
        t_prog=t_prog,
        t_data=t_data,
        w=tuple(w) if isinstance(w, Sequence | np.ndarray) else (w,) * p,
        mu=tuple(mu) if isinstance(mu, Sequence | np.ndarray) else (mu,) * p,
        states=codes,
        chains=chains,
        past=before if keep_past else None,
    )


def _codes(states: Any, absent: str, place: str) -> st.States:
    if absent not in ("down", "reclaimed"):
        raise InputError(f"{absent!r}, expected down or reclaimed", place="absent")
    if isinstance(states, str):
        raise InputError("one string, expected a list of them, one per worker", place=place)
    if isinstance(states, Sequence) and len(states) and all(isinstance(row, str) for row in states):
        return st.from_letters(states)
    try:
        array = np.asarray(states)
    except ValueError:
        raise InputError("rows of unequal length, expected one number per worker and slot", place=place) from None
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"shape {array.shape}, expected workers by slots, (p, N)", place=place)
    if array.dtype == np.bool_:
        return np.where(array, st.UP, st.DOWN if absent == "down" else st.RECLAIMED).astype(np.uint8)
    if array.dtype.kind not in "iu":
        raise InputError(f"{array.dtype} values, expected booleans, the codes 0 1 2, or letters", place=place)
    if array.min() < st.UP or array.max() > st.DOWN:
        wrong = array[(array < st.UP) | (array > st.DOWN)][0]
        raise InputError(f"{wrong}, expected 0 (UP), 1 (RECLAIMED) or 2 (DOWN)", place=place)
    if array.max() == 1 and array.dtype != np.uint8:
        raise InputError(
            "0 and 1 alone may mean either: expected booleans (array == 1 where 1 means available), letters, or codes "
            "as numpy.uint8 (0 UP, 1 RECLAIMED)",
            place=place,
        )
    return array.astype(np.uint8)
