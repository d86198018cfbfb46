"""OFF-LINE-COUPLED without communication (docs/model.md section 3): teams of workers with many common UP slots.

From the outside in: `questions` puts an instance as problems of common slots, one for each iteration (`common_slots`
says what is asked), and turns their teams into a schedule; `team_solvers` knows the back ends by name, which share
nothing but the problem. `team_core` makes each problem a few questions of `offline.kmis` (`boards` takes DOWN out of
it); `team_periods` is polynomial; `team_plain` is a plain branch and bound; `team_cpsat` and `team_ilp` are models,
with `team_greedy` for a first team; `team_brute` is obviously right. `levels` has what all lengths of a team have in
common and the cheap bound, `conclude` makes the result.
"""
