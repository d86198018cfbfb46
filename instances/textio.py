"""The edge between files and objects: strict JSON in, atomic text out, errors that name the file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from instances.errors import InputError

__all__ = ["decode", "encode", "read_json", "read_text", "write_text"]

T = TypeVar("T")


def read_text(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes, or raise an `InputError` of one line that names it."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None


def read_json(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file that holds one JSON value; syntax errors name the line."""
    text = read_text(path)
    if not text.strip():
        raise InputError("empty, expected a JSON object", file=path)
    try:
        text.decode()
        msgspec.json.decode(text, type=msgspec.Raw)
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise InputError("not UTF-8", place=f"line {line}", file=path) from None
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON: {error}", place=_line(text, str(error)), file=path) from None
    return text


def decode(text: bytes | msgspec.Raw, kind: type[T], place: str = "") -> T:
    """Decode strictly into ``kind``; an `InputError` names the field below ``place``."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        field = (place + path.rstrip("`")).lstrip(".") or "the file"
        raise InputError(_plain(message), place=field) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole file or nothing: to a new file beside it first, then renamed over it."""
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/stdout and the like cannot be renamed over
        with target.open("w", encoding="utf-8") as out:
            out.write(text)
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=path) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", file=path) from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def encode(value: Any) -> str:
    """Return compact JSON; floats in their shortest form that reads back equal."""
    return msgspec.json.encode(value).decode()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _line(text: bytes, message: str) -> str:
    _, _, tail = message.partition("(byte ")
    end = int(tail.rstrip(")")) if tail else len(text)
    lines = text[:end].count(b"\n") + 1
    return f"line {lines}"


def _plain(message: str) -> str:
    """Turn msgspec's message into ours: ``Object contains unknown field `x` `` and the like."""
    plain = message.replace("Object contains unknown field", "unknown key")
    plain = plain.replace("Object missing required field", "missing key").replace("`", "")
    return plain[0].lower() + plain[1:]
