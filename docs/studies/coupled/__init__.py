"""Studies of tightly coupled applications: on-line policies and exact solvers of the family ``coupled``."""
