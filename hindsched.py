"""One import for notebooks and scripts: on-line schedulers on volatile machines beside the optimum in hindsight.

All of it lives elsewhere: in ``instances`` (what a problem is), ``offline``
(optima in hindsight), ``online`` (schedulers) and ``bench`` (tables, pictures, the command line).

Examples
--------
>>> import hindsched as hs
>>> past = ["uuuruuu", "uruuduu"]
>>> pair = hs.from_states(["uuruu", "uruuu"], w=[1, 2], tasks=2, t_prog=1, n_com=1, past=past)
>>> best = hs.solve(pair)
>>> run = hs.run(pair, "IE")
>>> print(best.status, best.value, run.makespan, hs.check(pair, run.schedule).is_valid)
optimal 4 4 True
"""

from __future__ import annotations

if __name__ == "__main__":  # python -m hindsched: before what takes a while to load
    from bench.cli import main

    main()

from bench.shorthand import Picture, bound, check, from_trace, gantt, generate, report, run, score, solve
from instances.coupled.arrays import from_states
from instances.errors import HindschedError, InputError, SelfCheckError
from instances.files import read, read_schedule, write, write_schedule
from offline.results import Result, Status

__all__ = [
    "HindschedError",
    "InputError",
    "Picture",
    "Result",
    "SelfCheckError",
    "Status",
    "bound",
    "check",
    "from_states",
    "from_trace",
    "gantt",
    "generate",
    "read",
    "read_schedule",
    "report",
    "run",
    "score",
    "solve",
    "write",
    "write_schedule",
]
