"""A lower bound on the makespan that sees the channel: rents by iteration index."""
