"""Bags of tasks in campaigns: the adapter, the paper's experiment, pictures."""

from hindsched.bench.bags.family import FAMILY

__all__ = ["FAMILY"]
