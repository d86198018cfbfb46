"""A user's scheduler of grid in a process of its own: both ends of the pipe.

A call sends the slot and the jobs that are new. The server settles its own answers, as the simulator does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from hindsched.instances.errors import InputError
from hindsched.online.grid.policies import make_policy
from hindsched.online.grid.visible import Answer, Job, Visible
from hindsched.online.isolation import PolicyProcess, plain
from hindsched.online.user_code import call_user_code

__all__ = ["IsolatedPolicy", "Server"]

_Scalar = int | float | str | bool | None


class IsolatedPolicy(PolicyProcess):
    """A scheduler that answers in a process of its own, for one run; a context manager that ends the process.

    Parameters
    ----------
    policy
        A name as for `hindsched.online.grid.make_policy`, not an object.
    options
        Options of the scheduler.
    time_limit_s
        See `hindsched.online.isolation.PolicyProcess`.
    """

    def __init__(self, policy: object, options: Mapping[str, Any], *, time_limit_s: float | None = None) -> None:
        super().__init__("grid", policy, dict(options), time_limit_s=time_limit_s)
        self._sent = 0

    def choose(self, visible: Visible) -> Mapping[int, Answer]:
        """Return what the scheduler answers in its process."""
        place = f"policy {self.name}, slot {visible.now}"
        grid = None if self._sent else (visible.nodes, visible.slot_s)
        jobs = visible.jobs[self._sent :]
        self._sent += len(jobs)
        answer = self.call("choose", grid, visible.now, jobs, place=place)
        try:
            is_mapping, answers = msgspec.convert(answer, tuple[bool, Any])
            return _as_answers(answers) if is_mapping else answers
        except msgspec.ValidationError:
            raise InputError("its process sent something else than answers", place=place) from None


class Server:
    """The user's scheduler in its own process.

    Parameters
    ----------
    policy, options
        As for `hindsched.online.grid.make_policy`.
    """

    def __init__(self, policy: str, options: Mapping[str, Any]) -> None:
        self._policy: Any = make_policy(policy, **options)
        self.name: str = self._policy.name

    def choose(self, grid: tuple[int, int] | None, now: int, jobs: Sequence[Job]) -> list[Any]:
        """Return whether the scheduler's answers are a mapping, and the answers."""
        if grid is not None:
            self._visible = Visible(*grid)
        visible = self._visible
        visible.now = now
        for job in jobs:
            visible._submit(job)
        found = call_user_code(self._policy.choose, visible, place=f"policy {self.name}, slot {now}")
        answers = plain(found)
        if isinstance(found, Mapping):
            with suppress(InputError, msgspec.ValidationError):  # the simulator refuses them and ends the run
                for index, answer in _as_answers(answers).items():
                    if index in visible.waiting:
                        visible._settle(index, answer)
        return [isinstance(found, Mapping), answers]


def _as_answers(pairs: Any) -> dict[Any, Any]:
    """Return pairs of a job and an answer as the mapping that a scheduler returns; starts and nodes are pairs."""
    found = msgspec.convert(pairs, list[tuple[_Scalar, Any]])
    return {job: tuple(answer) if isinstance(answer, list) else answer for job, answer in found}
