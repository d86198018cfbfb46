"""OFF-LINE-COUPLED on line: tightly-coupled iterative applications on volatile workers, the future unknown."""

from online.coupled.checking import check_policy
from online.coupled.criteria import TIES
from online.coupled.estimates import ESTIMATORS
from online.coupled.options import Comparison, Engine, Estimator, RunOptions, Service, Ties
from online.coupled.policies import OURS, POLICIES, make_policy
from online.coupled.runs import ENGINES, run_policy
from online.coupled.simulate import SERVICES, Run, simulate
from online.coupled.visible import Decision, Policy, Visible

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
