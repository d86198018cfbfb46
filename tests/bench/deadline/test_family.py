"""The adapter: verbs of the command line on jobs with a deadline, and rows of campaigns with optima."""

import json

import pandas as pd
import pytest

import hindsched as hs
from hindsched import instances
from hindsched.bench.campaign.jobs import files_of_policy
from hindsched.bench.deadline import FAMILY
from hindsched.bench.deadline.gantt import history
from hindsched.bench.deadline.sources import Generated, Window
from hindsched.bench.results.bootstrap import cluster_words
from hindsched.bench.results.columns import typed_frame
from hindsched.bench.run_records import Options
from hindsched.instances.deadline import UNITS_PER_DOLLAR, Zone, check, spot_zones, write_instance
from hindsched.instances.deadline.generate import generate
from hindsched.offline.deadline import solve
from hindsched.online.deadline import POLICIES, run_policy
from tests.cases.deadline import drawn, job
from tests.cases.jobs import policy_job


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.json"
    instances.write(generate(4, slots=24, overhead_s=400), path)
    return path


@pytest.fixture
def several(tmp_path):
    path = tmp_path / "several.json"
    instances.write(generate(4, zones=2, slots=16, move_delay_s=60, move_cost=1000), path)
    return path


@pytest.fixture
def strategy(tmp_path):
    path = tmp_path / "eager.py"
    path.write_text(
        "from sky_spot.strategies.strategy import Strategy\nfrom sky_spot.utils import ClusterType\n\n"
        "class Solution(Strategy):\n    NAME = 'eager'\n\n    def solve(self, path):\n        return self\n\n"
        "    def _step(self, last, has_spot):\n"
        "        return ClusterType.SPOT if has_spot else ClusterType.ON_DEMAND\n"
    )
    return path


def objects(out):
    return [json.loads(line) for line in out.splitlines()]


def refused(outcome, *said):
    code, out, err = outcome
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    for text in said:
        assert text in err, err


def test_generate(hindsched):
    sizes = ("--zones", 2, "--slots", 9, "--slot", 100, "--work", 300, "--deadline", 950, "--overhead", 7, "--up", 1)
    code, out, _ = hindsched("generate", "--family", "deadline", *sizes, "--seed", 3)
    made = json.loads(out)
    assert code == 0
    assert [made[name] for name in ("format", "slot_s", "deadline_s", "work_s", "overhead_s")] == [
        *("deadline/1", 100, 950, 300, 7),
    ]
    assert [zone["spot"] for zone in made["zones"]] == ["1" * 9] * 2
    refused(hindsched("generate", "--family", "deadline", "--slots", 9, "--deadline", 7), "--deadline")
    refused(
        hindsched("generate", "--family", "deadline", "--wmin", 9), "--wmin is an option of coupled, not of deadline"
    )


SAMPLES = "date,zone,availability\n" + "".join(
    f"2024-01-01 00:{minute:02d}:00,{zone},{up}\n"
    for zone, states in (("us-east-2a", "1101"), ("us-west-2b", "0111"))
    for minute, up in zip((0, 10, 20, 30), states, strict=True)
)


def test_import_with_prices_and_a_checkpoint(hindsched, tmp_path):
    trace, prices = tmp_path / "zones.csv", tmp_path / "prices.csv"
    trace.write_text(SAMPLES)
    prices.write_text(
        "time,zone,price\n2024-01-01,us-east-2a,1\n2024-01-01 00:30,us-east-2a,0.5\n2023-01-01,us-west-2b,2\n"
    )
    sizes = ("--family", "deadline", "--slot", 600, "--work-h", "0.25", "--deadline-h", "0.7", "--overhead-h", "0.05")
    code, out, err = hindsched("import", trace, *sizes, "--prices", prices, "--checkpoint-gb", 50)
    made = json.loads(out)
    assert code == 0
    assert [made[name] for name in ("slot_s", "deadline_s", "work_s", "overhead_s")] == [600, 2520, 900, 180]
    assert [zone["spot"] for zone in made["zones"]] == ["1101", "0111"]
    assert [zone["spot_price"] for zone in made["zones"]] == [[1_000_000] * 3 + [500_000], 2_000_000]
    assert (made["move_delay_s"], made["move_cost"]) == ([[0, 8], [8, 0]], [[0, 1_000_000], [1_000_000, 0]])
    assert "hindsched: read: samples" in err
    code, out, _ = hindsched(
        "import", trace, *sizes, "--nodes", "us-west-2b", "--spot-price", "0.5", "--on-demand-price", "2"
    )
    (zone,) = json.loads(out)["zones"]
    assert (zone["name"], zone["region"]) == ("us-west-2b", "us-west-2")
    assert (zone["spot_price"], zone["on_demand_price"]) == (500_000, 2_000_000)
    later = ("--start", "2024-01-01T00:20:00", "--nodes", 1)
    code, out, _ = hindsched("import", trace, *sizes[:-4], "--deadline-h", "0.34", *later)
    assert json.loads(out)["zones"][0]["spot"] == "01"


def test_import_of_preempted_samples_and_check(hindsched, tmp_path):
    trace = tmp_path / "a.json"
    trace.write_text('{"gap_seconds": 600, "data": [0, 0, 1, 0]}')
    sizes = ("--family", "deadline", "--slot", 600, "--work-h", "0.25", "--deadline-h", "0.7")
    code, out, _ = hindsched("import", trace, *sizes, "--one-means", "preempted")
    assert (code, json.loads(out)["zones"][0]["spot"]) == (0, "1101")
    code, out, _ = hindsched("import", trace, "--family", "deadline", "--check", "--one-means", "preempted")
    assert code == 0
    assert "600" in out
    with pytest.raises(json.JSONDecodeError):
        json.loads(out)


def test_windows_of_a_trace_are_files_that_score_reads(hindsched, tmp_path):
    trace, folder = tmp_path / "zone.csv", tmp_path / "windows"
    spot = "".join(str(int(t % 11 > 2)) for t in range(120))
    rows = (f"{600 * t},{up}" for t, up in enumerate(spot))
    trace.write_text("\n".join(["date,availability", *rows]) + "\n")
    sizes = ("--family", "deadline", "--slot", 600, "--work-h", 1, "--deadline-h", 2, "--overhead-h", "0.05")
    code, out, err = hindsched("import", trace, *sizes, "--windows", 10, "-o", folder)
    assert (code, out) == (0, "")
    assert "windows of 12 slots that do not overlap, spread evenly over the trace" in err
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 10
    assert (names[0], names[-1]) == ("window-01-of-10-0s.json", "window-10-of-10-64800s.json")
    for k, name in enumerate(names):
        (zone,) = json.loads((folder / name).read_text())["zones"]
        assert zone["spot"] == spot[12 * k : 12 * k + 12]
    (one,) = hs.from_trace(trace, family="deadline", slot=600, work_h=1, deadline_h=2, start=600, windows=1)
    assert json.loads(write_instance(one))["zones"][0]["spot"] == spot[1:13]
    code, out, _ = hindsched("score", folder, "--policy", "uniform", "--results", tmp_path / "out")
    assert code == 0
    assert "windows of the same months depend on each other" in " ".join(out.split())
    refused(
        hindsched("import", trace, *sizes, "--windows", 11, "-o", tmp_path / "more"),
        "--windows: 11, expected at most 10: so many windows of 12 slots",
        "(--deadline-h, --start)",
    )
    refused(
        hindsched("import", trace, *sizes[:-4], "--deadline-h", "0.1", "--windows", 2, "-o", tmp_path / "short"),
        "--deadline-h: 360, expected at least one slot of 600 s",
    )


def test_bad_imports_are_refused_in_one_line(hindsched, tmp_path):
    trace, prices = tmp_path / "zones.csv", tmp_path / "prices.csv"
    trace.write_text(SAMPLES)
    prices.write_text("time,zone,price\n2024-01-01,us-east-2a,1\n")
    sizes = {"--family": "deadline", "--slot": 600, "--work-h": "0.25", "--deadline-h": "0.5"}

    def imported(**changes):
        given = sizes | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
        return hindsched("import", trace, *(text for pair in given.items() for text in pair))

    refused(imported(work_h="0.0001"), "--work-h: 0.0001 h, expected a whole number of seconds >= 0")
    refused(imported(deadline_h="x"), "--deadline-h: x h, expected")
    refused(imported(deadline_h="0.1"), "--deadline-h: 360, expected at least one slot of 600 s")
    refused(imported(work_h="0"), "--work-h: ")
    refused(imported(overhead_h="-1"), "--overhead-h")
    refused(imported(spot_price="dear"), "--spot-price: ", "expected dollars an hour")
    refused(imported(prices=prices), "us-west-2b")
    refused(imported(prices=prices, spot_price=1), "--prices: one price and a table of prices")
    refused(imported(prices=tmp_path / "none.csv"), "none.csv")
    refused(imported(checkpoint_gb=-1), "--checkpoint-gb")
    refused(imported(nodes="nowhere"), "nowhere")


def test_solve_and_check_with_rungs_and_a_bound(hindsched, tiny, tmp_path):
    free, guarded, bound = (tmp_path / name for name in ("free.json", "guarded.json", "bound.json"))
    code, out, _ = hindsched("solve", tiny, "--json", "--schedule", free, "--bound", bound)
    (best,) = objects(out)
    assert (code, best["status"], best["by"]) == (0, "optimal", "native")
    assert best["dollars"] == round(best["value"] / UNITS_PER_DOLLAR, 6)
    code, out, _ = hindsched("solve", tiny, "--json", "--rung", "guarded", "--guard", "latched", "--schedule", guarded)
    (held,) = objects(out)
    assert held["value"] >= best["value"]
    code, out, _ = hindsched("check", tiny, free, "--json")
    (row,) = objects(out)
    assert (code, row["valid"], row["cost"]) == (0, True, best["value"])
    assert {"finish", "launches", "moves", "spot_slots", "on_demand_slots", "idle_slots", "overhead_s"} <= set(row)
    code, out, _ = hindsched("check", tiny, guarded, "--rung", "guarded", "--guard", "latched", "--json")
    assert (code, objects(out)[0]["cost"]) == (0, held["value"])
    code, out, _ = hindsched("check", tiny, bound, "--json")
    assert (code, objects(out)[0]["valid"]) == (0, True)
    assert objects(out)[0]["value"] <= best["value"]
    code, _, err = hindsched("solve", tiny, "--solver", "cpsat", "--bound", bound)
    assert (code, "no certificate of its bound, expected the solver native" in err) == (2, True)
    refused(hindsched("solve", tiny, "--rung", "guarded", "--solver", "cpsat"), "cpsat is for the rung free")


def test_check_names_the_broken_rule_of_the_rung(hindsched, tmp_path):
    path, plan = tmp_path / "a.json", tmp_path / "plan.json"
    instances.write(job("000111", work_s=30), path)
    assert hindsched("solve", path, "--schedule", plan)[0] == 0
    assert hindsched("check", path, plan)[0] == 0
    code, out, _ = hindsched("check", path, plan, "--rung", "guarded", "--json")
    row = objects(out)[0]
    assert (code, row["valid"], row["time"], row["rule"]) == (1, False, 3, "guard")
    assert hindsched("check", path, plan, "--rung", "guarded")[1].startswith(f"{plan}: slot 3: guard broken")
    document = json.loads(plan.read_text())
    plan.write_text(json.dumps(document | {"instance": "sha256:0"}))
    code, _, err = hindsched("check", path, plan)
    assert (code, "another instance" in err or "fingerprint" in err) == (0, True)


def test_simulate_all_policies(hindsched, tiny, several, tmp_path):
    code, out, _ = hindsched("simulate", tiny, "--policy", "all", "--json")
    rows = {row["policy"]: row for row in objects(out)}
    assert (code, list(rows)) == (0, list(POLICIES))
    assert rows["greedy"]["cost"] == rows["greedy"]["paid"] == run_policy(instances.read(tiny), "greedy").cost
    assert rows["greedy"]["dollars"] == rows["greedy"]["cost"] / UNITS_PER_DOLLAR
    code, out, err = hindsched("simulate", several, "--policy", "all", "--json")
    assert [row["policy"] for row in objects(out)] == ["up_s"]
    assert "greedy is skipped: it is for one zone, and there are 2" in err
    code, out, err = hindsched("simulate", several, "--policy", "greedy")
    assert (code, out) == (2, "")
    assert "greedy is for one zone" in err


def test_a_missed_deadline_is_no_value(hindsched, tmp_path):
    path = tmp_path / "late.json"
    instances.write(job("000000", work_s=30), path)
    code, out, _ = hindsched("simulate", path, "--policy", "spot_only", "--guard", "none", "--json")
    (row,) = objects(out)
    assert (code, row["cost"], row["finish"], row["paid"], row["dollars"]) == (0, None, None, 0, None)
    code, out, _ = hindsched("simulate", path, "--policy", "spot_only", "--guard", "none")
    assert code == 0
    assert "dollars" in out
    assert "paid" not in out
    again = (
        "--policy",
        "spot_only",
        "--policy",
        "on_demand",
        "--guard",
        "none",
        "--results",
        tmp_path / "out",
        "--json",
    )
    code, out, err = hindsched("score", path, *again)
    rows = {row["policy"]: row for row in objects(out)}
    assert code == 0, err
    assert (rows["spot_only"]["unfinished"], rows["spot_only"]["dollars"]) == (1, None)
    assert (rows["on_demand"]["unfinished"], rows["on_demand"]["median"]) == (0, 1)


def test_tables_of_a_late_run_and_of_an_optimum_have_dollars(hindsched, tmp_path):
    path = tmp_path / "half.json"
    instances.write(
        job("110000", work_s=30).replace(zones=[Zone(job("110000", work_s=30).zones[0].spot, 9_000_000, 10**9)]), path
    )
    code, out, _ = hindsched("simulate", path, "--policy", "spot_only", "--guard", "none")
    assert code == 0
    assert "0.050" in out  # 20 s at 9 dollars an hour, though late
    assert "180000000" not in out
    code, out, _ = hindsched("solve", path)
    assert code == 0
    assert "2.83 $" in out  # and 10 s at 1,000
    assert "10180000000" not in out


def test_gantt(hindsched, tiny, several, tmp_path):
    for file in (tiny, several):
        plan, picture = tmp_path / "plan.json", tmp_path / "picture.svg"
        assert hindsched("solve", file, "--schedule", plan)[0] == 0
        assert hindsched("gantt", file, plan, "-o", picture)[0] == 0
        text = picture.read_text()
        assert "dollars" in text
        assert "zone0" in text
        instance, schedule = instances.read(file), solve(instances.read(file)).schedule
        past = history(instance, schedule)
        outcome = check(instance, schedule).outcome
        assert (past.done_s[-1], past.cost[-1], sum(past.overhead_s)) == (
            *(outcome.progress_s, outcome.cost, outcome.overhead_s),
        )


def test_history_agrees_with_the_checker():
    for seed in range(30):
        instance = drawn(seed)
        schedule = run_policy(instance, "up_s", guard="none").schedule
        past, outcome = history(instance, schedule), check(instance, schedule).outcome
        assert (past.done_s[-1], past.cost[-1], sum(past.overhead_s)) == (
            *(outcome.progress_s, outcome.cost, outcome.overhead_s),
        )


def test_score_on_packaged_windows(hindsched, tmp_path):
    sizes = ("--zone", "us-east-2a", "--starts", 1, "--deadline-h", 52, "--policy", "uniform", "--policy", "up_s")
    results = ("--results", tmp_path / "out", "--json", "--jobs", 1)
    code, out, err = hindsched("score", "--family", "deadline", *sizes, *results)
    rows = objects(out)
    assert code == 0, err
    assert {row["policy"] for row in rows} == {"uniform", "up_s"}
    assert all(row["unfinished"] == 0 and row["median"] >= 1 for row in rows)
    code, out, _ = hindsched("report", tmp_path / "out")
    assert code == 0
    assert (tmp_path / "out" / "report" / "report.html").is_file()


def test_windows_that_overlap_are_drawn_in_blocks_of_their_zone():
    windows = [
        Window(zone, start, 172_800, 187_200, 720) for zone in ("us-east-2a", "us-west-2b") for start in (0, 959, 960)
    ]
    rows = [
        {
            "family": "deadline",
            "instance": w.name,
            "setting": w.setting,
            "policy": "greedy",
            "fingerprint": str(i),
            **w.point,
        }
        for i, w in enumerate(windows)
    ]
    frame = typed_frame(pd.DataFrame(rows))
    assert frame["cluster"].tolist() == [f"{w.zone} block {w.start_sample // 960}" for w in windows]
    assert frame["parent"].tolist() == [w.zone for w in windows]
    assert cluster_words(frame) == "zones, and blocks of time in each"


def test_a_campaign_of_windows_and_of_random_jobs(hindsched, tmp_path):
    file = tmp_path / "campaign.toml"
    file.write_text(
        'policies = ["all"]\n'
        '[[instances]]\nfamily = "deadline"\nzones = ["us-east-2a"]\ndeadline_h = [52]\noverhead_s = [180, 720]\n'
        "starts = 1\nwork_h = 30\n"
        '[[instances]]\nfamily = "deadline"\nslots = [12]\nup = [0.5]\nnum_zones = [1, 2]\nseeds = 2\n'
    )
    code, out, err = hindsched("campaign", file, "--results", tmp_path / "out", "--jobs", 1, "--json")
    assert code == 0, err
    runs = [json.loads(line) for line in (tmp_path / "out" / "runs.jsonl").read_text().splitlines()]
    runs = [row for row in runs if row["kind"] == "run"]
    assert len(runs) == 2 * 9 + 2 * 9 + 2 * 1
    assert all(row["check"] == "valid" for row in runs)
    assert {row["family"] for row in objects(out)} == {"deadline"}
    for row in runs:
        assert FAMILY.from_point(row["point"]).fingerprint == row["fingerprint"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("zones = []\ndeadline_h = [52]\noverhead_s = [1]", ""),
        ('zones = ["nowhere"]\ndeadline_h = [52]\noverhead_s = [1]', "nowhere"),
        ('zones = ["us-east-2a"]\ndeadline_h = [0]\noverhead_s = [1]', "deadline_h"),
        ("slots = [12]\nup = [1.5]", "up"),
        ("slots = [12]", "up"),
        ("slots = [12]\nup = [0.5]\ncolour = 1", "colour"),
    ],
)
def test_bad_campaigns_are_refused(hindsched, tmp_path, line, expected):
    file = tmp_path / "campaign.toml"
    file.write_text(f'policies = ["greedy"]\n[[instances]]\nfamily = "deadline"\n{line}\n')
    code, out, err = hindsched("campaign", file, "--results", tmp_path / "out", "--jobs", 1)
    assert (code, out) == (2, "")
    assert expected in err


def test_sources_have_points():
    window = Window("us-east-2a+us-west-2a", 5, 3600, 7200, 180, 50)
    assert window.load() == spot_zones.window(
        ["us-east-2a", "us-west-2a"], 5, work_s=3600, deadline_s=7200, overhead_s=180, checkpoint_gb=50
    )
    assert (window.zones, window.name) == (2, "us-east-2a+us-west-2a W=1h D=2h d=180s 50GB start=5")
    random_job = Generated(1, 9, 0.5, 0.8, 300, 4)
    for source in (window, random_job):
        assert FAMILY.from_point(source.point) == source.load()
    assert FAMILY.refuses(window, "greedy", Options()) == "it is for one zone, and there are 2"
    assert FAMILY.refuses(window, "up_s", Options()) is None


# --- strategy files and isolation -------------------------------------------------------------------------------------


def test_an_unchanged_strategy_file_is_a_policy_everywhere(hindsched, tiny, strategy, tmp_path):
    code, out, err = hindsched("simulate", tiny, "--policy", strategy, "--policy", "fallback", "--json")
    own, built_in = objects(out)
    assert code == 0, err
    assert own["policy"] == str(strategy)
    assert own["cost"] == built_in["cost"]
    results = ("--results", tmp_path / "out", "--json")
    code, out, err = hindsched("score", tiny, "--policy", strategy, "--policy", "fallback", *results)
    assert code == 0, err
    assert len({row["median"] for row in objects(out)}) == 1
    assert files_of_policy(str(strategy)) == {str(strategy): strategy.read_bytes()}
    key = policy_job(Generated(1, 9, 0.5, 0.8, 300, 4), str(strategy), Options()).key
    strategy.write_text(strategy.read_text() + "\n# another content\n")
    assert policy_job(Generated(1, 9, 0.5, 0.8, 300, 4), str(strategy), Options()).key != key


def test_a_strategy_file_that_fails_loses_its_row_only(hindsched, tiny, strategy, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(strategy.read_text().replace("return ClusterType.SPOT", "return self.env.trace"))
    results = ("--results", tmp_path / "out", "--json")
    code, out, err = hindsched("score", tiny, "--policy", bad, "--policy", "greedy", *results)
    rows = {row["policy"]: row for row in objects(out)}
    assert code == 2
    assert "env.trace shows the future" in err
    assert (rows[str(bad)]["unfinished"], rows["greedy"]["unfinished"]) == (1, 0)


def test_isolated_policies(hindsched, tiny, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("class Own:\n    name = 'own'\n\n    def choose(self, visible):\n        return 0, 'o'\n")
    results = ("--isolated", "--results", tmp_path / "out", "--json")
    code, out, err = hindsched("score", tiny, "--policy", f"{path}:Own", "--policy", "on_demand", *results)
    assert code == 0, err
    assert len({row["median"] for row in objects(out)}) == 1
    path.write_text("class Own:\n    name = 'own'\n\n    def choose(self, visible):\n        return 'everywhere'\n")
    code, out, err = hindsched("score", tiny, "--policy", f"{path}:Own", "--isolated", "--results", tmp_path / "x")
    assert code == 2
    assert "policy own: slot 0: 'everywhere', expected None or (zone, kind)" in err
    refused(hindsched("score", tiny, "--policy", f"{path}:Other", "--isolated"), "no class 'Other' in it")
