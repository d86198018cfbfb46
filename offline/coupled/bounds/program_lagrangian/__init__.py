"""Lagrangian relaxation of the program constraints, with multipliers by availability period and iteration.

A worker computes only if a program was sent to it before, in the same availability period. Each period has a multiplier
for each iteration, and a program sent in an iteration has a value that the multipliers of a period never exceed. The
relaxation is a shortest path through the graph of all (iterations done, slot): a horizon is refuted if every path costs
more than 0. docs/bounds.md proves the bound.

Read in this order: `slot_graph` (nodes and windows), `shortest_paths` (distances), `subgradient_method` (multipliers),
`program_node` (the bound of one branch node) and `program_bound` (branch and bound). `kernels.channel_feasibility`
tests whether the channel can carry an iteration at all.

`hindsched.instances.coupled.certificate_evaluation` evaluates the certificates; it shares no code with this package.
"""
