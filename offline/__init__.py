"""Optima with every state known, proven."""
