"""On-line schedulers of the grid: decentralised dgs, centralised baselines, and the protocol for your own."""

from hindsched.online.grid.options import AsapCounted, AsapPinned, Dgs, Easy, Fcfs, Late, Queue, differing
from hindsched.online.grid.policies import OPTIONS, POLICIES, Policy, make_policy, run_policy
from hindsched.online.grid.runs import Counters, EventCounters, Metrics, Run, Utilisation
from hindsched.online.grid.user_schedulers import check_policy, simulate
from hindsched.online.grid.visible import Allocation, Answer, Job, Scheduler, Visible
from hindsched.online.options import ENGINES

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
    "EventCounters",
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
