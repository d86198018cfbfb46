"""Machine code of the on-line optimum, loaded where one is asked for."""
