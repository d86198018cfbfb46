"""Policies by name: the 17 heuristics of the paper, the look-ahead policies, and policies of users."""

from __future__ import annotations

from typing import Any

from hindsched.online.coupled.criteria import Criterion
from hindsched.online.coupled.lookahead.lookahead_policies import OURS, PLANNERS, lookahead_policy
from hindsched.online.coupled.lookahead.replays import Replay
from hindsched.online.coupled.options import RunOptions
from hindsched.online.coupled.passive import Passive
from hindsched.online.coupled.proactive import Proactive
from hindsched.online.coupled.random_baseline import Random
from hindsched.online.coupled.visible import Policy
from hindsched.online.loading import load_policy

__all__ = ["APPARENT", "BUILT_IN", "OURS", "POLICIES", "criteria_of", "make_policy"]

_SWITCHING = (Criterion.P, Criterion.E, Criterion.Y)

#: The heuristics of the paper (docs/model.md section 6): passive, proactive (criterion - builder), and the baseline.
POLICIES = (
    *(f"I{h}" for h in Criterion),
    *(f"{c}-I{h}" for c in _SWITCHING for h in Criterion),
    "RANDOM",
)

#: Proactive heuristics that switch by AY, which the paper calls unstable and leaves out. So do ``all`` and the tables.
APPARENT = tuple(f"{Criterion.AY}-I{h}" for h in Criterion)

#: All names that `make_policy` knows. ``replay`` is for instances with a past (docs/lookahead.md).
BUILT_IN = (*POLICIES, *APPARENT, *OURS, Replay.name)


def make_policy(text: str | Policy, options: RunOptions | None = None, **changes: Any) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `BUILT_IN`, or ``path/to/file.py:ClassName``, or the name of an installed entry
        point in the group ``hindsched.policies``; or a policy of your own as an object, which is copied.
    options
        Options; the built-in heuristics use ``estimator``, ``ties`` and ``comparison``, policies that draw random
        numbers use ``seed``.
    **changes
        Single options by keyword; they override ``options``.

    Raises
    ------
    InputError
        For an unknown name or option, and for an unusable file or class.

    Notes
    -----
    A user's class receives those of the keywords ``estimator``, ``ties``, ``comparison`` and ``seed`` that its
    constructor names.

    Examples
    --------
    >>> make_policy("Y-IE").name
    'Y-IE'
    """
    chosen = (options or RunOptions()).changed(**changes)
    if isinstance(text, str) and text in (*POLICIES, *APPARENT):
        return _built_in(text, chosen)
    if isinstance(text, str) and text in OURS:
        return lookahead_policy(text)
    if text == Replay.name:
        return Replay(chosen, PLANNERS["auto"])
    offered = {name: getattr(chosen, name) for name in ("estimator", "ties", "comparison", "seed")}
    made: Policy = load_policy(
        text,
        offered,
        family="coupled",
        built_in=(*POLICIES, *OURS, Replay.name),
        protocol=Policy,
        expected="a text attribute name and a method choose(visible)",
    )
    return made


def criteria_of(name: str) -> tuple[Criterion | None, Criterion | None]:
    """Return the criteria by which a heuristic of the paper switches (None: not proactive) and builds (None: RANDOM).

    Examples
    --------
    >>> criteria_of("Y-IE") == (Criterion.Y, Criterion.E), criteria_of("IAY") == (None, Criterion.AY)
    (True, True)
    """
    if name == "RANDOM":
        return None, None
    switch, _, build = name.rpartition("-I")
    return (Criterion(switch), Criterion(build)) if switch else (None, Criterion(name[1:]))


def _built_in(name: str, options: RunOptions) -> Policy:
    switch, build = criteria_of(name)
    if build is None:
        return Random(options.seed)
    if switch is None:
        return Passive(build, options.estimator, options.ties)
    return Proactive(switch, build, options)
