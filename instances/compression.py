"""Unpack compressed files. The content of a file decides how it is packed, not its name."""

from __future__ import annotations

import bz2
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

from hindsched.instances.errors import InputError

__all__ = ["MOST_BYTES", "PACKED_NAME", "unpack"]

#: Largest size of a file in bytes, packed and unpacked; a larger file is refused before it fills the memory.
MOST_BYTES = 1 << 28

#: The ending of a packed file's name.
PACKED_NAME = re.compile(r"\.(gz|xz|lzma|bz2|zip)$")

_STEP = 1 << 24
_XZ_MEMORY = 1 << 28
_READABLE = "plain text, gzip, xz, bzip2 or a zip archive of one file"
#: Beginnings of files that can be unpacked: name, decompressor of one stream, and bytes that may follow a stream.
_PACKED: tuple[tuple[bytes, str, Callable[[], Any], int], ...] = (
    (b"\x1f\x8b", "gzip", lambda: zlib.decompressobj(31), 1),
    (b"\xfd7zXZ\0", "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), 4),
    (b"]\0\0", "lzma", lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _XZ_MEMORY), 0),
    (b"BZh", "bzip2", bz2.BZ2Decompressor, 0),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
#: Beginnings of files that cannot be read, and what they are.
_FOREIGN = (
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL), "zstd data"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7z archive"),
    (re.compile(rb"Rar!\x1a\x07"), "a rar archive"),
    (re.compile(rb"\x04\x22\x4d\x18"), "lz4 data"),
    (re.compile(rb"LZIP\x01"), "lzip data"),
    (re.compile(rb"\x1f[\x9d\xa0]"), "data of compress (.Z)"),
    (re.compile(rb"PAR1"), "a Parquet table"),
    (re.compile(rb"\x89HDF"), "HDF5 data"),
    (re.compile(rb"SQLite format 3\0"), "an SQLite database"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "UTF-16 text"),
)


def unpack(raw: bytes) -> bytes | bytearray:
    """Return the content of a file that is plain or packed with gzip, xz, bzip2 or zip.

    Raises
    ------
    InputError
        If the data is truncated or damaged, is packed twice or in another way, is an archive of several files, or has
        more than `MOST_BYTES`.
    """
    content: bytes | bytearray = raw
    packed = _packed(raw)
    if packed is not None:
        name = packed[1]
        try:
            content = _unpack_streams(raw, *packed)
        except (lzma.LZMAError, zlib.error, OSError) as error:
            raise InputError(f"damaged {name} data: {error}") from None
    elif raw.startswith(_ZIP):
        content = _unpack_zip(raw)
    if content is not raw and (_packed(content) or content.startswith(_ZIP)):
        raise InputError("packed twice, expected plain text after unpacking once")
    for pattern, name in _FOREIGN:
        if pattern.match(content):
            expected = "UTF-8" if name.startswith("UTF") else _READABLE
            raise InputError(f"{name}, expected {expected}")
    return content


def _packed(raw: bytes | bytearray) -> tuple[bytes, str, Callable[[], Any], int] | None:
    return next((packed for packed in _PACKED if raw.startswith(packed[0])), None)


def _unpack_streams(raw: bytes, magic: bytes, name: str, start: Callable[[], Any], padding: int) -> bytearray:
    """Return the content of all streams; ``padding``: zero bytes follow a stream in multiples of this number."""
    content = bytearray()
    rest = raw
    while rest:
        if not rest.startswith(magic):
            raise InputError(f"damaged {name} data: bytes follow its end")
        engine = start()
        while not engine.eof:
            found = engine.decompress(rest, _STEP)
            rest = getattr(engine, "unconsumed_tail", b"")
            if not (found or rest or engine.eof):
                raise InputError(f"truncated {name} data, expected a whole file")
            content += found
            _expect_size(len(content))
        rest = engine.unused_data
        zeros = len(rest) - len(rest.lstrip(b"\0"))
        if zeros and (not padding or zeros % padding):
            raise InputError(f"damaged {name} data: {zeros} zero bytes follow its end")
        rest = rest[zeros:]
    return content


def _unpack_zip(raw: bytes) -> bytes:
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX/" not in each.filename]
            if len(files) != 1:
                raise InputError(f"a zip archive of {len(files)} files, expected one file")
            if files[0].flag_bits & 1:
                raise InputError("an encrypted zip archive, expected one without a password")
            with archive.open(files[0]) as file:
                content = file.read(MOST_BYTES + 1)
    except EOFError:
        raise InputError("truncated zip data, expected a whole file") from None
    except InputError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, lzma.LZMAError, OSError, ValueError) as error:
        raise InputError(f"damaged zip data: {error}") from None
    _expect_size(len(content))
    return content


def _expect_size(size: int) -> None:
    if size > MOST_BYTES:
        raise InputError(f"more than {MOST_BYTES >> 20} MiB when unpacked, expected at most this")
