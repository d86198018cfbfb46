"""Models in files of other people's forms, whole or not at all."""

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
    """Forms of a model, as the endings of file names."""

    LP = ".lp"
    MPS = ".mps"
    PBTXT = ".pbtxt"
    PB = ".pb"


#: Of an integer linear program.
PROGRAM_FORMS = (ModelForm.LP, ModelForm.MPS)
#: Of a CP-SAT model: its proto as text, and binary.
PROTO_FORMS = (ModelForm.PBTXT, ModelForm.PB)


def expect_form(path: str | os.PathLike[str], forms: tuple[ModelForm, ...]) -> ModelForm:
    """Return the form that a file's name ends in; InputError if it is none of these."""
    suffix = Path(path).suffix
    if suffix not in forms:
        raise InputError(f"expected a name that ends in {' or '.join(forms)}", file=path)
    return ModelForm(suffix)


def write_whole(path: str | os.PathLike[str], forms: tuple[ModelForm, ...], write: Callable[[str], object]) -> None:
    """Let ``write`` make a draft, whose name ends as the file's does, and put its content into the file.

    Raises
    ------
    InputError
        For another ending, or a file that cannot be written: then nothing of it is.
    """
    suffix = expect_form(path, forms)
    with TemporaryDirectory(prefix="hindsched-") as folder:
        draft = Path(folder) / f"model{suffix}"
        write(str(draft))
        write_bytes(path, draft.read_bytes())
