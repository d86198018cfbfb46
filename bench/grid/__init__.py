"""Campaigns, tables and pictures of the family `grid`."""

from bench.grid.family import FAMILY

__all__ = ["FAMILY"]
