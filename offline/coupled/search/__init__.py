"""Solver ``native``: the exact hindsight optimum of tightly-coupled iterations on volatile workers.

It covers the whole model: program and data transfers through a channel of n_com workers per slot, bounds mu, speeds w,
several iterations, both objectives, with and without stand-by.

Reading order:

1. The instance: `instance_arrays`, `state_tables`; what kernels share: `bitsets`, `scratch_memory`, `effort`, `modes`,
   `slot_codes`.
2. One iteration: `normal_form`, `worker_order`, `teams` (which workers can compute it), `channel_flow` and
   `task_counts` (what the channel can send, from `least_slack_first`), `holders` (the holder sets it can end with).
3. Many iterations: `labels`, `dominance`, the free-prefetch bound in `bounds.prefetch_table`, `best_first`.
4. Good schedules: `greedy_expansion` and `beam`; package `local_search` improves them.
5. All together: `workspace`, `label_search`, `reconstruction` (from a label to a plan), `parameters`, `portfolio`.

Package `bounds` has the dual bounds.
"""
