"""Scores by the objective ``iterations``: most iterations within the slots of an instance."""

import json

import pytest

from hindsched import check, instances
from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_all
from hindsched.bench.campaign.score import score
from hindsched.bench.campaign.sources import Given
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.results.read import read_results
from hindsched.bench.results.summary import csv_text, summary
from hindsched.bench.run_records import Options
from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import small
from hindsched.offline import solve
from hindsched.online.coupled import POLICIES, run_policy
from hindsched.online.coupled.policies import OURS
from hindsched.online.coupled.runs import make_policy
from hindsched.online.coupled.simulate import simulate

ITERATIONS = Options(run=(("objective", "iterations"),))
DRAWN = small(5, p=3, slots=60, tasks=2, iterations=2, up=0.8, down=0.05)
#: A worker that is UP in 7 slots: the program takes one, and an iteration two.
ALONE = Instance.from_letters(["uuuuuuudd"], w=[1], tasks=2, t_prog=1, t_data=0)
#: An instance on which no iteration can be completed.
HOPELESS = Instance.from_letters(["uduudu"], w=[3], tasks=1)


def test_a_run_goes_on_to_the_last_slot() -> None:
    for engine in ("plain", "kernel"):
        run = run_policy(ALONE, "RANDOM", objective="iterations", engine=engine)
        assert (run.makespan, run.iterations, run.slots) == (None, 3, 9)
        verdict = check(ALONE, run.schedule)
        assert verdict.is_valid
        assert verdict.outcome.iterations == 3
    assert run_policy(ALONE, "RANDOM").makespan == 3
    assert solve(ALONE, objective="iterations").value == 3


@pytest.mark.parametrize("policy", [*POLICIES, *OURS[:2]])
def test_runs_equal_those_of_the_plain_simulator_with_more_iterations(policy: str) -> None:
    best = solve(DRAWN, objective="iterations").value
    plain = simulate(DRAWN.replace(iterations=int(best) + 1), make_policy(policy, seed=3))
    run = run_policy(DRAWN, policy, objective="iterations", seed=3)
    assert (run.iterations, run.schedule.letters) == (plain.iterations, plain.schedule.letters)
    assert run.iterations <= best


def test_the_number_of_slots_may_be_limited() -> None:
    run = run_policy(ALONE, "RANDOM", objective="iterations", slots=6)
    assert (run.iterations, run.slots) == (2, 6)
    with pytest.raises(InputError, match="objective: 'profit', expected one of makespan, iterations"):
        run_policy(ALONE, "RANDOM", objective="profit")


def test_ratios_are_optimum_over_iterations(tmp_path) -> None:
    found = score(
        [Given("drawn", "files", DRAWN), Given("hopeless", "files", HOPELESS)], ["RANDOM"], ITERATIONS, tmp_path
    )
    runs = found.results.runs.set_index("instance")
    assert set(runs["sense"]) == {"max"}
    assert runs.loc["hopeless", ["value", "optimum"]].tolist() == [0, 0]
    best, done = solve(DRAWN, objective="iterations").value, runs.loc["drawn", "value"]
    assert runs.loc["drawn", "optimum"] == best
    ratios = (tmp_path / "ratios.csv").read_text().splitlines()
    drawn, hopeless = (next(row for row in ratios if f",{name}," in row).split(",") for name in ("drawn", "hopeless"))
    assert float(drawn[-4]) == best / done
    assert hopeless[-4] == "1.0"
    optimum = json.loads((tmp_path / "runs.jsonl").read_text().splitlines()[0])
    assert (optimum["kind"], optimum["objective"]) == ("optimum", "iterations")


def test_a_run_without_iterations_counts_as_infinitely_far(tmp_path) -> None:
    class Idle:
        name = "idle"

        def choose(self, visible):
            return None

    table = score([Given("drawn", "files", DRAWN)], [Idle()], ITERATIONS, tmp_path).table
    assert table[["runs", "unfinished", "within100"]].iloc[0].tolist() == [1, 0, 0.0]
    assert ",0,,,,,,,,,,,," in csv_text(table).splitlines()[1]


def test_both_objectives_share_a_folder(tmp_path, hindsched) -> None:
    sources = [Paper(2, 2, 1, 0, trial, 300, 0, 3, 2) for trial in range(2)]
    choices = [Options(run=(("objective", name),)) for name in ("makespan", "iterations")]
    rows, failure = run_all(Campaign(sources, ["IE", "RANDOM"], choices), tmp_path, None)
    assert failure is None
    runs = results_of_rows(rows, tmp_path).runs
    assert len(runs) == 8
    for name, group in runs.groupby("objective"):
        for source in sources:
            here = group[group["instance"] == source.name]
            assert set(here["optimum"]) == {solve(source.load(), objective=str(name)).value}
    assert set(summary(runs)["options"]) == {"", "objective iterations"}
    code, out, _ = hindsched("recheck", tmp_path)
    assert (code, "8 runs recomputed" in out) == (0, True)
    code, out, _ = hindsched("report", tmp_path, "--json")
    assert (code, json.loads(out.splitlines()[-1])["instances"]) == (0, 2)
    page = (tmp_path / "report" / "report.html").read_text()
    assert "the optimum of the same instance in hindsight divided by the iterations of a run" in page


def test_a_compact_table_may_have_the_objective(tmp_path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("instance,policy,objective,value,iterations,optimum\na,IE,iterations,4,10,6\n")
    (row,) = read_results(path).runs.to_dict("records")
    assert (row["value"], row["sense"], row["iterations"]) == (4, "max", 10)
    path.write_text("instance,policy,objective,value,optimum\na,IE,iterations,4,6\na,IE,makespan,9,8\n")
    assert sorted(summary(read_results(path).runs)["median"]) == [9 / 8, 6 / 4]


def test_the_command_lines(tmp_path, hindsched) -> None:
    instances.write(ALONE, tmp_path / "a.json")
    how = ("--policy", "RANDOM", "--objective", "iterations")
    code, out, _ = hindsched("simulate", tmp_path / "a.json", *how, "--json")
    assert (code, json.loads(out)["iterations"]) == (0, 3)
    code, out, _ = hindsched("score", tmp_path / "a.json", *how, "--results", tmp_path / "out")
    assert (code, "objective iterations" in out) == (0, True)
