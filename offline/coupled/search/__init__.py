"""Exact hindsight optimum of tightly-coupled iterations on volatile workers: solver ``native``.

The whole general model: program and data transfers through a channel of n_com workers per slot, bounds mu, speeds w,
several iterations, both objectives, with and without stand-by.

Read in this order:

- the instance: `parameters`, and `state_tables` for the slots looked at so far; `constants`, `scratch`: the rest;
- one iteration: `iteration` (its normal form), `member_sets` (who can compute it), `transfer` and `task_counts` (the
  channel as a flow), `holders` (who holds the program afterwards);
- many: `labels` (what an iteration leaves to the next), `dominance` (which of them matter), `prefetch` (the
  free-prefetch bound), `best_first` (the search);
- where the channel binds: `channel_bound` (the bound that charges programs to it) with `prices`, `knapsack`, `chains`
  and `subproblems`; `proposals` and `beam` (good schedules);
- all together: `workspace` (what the searches share), `label_search`, `portfolio` (who works when, limits, the result),
  `plan` (the schedule).
"""
