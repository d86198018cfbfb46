"""Dual bounds of OFF-LINE-COUPLED.

Cheap ones first: `free_prefetch` (and `prefetch_table` for the native search) needs neither multipliers nor branching.
The others are Lagrangian relaxations of the constraint that a member was sent the program: `slot_lagrangian`,
`program_lagrangian`, and `priced_label_bound` with its `state_space_relaxation` and `node_cpsat`. `branch_node` is the
branch and bound that these three share, and `dual_bounds` divides the effort among them.
"""
