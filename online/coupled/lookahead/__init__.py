"""Policies of our own for OFF-LINE-COUPLED, beyond the paper's 17 (docs/beyond.md)."""
