"""Schedulers of the grid that see only the past: dgs, baselines with a centre, and the protocol for your own."""
