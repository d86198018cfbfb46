"""Compiled twins of the plain simulator and of the built-in policies of ``deadline``."""
