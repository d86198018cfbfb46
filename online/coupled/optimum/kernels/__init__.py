"""Kernels of the on-line optimum."""
