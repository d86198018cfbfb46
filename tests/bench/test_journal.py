"""The journal of a campaign loses and repeats nothing, and has one writer."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from hindsched.bench.campaign.journal import Journal, read_rows
from hindsched.instances import InputError


def test_rows_survive_closing(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append({"key": "a", "value": 1})
        journal.append({"key": "b", "value": None})
    with Journal(tmp_path) as journal:
        assert journal["a"] == {"key": "a", "value": 1}
        assert "b" in journal
        assert "c" not in journal


def test_a_torn_last_row_is_cut_off_and_the_rest_kept(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append({"key": "a"})
        journal.append({"key": "b"})
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-4])
    with Journal(tmp_path) as journal:
        assert "a" in journal
        assert "b" not in journal
        assert journal.torn == len('{"key":"b"}\n') - 4
        journal.append({"key": "b"})
    assert journal.path.read_bytes() == whole


def test_a_broken_row_is_named_and_the_file_left_alone(tmp_path):
    text = b'{"key":"a"}\n{"key":\n{"key":"c"}\n'
    (tmp_path / Journal.NAME).write_bytes(text)
    with pytest.raises(InputError, match=r"runs\.jsonl: line 2: broken row"), Journal(tmp_path):
        pass
    assert (tmp_path / Journal.NAME).read_bytes() == text
    (tmp_path / Journal.NAME).write_bytes(b'{"key":"a"}\n')
    with Journal(tmp_path) as journal:  # the lock was given back
        assert "a" in journal


def test_two_campaigns_in_one_folder_are_refused(tmp_path):
    with Journal(tmp_path), pytest.raises(InputError, match="another campaign"), Journal(tmp_path):
        pass


def test_a_killed_writer_leaves_complete_rows_and_no_lock(tmp_path):
    code = textwrap.dedent(f"""
        import itertools
        from hindsched.bench.campaign.journal import Journal
        with Journal({str(tmp_path)!r}) as journal:
            for i in itertools.count():
                journal.append({{"key": str(i), "padding": "x" * 5000}})
                print(i, flush=True)
    """)
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    said = 0
    while said < 20:
        said = int(writer.stdout.readline())
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with Journal(tmp_path) as journal:
        assert all(str(i) in journal for i in range(said + 1))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
def test_a_full_disk_is_reported(tmp_path):
    (tmp_path / Journal.NAME).symlink_to("/dev/full")
    journal = Journal(tmp_path)
    journal._read = lambda: None  # an endless device cannot be read first
    with journal, pytest.raises(InputError, match=r"^/.*/runs\.jsonl: row not written: No space left"):
        journal.append({"key": "a"})


def test_a_concurrent_reader_gets_complete_rows_and_changes_nothing(tmp_path):
    text = b'{"key":"a"}\n{"kind":"note"}\n{"key":"c"'
    (tmp_path / Journal.NAME).write_bytes(text)
    assert read_rows(tmp_path) == ([("line 1", {"key": "a"}), ("line 2", {"kind": "note"})], True)
    (tmp_path / Journal.NAME).write_bytes(text + b"}\n")
    assert read_rows(tmp_path)[1] is False
    (tmp_path / Journal.NAME).write_bytes(b'{"key":"a"}\n' + b'{"a":' * 100_000 + b"\n")
    with pytest.raises(InputError, match=r"runs\.jsonl: line 2: broken row: not JSON: nested too deeply, expected"):
        read_rows(tmp_path)
