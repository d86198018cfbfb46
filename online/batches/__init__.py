"""On-line masters of batches: the simulator, the paper's algorithms, and the protocol for your own."""

from hindsched.online.batches.options import Options
from hindsched.online.batches.outcome import Simulation
from hindsched.online.batches.policies import POLICIES, make_policy
from hindsched.online.batches.runs import run_policy
from hindsched.online.batches.simulate import simulate
from hindsched.online.batches.visible import Policy, Problem, Visible
from hindsched.online.options import ENGINES

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
