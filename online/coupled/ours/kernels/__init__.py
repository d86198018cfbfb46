"""Machine code of our own policies: the twin of `online.coupled.ours`, compiled apart from the paper's heuristics."""
