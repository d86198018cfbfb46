"""The adapter: verbs of the command line on instances of this family, and rows of campaigns with optima."""

import json
import re
import sys
from itertools import permutations
from types import SimpleNamespace

import pytest

from hindsched import instances
from hindsched.bench.campaign.jobs import optimum_job
from hindsched.bench.campaign.recheck import recheck, sample
from hindsched.bench.family import family_named
from hindsched.bench.grid import FAMILY
from hindsched.bench.grid.report import findings, waits_table
from hindsched.bench.grid.sources import Generated, Window
from hindsched.bench.results.journal_rows import results_of
from hindsched.bench.results.ratios import contradictions, profile
from hindsched.bench.results.records import records
from hindsched.bench.results.summary import summary
from hindsched.bench.run_records import Options
from hindsched.instances.grid import Instance
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.instances.grid.price_certificate import PriceCertificate
from hindsched.offline.results import Result, Sense, Status
from tests.cases.grid import random_instance, schedule_at, serial_starts
from tests.cases.jobs import policy_job


@pytest.fixture
def by_enumeration(monkeypatch):
    """Solve the family by serial generation in every order, so that the adapter is tested without solvers."""

    def solve(instance, *, solver="auto", time_limit_s=None, **more):
        starts = min(
            (serial_starts(instance, list(order)) for order in permutations(range(len(instance)))), key=sum, default=[]
        )
        value = sum(starts) - sum(instance.submit.tolist())
        schedule = schedule_at(instance, starts)
        return Result(Status.OPTIMAL, Sense.MIN, value, value, value, schedule, by="enumeration", runtime_s=0.0)

    monkeypatch.setitem(
        sys.modules, "hindsched.offline.grid", SimpleNamespace(solve=solve, available_solvers=lambda: ["enumeration"])
    )


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.json"
    instances.write(random_instance(7, jobs=12, nodes=4), path)
    return path


def objects(out):
    return [json.loads(line) for line in out.splitlines()]


def test_generate_and_import(hindsched, tmp_path):
    code, out, _ = hindsched("generate", "--family", "grid", "--nodes", 16, "--jobs", 5, "--load", 0.95, "--seed", 2)
    assert code == 0
    made = json.loads(out)
    assert (made["format"], made["nodes"], len(made["jobs"])) == ("grid/1", 16, 5)
    code, out, _ = hindsched("import", "kth_sp2", "--family", "grid", "--slot", 60, "--first", 3, "--count", 9)
    assert instances.grid.read_instance(json.loads(out)) == kth_sp2(first=3, count=9)
    log = tmp_path / "log.swf"
    log.write_text("; a log\n1 0 0 60 2 0 0 2\n2 50 0 0 2 0 0 2\n3 70 0 90 9 0 0 9\n")
    arguments = ("import", log, "--family", "grid", "--slot", 60, "--nodes", 4)
    code, out, err = hindsched(*arguments, "--wide", "drop")
    assert json.loads(out)["jobs"] == [[0, 2, 1]]
    assert "jobs: 1 of 3 lines; left out: 1 without a run time, 1 wider than the grid\n" in err
    assert hindsched(*arguments)[0] == 2
    assert hindsched("import", log, "--family", "grid", "--slot", 60)[0] == 2
    for option in (("--nodes", 7), ("--compress", 2), ("--kind", "gwf"), ("--wide", "drop")):
        code, out, err = hindsched("import", "kth_sp2", "--family", "grid", "--slot", 60, *option)
        assert (code, out, err.startswith(f"hindsched: {option[0]}: ")) == (2, "", True)
    code, _, err = hindsched(*arguments, "--train", 3)
    assert code == 2
    assert "--train is an option of coupled" in err


def test_batsims_workloads_are_imported(hindsched, tmp_path):
    path = tmp_path / "workload.json"
    profile = {"p": {"type": "delay", "delay": 90}}
    jobs = [{"id": "a", "subtime": 61, "res": 2, "profile": "p"}]
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profile}))
    code, out, _ = hindsched("import", path, "--family", "grid", "--kind", "batsim", "--slot", 60)
    assert (code, json.loads(out)["jobs"]) == (0, [[2, 2, 2]])
    path.write_text(json.dumps({"nb_res": 4, "jobs": [jobs[0] | {"walltime": 60}], "profiles": profile}))
    code, out, err = hindsched("import", path, "--family", "grid", "--kind", "batsim", "--slot", 60)
    assert (code, json.loads(out)["jobs"]) == (0, [[2, 2, 1]])
    assert "jobs: 1, 1 of them until their walltime\n" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"nb_res":4,"jobs":[],"profiles":{}}', "jobs: none, expected at least one"),
        ('{"jobs":[],"profiles":{}}', "nb_res: missing, expected it or --nodes"),
        (
            '{"nb_res":4,"jobs":[{"id":1,"subtime":1e999,"res":1,"profile":"p"}],"profiles":{"p":{"type":"delay","delay":9}}}',
            "expected",
        ),
    ],
)
def test_unusable_workloads_of_batsim_end_in_one_line(hindsched, tmp_path, text, message):
    path = tmp_path / "workload.json"
    path.write_text(text)
    code, out, err = hindsched("import", path, "--family", "grid", "--kind", "batsim", "--slot", 60)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert f"{path}: " in err
    assert message in err


def test_workloads_and_schedules_are_taken_to_batsim(hindsched, tiny, tmp_path):
    workload, schedule, table = (tmp_path / name for name in ("workload.json", "schedule.json", "jobs.csv"))
    assert hindsched("export", tiny, "-o", workload)[0] == 0
    code, out, _ = hindsched("import", workload, "--family", "grid", "--kind", "batsim", "--slot", 60)
    assert instances.grid.read_instance(json.loads(out)) == instances.read(tiny)
    assert hindsched("simulate", tiny, "--policy", "easy", "--schedule", schedule)[0] == 0
    assert hindsched("export", tiny, schedule, "-o", table)[0] == 0
    assert table.read_text().count("COMPLETED_SUCCESSFULLY") == len(instances.read(tiny))
    schedule.write_text(schedule.read_text().replace("allocations", "others"))
    code, _, err = hindsched("export", tiny, schedule, "-o", table)
    assert (code, "missing key allocations" in err) == (2, True)


def test_simulate_check_and_gantt(hindsched, tiny, tmp_path):
    code, out, _ = hindsched("simulate", tiny, "--json", "--degree", 3, "--option", "rule=area", "--seed", 5)
    rows = {row["policy"]: row for row in objects(out)}
    assert code == 0
    assert list(rows) == ["dgs", "asap_pinned", "asap_counted", "queue", "fcfs", "easy", "late"]
    assert list(rows["dgs"])[2:6] == ["degree", "seed", "jobs", "failed"]
    assert {"total_wait", "total_response", "max_wait", "median_wait", "ends", "pull", "failed_stale"} <= set(
        rows["dgs"]
    )
    assert rows["queue"]["rule"] == "area"
    assert "rule" not in rows["dgs"]
    schedule = tmp_path / "schedule.json"
    assert hindsched("simulate", tiny, "--policy", "easy", "--schedule", schedule)[0] == 0
    code, out, _ = hindsched("check", tiny, schedule, "--json")
    (row,) = objects(out)
    assert (code, row["valid"], row["total_wait"]) == (0, True, rows["easy"]["total_wait"])
    picture = tmp_path / "picture.svg"
    assert hindsched("gantt", tiny, schedule, "-o", picture)[0] == 0
    assert "total wait" in picture.read_text()
    document = json.loads(schedule.read_text())
    document["allocations"].pop()
    schedule.write_text(json.dumps(document))
    code, out, _ = hindsched("check", tiny, schedule, "--json")
    assert (code, objects(out)[0]["rule"]) == (1, "S2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fwd", 64),
        ("--option", "degree=0"),
        ("--option", "degree=many"),
        ("--option", "overlay=ring"),
        ("--option", "speed=1"),
        ("--policy", "IE"),
        ("--estimator", "printed"),
    ],
)
def test_unsuitable_options_are_refused(hindsched, tiny, arguments):
    code, out, err = hindsched("simulate", tiny, *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_options_follow_the_family_of_the_file(hindsched, tiny, tmp_path, by_enumeration):
    instances.write(random_instance(1, jobs=5, nodes=8), tmp_path / "five.json")
    options = "--policy", "dgs", "--degree", 2, "--results", tmp_path / "results", "--json"
    code, out, err = hindsched("score", tmp_path / "five.json", *options)
    assert "hindsched:" not in re.sub("hindsched: compiling machine code, .*", "", err)
    (row,) = objects(out)
    assert (code, row["family"], row["options"]) == (0, "grid", "degree 2")
    code, out, err = hindsched("score", tmp_path / "five.json", "--estimator", "printed")
    assert (code, out) == (2, "")
    assert "--estimator is an option of coupled, not of grid" in err


def test_invalid_schedules_and_very_long_ones_are_not_drawn(hindsched, tiny, tmp_path):
    prices = tmp_path / "prices.json"
    instances.write_schedule(PriceCertificate.of(instances.read(tiny), 1, []), prices)
    late = tmp_path / "late.json"
    pair = Instance(2, 60, [0], [1], [1])
    instances.write(pair, tmp_path / "one.json")
    instances.write_schedule(schedule_at(pair, [10**400]), late)
    for verb in ("gantt", "export"):
        for file, given in ((tiny, prices), (tmp_path / "one.json", late)):
            code, out, err = hindsched(verb, file, given, "-o", tmp_path / "out.svg")
            assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "out.svg").exists()


def test_a_workload_of_batsim_is_imported_completely(hindsched, tmp_path):
    path = tmp_path / "batsim.json"
    path.write_text("{}")
    code, _, err = hindsched("import", path, "--family", "grid", "--kind", "batsim", "--slot", 60, "--first", 3)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "--first" in err


def test_workloads_beyond_64_bits_are_not_generated(hindsched):
    for name, value in (("--nodes", 10**400), ("--slot", 10**400), ("--load", "1e-320")):
        code, out, err = hindsched("generate", "--family", "grid", name, value)
        assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_solve_prints_waits(hindsched, tmp_path, by_enumeration):
    path = tmp_path / "pair.json"
    instances.write(Instance(2, 60, [0, 0], [2, 1], [5, 1]), path)
    code, out, _ = hindsched("solve", path, "--json")
    (row,) = objects(out)
    assert (code, row["value"], row["status"], row["by"]) == (0, 1, "optimal", "enumeration")
    code, out, err = hindsched("solve", path, "--json", "--bound", tmp_path / "prices.json")
    assert (code, [row["value"] for row in objects(out)], len(err.splitlines())) == (2, [1], 1)  # no prices
    assert not (tmp_path / "prices.json").exists()


def test_rows_of_a_campaign(by_enumeration, tmp_path):
    options = Options(run=(("degree", "2"),), time_limit_s=10.0, seed=4)
    rows = []
    for seed in range(6):
        source = SimpleSource(f"number {seed}", random_instance(seed, jobs=5, nodes=12, span=3))
        rows.append(optimum_job(source, options, tmp_path).run())
        rows += [policy_job(source, policy, options).run() for policy in FAMILY.policies()]
    failing = [row for row in rows if row.get("failed")]
    assert failing  # jobs beyond reach: they are measured by the optimum of the others
    assert all(row["optimum"]["status"] == "optimal" for row in failing)
    assert all("optimum" not in row for row in rows if row["kind"] == "run" and not row["failed"])
    results = results_of((str(i), row) for i, row in enumerate(rows))
    assert contradictions(results.runs) == []
    table = summary(results.runs)
    assert (table["median"] >= 1).all()
    assert (table["policy"].isin(FAMILY.policies())).all()
    shares = profile(results.runs)
    failing_at = results.runs[results.runs["failed"].astype(float) > 0]
    for fingerprint, policy in zip(failing_at["fingerprint"], failing_at["policy"], strict=True):
        assert shares.loc[fingerprint, policy] == float("inf")  # it left jobs out: its waits cannot be compared
    percent = {row["policy"]: row["failed_percent"] for row in records(table)}
    assert percent["easy"] == 0 < percent["dgs"]
    waits = waits_table(results.runs)
    assert (waits["excess_at_least"].dropna() >= 0).all()
    for policy in ("dgs", "late"):
        mine = sum(row["failed"] for row in failing if row["policy"] == policy)
        assert waits.loc[waits["policy"] == policy, "failed"].item() == mine > 0
    assert [finding.split()[0] for finding in findings(results.runs)] == ["dgs", "late"]
    late = [row for row in rows if row.get("policy") == "late"]
    messages = sum(row[name] for row in late for name in ("forwards", "withdrawals", "notices"))
    assert waits.loc[waits["policy"] == "late", "told"].item() == messages / sum(row["jobs"] for row in late)
    assert waits.loc[waits["policy"] != "late", "told"].isna().all()


class SimpleSource:
    """An instance by name that is loaded at each use."""

    family = "grid"
    setting = "tests"
    point = None

    def __init__(self, name, instance):
        self.name = name
        self.instance = instance
        self.identity = instance.fingerprint

    def load(self):
        return self.instance


def test_without_a_time_limit_a_run_with_failures_is_measured_by_nothing(by_enumeration):
    jobs = Instance(12, 60, [0], [12], [1])
    played = FAMILY.run(jobs, "dgs", Options(run=(("degree", "2"),)), 0)
    assert (played.value, played.optimum.status, played.facts["failed"]) == (0, "unknown", 1)
    accepted = FAMILY.run(jobs, "easy", Options(), 0)
    assert (accepted.value, accepted.optimum) == (1, None)


def test_runs_are_rechecked(by_enumeration, tmp_path):
    sources = [Generated(8, 3600, 6, 0.9, 1), Window(60, 30, 5)]
    rows = [
        policy_job(source, policy, Options(time_limit_s=5.0)).run() for source in sources for policy in ("dgs", "easy")
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = list(recheck(tmp_path, sample(tmp_path, 10, seed=0, most_slots=1000)))
    assert [row["differs"] for row in again] == [None] * 4
    rows[1]["digest"] = "0"
    (tmp_path / "runs.jsonl").write_text(json.dumps(rows[1]) + "\n")
    assert [row["differs"] for row in recheck(tmp_path, sample(tmp_path, 1, seed=0, most_slots=1000))] == ["digest"]


def test_sources_of_campaign_files():
    drawn = FAMILY.sources({"nodes": [8, 16], "jobs": [10], "loads": [0.5], "seeds": 2, "slot_s": 3600})
    assert [source.name for source in drawn][:2] == [
        "generated M=8 slot=3600s jobs=10 load=0.5 wide seed=0",
        "generated M=8 slot=3600s jobs=10 load=0.5 wide seed=1",
    ]
    assert FAMILY.from_point(drawn[1].point) == drawn[1].load()
    windows = FAMILY.sources({"first": [0, 50], "jobs": [20]})
    assert FAMILY.from_point(windows[1].point) == kth_sp2(first=50, count=20)
    for table in ({"loads": [0.0]}, {"mixes": ["odd"]}, {"speed": 1}, {"nodes": [0]}):
        with pytest.raises(instances.InputError):
            FAMILY.sources(table)
    usual = FAMILY.commands.default_sources(
        {"nodes": 8, "slot_s": 60, "num_jobs": 5, "load": 0.5, "mix": "narrow", "seed": 3, "draws": 2}
    )
    assert len({source.identity for source in usual}) == len(usual) == 6


def test_the_family_is_known():
    assert family_named("grid") is FAMILY
    assert FAMILY.policies()[0] == "dgs"


def test_the_key_of_a_run_includes_the_options_of_its_optimum():
    source = SimpleSource("one", random_instance(1, jobs=5, nodes=12, span=3))
    ways = (Options(), Options(solver="cpsat"), Options(time_limit_s=1.0), Options(time_limit_s=2.0))
    plain, other_solver, *limited = (policy_job(source, "dgs", options).key for options in ways)
    assert plain == other_solver  # without a limit nothing is solved
    assert len({plain, *limited, policy_job(source, "dgs", Options(solver="cpsat", time_limit_s=1.0)).key}) == 4


def test_events_and_bursts_by_the_command_line(hindsched, tmp_path):
    path, schedule, picture = (tmp_path / name for name in ("i.json", "s.json", "g.svg"))
    given = ("--nodes", 12, "--jobs", 30, "--load", 0.7, "--arrivals", "bursts")
    assert hindsched("generate", "--family", "grid", *given, "-o", path)[0] == 0
    assert len(set(instances.read(path).submit.tolist())) < 15
    events = ("--mtbf", 600, "--mttr", 90, "--cancel-percent", 20, "--latency", 1, "--retries", 2, "--restarts", 0)
    code, out, _ = hindsched("simulate", path, "--policy", "dgs", *events, "--schedule", schedule, "--json")
    (row,) = objects(out)
    assert (code, row["mtbf"], row["failed"] >= row["cancelled"] > 0) == (0, 600, True)
    assert row["lost_runs"] + row["moved"] > 0
    code, out, _ = hindsched("check", path, schedule)
    assert (code, f"{row['failed']} failed, total wait {row['total_wait']}" in out) == (0, True)
    assert hindsched("gantt", path, schedule, "-o", picture)[0] == 0
    assert "nodes that are down" in picture.read_text()
    code, _, err = hindsched("simulate", path, "--policy", "dgs", "--cancel-percent", 101)
    assert (code, "--cancel-percent: 101, expected an integer from 0 to 100" in err) == (2, True)


def test_a_run_with_cancelled_jobs_has_the_optimum_of_the_others(by_enumeration):
    compared = 0
    for seed in range(40):
        instance = random_instance(seed, jobs=6, nodes=6, widest=3)
        options = Options(run=(("cancel_percent", "40"), ("cancel_slots", "2"), ("mtbf", "90")), time_limit_s=1.0)
        record = FAMILY.run(instance, "dgs", options, seed)
        FAMILY.replay(instance, record, "dgs")
        if record.facts["cancelled"]:
            assert record.optimum.lower <= record.value
            compared += record.facts["failed"] < len(instance)
    assert compared > 3
