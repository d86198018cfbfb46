"""Stored answers of every solver and every policy on instances made from seeds: a change must not alter them.

A row names an instance by its recipe (options of a public generator) and its fingerprint. It holds the options of the
solve or run, and the outcome: numbers, counts and digests of schedules, but nothing that depends on a clock. `--write`
computes and stores all rows. `--check` computes the rows of a file again, prints those that differ, and exits with
code 1 if there are any.

    python stored_answers.py --write stored_answers.csv.xz
    python stored_answers.py --check stored_answers.csv.xz
    python stored_answers.py --check stored_answers.csv.xz --family grid
    python stored_answers.py --check stored_answers.csv.xz --sample 150
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import hashlib
import json
import lzma
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, TextIO

import hindsched as hs

__all__ = ["Query", "Row", "check", "main", "outcome_of", "queries", "read_rows", "write_rows"]

#: Points with thin channels that are solved within seconds.
THIN_POINTS = Path(__file__).with_name("thin_points.csv")
#: Of CP-SAT on grids: prices of linear programs are floats, whose last bits differ between processors.
BY_PROCESSOR = ("branches", "certified", "conflicts", "programs", "windows")
#: Solves with larger counts may take a second and are left out of samples. So are runs of `SLOW_POLICIES` by the plain
#: simulator.
QUICK: Mapping[str, int] = {"expanded": 8_000, "branches": 5_000, "splits": 20}
SLOW_POLICIES = ("auto", "roll")

#: The built-in policies, in the order in which tables list them.
POLICIES: Mapping[str, Sequence[str]] = {
    "coupled": (
        *(f"I{build}" for build in ("P", "E", "Y", "AY")),
        *(f"{switch}-I{build}" for switch in "PEY" for build in ("P", "E", "Y", "AY")),
        "RANDOM",
        *("rr", "sb", "hot", "auto", "roll"),
    ),
    "bags": ("FCFS", "FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD", "LEVEL", "PACE"),
    "batches": (
        *("A1", "A2", "A2-shift", "A3-copies", "A3-speed", "A3-history"),
        *("A3-copies-shift", "A3-speed-shift", "A3-history-shift", "booking"),
    ),
    "grid": ("dgs", "asap_pinned", "asap_counted", "queue", "fcfs", "easy", "late"),
}
ENGINES = ("plain", "kernel")
#: The numbers of a run, by family; those of `grid` are behind a method.
NUMBERS: Mapping[str, Sequence[str]] = {
    "coupled": ("makespan", "iterations", "slots"),
    "bags": ("turnaround", "completed"),
    "batches": ("satisfied", "latency", "copies", "requests", "distributed", "contacts"),
    "grid": (),
}

Plain = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """A solve or a run of an instance.

    Parameters
    ----------
    family
        The family of problems.
    kind
        Which part of the record: ``solve``, ``thin``, ``general``, ... or ``run``.
    recipe
        Options of `hs.generate`; with a key ``drawn_by``, see `drawn_states`.
    options
        Options of `hs.run` if there is a key ``policy``, otherwise of `hs.solve`.
    """

    family: str
    kind: str
    recipe: Plain
    options: Plain


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A query with its outcome.

    Parameters
    ----------
    query
        The solve or run.
    fingerprint
        Of the instance.
    outcome
        Its outcome, as JSON represents it.
    """

    query: Query
    fingerprint: str
    outcome: Plain


# The queries.


def queries() -> Iterator[Query]:
    """Yield all queries, family by family."""
    yield from _coupled()
    yield from _bags()
    yield from _batches()
    yield from _grid()


def _coupled() -> Iterator[Query]:
    yield from _paper_points(200)
    yield from _thin_points()
    yield from _general_points(80)
    yield from _without_communication(40)
    yield from _other_solvers(12)
    for recipe in _simulated_points():
        yield from _runs("coupled", recipe)
    yield from _readings(_simulated_points()[0])


def _paper_points(number: int) -> Iterator[Query]:
    """Yield points of the paper's generator with 20 workers."""
    draw = random.Random("paper points")
    for i in range(number):
        is_long = i % 4 != 3
        recipe = {
            "p": 20,
            "m": draw.choice((5, 10, 20)),
            "n_com": draw.choice((1, 2, 3, 5, 10, 20)),
            "wmin": draw.choice((1, 1, 2, 3, 4, 6, 8, 10)),
            "iterations": i % 12 + 1,
            "scenario": draw.randrange(10),
            "trial": draw.randrange(10),
            "slots": 10_000 if is_long else 400,
        }
        options = {"objective": "makespan" if is_long else "iterations", "stand_by": draw.random() < 0.6}
        yield Query("coupled", "solve", recipe, _by_native(options))


def _thin_points() -> Iterator[Query]:
    """Yield points with 100 and 200 workers behind few channels."""
    with THIN_POINTS.open(newline="") as file:
        for line in csv.DictReader(file):
            options = {"objective": line.pop("objective"), "stand_by": line.pop("stand_by") == "1"}
            recipe = {name: int(value) for name, value in line.items()}
            yield Query("coupled", "thin", recipe | {"drawn": True}, _by_native(options))


def _general_points(number: int) -> Iterator[Query]:
    """Yield small random instances with all the parameters that the model has."""
    for seed in range(number):
        recipe = {
            "small": True,
            "seed": seed,
            "p": 3 + seed % 5,
            "slots": 20 + seed % 41,
            "m": 1 + seed % 4,
            "iterations": 1 + seed % 6,
        }
        options = {"objective": ("makespan", "iterations")[seed % 2], "stand_by": seed % 4 < 2}
        yield Query("coupled", "general", recipe, _by_native(options))


def _without_communication(number: int) -> Iterator[Query]:
    """Yield instances without communication, for the solvers that are made for them."""
    for seed in range(number):
        recipe = {
            "drawn_by": seed,
            "workers": 6 + seed % 7,
            "slots": 40,
            "letters": "uuuurd" if seed % 3 else "uuur",
            "tasks": 2 + seed % 4,
            "iterations": 1 + seed % 3,
        }
        options = {"objective": ("makespan", "iterations")[seed % 2], "solver": ("auto", "core", "native")[seed % 3]}
        yield Query("coupled", "no-communication", recipe, {**options, "threads": 1})


def _other_solvers(number: int) -> Iterator[Query]:
    """Yield tiny instances for the solvers that are not the default."""
    for seed in range(number):
        recipe = {"small": True, "seed": 1_000 + seed, "slots": 8, "iterations": 1 + seed % 2}
        for solver in ("cpsat", "cpsat-whole", "ilp-highs", "ilp-cbc", "brute"):
            options = {"objective": ("makespan", "iterations")[seed // 2 % 2], "solver": solver, "threads": 1}
            yield Query("coupled", "other-solvers", recipe, options)


def _by_native(options: Plain) -> Plain:
    return {**options, "solver": "native", "threads": 1}


def _simulated_points() -> list[Plain]:
    points = [(5, 10, 1, 20), (5, 2, 2, 20), (10, 5, 1, 20), (3, 1, 1, 8)]
    return [
        {"m": m, "n_com": n_com, "wmin": wmin, "p": p, "iterations": 3, "slots": 600, "scenario": i, "trial": i}
        for i, (m, n_com, wmin, p) in enumerate(points)
    ]


def _readings(recipe: Plain) -> Iterator[Query]:
    """Yield runs under readings other than the default ones."""
    readings = (
        *({"estimator": name} for name in ("conditional", "undivided")),
        *({"service": name} for name in ("longest", "begun")),
        {"ties": "highest"},
        *({"comparison": name} for name in ("frozen", "held-frozen", "candidate-fresh")),
    )
    for reading in readings:
        for policy in ("IE", "P-IAY", "E-IY", "Y-IE"):
            for engine in ENGINES:
                yield Query("coupled", "readings", recipe, {"policy": policy, "engine": engine, **reading})


def _bags() -> Iterator[Query]:
    for seed in range(120):
        recipe = {
            "small": True,
            "seed": seed,
            "tasks": 2 + seed % 5,
            "checkpoints": seed % 4,
            "store": "private" if seed % 5 == 4 else "shared",
            "on_demand": seed % 7 == 6,
            "slots": 8 + seed % 17,
        }
        yield Query("bags", "solve", recipe, {"solver": "auto", "threads": 1})
    for seed in range(20):
        recipe = {**_bag_of_the_paper(seed), "tasks": 10 + seed, "checkpoints": (1, 0, 9, 2)[seed % 4]}
        yield Query("bags", "paper", recipe, {"solver": "auto", "threads": 1})
    yield from _bags_of_many_levels(60)
    for seed in range(4):
        recipe = {**_bag_of_the_paper(seed), "tasks": 25 + 10 * seed, "checkpoints": (1, 9, 0, 4)[seed]}
        yield from _runs("bags", {**recipe, "on_demand": True})
        yield from _runs("bags", {**recipe, "on_demand": False}, POLICIES["bags"][:3])
    yield from _runs("bags", {**_bag_of_the_paper(9), "checkpoints": 3, "store": "private"}, POLICIES["bags"][:3])


def _bags_of_many_levels(number: int) -> Iterator[Query]:
    """Yield bags whose simple bounds are often too low, so that levels are annealed and queries decided."""
    draw = random.Random("levels")
    for i in range(number):
        recipe = {
            "set": "M04",
            "seed": draw.randrange(3),
            "start": draw.randrange(25_000),
            "slots": 1_500,
            "tasks": draw.randint(5, 20),
            "checkpoints": 2 + i % 2,
            "reference": draw.choice((600, 1_800, 3_600, 7_200)),
        }
        yield Query("bags", "levels", recipe, {"solver": "auto", "threads": 1})


def _bag_of_the_paper(seed: int) -> dict[str, Any]:
    machines = "M04" if seed % 2 else "M01"
    return {"set": machines, "seed": seed % 3, "start": 400 + 650 * seed, "slots": 1_500}


def _batches() -> Iterator[Query]:
    for seed in range(160):
        recipe = {"small": True, "seed": seed, "workers": 2 + seed % 6, "tasks": 1 + seed % 5, "batches": 1 + seed % 4}
        yield Query("batches", "solve", recipe, {"solver": ("auto", "native")[seed % 2]})
    for seed in range(40):
        recipe = {"seed": seed, "workers": 30 + seed, "tasks": 10 + seed, "batches": 6}
        rung = ("free", "traffic", "stream")[seed % 3]
        yield Query("batches", "rungs", {**recipe, "lead": "1d"}, {"solver": "native", "rung": rung, "of": "A3-copies"})
    for seed in range(4):
        recipe = {"seed": seed, "workers": 60, "tasks": 20 + 10 * seed, "batches": 6}
        yield from _runs("batches", {**recipe, "lead": "2d", "compute": ("available", "reliable")[seed % 2]})


def _grid() -> Iterator[Query]:
    for seed in range(200):
        recipe = {
            "seed": seed,
            "nodes": (4, 8, 16, 32)[seed % 4],
            "jobs": 5 + seed % 21,
            "load": (0.3, 0.6, 0.9, 1.2, 1.5)[seed % 5],
            "mix": ("wide", "narrow")[seed // 2 % 2],
            "slot": (60, 600)[seed // 4 % 2],
        }
        yield Query("grid", "solve", recipe, {"solver": "brute" if seed % 21 < 2 else "cpsat", "threads": 1})
    for seed in range(4):
        recipe = {"seed": seed, "nodes": (32, 64, 150, 400)[seed], "jobs": 60 + 40 * seed, "load": 0.4 + 0.3 * seed}
        yield from _runs("grid", recipe)
    for changes in ({"overlay": "cyclon"}, {"messaging": "poll"}, {"messaging": "pull"}, {"explore": "further"}):
        for engine in ENGINES:
            recipe = {"seed": 5, "nodes": 100, "jobs": 80, "load": 0.8}
            yield Query("grid", "readings", recipe, {"policy": "dgs", "engine": engine, **changes})


def _runs(family: str, recipe: Plain, policies: Sequence[str] | None = None) -> Iterator[Query]:
    for policy in POLICIES[family] if policies is None else policies:
        for engine in ENGINES:
            yield Query(family, "run", recipe, {"policy": policy, "engine": engine})


# The outcomes.


def answer(query: Query) -> Row:
    """Return a query with its outcome, which does not depend on earlier queries."""
    instance = _instance(query.family, _text(query.recipe))
    return Row(query, instance.fingerprint, outcome_of(instance, query))


@lru_cache(maxsize=4)
def _instance(family: str, recipe: str) -> Any:
    """Return the instance of a recipe."""
    options = json.loads(recipe)
    return drawn_states(**options) if "drawn_by" in options else hs.generate(family, **options)


def drawn_states(*, drawn_by: int, workers: int, slots: int, letters: str, **options: Any) -> Any:
    """Return an instance of `coupled` without communication, whose states are independent draws from some letters."""
    draw = random.Random(drawn_by)
    rows = ["".join(draw.choice(letters) for _ in range(slots)) for _ in range(workers)]
    return hs.from_states(rows, w=[draw.randint(1, 3) for _ in range(workers)], **options)


def outcome_of(instance: Any, query: Query) -> Plain:
    """Return the outcome of a solve or a run.

    Parameters
    ----------
    instance
        The instance.
    query
        The solve or run.
    """
    return _of_run(instance, query) if "policy" in query.options else _of_solve(instance, query)


def _of_solve(instance: Any, query: Query) -> Plain:
    options = dict(query.options)
    if "of" in options:
        options["of"] = _schedule_of(hs.run(instance, options["of"]))
    result = hs.solve(instance, **options)
    found = {
        "status": str(result.status),
        "value": result.value,
        "lower": result.lower,
        "upper": result.upper,
        "by": result.by,
        "counts": dict(sorted(result.counts.items())),
        "schedule": digest(result.schedule),
        **_of_certificate(result.certificate),
    }
    return _as_json(found)


def _of_certificate(certificate: Any) -> Plain:
    if certificate is None:
        return {}
    if hasattr(certificate, "latency"):  # of batches
        return {"satisfied": certificate.satisfied, "latency": certificate.latency}
    return {"certificate": digest(certificate)}


def _of_run(instance: Any, query: Query) -> Plain:
    run = hs.run(instance, **query.options)
    found = {name: getattr(run, name) for name in NUMBERS[query.family]}
    if query.family == "grid":
        found |= dataclasses.asdict(run.metrics())
        found |= {} if run.counters is None else {"counters": dataclasses.asdict(run.counters)}
    schedule = _schedule_of(run)
    found["valid"] = hs.check(instance, schedule).is_valid
    return _as_json({**found, "schedule": digest(schedule)})


def _schedule_of(run: Any) -> Any:
    schedule = getattr(run, "schedule", None) or run.run
    return schedule() if callable(schedule) else schedule


def digest(schedule: Any) -> str | None:
    """Return 16 hexadecimal digits of the SHA-256 of a schedule's compact JSON; None where there is no schedule."""
    if schedule is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schedule.json"
        hs.write_schedule(schedule, path)
        compact = _text(json.loads(path.read_bytes()))
    return hashlib.sha256(compact.encode()).hexdigest()[:16]


def _as_json(found: Plain) -> Plain:
    """Return an outcome as it is after being written and read."""
    plain: Plain = json.loads(_text(found))
    return plain


def _text(thing: Plain) -> str:
    return json.dumps(thing, separators=(",", ":"), default=_number)


def _number(value: Any) -> str | int:
    """Return a number that JSON does not know; fractions are written as text."""
    return str(value) if isinstance(value, Fraction) else int(value)


# The file.

_COLUMNS = ("family", "kind", "recipe", "fingerprint", "options", "outcome")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows to a CSV file, compressed if its name ends with .xz; the same rows give the same bytes."""
    with _opened(path, "wt") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for row in rows:
            query = row.query
            writer.writerow(
                [
                    query.family,
                    query.kind,
                    _text(query.recipe),
                    row.fingerprint,
                    _text(query.options),
                    _text(row.outcome),
                ]
            )


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file."""
    rows = []
    with _opened(path, "rt") as file:
        for line in csv.DictReader(file):
            recipe, options, outcome = (json.loads(line[name]) for name in ("recipe", "options", "outcome"))
            rows.append(Row(Query(line["family"], line["kind"], recipe, options), line["fingerprint"], outcome))
    return rows


def _opened(path: Path, mode: str) -> TextIO:
    if path.suffix == ".xz":
        return lzma.open(path, mode, newline="", encoding="utf-8")  # type: ignore[return-value]
    return path.open(mode, newline="", encoding="utf-8")  # type: ignore[return-value]


# Checking.


def sample_of(rows: Sequence[Row], number: int) -> list[Row]:
    """Return ``number`` quick rows, spread over all families and kinds, always the same ones."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if _is_quick(row):
            groups[row.query.family, row.query.kind].append(row)
    rounds = zip_longest(*(sorted(group, key=_place) for group in groups.values()))
    chosen = {id(row) for row in islice(filter(None, chain.from_iterable(rounds)), number)}
    return [row for row in rows if id(row) in chosen]


def _is_quick(row: Row) -> bool:
    counts, options = row.outcome.get("counts", {}), row.query.options
    is_small = all(counts.get(name, 0) <= most for name, most in QUICK.items())
    return is_small and not (options.get("policy") in SLOW_POLICIES and options.get("engine") == "plain")


def _place(row: Row) -> str:
    return hashlib.sha256((_text(row.query.recipe) + _text(row.query.options)).encode()).hexdigest()


def difference(stored: Row, tally: Tally) -> str | None:
    """Describe how the present outcome differs from the stored one; None if it does not.

    Parameters
    ----------
    stored
        A row of the file.
    tally
        Collects the time.
    """
    try:
        with tally.timing(stored.query):
            today = answer(stored.query)
    except Exception as error:  # an error of any kind is a difference
        return f"raised {type(error).__name__}: {error}"
    was = {"fingerprint": stored.fingerprint, **stored.outcome}
    now = {"fingerprint": today.fingerprint, **today.outcome}
    if (stored.query.family, stored.query.options.get("solver")) == ("grid", "cpsat"):
        was, now = _without_last_bits(was), _without_last_bits(now)
    names = [name for name in {**was, **now} if was.get(name) != now.get(name) or (name in was) != (name in now)]
    return "; ".join(f"{name} {was.get(name)!r} -> {now.get(name)!r}" for name in names) or None


def _without_last_bits(outcome: Plain) -> Plain:
    """Return an outcome without the counts `BY_PROCESSOR` and without the prices of the certificate."""
    counts = {name: number for name, number in outcome["counts"].items() if name not in BY_PROCESSOR}
    return {**outcome, "counts": counts, "certificate": "certificate" in outcome}


def check(rows: Sequence[Row], tally: Tally) -> int:
    """Compute rows again, print those that differ, and return their number."""
    differing = 0
    for row in rows:
        text = difference(row, tally)
        if text is not None:
            differing += 1
            query = row.query
            print(f"{query.family} {query.kind} {_text(query.recipe)} {_text(query.options)}: {text}", flush=True)
    return differing


class Tally:
    """Number of rows of each kind, and the time they take."""

    def __init__(self) -> None:
        self._number: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._most: defaultdict[tuple[str, str], float] = defaultdict(float)

    @contextmanager
    def timing(self, query: Query) -> Iterator[None]:
        """Count a query and time the block."""
        kind, began = (query.family, query.kind), time.perf_counter()
        yield
        taken = time.perf_counter() - began
        self._number[kind] += 1
        self._seconds[kind] += taken
        self._most[kind] = max(self._most[kind], taken)

    def __str__(self) -> str:
        lines = [
            f"{family:8} {kind:17} {number:5} rows {self._seconds[family, kind]:8.1f} s, "
            f"longest {self._most[family, kind]:.1f} s"
            for (family, kind), number in self._number.items()
        ]
        total = f"{'all':26} {self._number.total():5} rows {sum(self._seconds.values()):8.1f} s"
        return "\n".join([*lines, total])


def _answered(wanted: Iterable[Query], tally: Tally) -> Iterator[Row]:
    for query in wanted:
        with tally.timing(query):
            row = answer(query)
        yield row


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check a file of rows; return 1 if any differs.

    Parameters
    ----------
    arguments
        Of the command line; None: those of this process.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verb = parser.add_mutually_exclusive_group(required=True)
    verb.add_argument("--write", type=Path, metavar="FILE", help="compute all rows and store them")
    verb.add_argument("--check", type=Path, metavar="FILE", help="compute the rows of FILE again and compare")
    parser.add_argument("--family", choices=sorted(POLICIES), help="this family alone")
    parser.add_argument("--sample", type=int, metavar="N", help="check N quick rows, always the same ones")
    given = parser.parse_args(arguments)
    tally = Tally()
    print(f"hindsched: {hs.__file__}", file=sys.stderr)
    if given.write is not None:
        if given.sample is not None:
            parser.error("--sample goes with --check")
        wanted = [query for query in queries() if given.family in (None, query.family)]
        write_rows(given.write, list(_answered(wanted, tally)))
        print(tally, file=sys.stderr)
        return 0
    rows = [row for row in read_rows(given.check) if given.family in (None, row.query.family)]
    if given.sample is not None:
        rows = sample_of(rows, given.sample)
    differing = check(rows, tally)
    print(tally, file=sys.stderr)
    print(f"{len(rows)} rows checked, {differing} differ")
    return 1 if differing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
