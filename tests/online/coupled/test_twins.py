"""The compiled simulator and its plain twin give the same runs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from docs.studies.commands.simulator import simulator
from docs.studies.commands.simulator_growth import simulator_growth
from docs.studies.coupled import simulator_race
from hindsched import online
from hindsched.bench.commands.verify import verify_simulator
from hindsched.bench.coupled.verify import twins
from hindsched.bench.coupled.verify.twins import compare_twins, options_of, random_instance
from hindsched.bench.verification import Sample
from hindsched.instances import Chain, InputError, SelfCheckError, check
from hindsched.instances.chains import StateStream
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper, small
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import DrawnStates
from hindsched.online import coupled as online_coupled
from hindsched.online.coupled import POLICIES, SERVICES, TIES, run_policy
from hindsched.online.coupled.estimates import Estimates
from hindsched.online.coupled.kernels import estimate_kernels as compiled
from hindsched.online.coupled.kernels import estimate_tables
from hindsched.online.coupled.kernels.bound_kernels import bounds_with, fill_sums
from hindsched.online.coupled.kernels.estimate_tables import EstimateTables
from hindsched.online.coupled.kernels.renewal_kernels import estimate_set
from hindsched.online.coupled.policies import APPARENT

ALWAYS_UP = Chain(((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5)))
HALF_UP = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (1.0, 0.0, 0.0)))


@pytest.mark.parametrize("part", range(4))
def test_general_instances(part: int) -> None:
    for number in (n for n in range(part, 160, 4) if n % 10 != 9):
        instance = random_instance(number, seed=3)
        for policy in POLICIES:
            compare_twins(instance, policy, **options_of(number, policy))


@pytest.mark.parametrize(("m", "n_com", "wmin"), [(5, 5, 1), (10, 2, 1), (10, 5, 4), (10, 20, 10)])
def test_instances_of_the_paper(m: int, n_com: int, wmin: int) -> None:
    instance = paper(m=m, n_com=n_com, wmin=wmin, scenario=4, trial=0, slots=1500, drawn=True)
    for policy in POLICIES[m % 3 :: 3]:
        assert compare_twins(instance, policy).slots > 20


@pytest.mark.parametrize("policy", APPARENT)
def test_the_apparent_yield_as_criterion(policy: str) -> None:
    for number in range(0, 40, 3):
        compare_twins(random_instance(number, seed=9), policy, estimator=online_coupled.ESTIMATORS[number % 2])
    for wmin in (1, 4):
        instance = paper(m=10, n_com=5, wmin=wmin, scenario=4, trial=0, slots=1500, drawn=True)
        run = compare_twins(instance, policy)
        assert run.slots > 20
        assert run.policy == policy


@pytest.mark.parametrize("estimator", online_coupled.ESTIMATORS)
def test_every_combination_of_options(estimator: str) -> None:
    same = paper(m=6, n_com=1, wmin=1, scenario=2, trial=0, slots=120, p=6)
    alike = same.replace(chains=(same.chains[0],) * 6, w=(3,) * 6, mu=(2,) * 6)  # ties wherever one looks
    for instance in (same, alike):
        for service in SERVICES:
            for ties in TIES:
                for policy in ("IE", "IY", "P-IP", "E-IE", "Y-IAY", "RANDOM"):
                    compare_twins(instance, policy, estimator=estimator, service=service, ties=ties)


def test_huge_numbers_overflow_nowhere() -> None:
    pair = Instance.from_letters(
        ["u" * 40, "uuuuudu" + "u" * 33], w=[2**31 - 1, 2**31 - 2], tasks=3, t_prog=2**31 - 1, t_data=2**31 - 1,
        n_com=1, chains=[Chain(((0.9, 0.05, 0.05), (0.2, 0.7, 0.1), (0.1, 0.0, 0.9))), ALWAYS_UP],
    )  # fmt: skip
    for policy in POLICIES:
        for estimator in online_coupled.ESTIMATORS:
            compare_twins(pair, policy, estimator=estimator)
            compare_twins(pair.replace(t_prog=2, t_data=1, n_com=None), policy, estimator=estimator)


def test_many_tasks_on_many_workers() -> None:
    """Sets beyond the closed form, up to the last bit of a word."""
    wide = paper(m=90, n_com=30, wmin=1, scenario=1, trial=0, slots=60, p=64).replace(w=(1,) * 64, t_prog=1, t_data=0)
    for policy in ("IE", "P-IE", "RANDOM"):
        compare_twins(wide, policy)


@pytest.mark.parametrize(("p", "slots"), [(63, 60), (64, 60), (65, 60), (129, 40), (1000, 6)])
def test_sets_of_several_words(p: int, slots: int) -> None:
    wide = paper(m=9, n_com=4, wmin=1, scenario=p, trial=0, slots=slots, p=p)
    for number, policy in enumerate(("IE", "IAY", "RANDOM", "P-IP", "E-IE", "Y-IY")):
        compare_twins(wide, policy, service=SERVICES[number % 3], ties=TIES[number % 2])


def test_many_workers_that_are_alike() -> None:
    """Every step of every build is a tie."""
    wide = paper(m=5, n_com=3, wmin=1, scenario=0, trial=0, slots=30, p=70)
    alike = wide.replace(chains=(wide.chains[0],) * 70, w=(3,) * 70, mu=(2,) * 70)
    for ties in TIES:
        for policy in ("IP", "P-IE", "Y-IAY"):
            compare_twins(alike, policy, ties=ties)


@pytest.mark.parametrize("estimator", range(3))
def test_bounds_on_sets_hold(estimator: int) -> None:
    """A bound on success and duration with one more worker is on the right side, and close for common chains."""
    common = [paper(m=5, n_com=5, wmin=1, scenario=1, trial=0, slots=2, p=40).chains[q] for q in range(40)]
    rare = [chain for number in range(20) for chain in random_instance(number, 5).chains]
    chains = [chain for chain in (*common, *rare, ALWAYS_UP, HALF_UP) if chain is not None]
    p = len(chains)
    plain = Estimates(chains, estimator=online_coupled.ESTIMATORS[estimator])
    known = EstimateTables(chains)
    bounds, sums = known.tables(estimator, 10).bounds, np.zeros((2, 17))
    draw = np.random.default_rng(estimator)
    for trial in range(60):
        holders = draw.choice(40 if trial % 2 else p, size=1 + trial % 7, replace=False)
        members = sum(1 << int(q) for q in holders)
        fill_sums(bounds, sums, holders, holders.size)
        for q in (q for q in range(p) if q not in holders):
            for slots in (1, 2, 30):
                success, duration = bounds_with(bounds, sums, estimator, q, slots)
                log_success = plain.log_success(members | 1 << q, slots)
                log_duration = plain.log_duration(members | 1 << q, slots)
                assert np.log(success) >= log_success
                assert np.log(duration) <= log_duration
                if trial % 2 and q < 40 and holders.size > 2:
                    assert np.log(success) <= 0.9 * log_success + 0.02
                    assert np.log(duration) >= 0.9 * log_duration - 0.1


def test_a_limit_stops_both_engines_equally() -> None:
    instance = paper(m=5, n_com=5, wmin=2, scenario=0, trial=0, slots=400)
    whole = run_policy(instance, "E-IY", engine="kernel")
    for slots in (1, 2, 37, 399):
        part = compare_twins(instance, "E-IY", slots=slots)
        assert part.slots == slots
        assert part.schedule.letters == tuple(row[:slots] for row in whole.schedule.letters)


@pytest.mark.parametrize("engine", ["plain", "kernel"])
def test_the_schedule_of_the_first_slots(engine: str) -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=900)
    whole = run_policy(instance, "Y-IE", engine=engine)
    assert check(instance, whole.schedule).outcome.makespan == whole.makespan
    for slots in (0, 1, 50, 10_000):
        run = run_policy(instance, "Y-IE", engine=engine, schedule_slots=slots)
        assert (run.makespan, run.iterations, run.slots) == (whole.makespan, whole.iterations, whole.slots)
        assert run.schedule.letters == tuple(row[:slots] for row in whole.schedule.letters)
        assert run.schedule.configurations == tuple(e for e in whole.schedule.configurations if e.slot < slots)


def test_states_are_drawn_as_far_as_the_run_goes() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=1_000_000, drawn=True)
    run = run_policy(instance, "IE", engine="kernel")
    assert run.makespan is not None
    assert isinstance(instance.source, DrawnStates)
    drawn = instance.source._states.shape[1]
    assert run.slots <= drawn <= 2 * run.slots + 1024


def test_long_streams_are_the_same_states() -> None:
    chain = Chain(((0.9, 0.06, 0.04), (0.3, 0.7, 0.0), (0.0, 0.2, 0.8)))
    whole = StateStream(chain, stream("twins", 5)).take(30_000)
    parts = StateStream(chain, stream("twins", 5))
    pieces = [parts.take(slots) for slots in (1, 5000, 15_000, 7999, 2000)]
    assert (np.concatenate(pieces) == whole).all()
    assert set(np.unique(whole)) == {0, 1, 2}


def test_random_draws_as_numpy_does_also_in_long_runs() -> None:
    instance = small(1, p=7, slots=1900, tasks=6, iterations=500, up=0.8, down=0.15).replace(w=(1,) * 7, mu=(None,) * 7)
    run = compare_twins(instance, "RANDOM", seed=8)
    assert len(run.schedule.configurations) > 300


def test_the_engine_that_runs_a_policy(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "class Own:\n    name = 'own'\n    def choose(self, visible):\n        return {0: 1}\n"
    )
    own = f"{tmp_path / 'own.py'}:Own"
    lone = Instance.from_letters(["uu"], w=[1], tasks=1)
    assert run_policy(lone, own).makespan == 1
    with pytest.raises(InputError, match=r"at most 10,000 tasks, .*, not '.*own.py:Own' with 1 workers and 1 tasks"):
        run_policy(lone, own, engine="kernel")
    wide = Instance.from_letters(["uuu"] * 65, w=[1] * 65, tasks=2, chains=[HALF_UP] * 65)
    assert run_policy(wide, "IE", engine="kernel").makespan == 1
    with pytest.raises(InputError, match="not 'RANDOM' with 1 workers and 10,001 tasks"):
        run_policy(lone.replace(tasks=10_001), "RANDOM", engine="kernel")


def test_tables_that_are_full_are_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate_tables, "_FIRST_SETS", 1 << 8)
    monkeypatch.setattr(estimate_tables, "_MOST_SETS", 1 << 10)
    monkeypatch.setattr(estimate_tables, "_NODES", 16)
    monkeypatch.setattr(estimate_tables, "_ROWS", 16)
    monkeypatch.setattr(estimate_tables, "_MOST_ALONE", 3)
    instance = paper(m=7, n_com=3, wmin=1, scenario=77, trial=0, slots=1500, seed=5, p=11)
    for policy in ("E-IE", "P-IY", "Y-IAY"):
        compare_twins(instance, policy)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"engine": "fast"}, "engine"),
        ({"ties": "first"}, "ties"),
        ({"service": "fifo"}, "service"),
        ({"estimator": "mean"}, "estimator"),
        ({"schedule_slots": -1}, "schedule_slots"),
        ({"slots": 3}, "slots"),
    ],
)
def test_options_that_are_none(options: dict[str, object], place: str) -> None:
    lone = Instance.from_letters(["uu"], w=[1], tasks=1, chains=[ALWAYS_UP])
    with pytest.raises(InputError, match=f"^{place}: "):
        run_policy(lone, "IE", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["plain", "kernel"])
def test_chains_are_required_only_where_they_are_needed(engine: str) -> None:
    bare = Instance.from_letters(["uu", "uu"], w=[1, 1], tasks=1)
    assert run_policy(bare, "RANDOM", engine=engine).makespan == 1
    with pytest.raises(InputError, match=r"workers\[0\].markov"):
        run_policy(bare, "P-IE", engine=engine)


def test_a_difference_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = online.run_policy

    def wrong(instance: Instance, policy: str, **options: object) -> online_coupled.Run:
        if options["engine"] == "plain":
            options["seed"] = 99
        return real(instance, policy, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(twins, "run_policy", wrong)
    with pytest.raises(SelfCheckError, match=r"0-\d+.json: RANDOM with .*: the simulators differ in slot"):
        twins.agree(Sample(9, failures=tmp_path))
    assert list(tmp_path.glob("0-*.json"))


def test_the_command_compares() -> None:
    result = CliRunner().invoke(verify_simulator, ["--instances", "2", "--seed", "5"])
    assert result.exit_code == 0
    assert "Y-IAY" in result.stdout


@pytest.mark.parametrize("seed", range(5))
def test_estimates_of_sets(seed: int) -> None:
    """The tables of the kernels agree with the plain estimates."""
    chains = [chain for chain in random_instance(seed * 10 + 1, 11).chains if chain is not None]
    chains += [chain for chain in random_instance(seed * 10 + 9, 11).chains if chain is not None]
    chains += [ALWAYS_UP, HALF_UP]
    plain = Estimates(chains)
    tables = EstimateTables(chains).tables(0, 10)
    draw = np.random.default_rng(seed)
    for size in (1, 2, 5, 9, 14):
        members = sum(1 << int(q) for q in draw.choice(len(chains), size=min(size, len(chains)), replace=False))
        holders = np.array([q for q in range(len(chains)) if members >> q & 1])
        found = estimate_set(
            holders, holders.size - size % 2, holders[-1] if size % 2 else -1, tables.modes, tables.ranks
        )
        assert found == pytest.approx(tuple(plain.of_set(members)), rel=1e-11)
    for t in (0.0, 1.0, 7.0, 1e6, 2.0**53 + 2, 2.0**70, np.inf):
        row = compiled.not_down_row(t, tables.not_down_slots, tables.not_down, tables.stays, tables.matrices)
        expected = plain.log_not_down_row(int(t) if t < np.inf else 1 << 1024)
        assert tables.not_down[row].tolist() == expected


def test_nothing_loads_numba_before_it_is_needed() -> None:
    code = (
        "import sys; from hindsched import online; from hindsched.instances.coupled.generate import paper;"
        "i = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=3000, drawn=True);"
        "online.run_policy(i, 'IP', slots=500); assert 'numba' not in sys.modules;"
        "online.run_policy(i, 'IP'); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_race_of_the_simulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loading = {"compile_s": 12.3, "load_s": 0.4, "machine": "abacus"}  # compiling it all once more takes too long here
    monkeypatch.setattr(simulator_race, "loading_times", lambda: loading)
    arguments = [
        "--instances",
        "1",
        "--slots",
        "100",
        "--policy",
        "IE",
        "--policy",
        "E-IE",
        "--results",
        str(tmp_path / "new"),
    ]
    result = CliRunner().invoke(simulator, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["policy"] for row in rows] == ["IE", "E-IE", "all passive", "all proactive"]
    assert all(row["ratio"] > 0 for row in rows)
    assert (
        "Machine: abacus; one core. Before a first run, not included above: 12.3 s of"
        in (tmp_path / "new" / "table.md").read_text()
    )
    assert CliRunner().invoke(simulator, ["--policy", "own.py:Own"]).exit_code != 0


def test_the_growth_with_workers(tmp_path: Path) -> None:
    arguments = ["--workers", "5", "--workers", "66", "--slots", "50", "--policy", "IE", "--results", str(tmp_path)]
    result = CliRunner().invoke(simulator_growth, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["policy"], row["workers"]) for row in rows] == [("IE", 5), ("IE", 66)]
    assert "\nIE,66,50," in (tmp_path / "simulator_growth.csv").read_text()


def test_the_race_reports_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    real = online.run_policy

    def wrong(instance: Instance, policy: str, **options: object) -> online_coupled.Run:
        return real(instance, policy, **{**options, "ties": "highest", "seed": len(str(options["engine"]))})  # type: ignore[arg-type]

    monkeypatch.setattr(online, "run_policy", wrong)
    with pytest.raises(SelfCheckError, match="RANDOM on instance 0: the simulators differ"):
        simulator_race.race(["RANDOM"], instances=1, slots=50)
