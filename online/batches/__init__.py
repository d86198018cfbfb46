"""Masters that see only the past: the simulator, the paper's algorithms, and the protocol for your own."""

from online.batches.options import Options
from online.batches.outcome import Simulation
from online.batches.policies import POLICIES, make_policy
from online.batches.runs import ENGINES, run_policy
from online.batches.simulate import simulate
from online.batches.visible import Policy, Problem, Visible

__all__ = [
    "ENGINES",
    "POLICIES",
    "Options",
    "Policy",
    "Problem",
    "Simulation",
    "Visible",
    "make_policy",
    "run_policy",
    "simulate",
]
