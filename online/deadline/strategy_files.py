"""Unchanged strategy files of the public simulator ``sky_spot`` as policies (docs/deadline/model.md section 6).

The file gets stand-ins for what it imports and reads. They hold what is visible in the present slot, in float seconds.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
import tempfile
from enum import Enum, auto
from pathlib import Path
from types import ModuleType
from typing import Any

from hindsched.instances.deadline.model import HOUR_S
from hindsched.instances.deadline.schedule import Kind, Placement
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt
from hindsched.online.deadline.visible import Job, Visible
from hindsched.online.loading import load_module, split_file
from hindsched.online.user_code import call_user_code

__all__ = ["TIME_LIMIT_S", "StrategyFile", "is_strategy_file"]

#: Seconds after which a run of a strategy file ends.
TIME_LIMIT_S = 300.0
#: The package that a strategy file imports.
_PACKAGE = "sky_spot"
_SEVERAL_REGIONS = ("MultiRegionStrategy", "multi_strategy", "multi_region_types")
#: Names of the public environments that hold later slots.
_FUTURE = ("trace", "traces", "get_trace_before_end", "next_wait_spot_length")


def is_strategy_file(policy: object) -> bool:
    """Return whether the text of a policy names a Python file that imports ``sky_spot``.

    The file is read, not executed. A file that cannot be read or parsed is none.
    """
    return isinstance(policy, str) and any(name.split(".")[0] == _PACKAGE for name in _imports(split_file(policy)[0]))


def _imports(path: str) -> list[str]:
    """Return the modules, and the names in them, that a file imports, as dotted names."""
    try:
        tree = ast.parse(Path(path).read_bytes()) if path else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


class ClusterType(str, Enum):  # noqa: UP042  # as the public one, which prints its name
    """What runs in a slot, as the public simulator calls it."""

    NONE = auto()
    SPOT = auto()
    ON_DEMAND = auto()


_TYPES = {None: ClusterType.NONE, Kind.SPOT: ClusterType.SPOT, Kind.ON_DEMAND: ClusterType.ON_DEMAND}
_KINDS = {kind_type: kind for kind, kind_type in _TYPES.items()}


class _Environment:
    """Stand-in of the public environment: the present slot."""

    def __init__(self, job: Job) -> None:
        self.gap_seconds = float(job.slot_s)
        self.tick = 0
        self.cluster_type = ClusterType.NONE
        self._has_spot = False
        self._prices: dict[ClusterType, float] = {}

    def show(self, visible: Visible) -> None:
        """Begin a slot."""
        self.tick = visible.slot
        self.cluster_type = _TYPES[visible.kind]
        self._has_spot = visible.has_spot()
        self._prices = {_TYPES[kind]: visible.price(0, kind) / 1_000_000 for kind in Kind} | {ClusterType.NONE: 0.0}

    @property
    def elapsed_seconds(self) -> float:
        return self.tick * self.gap_seconds

    def spot_available(self) -> bool:
        return self._has_spot

    def get_price(self) -> dict[ClusterType, float]:
        return dict(self._prices)

    def __getattr__(self, name: str) -> Any:
        why = "shows the future" if name in _FUTURE else "is not known here"
        raise AttributeError(f"env.{name} {why}, expected what a policy may see")


class _Task:
    """Stand-in of the public task: one job."""

    def __init__(self, work_s: int) -> None:
        self._work_s = float(work_s)
        self.done_s: list[float] = []

    @property
    def is_done(self) -> bool:
        return self._work_s - sum(self.done_s) <= 0

    def get_total_duration_seconds(self) -> float:
        return self._work_s

    def get_total_duration_hours(self) -> float:
        return self._work_s / HOUR_S


class Strategy:
    """Stand-in of the public base class."""

    NAME = "abstract"

    def __init__(self, args: Any = None) -> None:
        self.args = args

    def reset(self, env: _Environment, task: _Task) -> None:
        """Begin a run."""
        self.env, self.task = env, task
        self.deadline = self.args.deadline_hours * HOUR_S
        self.task_duration = task.get_total_duration_seconds()
        self.restart_overheads = [hours * HOUR_S for hours in self.args.restart_overhead_hours]
        self.restart_overhead = self.restart_overheads[0]
        self.remaining_restart_overhead = 0.0
        self.task_done_time: list[float] = task.done_s

    @property
    def task_done(self) -> bool:
        return self.task.is_done

    @property
    def name(self) -> str:
        return self.NAME

    def _step(self, last_cluster_type: ClusterType, has_spot: bool) -> ClusterType:
        raise NotImplementedError


class StrategyFile:
    """A policy whose decisions a strategy file takes.

    Its code is executed at the first decision, in this process; `hindsched.online.deadline.run_policy` gives each run a
    process of its own.

    Parameters
    ----------
    text
        ``path/to/file.py``, or ``path/to/file.py:Class`` if the file has several strategies.

    Raises
    ------
    InputError
        For a file for several regions.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._path, self._class = split_file(text)
        self.name = self._class or Path(self._path).stem
        if any(word in name.split(".") for name in _imports(self._path) for word in _SEVERAL_REGIONS):
            raise InputError("a strategy for several regions, expected one for one zone", file=self._path)
        self._strategy: Any = None
        self._done_s = 0

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of the file's ``_step``."""
        if self._strategy is None:
            self._begin(visible.job)
        strategy = self._strategy
        self._environment.show(visible)
        self._task.done_s.append(float(visible.done_s - self._done_s))
        self._done_s = visible.done_s
        strategy.remaining_restart_overhead = float(visible.left_s)
        last = _TYPES[None if visible.last is None else visible.last[1]]
        place = f"policy {self.name}: slot {visible.slot}"
        answer = call_user_code(strategy._step, last, visible.has_spot(), place=place)  # what the file overrides
        if not isinstance(answer, ClusterType):
            raise InputError(f"_step returned {excerpt(answer)}, expected a ClusterType", place=place)
        kind = _KINDS[answer]
        return None if kind is None else (0, kind)

    def _begin(self, job: Job) -> None:
        _install_stand_ins(Path(self._path).resolve().parent)
        self._environment, self._task = _Environment(job), _Task(job.work_s)
        hours = {name: seconds / HOUR_S for name, seconds in _lengths(job).items()}
        args = argparse.Namespace(
            deadline_hours=hours["deadline"],
            task_duration_hours=[hours["duration"]],
            restart_overhead_hours=[hours["overhead"]],
            inter_task_overhead=[0.0],
        )
        made = _made(self._found_class(), args, hours, f"policy {self.name}")
        made.reset(self._environment, self._task)
        # hours in floating point may be off by a rounding error
        made.deadline, made.restart_overhead = float(job.deadline_s), float(job.overhead_s)
        made.restart_overheads = [float(job.overhead_s)]
        self._strategy = made

    def _found_class(self) -> Any:
        module = load_module(self._path)
        name = self._class or "Solution"
        found = getattr(module, name, None)
        if not self._class and found is None:
            own = [
                each
                for each in vars(module).values()
                if isinstance(each, type) and issubclass(each, Strategy) and each.__module__ == module.__name__
            ]
            if len(own) > 1:
                names = ", ".join(each.__name__ for each in own)
                raise InputError(f"the strategies {names}, expected {self._path}:Class", file=self._path)
            found = own[0] if own else None
        if not (isinstance(found, type) and issubclass(found, Strategy)):
            raise InputError(f"no class {self._class or 'derived from Strategy'} in it", file=self._path)
        if hasattr(found, "step"):
            raise InputError("a method step, expected decisions in _step only", file=self._path)
        return found


def _lengths(job: Job) -> dict[str, int]:
    return {"deadline": job.deadline_s, "duration": job.work_s, "overhead": job.overhead_s}


def _made(found: Any, args: argparse.Namespace, hours: dict[str, float], place: str) -> Any:
    """Return an object of a class: by ``solve`` as benchmarks make it, else by ``_from_args`` as the simulator does."""
    if hasattr(found, "solve"):
        made = found(args) if inspect.signature(found).parameters else found()
        if getattr(made, "args", None) is None:
            made.args = args
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spec.json"
            path.write_text(json.dumps(hours), encoding="utf-8")
            solved = call_user_code(made.solve, str(path), place=place)
        return solved if isinstance(solved, Strategy) else made
    if hasattr(found, "_from_args"):
        parser = argparse.ArgumentParser()
        parser.set_defaults(**vars(args))
        return found._from_args(parser)
    return found(args)


def _install_stand_ins(folder: Path) -> None:
    """Offer the stand-ins under the names of the public modules; strategies of the file's folder are found as well."""
    package, utils, strategies, strategy = (
        ModuleType(name)
        for name in (_PACKAGE, f"{_PACKAGE}.utils", f"{_PACKAGE}.strategies", f"{_PACKAGE}.strategies.strategy")
    )
    package.__path__, strategies.__path__ = [], [str(folder)]
    package.utils, package.strategies = utils, strategies  # type: ignore[attr-defined]
    strategies.strategy = strategy  # type: ignore[attr-defined]
    utils.ClusterType = strategy.ClusterType = ClusterType  # type: ignore[attr-defined]
    strategy.Strategy = Strategy  # type: ignore[attr-defined]
    sys.modules |= {module.__name__: module for module in (package, utils, strategies, strategy)}
