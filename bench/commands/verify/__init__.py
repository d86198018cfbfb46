"""``hindsched verify-...``: what a machine can verify."""
