"""Schedulers that see only the past: the simulator, the paper's heuristics, and the protocol for your own."""

from online.coupled.checking import check_policy
from online.coupled.criteria import TIES
from online.coupled.estimates import ESTIMATORS
from online.coupled.options import RunOptions
from online.coupled.policies import POLICIES, make_policy
from online.coupled.runs import ENGINES, run_policy
from online.coupled.simulate import SERVICES, Run, simulate
from online.coupled.visible import Policy, Visible

__all__ = [
    "ENGINES",
    "ESTIMATORS",
    "POLICIES",
    "SERVICES",
    "TIES",
    "Policy",
    "Run",
    "RunOptions",
    "Visible",
    "check_policy",
    "make_policy",
    "run_policy",
    "simulate",
]
