"""OFF-LINE-COUPLED on line: tightly-coupled iterative applications on volatile workers, the future unknown."""

from online.coupled.options import Comparison, Engine, Estimator, RunOptions, Service, Ties

__all__ = ["Comparison", "Engine", "Estimator", "RunOptions", "Service", "Ties"]
