"""Batches on volunteers in campaigns: the adapter, the paper's experiment, pictures."""

from hindsched.bench.batches.family import FAMILY

__all__ = ["FAMILY"]
