"""Logs: columns, unusable lines, errors, exact times, and the packaged log."""

import gzip

import pytest

from hindsched.instances.errors import InputError
from hindsched.instances.grid.packaged_log import kth_sp2
from hindsched.instances.grid.workloads import KINDS, import_log

#: Columns: job, submit, wait, run, processors, cpu, memory, requested processors.
LOG = """; a comment; of any length
  1  100  0  60   2 -1 -1  4
  2  100  5  61   0 -1 -1  3

  3  90   0  59   1 -1 -1  1 -1 -1
  ; another
  4  161  0  0.5 -1 -1 -1  2
"""


def rows(path, **options):
    return list(import_log(path, **{"nodes": 4, "slot_s": 60} | options).instance.rows())


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def test_columns_order_and_rounding(log):
    assert rows(log) == [(0, 1, 1), (1, 2, 1), (1, 3, 2), (2, 2, 1)]
    assert rows(log, slot_s=1) == [(0, 1, 59), (10, 2, 60), (10, 3, 61), (71, 2, 1)]
    assert rows(log, first=1) == [(0, 2, 1), (0, 3, 2), (2, 2, 1)]
    assert rows(log, first=1, count=2) == [(0, 2, 1), (0, 3, 2)]


def test_gaps_are_compressed_and_lengths_are_not(log):
    assert rows(log, slot_s=1, compress="28/95") == [(0, 1, 59), (3, 2, 60), (3, 3, 61), (21, 2, 1)]
    assert rows(log, slot_s=1, compress="3/10")[1] == (3, 2, 60)  # exactly 3, not ceil(3.0000000000000004)
    assert rows(log, slot_s=1, compress=2)[3] == (142, 2, 1)


def test_gzip_and_gwf(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(LOG.replace(";", "#").encode()))
    assert len(rows(path, kind="gwf")) == 4
    with pytest.raises(InputError, match="line 1: 6 columns, expected at least 8"):
        rows(path)


def test_comments_may_be_in_another_encoding(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"; von Universit\xe4t\n" + LOG.encode())
    assert len(rows(path)) == 4
    path.write_bytes(LOG.encode() + b"5 20\xe4 0 60 1 0 0 1\n")
    with pytest.raises(InputError, match="line 8: submit time"):
        rows(path)


def test_unusable_lines_are_counted_under_the_first_reason(tmp_path):
    path = tmp_path / "log"
    lines = ["1 -1 0 0 0 0 0 0", "2 0 0 0 0 0 0 0", "3 0 0 -1 1 0 0 1", "4 0 0 1 0 0 0 -1", "5 0 0 1 2.5 0 0 2"]
    lines += ["6 0 0 1 3.0 0 0 0"]
    path.write_text("\n".join(lines))
    found = import_log(path, nodes=4, slot_s=60)
    assert found.unusable == {"partial": 0, "no_submit": 1, "no_run_time": 2, "no_width": 2}
    assert list(found.instance.rows()) == [(0, 3, 1)]
    assert found.summary == (
        "jobs: 1 of 6 lines; left out: 1 without a submission, 2 without a run time, 2 without a number of processors"
    )


#: A job of 300 s that was preempted once, with both parts, and another job.
PREEMPTED = """; MaxProcs: 8
1 0 10 300 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1
1 0 10 100 4 -1 -1 4 600 -1 2 1 1 -1 1 -1 -1 -1
1 0 20 200 4 -1 -1 4 600 -1 3 1 1 -1 1 -1 -1 -1
2 60 0 100 2 -1 -1 2 200 -1 1 1 1 -1 1 -1 -1 -1
"""


@pytest.mark.parametrize("kind", ["swf", "gwf"])
@pytest.mark.parametrize("last", [3, 4])
def test_partial_executions_are_left_out(tmp_path, kind, last):
    path = tmp_path / "log"
    path.write_text(PREEMPTED.replace(" -1 3 1 1 -1", f" -1 {last}.0 1 1 -1").replace(";", KINDS[kind]))
    found = import_log(path, slot_s=1, kind=kind)
    assert (found.instance.nodes, list(found.instance.rows())) == (8, [(0, 4, 300), (60, 2, 100)])
    assert found.unusable["partial"] == 2
    assert found.summary == "jobs: 2 of 4 lines; left out: 2 partial executions (status 2 to 4)"


def test_failed_cancelled_and_unknown_jobs_are_whole(tmp_path):
    path = tmp_path / "log"
    for status in (-1, 0, 1, 5):
        path.write_text(f"1 0 10 300 4 -1 -1 4 600 -1 {status} 1 1 -1 1 -1 -1 -1\n")
        assert rows(path, slot_s=1) == [(0, 4, 300)]
    for status in (-2, 6, 2.5, "ok"):
        path.write_text(f"1 0 10 300 4 -1 -1 4 600 -1 {status} 1 1 -1 1 -1 -1 -1\n")
        with pytest.raises(InputError, match=r"line 1: status .* in column 11, expected"):
            rows(path)


def test_what_is_doubtful_is_counted(tmp_path):
    path = tmp_path / "log"
    path.write_text(PREEMPTED + "2 70 0 9 -1 -1 -1 1\n3 80 0 9 1 -1 -1 1 9 -1 2\n4 90 0 9 1 -1 -1 1\n")
    summary = import_log(path, nodes=4, slot_s=1, count=3).summary
    assert summary == (
        "jobs: 3 of 7 lines; left out: 3 partial executions (status 2 to 4), 1 outside the window; "
        "1 with the number of processors requested, since no other is known; 1 with the job number of another; "
        "1 in partial executions only; 4 nodes, but MaxProcs 8 in the header"
    )


@pytest.mark.parametrize(
    "text",
    ["; only comments\n", PREEMPTED[:14], PREEMPTED.replace(" 300 ", " -1 ").replace("\n2 60 0 100", "\n2 -1 0 100")],
)
def test_a_log_without_a_job_is_refused(tmp_path, text):
    path = tmp_path / "log"
    path.write_text(text)
    with pytest.raises(InputError, match=r"log: jobs: 0 of \d lines.*; expected at least one job"):
        rows(path)


def test_a_window_without_a_job_is_refused(log):
    for window in ({"first": 4}, {"count": 0}):
        with pytest.raises(InputError, match="jobs: 0 of 4 lines; left out: 4 outside the window; expected at least"):
            rows(log, **window)
    with pytest.raises(InputError, match="jobs: 0 of 4 lines; left out: 3 outside the window, 1 wider than the grid"):
        rows(log, nodes=2, first=2, count=1, wide="drop")
    with pytest.raises(InputError, match="kth_sp2: 0 of 1500 jobs in the window"):
        kth_sp2(first=1500)


def test_the_nodes_are_given_or_in_the_header(log):
    with pytest.raises(InputError, match=r"log.swf: nodes: missing, expected it \(--nodes\) or MaxProcs in the header"):
        rows(log, nodes=None)
    log.write_text("; MaxProcs: 9\n;MaxProcs: 8\n" + LOG)
    with pytest.raises(InputError, match="nodes: missing"):
        rows(log, nodes=None)


def test_a_file_of_another_kind_is_recognised(log):
    log.write_text(PREEMPTED.replace(";", "#"))
    with pytest.raises(InputError, match="line 1: 3 columns, expected at least 8; it looks like --kind gwf"):
        rows(log)
    log.write_text('{"nb_res":4}')
    with pytest.raises(InputError, match="it looks like --kind batsim"):
        rows(log)


def test_times_beyond_all_slots_name_the_file(log):
    log.write_text("1 0 0 1e60 1 -1 -1 1\n")
    with pytest.raises(InputError, match=r"log.swf: jobs\[0\].length: "):
        rows(log)


def test_jobs_wider_than_the_grid(log):
    with pytest.raises(InputError, match=r"log.swf: line 3: width 3, expected at most 2"):
        rows(log, nodes=2)
    assert rows(log, nodes=2, wide="drop") == [(0, 1, 1), (1, 2, 1), (2, 2, 1)]
    assert import_log(log, nodes=2, slot_s=60, wide="drop").wide == 1
    assert rows(log, nodes=2, first=2, wide="drop") == [(2, 2, 1)]  # slot 0 begins with the job that is dropped
    assert rows(log, nodes=2, count=2) == [(0, 1, 1), (1, 2, 1)]  # jobs outside the window are not refused


@pytest.mark.parametrize("line", ["1 2 3 4 5 6 7", "1 x 0 1 1 0 0 1", "1 0 0 nan 1 0 0 1", "1 0 0 1 1/2 0 0 1", "1"])
def test_invalid_lines_are_refused(tmp_path, line):
    path = tmp_path / "log"
    path.write_text(f"{LOG}{line}\n")
    with pytest.raises(InputError, match="line 8"):
        rows(path)


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "csv"},
        {"wide": "cut"},
        {"first": -1},
        {"count": -1},
        {"compress": 0},
        {"compress": "1/0"},
        {"compress": "half"},
        {"compress": "1/2/3"},
        {"compress": "3/"},
        {"compress": "1e99999999"},
        {"slot_s": 0},
    ],
)
def test_options_out_of_range_are_refused(log, options):
    with pytest.raises(InputError) as caught:
        rows(log, **options)
    assert caught.value.place in options


def test_the_packaged_log():
    jobs = kth_sp2(slot_s=1)
    assert (len(jobs), jobs.nodes, int(jobs.submit[0])) == (1500, 100, 0)
    assert int(jobs.width.max()) <= 100
    window = kth_sp2(first=100, count=50)
    assert len(window) == 50
    assert list(window.width) == list(jobs.width[100:150])
    assert int(window.submit[-1]) == -(-int(jobs.submit[149] - jobs.submit[100]) // 60)
