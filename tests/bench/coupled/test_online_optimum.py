"""The command that finds on-line optima of small instances."""

import json

from click.testing import CliRunner

from hindsched import instances
from hindsched.bench.commands.group import hindsched
from hindsched.instances.chains import Chain
from hindsched.instances.coupled import Instance

CHAIN = Chain(((0.9, 0.06, 0.04), (0.3, 0.7, 0.0), (0.2, 0.0, 0.8)))


def test_the_command_for_on_line_optima(tmp_path):
    path = tmp_path / "pair.json"
    pair = Instance.from_letters(["uu", "uu"], w=[1, 2], tasks=2, n_com=1, t_prog=1, chains=[CHAIN, CHAIN])
    instances.write(pair, path)
    arguments = ["online-optimum", str(path), "--paths", "20", "--bound", "--json"]
    done = CliRunner().invoke(hindsched, arguments)
    assert done.exit_code == 0, done.output
    rows = {row["player"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert list(rows) == ["hindsight", "charged hindsight", "on-line optimum", "its policy", "E-IE"]
    assert rows["hindsight"]["how"] == rows["on-line optimum"]["how"] == "exact"
    assert rows["hindsight"]["high"] < rows["on-line optimum"]["low"]
    assert rows["charged hindsight"]["low"] < rows["on-line optimum"]["slots"]
    few = CliRunner().invoke(hindsched, [*arguments, "--most-states", "10"])
    assert [json.loads(line)["how"] for line in few.stdout.splitlines()][2] == "too many states"
    refused = CliRunner().invoke(hindsched, [*arguments, "--option", "objective=iterations"])
    assert refused.stdout == ""
    assert "objective: iterations, expected makespan" in refused.stderr
    instances.write(pair.replace(chains=()), path)
    refused = CliRunner().invoke(hindsched, arguments)
    assert refused.stdout == ""
    assert "workers[0].markov" in refused.stderr
