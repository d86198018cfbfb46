"""Sides of the race: the search of `hindsched.offline.kmis` (``core``), general solvers, a miner, and C searches.

Every side solves two tasks on a boolean array. Task A: the most common slots of any m rows. Task B: the shortest prefix
in which some m rows have w common slots.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from docs.studies.coupled.kmis_race.cells import LENGTH
from docs.studies.coupled.kmis_race.eclat import Eclat
from docs.studies.coupled.kmis_race.outcome import Outcome
from hindsched import offline
from hindsched.instances.errors import InputError
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.coupled.no_communication.team_solvers import BACKENDS
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status

__all__ = ["MODELS", "SIDES", "Side", "make_sides"]

Booleans = npt.NDArray[np.bool_]

#: General solvers, which run on the small cells only.
MODELS = ("cpsat", "highs", "cbc")
#: Source folders of the search and of the solvers.
_SEARCH = Path(offline.__file__).parent / "kmis"
_MODELS = Path(offline.__file__).parent / "coupled" / "no_communication"
_REFERENCE = ("c-plain", "c-tuned")
#: Names of all sides.
SIDES = ("core", *_REFERENCE, "eclat", *MODELS)


@dataclass(frozen=True, slots=True)
class Side:
    """A program in the race.

    Parameters
    ----------
    name
        One of `SIDES`.
    identity
        Digest of what its times depend on.
    run
        Function of the array, m, the task (``A`` or ``B``) and the limit in seconds.
    tasks
        Tasks that it solves.
    """

    name: str
    identity: str
    run: Callable[[Booleans, int, str, float], Outcome]
    tasks: str = "AB"


def make_sides(names: tuple[str, ...], reference: Path | None) -> list[Side]:
    """Return the sides, ready to run.

    Raises
    ------
    InputError
        For an unknown side, or one that cannot run here.
    """
    loaded: ModuleType | None = None
    sides = []
    for name in names:
        if name not in SIDES:
            raise InputError(f"{name!r}, expected {', '.join(SIDES)}", place="sides")
        if name == "core":
            sides.append(Side(name, f"core {_digest(*_SEARCH.glob('**/*.py'))}", _run_core))
        elif name in MODELS:
            if not BACKENDS[name].is_available():
                raise InputError(f"{name} is not installed", place="sides")
            sides.append(Side(name, f"{name} {_digest(*_MODELS.glob('*.py'))}", partial(_run_model, name)))
        elif name == "eclat":
            if find_spec("fim") is None:
                raise InputError("eclat needs the package pyfim: pip install 'hindsched[studies]'", place="sides")
            sides.append(Side(name, f"eclat {version('pyfim')}", Eclat().run))
        else:
            if reference is None:
                raise InputError(f"{name} needs --reference FILE", place="sides")
            loaded = loaded or _load(reference)
            digest = _digest(*reference.parent.glob(f"{reference.stem}.*"))
            if name == "c-plain":
                sides.append(Side(name, f"{name} {digest}", partial(_run_reference, loaded, name), "A"))
            else:
                sides.append(Side(name, f"{name} {digest}", partial(_run_reference, loaded, name)))
    return sides


def _run_core(up: Booleans, m: int, task: str, limit_s: float) -> Outcome:
    if task == "A":
        found = offline.max_common_slots(up, m, limit_s)
    else:
        found = offline.earliest_common_slots(up, m, LENGTH, limit_s)
    if found is None:
        return Outcome(True, None)
    return Outcome(found.status is Status.OPTIMAL, found.value)


def _run_model(name: str, up: Booleans, m: int, task: str, limit_s: float) -> Outcome:
    p = up.shape[0]
    w = np.full(p, 1 if task == "A" else LENGTH)
    aim = Aim.WIDEST if task == "A" else Aim.EARLIEST
    problem = CommonSlots(up, np.zeros_like(up), w, np.ones(p, dtype=np.int64), m, aim)
    found = BACKENDS[name].load()(problem, Limits(limit_s))
    return Outcome(found.status in (Status.OPTIMAL, Status.INFEASIBLE), found.value)


def _run_reference(module: Any, name: str, up: Booleans, m: int, task: str, limit_s: float) -> Outcome:
    """Call a function of the file. For task B it returns None when stopped and when infeasible; the time decides."""
    if task == "A":
        value, _ = (module.largest_w if name == "c-tuned" else module.largest_w_plain)(up, m, limit=limit_s)
        return Outcome(value is not None, value)
    begun = time.perf_counter()
    value, _ = module.earliest_prefix(up, m, LENGTH, limit=limit_s)
    return Outcome(value is not None or time.perf_counter() - begun < limit_s, value)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_searches", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError("expected a Python file", file=path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for function in ("largest_w", "largest_w_plain", "earliest_prefix"):
        if not hasattr(module, function):
            raise InputError(f"no function {function}, expected largest_w, largest_w_plain, earliest_prefix", file=path)
    return module


def _digest(*paths: Path) -> str:
    """Return a digest of files, so that times of other code are not reused."""
    digest = sha256()
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
