"""On-line schedulers of bags of tasks: the simulator, built-in policies, and the protocol for your own."""

from hindsched.online.bags.options import ABSENCES, HANDOVERS, MAX_COPIES, Absence, Handover, RunOptions
from hindsched.online.bags.policies import BASELINES, PAPER_POLICIES, POLICIES, make_policy
from hindsched.online.bags.predictors import PREDICTORS, Hour, Predictor, make_predictor
from hindsched.online.bags.runs import run_policy
from hindsched.online.bags.simulate import PolicyRun, simulate
from hindsched.online.bags.visible import Copy, Policy, Problem, Visible
from hindsched.online.options import ENGINES, Engine

__all__ = [
    "ABSENCES",
    "BASELINES",
    "ENGINES",
    "HANDOVERS",
    "MAX_COPIES",
    "PAPER_POLICIES",
    "POLICIES",
    "PREDICTORS",
    "Absence",
    "Copy",
    "Engine",
    "Handover",
    "Hour",
    "Policy",
    "PolicyRun",
    "Predictor",
    "Problem",
    "RunOptions",
    "Visible",
    "make_policy",
    "make_predictor",
    "run_policy",
    "simulate",
]
