"""Dual bounds of OFF-LINE-COUPLED, from the cheap free-prefetch bound to Lagrangian and label bounds."""
