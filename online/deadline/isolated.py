"""A user's policy of deadline in a process of its own: both ends of the pipe.

A call sends spot and prices of one slot, and the server keeps those of earlier slots.
"""

from __future__ import annotations

from typing import Any

from hindsched.online.deadline.options import RunOptions
from hindsched.online.deadline.policies import make_policy
from hindsched.online.deadline.visible import Job, Visible
from hindsched.online.isolation import PolicyProcess, plain
from hindsched.online.user_code import call_user_code

__all__ = ["IsolatedPolicy", "Server"]


class IsolatedPolicy(PolicyProcess):
    """A policy that decides in a process of its own, for one run; a context manager that ends the process.

    Parameters
    ----------
    policy
        A name as for `hindsched.online.deadline.make_policy`, not an object.
    options
        Options of the policy.
    time_limit_s
        See `hindsched.online.isolation.PolicyProcess`.

    Examples
    --------
    >>> from hindsched.instances.deadline.generate import generate
    >>> from hindsched.online.deadline.simulate import simulate
    >>> with IsolatedPolicy("greedy", RunOptions()) as policy:
    ...     simulate(generate(4, slots=12), policy).cost
    12767580000
    """

    def __init__(self, policy: object, options: RunOptions, *, time_limit_s: float | None = None) -> None:
        super().__init__("deadline", policy, options, time_limit_s=time_limit_s)

    def choose(self, visible: Visible) -> Any:
        """Return what the policy answers in its process; the simulator checks it."""
        job = None if visible.slot else visible.job
        slot = visible.spot[:, -1], visible.prices[:, :, -1]
        state = visible.done_s, visible.left_s, visible.home, visible.last, visible.current
        return self.call("choose", job, slot, state, place=f"policy {self.name}: slot {visible.slot}")


class Server:
    """The user's policy in its own process.

    Parameters
    ----------
    policy, options
        As for `hindsched.online.deadline.make_policy`.
    """

    def __init__(self, policy: str, options: RunOptions) -> None:
        self._policy = make_policy(policy, options)
        self.name = self._policy.name

    def choose(self, job: Job | None, slot: tuple[Any, Any], state: tuple[Any, ...]) -> Any:
        """Return the policy's choice as a plain value."""
        if job is not None:
            self._visible = Visible(job)
        visible = self._visible
        visible.reveal(*slot)
        visible.done_s, visible.left_s, visible.home, visible.last, visible.current = state
        place = f"policy {self.name}: slot {visible.slot}"
        return plain(call_user_code(self._policy.choose, visible, place=place))
