"""Model files of other tools (LP, MPS, CP-SAT protos), written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_bytes

__all__ = ["PROGRAM_FORMS", "PROTO_FORMS", "ModelForm", "expect_form", "write_whole"]


class ModelForm(StrEnum):
    """Forms of a model file, by the ending of its name."""

    LP = ".lp"
    MPS = ".mps"
    PBTXT = ".pbtxt"
    PB = ".pb"


#: Forms of an integer linear program.
PROGRAM_FORMS = (ModelForm.LP, ModelForm.MPS)
#: Forms of a CP-SAT model: its proto as text, and binary.
PROTO_FORMS = (ModelForm.PBTXT, ModelForm.PB)


def expect_form(path: str | os.PathLike[str], forms: tuple[ModelForm, ...]) -> ModelForm:
    """Return the form of a file by the ending of its name; raise `InputError` for an unknown ending."""
    suffix = Path(path).suffix
    if suffix not in forms:
        raise InputError(f"expected a name that ends in {' or '.join(forms)}", file=path)
    return ModelForm(suffix)


def write_whole(path: str | os.PathLike[str], forms: tuple[ModelForm, ...], write: Callable[[str], object]) -> None:
    """Call ``write`` with the path of a draft that has the file's ending, then copy the draft to the file.

    Raises
    ------
    InputError
        For an unknown ending, or a file that cannot be written; then nothing is written.
    """
    suffix = expect_form(path, forms)
    with TemporaryDirectory(prefix="hindsched-") as folder:
        draft = Path(folder) / f"model{suffix}"
        write(str(draft))
        write_bytes(path, draft.read_bytes())
