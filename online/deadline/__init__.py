"""On-line schedulers of a job with a deadline: the simulator, published policies, and the protocol for your own."""

from hindsched.online.deadline.options import Bank, RunGuard, RunOptions
from hindsched.online.deadline.policies import OURS, POLICIES, make_policy
from hindsched.online.deadline.runs import run_policy
from hindsched.online.deadline.simulate import PolicyRun, simulate
from hindsched.online.deadline.visible import Job, Policy, Visible
from hindsched.online.options import ENGINES, Engine

__all__ = [
    "ENGINES",
    "OURS",
    "POLICIES",
    "Bank",
    "Engine",
    "Job",
    "Policy",
    "PolicyRun",
    "RunGuard",
    "RunOptions",
    "Visible",
    "make_policy",
    "run_policy",
    "simulate",
]
