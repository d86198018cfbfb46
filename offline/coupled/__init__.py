"""OFF-LINE-COUPLED: tightly-coupled iterative applications on volatile workers, every state known (docs/model.md)."""

from hindsched.offline.coupled.api import SOLVERS, available_solvers, solve
from hindsched.offline.coupled.bounds.free_prefetch import free_prefetch_bound
from hindsched.offline.coupled.models.export import write_model
from hindsched.offline.coupled.objectives import CoupledResult, Objective

__all__ = [
    "SOLVERS",
    "CoupledResult",
    "Objective",
    "available_solvers",
    "free_prefetch_bound",
    "solve",
    "write_model",
]
