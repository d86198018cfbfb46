"""Whom to serve first: those that can least wait. The exact flow starts so, and walks leave it at that."""

from __future__ import annotations

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import inlined

__all__ = ["least_slack"]


@inlined
def least_slack(
    cnt: Int32s,
    worker: Ints,
    since: Ints,
    left: Ints,
    served: Ints,
    slack: Ints,
    n: int,
    n_com: int,
    t: int,
    c: int,
) -> int:
    """List the n_com of least slack among those that can receive in slot t, least first; return how many they are.

    Participant j < n is ``worker[j]``, may be served from slot ``since[j]`` on and still needs ``left[j]`` units before
    slot c; its slack is how many of its UP slots until then it can do without. ``cnt[t, q]`` counts the UP slots before
    t. ``served`` and ``slack`` are written.
    """
    num = 0
    for j in range(n):
        q = worker[j]
        if left[j] == 0 or t < since[j] or cnt[t + 1, q] == cnt[t, q]:
            continue
        v = cnt[c, q] - cnt[t, q] - left[j]
        if num < n_com:
            i = num
            num += 1
        elif slack[num - 1] <= v:
            continue
        else:
            i = num - 1
        while i > 0 and slack[i - 1] > v:
            slack[i] = slack[i - 1]
            served[i] = served[i - 1]
            i -= 1
        slack[i] = v
        served[i] = j
    return num
