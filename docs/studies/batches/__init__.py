"""Studies of batches on volunteers: the paper's claims, unstated options, policies, scale, and the pages of results."""
