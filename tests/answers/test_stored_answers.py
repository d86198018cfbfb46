"""A sample of the answers equals the stored ones. `make answers` checks all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SAMPLE = 160


def test_a_sample_of_the_stored_answers_is_still_given() -> None:
    """A new process finds no row that differs."""
    script, rows = HERE / "stored_answers.py", HERE / "stored_answers.csv.xz"
    command = [sys.executable, str(script), "--check", str(rows), "--sample", str(SAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout == f"{SAMPLE} rows checked, 0 differ\n"
