"""Instances whose workers are the nodes of a real trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hindsched.instances.chains import fit
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.parsing import to_length, to_moment
from hindsched.instances.traces.trace import Absence, Nodes, Trace, Window

__all__ = ["from_trace", "usual_training"]


def usual_training(
    trace: Trace,
    *,
    slot_s: float | str | Seconds,
    start: float | str | Seconds | None = None,
    slots: int | None = None,
    nodes: Nodes = None,
) -> int:
    """Return the default number of training slots: half of the slots in which the nodes are observed together.

    Parameters
    ----------
    trace, slot_s, start, slots, nodes
        As in `from_trace`. A given ``slots`` limits the number to what is left, a given ``start`` to what is before it.

    Returns
    -------
    int
        0 if fewer than two slots are left: then there are no chains.

    Raises
    ------
    InputError
        As in `hindsched.instances.traces.Trace.window`.
    """
    whole = trace.window(slot_s=slot_s, nodes=nodes)
    if start is not None:
        left = int((to_moment(start, "start") - whole.start) // whole.slot_s)
    else:
        left = whole.slots // 2 if slots is None else min(whole.slots // 2, whole.slots - slots)
    return left if left >= 2 else 0


def from_trace(
    trace: Trace,
    *,
    tasks: int,
    slot_s: float | str | Seconds,
    iterations: int = 1,
    n_com: int | None = None,
    t_prog: int = 0,
    t_data: int = 0,
    w: int | Sequence[int] = 1,
    mu: int | Sequence[int | None] | None = None,
    start: float | str | Seconds | None = None,
    slots: int | None = None,
    nodes: Nodes = None,
    absent: Absence = "down",
    unobserved: Absence | Literal["refuse"] = "refuse",
    train_slots: int = 0,
    keep_past: bool = False,
) -> Instance:
    """Return an instance with the states of a window of a trace.

    The chains for the heuristics are fitted on the ``train_slots`` slots immediately before the window, never on the
    window itself (docs/model.md section 1).

    Parameters
    ----------
    trace
        See `hindsched.instances.traces.read`.
    tasks, iterations, n_com, t_prog, t_data
        The application and the master; see `Instance`.
    w, mu
        One value for all workers, or one per worker.
    slot_s, start, slots, nodes, absent, unobserved
        The window of the instance; see `instances.traces.Trace.states`. With ``start=None`` the training window begins
        as early as the nodes allow. Nodes chosen by number are observed during the training, too.
    train_slots
        Number of slots for fitting the chains; 0: no chains.
    keep_past
        Whether the instance also holds the states of these slots (`Instance.past`), which the policy ``replay`` uses.

    Raises
    ------
    InputError
        As in `hindsched.instances.traces.Trace.states` and `Instance`, and for a single training slot, which has no
        transition.

    Examples
    --------
    >>> from hindsched.instances.intervals import Interval, Presence
    >>> trace = Trace(("a",), ((Interval(0, 30, Presence.AVAILABLE), Interval(30, 60, Presence.UNAVAILABLE)),))
    >>> instance = from_trace(trace, tasks=1, slot_s=10, train_slots=3)
    >>> instance.states.tolist(), instance.chains[0].rows[0]
    ([[2, 2, 2]], (1.0, 0.0, 0.0))
    """
    if train_slots < 0 or train_slots == 1:
        raise InputError(f"{train_slots}, expected 0 (no chains) or at least 2", place="train_slots")
    if slots is not None and slots < 1:
        raise InputError(f"{slots}, expected an integer >= 1", place="slots")
    first = None if start is None else to_moment(start, "start")
    if first is not None:
        start = first - train_slots * to_length(slot_s, "slot_s")
    slots = None if slots is None else train_slots + slots
    window = trace.window(slot_s=slot_s, start=start, slots=slots, nodes=nodes)
    states = trace.states(
        slot_s=window.slot_s,
        start=window.start,
        slots=window.slots,
        nodes=window.nodes,
        absent=absent,
        unobserved=unobserved,
    )
    if states.shape[1] <= train_slots:
        if first is not None:
            trace.expect_observed(Window(window.nodes, first, 1, window.slot_s))
        raise InputError(f"{states.shape[1]}, expected more than train_slots, {train_slots}", place="slots")
    trace.expect_observed(
        Window(window.nodes, window.start + train_slots * window.slot_s, window.slots - train_slots, window.slot_s)
    )
    p = states.shape[0]
    for name, values in (("w", w), ("mu", mu)):
        if values is not None and not isinstance(values, int) and len(values) != p:
            raise InputError(f"{len(values)} values, expected one per worker, {p}", place=name)
    return Instance(
        tasks=tasks,
        iterations=iterations,
        n_com=n_com,
        t_prog=t_prog,
        t_data=t_data,
        w=(w,) * p if isinstance(w, int) else tuple(w),
        mu=(mu,) * p if mu is None or isinstance(mu, int) else tuple(mu),
        states=states[:, train_slots:],
        chains=tuple(fit(row[:train_slots]) for row in states) if train_slots else (),
        names=window.nodes,
        past=states[:, :train_slots] if keep_past and train_slots else None,
    )
