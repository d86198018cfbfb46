"""Compiled kernels of the search for teams; `hindsched.offline.kmis` has others."""
