"""How numba kernels of any package are compiled, and where their machine code is kept.

Compilation is what a new user waits for, so nothing is compiled twice:

- Numba makes machine code for `f(0)` apart from that for `f(x)`. Here a constant counts as any other value of its type.
- Numba makes a way in from Python, long where arrays are many, for every function that a kernel calls. Here only a
  function that Python does call has one.
- Several processes that start together would each compile the same. Here the one that is first compiles a kernel, the
  others wait for it and load what it made.

Numba keeps machine code on disk, with three traps that this module closes for all packages alike:

- It looks only at the file of a function to see whether the code is still good, though the code contains the functions
  it calls as well. Here the folder of the code is named by a digest of all the sources, of this module and of the
  compiler's version: after any change everything is compiled again, in a folder of its own.
- It trusts what it reads: a file cut short, by a full disk or a process that was killed, is an error at every start, or
  worse. Here each file ends with a digest of its content; one that does not fit counts as absent, and is made anew.
- Two processes that compile at the same time may write different code under one name. Here what is read says which
  signature it was made for, and any other counts as absent.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from numba import njit
from numba.core import caching
from numba.core import config as numba_config
from numba.core import types as numba_types

__all__ = ["LOGGER", "Kernels", "folder_name", "kernels_of"]

#: The logger that is told when compilation begins; nobody listens unless a program attaches a handler.
LOGGER = "hindsched.compiling"

config: Any = numba_config  # its options are set at run time, out of sight of type checkers
types: Any = numba_types
_FunctionCache: Any = caching.FunctionCache
_IndexDataCacheFile: Any = caching.IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])


class Kernels:
    """The decorator for the kernels of some sources.

    With a signature it compiles the function when its module is imported, without one at the first call; either way
    machine code that was made before is loaded instead. Where no folder can be written nothing is kept.

    Parameters
    ----------
    sources
        All that the machine code is made from: folders, whose Python files count, and single files.
    name
        Starts the name of the folder for the machine code.
    """

    def __init__(self, sources: tuple[Path, ...], name: str) -> None:
        self.sources = sources
        self.name = name

    def __call__(self, *signature: str, **options: Any) -> Callable[[Function], Function]:
        """Return the decorator for one signature, or none, and numba's options."""

        def compiled(function: Function) -> Function:
            made: Any = njit(**options, no_cfunc_wrapper=True)(function)
            if made is not function:  # numba can be told not to compile at all
                self._keep(made, function, "")
                if signature:
                    for one in signature:
                        made.compile(one)
                    made.disable_compile()
                else:

                    @cache
                    def inner() -> Any:
                        called: Any = njit(**options, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)
                        self._keep(called, function, "inner")
                        return called

                    _hand_on(made, inner)
            kernel: Function = made
            return kernel

        return compiled

    def _keep(self, made: Any, function: Callable[..., Any], place: str) -> None:
        folder = _cache_folder(self.sources, self.name)
        if folder is not None:
            made._cache = _cache_of(function, folder / place)
            _let_go_when_compiled(made)


def kernels_of(sources: Path, name: str, *others: Path) -> Kernels:
    """Return the decorator for the kernels whose sources lie in one folder.

    Parameters
    ----------
    sources
        The folder; all its Python files count as sources of each kernel.
    name
        Starts the name of the folder for the machine code.
    others
        Folders and files elsewhere whose functions or constants the kernels use.
    """
    return Kernels((sources, *others), name)


def folder_name(sources: tuple[Path, ...], name: str) -> str:
    """Return the name of the folder for machine code made from these sources by this compiler."""
    digest = sha256("".join(f"{package} {version(package)} " for package in ("numba", "llvmlite", "numpy")).encode())
    for source in (*sources, Path(__file__)):
        for file in sorted(source.glob("*.py")) if source.is_dir() else [source]:
            digest.update(file.name.encode() + b"\0" + sha256(file.read_bytes()).digest())
    return f"{name}-{digest.hexdigest()[:16]}"


@cache
def _cache_folder(sources: tuple[Path, ...], name: str) -> Path | None:
    folder = folder_name(sources, name)
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (config.CACHE_DIR, sources[0] / "__pycache__", user / "hindsched"):
        if parent and _is_writable(Path(parent) / folder):
            return Path(parent) / folder
    return None


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _cache_of(function: Callable[..., Any], folder: Path) -> Any:
    """Return numba's cache of a function in a folder, with files that are checked.

    The folder's name stands for all the sources, so that neither their place nor their date counts: two copies of the
    project share machine code where they share the folder.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        kept = _FunctionCache(function)
    finally:
        config.CACHE_DIR = before
    kept._cache_path = str(folder / function.__module__)
    kept._cache_file = _CheckedFiles(kept.cache_path, kept._impl.filename_base, "")
    return kept


def _hand_on(made: Any, inner: Callable[[], Any]) -> None:
    """Have other kernels call ``inner()``, which Python cannot call, with a constant as with any other value.

    It is made when the first of them is compiled: who loads machine code needs none.
    """

    def template(positional: Any, named: Any) -> Any:
        values = {name: types.unliteral(one) for name, one in named.items()}
        return inner().get_call_template(tuple(types.unliteral(one) for one in positional), values)

    made.get_call_template = template
    made.get_overload = lambda signature: inner().get_overload(signature)
    made.inner = inner


def _let_go_when_compiled(made: Any) -> None:
    """Let other processes have the kernel, if it was held to be compiled, whether that succeeds or not."""
    compile_one = made.compile

    def compiled(signature: Any) -> Any:
        try:
            return compile_one(signature)
        finally:
            made._cache._cache_file.let_go()

    made.compile = compiled


@cache
def _say_once() -> None:
    """Tell whoever listens that this process is about to compile."""
    logging.getLogger(LOGGER).info("compiling machine code, once after an installation: a minute or two")


class _CheckedFiles(_IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of one function, each with a digest of its content at the end.

    While a process compiles the function it holds a lock: other processes wait, and load what it made.
    """

    #: Who waits longer than this compiles all the same: a process that was stopped holds its lock for ever.
    _PATIENCE_S = 600.0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._lock = FileLock(f"{self._index_path}.lock", timeout=self._PATIENCE_S)

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        data = self._made_for(key)
        if data is None:
            _say_once()
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            with suppress(Timeout, OSError):  # a lock saves time, nothing else
                self._lock.acquire()
            data = self._made_for(key)  # it may have been made while we waited
        return data

    def let_go(self) -> None:
        """Let other processes compile the function, or load it."""
        self._lock.release()

    def _made_for(self, key: Any) -> Any:
        made_for, data = super().load(key) or (None, None)
        return data if made_for == key else None

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_whole(Path(self._data_path(name))):
            raise FileNotFoundError(name)  # which numba takes for a file that was removed
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        whole = content.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(whole + sha256(whole).digest())


def _is_whole(file: Path) -> bool:
    """Whether a file is there and ends with the digest of its content, which readers of pickles ignore."""
    try:
        content = file.read_bytes()
    except OSError:
        return False
    size = sha256().digest_size
    return content[-size:] == sha256(content[:-size]).digest()
