"""Compiled code of `hindsched.instances`. Only these modules import numba."""
