"""The part of `bench` for the family `deadline`."""

from hindsched.bench.deadline.family import FAMILY

__all__ = ["FAMILY"]
