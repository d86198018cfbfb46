"""Exact hindsight optimum of tightly-coupled iterations on volatile workers: solver ``native``.

The whole general model: program and data transfers through a channel of n_com workers per slot, bounds mu, speeds w,
several iterations, both objectives, with and without stand-by.

Read in this order: `iteration` (the normal form of one iteration, and which sets of workers can do it), `transfer` (the
channel as a flow), `labels` (what one iteration leaves to the next, and dominance), `bound` (the lower bound), `search`
(best first), `rent` (a bound that charges programs to the channel), `greedy` and `beam` (good schedules), `stores` and
`rounds` (who works when, limits and the answer), `plan` (the schedule). `windows` and `problem` hold the instance.
"""
