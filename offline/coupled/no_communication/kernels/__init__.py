"""Compiled kernels of the search for teams, beside those of `hindsched.offline.kmis`."""
