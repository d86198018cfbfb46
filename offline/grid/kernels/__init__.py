"""Machine code of the grid's solvers: generation of schedules, local search, ascent of prices."""
