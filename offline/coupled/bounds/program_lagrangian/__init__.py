"""A lower bound on the makespan that sees the channel: rents by iteration index (docs/model.md section 3).

The channel bound of the native search has a price for every slot of every worker; chains of different timing then share
what a program costs. Here a *life*, a longest run of a worker's slots without DOWN, pays a rent for the *index* of an
iteration that it computes in, whenever that is. What it pays after a program was sent to it in iteration i is at most
pi_i, the value of a program sent in iteration i; and an iteration sends no more programs than its channel has room for.
So in every schedule the rents paid are at most the value of the programs sent, and a path through the graph of all
(iterations done, slot) on which they exceed it, whoever computes, is no schedule.

Read in this order:

- `plain`: the graph as it is defined, arc by arc, for small instances;
- `tables`, `kernels.facts`: the slots, and which nodes a schedule can have;
- `kernels.graph`: the distances by kernels, which look at many arcs at once;
- `search`: which rents, and which horizons;
- `kernels.carry`: whether the channel can ever carry an iteration.

`hindsched.instances.coupled.lagrangian_certificate` evaluates the certificates; it shares no code with this package.
"""
