"""Kernels of the program Lagrangian, in a package of their own: a change outside it recompiles none of them."""
