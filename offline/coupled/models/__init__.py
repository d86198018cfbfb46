"""CP-SAT and integer linear models of OFF-LINE-COUPLED, their solvers and their export."""
