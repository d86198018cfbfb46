"""Studies of a job with a deadline, and the pages of results."""
