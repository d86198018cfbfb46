"""Schedulers of the grid that see only the past: dgs, baselines with a centre, and the protocol for your own."""

from online.grid.options import AsapCounted, AsapPinned, Dgs, Easy, Fcfs, Late, Queue, differing
from online.grid.own import check_policy, simulate
from online.grid.policies import ENGINES, OPTIONS, POLICIES, Policy, make_policy, run_policy
from online.grid.runs import Counters, Metrics, Run, Utilisation
from online.grid.visible import Allocation, Answer, Job, Scheduler, Visible

__all__ = [
    "ENGINES",
    "OPTIONS",
    "POLICIES",
    "Allocation",
    "Answer",
    "AsapCounted",
    "AsapPinned",
    "Counters",
    "Dgs",
    "Easy",
    "Fcfs",
    "Job",
    "Late",
    "Metrics",
    "Policy",
    "Queue",
    "Run",
    "Scheduler",
    "Utilisation",
    "Visible",
    "check_policy",
    "differing",
    "make_policy",
    "run_policy",
    "simulate",
]
