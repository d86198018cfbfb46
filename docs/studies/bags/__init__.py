"""Studies of bags of tasks: the paper's claims, speed, and the pages of results."""
