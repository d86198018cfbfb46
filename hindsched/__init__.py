"""On-line schedulers on volatile machines, compared with the optimum in hindsight.

One import serves notebooks and scripts. Each name is defined in one of the subpackages and is loaded on first use:
``hindsched.instances`` (what a problem is), ``hindsched.offline`` (optima in hindsight), ``hindsched.online``
(schedulers), ``hindsched.reductions`` and ``hindsched.bench`` (campaigns, tables, the command line).

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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsched.bench.api import (
        JobAudit,
        Picture,
        audit,
        bound,
        check,
        from_trace,
        gantt,
        generate,
        report,
        run,
        score,
        solve,
    )
    from hindsched.instances.coupled.from_arrays import from_states
    from hindsched.instances.errors import HindschedError, InputError, SelfCheckError
    from hindsched.instances.files import read, read_schedule, write, write_schedule
    from hindsched.offline.results import Result, Status

__all__ = [
    "HindschedError",
    "InputError",
    "JobAudit",
    "Picture",
    "Result",
    "SelfCheckError",
    "Status",
    "audit",
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

#: Where each public name is defined.
_MODULES = {
    "bench.api": (
        *(
            "JobAudit",
            "Picture",
            "audit",
            "bound",
            "check",
            "from_trace",
            "gantt",
            "generate",
            "report",
            "run",
            "score",
        ),
        "solve",
    ),
    "instances.coupled.from_arrays": ("from_states",),
    "instances.errors": ("HindschedError", "InputError", "SelfCheckError"),
    "instances.files": ("read", "read_schedule", "write", "write_schedule"),
    "offline.results": ("Result", "Status"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import hindsched.instances`` loads no more than it needs."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
