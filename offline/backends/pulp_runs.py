"""CBC and HiGHS through PuLP, with statuses that claim no more than is true.

Known traps, each with a test:

- PuLP's ``status`` is Optimal for a solution at the time limit; ``sol_status`` makes the difference. For HiGHS neither
  says whether there is a solution, so the status comes from HiGHS itself.
- PuLP passes a maximisation to HiGHS as the minimisation of the negative, so HiGHS's bound has the other sign.
- PuLP splits CBC's command at every blank, also at those of a folder, and leaves its files and process if interrupted.
- PuLP gives HiGHS and CBC the whole time limit, after it has built or written the model.
- CBC returns no bound, and takes seed 0 as the time of day.
- CBC reports "Integer infeasible", which ``sol_status`` lacks, where branching proves it, but sometimes also where the
  time limit passes during preprocessing, which is no proof.
"""

from __future__ import annotations

import math
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hindsched.instances.errors import InputError
from hindsched.offline.backends.timed_runs import run_stoppably
from hindsched.offline.limits import Limit, Limits, Stopwatch

if TYPE_CHECKING:
    import highspy
    import pulp

__all__ = ["Claim", "MilpSolver", "is_available", "limit_of", "run"]

_SEEDS = 10**8  # CBC takes no larger seed
_LEAST_S = 0.01  # some solvers take 0 as no limit
_GRACE_S = 0.3  # for CBC to write its result after the time limit


class MilpSolver(StrEnum):
    """The mixed-integer linear programming solvers that are called through PuLP."""

    CBC = "cbc"
    HIGHS = "highs"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a solver claims about a program.

    Parameters
    ----------
    has_solution
        Whether the program's variables have the values of a feasible solution.
    is_proven
        Whether that solution is optimal or, without one, the program infeasible.
    bound
        A proven bound on the objective, in the program's own sense; None without one.
    limit
        The limit that stopped the solver; None after a proof.
    """

    has_solution: bool
    is_proven: bool
    bound: float | None
    limit: Limit | None


def is_available(solver: MilpSolver | str) -> bool:
    """Return whether CBC (a part of PuLP) or HiGHS (package highspy) is installed, without importing it."""
    packages = {MilpSolver.CBC: ("pulp",), MilpSolver.HIGHS: ("pulp", "highspy")}
    return all(find_spec(package) is not None for package in packages[MilpSolver(solver)])


def run(program: pulp.LpProblem, solver: MilpSolver | str, limits: Limits, time_limit_s: float | None) -> Claim:
    """Solve a program with CBC or HiGHS.

    Raises
    ------
    InputError
        For another solver, or one that is not installed.
    """
    try:
        solver = MilpSolver(solver)
    except ValueError:
        raise InputError(f"{solver!r}, expected {' or '.join(MilpSolver)}", place="solver") from None
    if not is_available(solver):
        raise InputError(f"{solver} is not installed, expected the packages pulp and highspy", place="solver")
    if time_limit_s is not None:
        time_limit_s = max(time_limit_s, _LEAST_S)
    return (_run_cbc if solver is MilpSolver.CBC else _run_highs)(program, limits, time_limit_s)


def _run_cbc(program: pulp.LpProblem, limits: Limits, time_limit_s: float | None) -> Claim:
    import pulp

    seed = limits.seed % _SEEDS + 1
    watch = Stopwatch(Limits(time_limit_s))
    cbc = pulp.COIN_CMD(
        path=pulp.PULP_CBC_CMD.pulp_cbc_path,  # the executable in PuLP
        msg=False,
        timeMode="cpu" if watch.is_of_processor else "elapsed",
        threads=limits.threads if limits.threads > 1 else None,
        options=[f"randomSeed {seed}", f"randomCbcSeed {seed}"],
    )
    _solve_by_cbc(program, cbc, watch)
    optimal = program.sol_status == pulp.LpSolutionOptimal
    has_solution = optimal or program.sol_status == pulp.LpSolutionIntegerFeasible
    # if the limit has not passed by this clock, it had not passed by CBC's, and infeasibility is a proof
    is_proven = optimal or (program.status == pulp.LpStatusInfeasible and not watch.is_over())
    # PuLP hides why CBC stopped; the only limit that CBC has here is the time limit
    limit = Limit.OTHER if time_limit_s is None else Limit.TIME
    return Claim(has_solution, is_proven, None, None if is_proven else limit)


def _solve_by_cbc(program: pulp.LpProblem, cbc: pulp.COIN_CMD, watch: Stopwatch) -> None:
    """Assign CBC's solution and status to a program, as PuLP does, with files and a process that end with the call."""
    import pulp

    was_none, dummy = program.fixObjective()
    with TemporaryDirectory(prefix="hindsched-") as folder:
        model, solution = Path(folder, "model.mps"), Path(folder, "model.sol")
        variables, names, constraints, _ = program.writeMPS(str(model), rename=1)
        command = [cbc.path, model.name]  # CBC is called in the folder, because it takes no names with blanks
        command += ["-max"] if program.sense == pulp.LpMaximize else []
        left_s = watch.left_s()
        command += [] if left_s is None else ["-sec", str(max(left_s, _LEAST_S))]
        command += " ".join(f"-{option}" for option in (*cbc.options, *cbc.getOptions())).split()
        command += ["-solve", "-printingOptions", "all", "-solution", solution.name]
        code = _call(command, folder, None if watch.is_of_processor else left_s)
        if code is None:
            program.assignStatus(pulp.LpStatusNotSolved)
            program.restoreObjective(was_none, dummy)
            return
        if code != 0 or not solution.exists():
            raise InputError(f"ended with exit code {code} and no result, expected exit code 0", place="solver cbc")
        status, values, *_, solution_status = cbc.readsol_MPS(str(solution), program, variables, names, constraints)
    program.assignVarsVals(values)
    program.assignStatus(status, solution_status)
    program.restoreObjective(was_none, dummy)


def _call(command: list[str], folder: str, limit_s: float | None) -> int | None:
    """Run a program in a folder without output, and return its exit code; an interruption ends it.

    A program that does not end within a limit of its own by itself is killed: None.
    """
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing) as process:
        try:
            return process.wait(None if limit_s is None else limit_s + _GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
        except BaseException:
            process.kill()
            process.wait()  # leaving the block waits a quarter of a second only after an interruption
            raise


def _run_highs(program: pulp.LpProblem, limits: Limits, time_limit_s: float | None) -> Claim:
    import highspy
    import pulp

    watch = Stopwatch(Limits(time_limit_s))
    highs = pulp.HiGHS(msg=False, threads=limits.threads, random_seed=limits.seed, mip_rel_gap=0.0)
    highs.callSolver = lambda program: _run_interruptibly(program.solverModel, watch)
    program.solve(highs)
    native = program.solverModel
    info, status = native.getInfo(), native.getModelStatus()
    has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    is_proven = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)
    bound = info.mip_dual_bound
    minimises = native.getLp().sense_ == highspy.ObjSense.kMinimize
    if minimises != (program.sense == pulp.LpMinimize):
        bound = -bound
    limit = None if is_proven else Limit.TIME if watch.is_over() else limit_of(status)
    return Claim(has_solution, is_proven, bound if math.isfinite(bound) else None, limit)


def _run_interruptibly(native: highspy.Highs, watch: Stopwatch) -> None:
    """Run HiGHS until the time is over; Ctrl-C ends the run."""
    left_s = watch.left_s()
    if left_s is not None and not watch.is_of_processor:
        native.setOptionValue("time_limit", max(left_s, _LEAST_S))
    native.HandleUserInterrupt = True
    run_stoppably(native.run, native.cancelSolve, watch)


def limit_of(status: highspy.HighsModelStatus) -> Limit:
    """Return the limit that HiGHS reports by a status that is no proof."""
    import highspy

    reported = highspy.HighsModelStatus
    limits = {
        reported.kTimeLimit: Limit.TIME,
        reported.kMemoryLimit: Limit.MEMORY,
        reported.kIterationLimit: Limit.EFFORT,
        reported.kSolutionLimit: Limit.EFFORT,  # also for a limit of nodes
        reported.kInterrupt: Limit.INTERRUPTED,
        reported.kHighsInterrupt: Limit.INTERRUPTED,
    }
    return limits.get(status, Limit.OTHER)
