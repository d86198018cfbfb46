"""Least slack first: the greedy service of a slot. The exact flow starts from it; the local search uses it alone.

Its kernel takes more than 8 arguments, as its callers keep participants in different groups of arrays.
"""

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
    """Write the n_com participants of least slack that can receive in slot t, and return their number.

    Participant j < n is ``worker[j]``, can be served from slot ``since[j]`` on and needs ``left[j]`` more units before
    slot c. Its slack is the number of its UP slots in t..c-1 less these units. ``cnt[t, q]`` counts the UP slots before
    t. Results are in ``served``, least slack first, and ``slack``.
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
