"""Schedulers that see only the past."""
