"""Tightly-coupled iterative applications on volatile workers, on line: the future is unknown."""

from hindsched.online.coupled.checking import check_policy
from hindsched.online.coupled.criteria import TIES
from hindsched.online.coupled.estimates import ESTIMATORS
from hindsched.online.coupled.options import Comparison, Estimator, RunOptions, Service, Ties
from hindsched.online.coupled.policies import OURS, POLICIES, make_policy
from hindsched.online.coupled.runs import run_policy
from hindsched.online.coupled.simulate import SERVICES, Run, simulate
from hindsched.online.coupled.visible import Decision, Policy, Visible
from hindsched.online.options import ENGINES, Engine

__all__ = [
    "ENGINES",
    "ESTIMATORS",
    "OURS",
    "POLICIES",
    "SERVICES",
    "TIES",
    "Comparison",
    "Decision",
    "Engine",
    "Estimator",
    "Policy",
    "Run",
    "RunOptions",
    "Service",
    "Ties",
    "Visible",
    "check_policy",
    "make_policy",
    "run_policy",
    "simulate",
]
