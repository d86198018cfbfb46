"""OFF-LINE-COUPLED without communication (docs/model.md section 3): teams of workers with many common UP slots.

Reading order: `common_slots_reduction` reduces an instance to common-slots problems (`common_slots`), one for each
iteration, and makes a schedule of their teams. `team_solvers` lists the back ends, which share the problem, the
possible lengths of a team with simple bounds (`team_lengths`), and the result (`team_result`):

- `team_core` reduces a problem to k-subset intersections (`offline.kmis`) of subarrays without DOWN (`subproblems`), or
  to one search with weights (`weighted_search`);
- `team_periods` is polynomial; `team_plain` is a plain branch and bound; `team_brute` tries every assignment;
- `team_cpsat` and `team_ilp` are models, with a first team by `team_greedy`.
"""
