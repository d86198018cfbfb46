"""Local search: simulated annealing around a good schedule, for better schedules when proofs take long.

Reading order: `plain_state` (states, violations and moves in plain Python, as the reference), `parameters`, and the
compiled kernels: `repair` (which tasks a worker can hold, and which programs are sent), `service` (tasks and transfers
of one iteration), `annealing` (moves and their acceptance). `local_search` is the search that the portfolio calls,
`background` runs it in a thread. The kernels are loaded at their first use, so small instances never compile them.
"""
