"""Long verifications in blocks, each a row of a journal, which can be resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hindsched.bench.campaign.engine import Job, code_digest, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.verify.agreement import agree
from hindsched.bench.coupled.verify.general_agreement import agree_in_general, general_solvers
from hindsched.bench.coupled.verify.theorem import Count, num_graphs, verify
from hindsched.bench.shared_types import Row
from hindsched.bench.verification import Sample
from hindsched.offline.coupled.no_communication.team_solvers import BACKENDS, available_backends
from hindsched.offline.solvers import AUTO, named

__all__ = ["verify_graphs", "verify_instances"]

_BLOCK = 100  # graphs or instances: some seconds


def verify_graphs(
    folder: Path, *, kinds: Sequence[str], graphs: int, labelled: bool, seed: int, solver: str, failures: Path
) -> dict[str, Count]:
    """Do as `theorem.verify` does for several kinds, and keep the counts of each block in the folder's journal."""
    if solver != AUTO:
        named(solver, BACKENDS)
    jobs: dict[str, list[Job]] = {}
    for kind in kinds:
        total = num_graphs(kind, graphs=graphs, labelled=labelled)
        jobs[kind] = [
            Job(
                f"graphs|{_code()}|{kind}|{first}-{stop}|{labelled}|{seed}|{solver}",
                kind,
                _verify_some,
                (kind, first, stop, labelled, seed, solver, failures),
            )
            for first, stop in _blocks(total)
        ]
    rows = _made("graphs", jobs, folder)
    counts = {kind: Count() for kind in kinds}
    for kind in kinds:
        for row in rows[kind]:
            counts[kind].add(Count(**row["count"]))
    return counts


def verify_instances(
    folder: Path, sample: Sample, solvers: Sequence[str] | None, *, general: bool = False
) -> dict[str, int]:
    """Do as `agree`, or if ``general`` as `agree_in_general`, and keep the counts of every block in the journal."""
    if general:
        names = general_solvers(solvers)
    else:
        names = tuple(available_backends() if solvers is None else solvers)
        for name in names:
            named(name, BACKENDS)
    kind = "general" if general else "instances"
    jobs = [
        Job(
            f"{kind}|{_code()}|{first}-{stop}|{sample.seed}|{','.join(names)}",
            f"{first} to {stop - 1}",
            _agree_on_some,
            (general, first, stop, sample.seed, names, sample.failures),
        )
        for first, stop in _blocks(sample.instances)
    ]
    answered: Counter[str] = Counter(dict.fromkeys(names, 0))
    for row in _made("instances", {"": jobs}, folder)[""]:
        answered.update(row["answered"])
    return dict(answered)


def _made(what: str, jobs: dict[str, list[Job]], folder: Path) -> dict[str, list[Row]]:
    with Journal(folder) as journal:
        run_jobs(f"blocks of {what}", [job for some in jobs.values() for job in some], journal)
        return {name: [journal[job.key] for job in some] for name, some in jobs.items()}


def _blocks(total: int) -> list[tuple[int, int]]:
    return [(first, min(first + _BLOCK, total)) for first in range(0, total, _BLOCK)]


def _code() -> str:
    return code_digest("instances", "offline", "reductions", "bench")


def _verify_some(kind: str, first: int, stop: int, labelled: bool, seed: int, solver: str, failures: Path) -> Row:
    count = verify(kind, range(first, stop), labelled=labelled, seed=seed, solver=solver, failures=failures)
    return {"count": asdict(count)}


def _agree_on_some(
    general: bool, first: int, stop: int, seed: int, solvers: tuple[str, ...], failures: Path | None
) -> Row:
    compare = agree_in_general if general else agree
    return {"answered": compare(Sample(stop - first, first, seed, failures), solvers)}
