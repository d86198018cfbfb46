"""Campaigns, tables and pictures of the family `grid`."""

from hindsched.bench.grid.family import FAMILY

__all__ = ["FAMILY"]
