"""OFF-LINE-COUPLED in campaigns: its adapter, the paper's experiment, its studies."""

from hindsched.bench.coupled.family import FAMILY

__all__ = ["FAMILY"]
