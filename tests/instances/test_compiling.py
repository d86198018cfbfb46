"""Machine code is kept for the sources it was made from, and for no others."""

from pathlib import Path

import pytest

from instances import compiling


def test_machine_code_is_kept_for_these_sources_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    folder = compiling.folder_name(tmp_path, "some")
    assert folder == compiling.folder_name(tmp_path, "some")
    assert folder != compiling.folder_name(tmp_path, "other")
    (tmp_path / "b.py").write_text("b = 1\n")
    changed = compiling.folder_name(tmp_path, "some")
    assert changed != folder
    monkeypatch.setattr(compiling, "version", lambda package: "0.0")
    assert compiling.folder_name(tmp_path, "some") != changed
