"""OFF-LINE-COUPLED without communication (docs/model.md section 3): teams of workers with many common UP slots.

`problem` says what is asked, on boolean arrays; `questions` puts the questions of an instance in that form and turns
answers into schedules. Between them stand the back ends, which share nothing but the problem: `brute` (obviously
right), `windows` (polynomial, where UP slots come in one piece), `plain` (branch and bound), `cpsat` and `ilp`.
"""
