"""Schedulers of bags that see only the past: the simulator, the four of the paper, the protocol for your own."""

from online.bags.policies import MAX_COPIES, POLICIES, make_policy
from online.bags.predictors import PREDICTORS, Hour, Predictor, make_predictor
from online.bags.runs import ENGINES, run_policy
from online.bags.simulate import HANDOVERS, PolicyRun, simulate
from online.bags.visible import Copy, Policy, Problem, Visible

__all__ = [
    "ENGINES",
    "HANDOVERS",
    "MAX_COPIES",
    "POLICIES",
    "PREDICTORS",
    "Copy",
    "Hour",
    "Policy",
    "PolicyRun",
    "Predictor",
    "Problem",
    "Visible",
    "make_policy",
    "make_predictor",
    "run_policy",
    "simulate",
]
