"""Reductions between ENCD (a biclique of exact size) and OFF-LINE-COUPLED."""
