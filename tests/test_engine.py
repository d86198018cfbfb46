"""The campaign engine: each row once, in any number of processes, whatever happens in between."""

import pytest

from bench.engine import Job, run_jobs
from bench.journal import Journal


def square(number: int) -> dict[str, int]:
    return {"square": number * number}


def fail_at_three(number: int) -> dict[str, int]:
    if number == 3:
        raise KeyboardInterrupt
    return square(number)


def jobs(call):
    return [Job(key=f"job {i}", note=str(i), call=call, arguments=(i,)) for i in range(6)]


@pytest.mark.parametrize("num_processes", [1, 2])
def test_every_row_is_made_once(tmp_path, num_processes):
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square), journal, num_processes=num_processes)
        run_jobs("test", jobs(square), journal, num_processes=num_processes)
        assert [journal[f"job {i}"]["square"] for i in range(6)] == [0, 1, 4, 9, 16, 25]
    assert len(journal.path.read_text().splitlines()) == 6


def test_an_interrupted_campaign_goes_on_where_it_stopped(tmp_path):
    with Journal(tmp_path) as journal:
        with pytest.raises(KeyboardInterrupt):
            run_jobs("test", jobs(fail_at_three), journal, num_processes=1)
        assert [f"job {i}" in journal for i in range(6)] == [True, True, True, False, False, False]
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square), journal, num_processes=1)
    rows = journal.path.read_text().splitlines()
    assert len(rows) == 6


def test_rows_say_what_made_them(tmp_path):
    with Journal(tmp_path) as journal:
        run_jobs("test", jobs(square)[:1], journal, num_processes=1)
        row = journal["job 0"]
    assert {"version", "code", "python", "numpy", "ortools", "machine"} <= set(row)


def test_progress_is_told_on_standard_error(tmp_path, capsys):
    with Journal(tmp_path) as journal:
        run_jobs("squares", jobs(square), journal, num_processes=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "squares: 6/6" in captured.err
