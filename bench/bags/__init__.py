"""Bags of tasks in campaigns: the adapter, the paper's experiment, pictures."""

from bench.bags.family import FAMILY

__all__ = ["FAMILY"]
