"""The on-line optimum: the least expected makespan of any policy that knows the chains but not the future.

Rules R1 to R5 on known Markov chains are a Markov decision process. This package solves it for instances with few
workers (docs/online_optimum.md).
"""

from hindsched.online.coupled.optimum.optimal_policy import Optimal
from hindsched.online.coupled.optimum.state_space import Space
from hindsched.online.coupled.optimum.value_iteration import OnlineOptimum, horizon_value, online_optimum

__all__ = ["OnlineOptimum", "Optimal", "Space", "horizon_value", "online_optimum"]
