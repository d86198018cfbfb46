"""Studies that the documentation rests on: races between solvers and simulators, and what machines can verify."""
