"""Exact hindsight optimum of tightly-coupled iterations on volatile workers: solver ``native``.

The whole general model: program and data transfers through a channel of n_com workers per slot, bounds mu, speeds w,
several iterations, both objectives, with and without stand-by.

Read in this order: `iteration` (the normal form of one iteration, and which sets of workers can do it), `transfer` (the
channel as a flow), `labels` (what one iteration leaves to the next, and dominance), `prefetch` (the lower bound),
`best_first` (the search), `channel_bound` (a bound that charges programs to the channel), `proposals` and `beam` (good
schedules), `label_search` and `portfolio` (who works when, limits and the answer), `plan` (the schedule).
`state_tables` and `parameters` hold the instance.
"""
