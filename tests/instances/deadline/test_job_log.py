"""Logs of jobs: what rows mean, and what is refused where."""

import re

import pytest

from hindsched.instances.deadline import Kind
from hindsched.instances.deadline.job_log import read_job_log
from hindsched.instances.errors import InputError

HEAD = "time,zone,kind"


def log_of(folder, *rows, head=HEAD):
    path = folder / "job.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return read_job_log(path)


def test_rows_are_runs(tmp_path):
    log = log_of(
        tmp_path,
        "2023-03-02T08:00:00Z,,none",
        "2023-03-02T08:10:00Z,us-east-2b,spot",
        "2023-03-02T08:20:00Z,us-east-2b,spot",  # it still runs
        "2023-03-02T09:00:00Z,,lost",
        "2023-03-02T09:00:00Z,us-east-2a,On-Demand",
        "2023-03-02T10:00:00.5Z,us-east-2a,spot",
        "2023-03-02T11:00:00Z,,stopped",
        "2023-03-02T11:00:01Z,us-east-2a,spot",
        "2023-03-02T12:00:00Z,,none",
        "2023-03-02T12:30:00Z,us-east-2a,spot",
        "2023-03-02T13:00:00Z,,none",
    )
    base = log.start
    assert log.stop - base == 5 * 3600
    assert [(float(run.start - base), float(run.stop - base), run.zone, run.kind, run.is_lost) for run in log.runs] == [
        (600, 3600, "us-east-2b", Kind.SPOT, True),
        (3600, 7200.5, "us-east-2a", Kind.ON_DEMAND, False),
        (7200.5, 10800, "us-east-2a", Kind.SPOT, False),
        (10801, 14400, "us-east-2a", Kind.SPOT, True),  # none: taken as lost
        (16200, 18000, "us-east-2a", Kind.SPOT, False),  # the end of the job
    ]
    assert log.zones == ("us-east-2b", "us-east-2a")
    (assumption,) = log.assumptions
    assert "1 spot runs that end with kind none" in assumption


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "job.csv: line 1: no row, expected the first launch"),
        (["0,a,spot"], "line 2: the job still runs on spot in a, expected a last row of kind none"),
        (["0,a,spto", "60,,none"], "line 2: kind 'spto', expected spot, on-demand, none, lost or stopped"),
        (["0,,spot", "60,,none"], "line 2: no zone, expected the zone in which the job runs on spot"),
        (["60,a,spot", "0,,none"], "line 3: time 0 s is before 60 s of line 2, expected rows in order of time"),
        (["0,a,on-demand", "60,,lost"], "line 3: kind lost, expected it after a row of kind spot"),
        (["0,,none", "60,,none"], "line 3: no run on spot or on-demand, expected at least one"),
        (["0,a,spot", "60,none"], "line 3: 2 columns, expected 3: time_s,zone,kind"),
        (["soon,a,spot", "60,,none"], "line 2: time 'soon'"),
    ],
)
def test_bad_logs_are_refused_by_line(tmp_path, rows, message):
    with pytest.raises(InputError, match=re.escape(message)):
        log_of(tmp_path, *rows, head="time_s,zone,kind")


def test_columns_are_required(tmp_path):
    with pytest.raises(InputError, match=r"job.csv: line 1: no line names one column each of time, zone and kind"):
        log_of(tmp_path, "0,a,spot", "60,,none", head="when,zone,kind")
