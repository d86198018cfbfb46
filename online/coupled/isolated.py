"""A user's policy of coupled in a process of its own: both ends of the pipe.

`IsolatedPolicy` is a policy for the simulator; `Server` has the user's policy in the other process. A slot sends the
states of that slot alone, and the server keeps those of earlier slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from hindsched.instances.errors import InputError
from hindsched.online.coupled.options import RunOptions
from hindsched.online.coupled.policies import make_policy
from hindsched.online.coupled.visible import Decision, Policy, Problem, Visible
from hindsched.online.history import History
from hindsched.online.isolation import PolicyProcess, plain
from hindsched.online.user_code import call_user_code

__all__ = ["IsolatedPolicy", "Server"]

_Scalar = int | float | str | bool | None


class IsolatedPolicy(PolicyProcess):
    """A policy that chooses in a process of its own; a context manager that ends the process.

    Parameters
    ----------
    policy
        A name as for `hindsched.online.coupled.make_policy`, not an object.
    options
        Options of the policy; the process receives no number of slots.
    time_limit_s
        See `hindsched.online.isolation.PolicyProcess`.

    Examples
    --------
    >>> from hindsched.instances.coupled import Instance
    >>> from hindsched.online.coupled.simulate import simulate
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2)
    >>> with IsolatedPolicy("RANDOM", RunOptions(seed=1)) as policy:
    ...     simulate(pair, policy).makespan
    3
    """

    def __init__(self, policy: str | Policy, options: RunOptions, *, time_limit_s: float | None = None) -> None:
        known = replace(options, slots=None, schedule_slots=None)
        super().__init__("coupled", policy, known, time_limit_s=time_limit_s)

    def choose(self, visible: Visible) -> Mapping[int, int] | Decision | None:
        """Return what the policy chooses in its process."""
        place = f"policy {self.name}, slot {visible.slot}"
        problem = visible.problem if visible.slot == 0 else None
        view = (
            visible.slot, visible.iteration, visible.iteration_start, bytes(visible.now), dict(visible.tasks),
            visible.program, visible.data, visible.computed,
        )  # fmt: skip
        answer = self.call("choose", problem, view, place=place)
        try:
            is_mapping, choice, serve = msgspec.convert(answer, tuple[bool, Any, Any])
            if is_mapping:
                choice = dict(msgspec.convert(choice, list[tuple[_Scalar, _Scalar]]))
        except msgspec.ValidationError:
            raise InputError("its process sent something else than a choice", place=place) from None
        return choice if serve is None else Decision(choice, serve)


class Server:
    """The user's policy in its own process.

    Parameters
    ----------
    policy, options
        As for `hindsched.online.coupled.make_policy`.
    """

    def __init__(self, policy: str, options: RunOptions) -> None:
        self._policy = make_policy(policy, options)
        self.name = self._policy.name

    def choose(self, problem: Problem | None, view: tuple[Any, ...]) -> list[Any]:
        """Return whether the policy's choice is a mapping, the choice, and the workers to serve first or None."""
        if problem is not None:
            self._problem, self._history = problem, History(problem.num_workers)
        slot, iteration, iteration_start, now, tasks, program, data, computed = view
        self._history.append(np.frombuffer(now, dtype=np.uint8))
        visible = Visible(
            problem=self._problem,
            slot=slot,
            iteration=iteration,
            iteration_start=iteration_start,
            now=tuple(now),
            tasks=MappingProxyType(tasks),
            program=program,
            data=data,
            computed=computed,
            history=self._history,
        )
        choice = call_user_code(self._policy.choose, visible, place=f"policy {self.name}, slot {slot}")
        tasks, serve = (choice.tasks, plain(choice.serve)) if isinstance(choice, Decision) else (choice, None)
        return [isinstance(tasks, Mapping), plain(tasks), serve]
