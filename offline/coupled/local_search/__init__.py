"""Better schedules from a good one: the search of the upper side that `portfolio` turns to when proofs take long.

Read in this order: `windows` (what is searched, in plain Python: windows, programs, what is wrong with them), `fitting`
(the same as kernels: who fits into which window, and the greedy repair of the programs), `serving` (tasks and transfers
of one iteration), `annealing` (the moves and when one is accepted), `improver` (the search as the portfolio calls it).

These kernels are a group of their own: who solves small instances never loads or compiles them.
"""
