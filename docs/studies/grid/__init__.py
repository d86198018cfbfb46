"""Studies of decentralised grids: the paper's claims, bounds, causes of waits, scale, and the pages of results."""
