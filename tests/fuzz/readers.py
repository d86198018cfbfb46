"""Small valid files of every form, and what reads them. A reader may raise `InputError`, and nothing else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from hindsched import instances
from hindsched.bench.campaign.file import read_campaign
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.cli import main
from hindsched.bench.results.read import read_results
from hindsched.instances import InputError, bags, batches, coupled, deadline, grid
from hindsched.instances.batches import generate as batches_generate
from hindsched.instances.coupled.generate import small
from hindsched.instances.deadline.generate import generate as deadline_job
from hindsched.instances.deadline.model import spot_from_text
from hindsched.instances.deadline.prices import read_prices
from hindsched.instances.families import part
from hindsched.instances.grid.batsim import from_batsim
from hindsched.instances.grid.schedule import Events, StoppedRun
from hindsched.instances.grid.workloads import import_log
from hindsched.instances.text_files import read_json
from hindsched.instances.traces import Trace, read
from hindsched.online import run_policy
from hindsched.reductions.graph_files import read_graph

__all__ = ["Reader", "files"]

#: Reads a file; raises `InputError` for a wrong one.
Reader = Callable[[Path], object]

_ROWS = [
    {
        "key": "a",
        "kind": "run",
        "family": "coupled",
        "instance": "x",
        "setting": "files",
        "fingerprint": "sha256:0",
        "policy": "IE",
        "makespan": 7,
        "limit": 100,
        "point": None,
        "runtime_s": 0.5,
    },
    {"key": "b", "kind": "optimum", "instance": "x", "fingerprint": "sha256:0", "status": "optimal", "value": 5},
]
_TOML = """policies = ["IE", "RANDOM", "A2"]
options.estimator = ["printed"]
time_limit_s = 5.0

[[instances]]
m = [2, 3]
n_com = [2]
wmin = [1]
p = 4
iterations = 1
scenarios = 2
trials = 1
slots = 200
start = "up"

[[instances]]
family = "batches"
workers = [5]
"""
_BATSIM = {
    "nb_res": 4,
    "profiles": {"p": {"type": "delay", "delay": 90.5}},
    "jobs": [{"id": "a", "subtime": 61, "res": 2, "profile": "p", "walltime": 100}],
}
_SPANS = "0 0 1 1 n 1 0 600 0\n1 0 1 1 n 0 600 900 0\n2 0 2 1 m 2 0.5 900 0\n"


def files() -> Iterator[tuple[str, bytes, Reader]]:
    """Yield the name, the content and the reader of each form of a file."""
    for family, instance, policy in _instances():
        text = part(family, "instances").write_instance(instance)
        yield f"{family} instance", text.encode(), _instance
        ran = run_policy(instance, policy)
        schedule = ran.run if family == "batches" else ran.schedule
        yield f"{family} schedule", _written(schedule() if callable(schedule) else schedule), _schedule(instance)
    yield "drawn batches", part("batches", "instances").write_instance(_drawn()).encode(), _instance
    lone = coupled.Instance.from_letters(["uuuu"], w=[1], tasks=1, iterations=1, n_com=1, t_prog=1, t_data=0)
    prices = grid.PriceCertificate.of(_grid(), 1, [grid.Resource(3, [(0, 5, 1)])])
    yield "price certificate", _written(prices), _schedule(_grid())
    events = Events(((0, 1, 2),), ((1, 9),), (StoppedRun(0, 0, 1, (0, 1)),))
    yield (
        "schedule with events",
        _written(grid.Schedule.of(_grid(), [2, 7], [[0, 1], [0, 2]], events)),
        _schedule(_grid()),
    )
    bound = deadline.BoundCertificate.of(_job(), 1, 2, [[0, -1, -2, -3]] + [[0] * 4] * 4)
    yield "bound certificate", _written(bound), _schedule(_job())
    yield "prices", b"time,zone,price\n0,a,0.5\n600,a,1\n900,b,2\n", read_prices
    yield "instance of letters", part("coupled", "instances").write_instance(lone).encode(), _instance
    yield "samples", b"date,availability\n2023-02-15 22:00:00,1\n2023-02-15 22:10:00,0\n2023-02-15 22:20:00,1\n", _trace
    yield "counts", b"time;zone;count\n0;a;2\n600;a;1\n0;b;0\n600;b;3\n", _trace
    yield "JSON samples", b'{"metadata": {"gap_seconds": 600, "start_time": 5}, "data": [1, 0, 1, 1]}', _trace
    yield "log of nodes", b"0,add,a\n500000,add,b\n700000,remove,a\n900000,add,a\n", _trace
    yield "event table", _SPANS.encode(), _trace
    yield "log of jobs", b"; MaxProcs: 8\n1 0 -1 300 4 -1 -1 4 60 -1 1\n2 60 -1 100 2 -1 -1 2 60 -1 1\n", _log
    yield "Batsim", json.dumps(_BATSIM).encode(), lambda path: from_batsim(read_json(path), slot_s=60)
    yield "campaign", _TOML.encode(), read_campaign
    yield "table of runs", b"instance,policy,makespan,optimum,limit\na,IE,7,5,100\nb,IP,,5,100\n", read_results
    yield "rows", b"".join(json.dumps(row).encode() + b"\n" for row in _ROWS), _rows
    for name, content, arguments in _commands():
        yield name, content, _command(arguments)
    yield "x.edgelist", b"x 1\ny 2\nx 2\n", read_graph
    yield "x.txt", b"101\n0 1 0\n1,1,1\n", read_graph


def _commands() -> Iterator[tuple[str, bytes, str]]:
    table = b"date,zone,availability\n" + b"".join(b"%d,%c,%d\n" % (600 * i, 97 + i % 2, i % 3 > 0) for i in range(24))
    yield "import of samples", table, "import {} --slot 600 --m 1 --train 0"
    yield "import of counts", b'{"gap": 60, "data": [0, 1, 2, 2, 1, 0, 3, 3]}', "import {} --slot 60 --m 2"
    yield "import of bags", table, "import {} --family bags --slot 600 --tasks 1"
    yield "import of deadline", table, "import {} --family deadline --slot 600 --work-h 1 --deadline-h 2"
    yield "import of batches", table, "import {} --family batches --deadline 3600 --batches 1 --first-day 0"
    yield (
        "import of jobs",
        b"1 0 -1 300 4 -1 -1 4\n2 60 -1 9 2 -1 -1 2\n",
        "import {} --family grid --nodes 8 --slot 60",
    )
    yield "import of Batsim", json.dumps(_BATSIM).encode(), "import {} --family grid --kind batsim --slot 60"
    for family, instance, policy in _instances():
        text = part(family, "instances").write_instance(instance).encode()
        yield f"run of {family}", text, f"simulate {{}} --policy {policy}"


def _command(line: str) -> Reader:
    def reader(path: Path) -> None:
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr("sys.argv", ["hindsched", *(word.format(path) for word in line.split())])
            with pytest.raises(SystemExit) as stop:
                main()
        code = stop.value.code
        if code == 2:
            assert out.getvalue() == ""
            assert err.getvalue().startswith("hindsched: ")
            raise InputError(err.getvalue().splitlines()[-1])
        assert code == 0, (code, err.getvalue())

    return reader


def _instances() -> Iterator[tuple[str, object, str]]:
    yield "coupled", small(5, p=3, slots=30, up=0.8, down=0.05), "IE"
    pair = bags.Instance.from_letters(["uuuuuuuu", "uuduuuuu"], ticks=[1, 2], slot=3, tasks=2, segments=2)
    yield "bags", pair, "FCFS"
    yield "batches", batches_generate.small(3), "A2"
    yield "grid", _grid(), "fcfs"
    yield "grid", grid.Instance(nodes=3, slot_s=60, submit=[0, 2**40], width=[2, 2], length=[5, 1]), "fcfs"
    yield "deadline", deadline_job(3, zones=2, slots=6, move_delay_s=7, move_cost=9), "up_s"
    yield "deadline", _job(), "uniform"


def _grid() -> grid.Instance:
    return grid.Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])


def _job() -> deadline.Instance:
    zone = deadline.Zone(spot_from_text("0110"), (4, 1, 2, 3), 9)
    return deadline.Instance(slot_s=10, deadline_s=45, work_s=12, overhead_s=3, zones=[zone])


def _drawn() -> batches.Instance:
    return batches_generate.paper(workers=2, batches=2, seed=1)


def _written(schedule: object) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        instances.write_schedule(schedule, path)
        return path.read_bytes()


def _instance(path: Path) -> None:
    found = instances.read(path)
    instances.write(found, path.with_name("copy.json"))
    assert instances.read(path.with_name("copy.json")) == found


def _schedule(instance: object) -> Reader:
    def reader(path: Path) -> None:
        found = instances.read_schedule(path)
        if getattr(found, "malformed", None) is None and getattr(found, "defect", "") == "":
            instances.write_schedule(found, path.with_name("copy.json"))
        instances.check(instance, found)

    return reader


def _trace(path: Path) -> None:
    with redirect_stderr(StringIO()):
        found: Trace = read(path)
    found.states(slot_s=300, slots=2, nodes=1, unobserved="down")


def _log(path: Path) -> None:
    import_log(path, nodes=8, slot_s=60)


def _rows(path: Path) -> None:
    folder = path.parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / Journal.NAME).write_bytes(path.read_bytes())
    read_results(folder)
    with Journal(folder):
        pass
