"""Compilation of kernels with numba, and the cache of their machine code.

New users wait for compilation, so this module compiles nothing twice:

- Numba compiles `f(0)` separately from `f(x)`. Here a constant is compiled as any other value of its type.
- Numba compiles a Python wrapper for every function that a kernel calls, which takes long for many arrays. Here only
  functions that Python calls have one.
- Numba keeps the code of a kernel twice: as machine code, and for kernels that call it. Here a file has one of the two
  that its readers use, which is loaded in half the time.
- Processes that start together would compile the same kernels. Here the first one compiles a kernel, and the others
  wait and load its code.

Numba's cache on disk has four weaknesses, which this module removes:

- Numba checks only the file of a function, although the code contains the functions that it calls. Here the folder of
  the code is named by a digest of all sources, of this module and of the compiler's version. After a change the code
  is compiled again in a new folder.
- Numba trusts the files that it reads. A file truncated by a full disk or a killed process is an error at every start,
  or worse. Here each file ends with a digest of its content; a file that does not match is compiled again.
- Two processes may write different code under the same name. Here each file contains the signature that it was compiled
  for, and a file with another signature is ignored.
- The files are pickles: who can write them can run code as the user who loads them. Here a folder that other users can
  write to is refused, and new folders have mode 0700.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar, overload

import llvmlite.binding as llvm_binding
from filelock import FileLock, Timeout
from numba import njit
from numba.core import caching
from numba.core import config as numba_config
from numba.core import types as numba_types
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

from hindsched.instances.errors import InputError

__all__ = ["LOGGER", "folder_name", "inlined", "kernel", "sources_of"]

#: The logger that reports compilation; it is silent unless a program attaches a handler.
LOGGER = "hindsched.compiling"

config: Any = numba_config  # its options are set at run time, out of sight of type checkers
types: Any = numba_types
_CompiledResults: Any = caching.CompileResultCacheImpl
_FunctionCache: Any = caching.FunctionCache
_IndexDataCacheFile: Any = caching.IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])

_IMPORT = re.compile(
    r"^[ \t]*(?:import (?P<whole>[\w.]+)|from (?P<source>[\w.]+) import (?P<names>\([^)]*\)|[^\n]*))", re.MULTILINE
)


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(*signatures: str, allocates: bool = False, **options: Any) -> Callable[[Function], Function]: ...


def kernel(*given: Any, allocates: bool = False, **options: Any) -> Any:
    """Compile a function to machine code and keep the code on disk.

    Use it bare (``@kernel``), with options (``@kernel(nogil=True)``), or with signatures
    (``@kernel("int64(int64)")``). With signatures the function is compiled when its module is imported, otherwise at
    its first call. Machine code made before is loaded instead.

    Parameters
    ----------
    *given
        The function, or the signatures that it is compiled for.
    allocates
        Whether the function makes arrays. Only then does numba count references to arrays, which takes longer than the
        work of most kernels.
    **options
        Options of ``numba.njit``. Division by zero gives inf or nan as in C, unless ``error_model="python"`` is given.
    """
    if given and callable(given[0]):
        return _compiled(given[0], (), _nrt=allocates, **options)
    return lambda function: _compiled(function, given, _nrt=allocates, **options)


def inlined(function: Function) -> Function:
    """Compile a part of a longer kernel as if its text stood where it is called."""
    return _compiled(function, (), _nrt=False, inline="always")


def _compiled(function: Function, signatures: tuple[str, ...], **options: Any) -> Function:
    options = {"error_model": "numpy", **options}
    made: Any = njit(**options, no_cfunc_wrapper=True)(function)
    if made is not function:  # numba can be configured not to compile at all
        _keep(made, function, "", _KernelCache if signatures else _EntryCache)
        if signatures:
            for signature in signatures:
                made.compile(signature)
            made.disable_compile()
        else:

            @cache
            def inner() -> Any:
                called: Any = njit(**options, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)
                _keep(called, function, "inner", _KernelCache)
                return called

            _hand_on(made, inner)
    compiled: Function = made
    return compiled


def _keep(made: Any, function: Callable[..., Any], place: str, kind: type[_KernelCache]) -> None:
    """Keep the machine code of a function on disk, in a cache that is made at the first compilation or loading.

    The folder is named now: it belongs to the sources as they are imported, whatever happens to them later.
    """
    folder = _cache_folder(Path(function.__code__.co_filename))
    if folder is None:
        return
    compile_one = made.compile

    def compiled(signature: Any) -> Any:
        if not isinstance(made._cache, _KernelCache):
            made._cache = _cache_of(function, folder / place, kind)
        try:
            return compile_one(signature)
        finally:
            made._cache._cache_file.release()  # whether compilation succeeds or not
            _progress.step(function)

    made.compile = compiled


def sources_of(file: Path) -> list[Path]:
    """Return the files that the machine code of a module is made from: the module and all that it imports.

    Only modules of the same package count, or, for a module outside any package, modules in the same folder. Imports
    are followed from file to file.
    """
    root, package = _package_of(file)
    found: dict[Path, None] = {}
    waiting = [file]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found[source] = None
            waiting.extend(_imported_by(source, root, package))
    return sorted(found)


def _package_of(file: Path) -> tuple[Path, str | None]:
    """Return the folder that holds the top package of a module, and the name of that package; None without one."""
    folder, package = file.parent, None
    while (folder / "__init__.py").exists():
        folder, package = folder.parent, folder.name
    return folder, package


@cache
def _imported_by(file: Path, root: Path, package: str | None) -> tuple[Path, ...]:
    found: list[Path] = []
    for match in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        module = match["whole"] or match["source"]
        if package is None or module.split(".")[0] == package:
            names = re.findall(r"(\w+)(?:\s+as\s+\w+)?", match["names"] or "")
            found.extend(_files_of(root, module, names))
    return tuple(found)


def _files_of(root: Path, module: str, names: list[str]) -> Iterator[Path]:
    """Return the files of a module, or those of its submodules where only these are imported."""
    place = root.joinpath(*module.split("."))
    submodules = [place / f"{name}.py" for name in names if (place / f"{name}.py").exists()]
    yield from submodules
    if len(submodules) < len(names) or not names:
        yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists())


def folder_name(file: Path) -> str:
    """Return the name of the folder for the machine code of a module, made by this compiler from these sources."""
    digest = sha256(_compiler().encode())
    root, _ = _package_of(file)
    for source in (*sources_of(file), Path(__file__)):
        inside = source.relative_to(root) if source.is_relative_to(root) else Path(source.name)
        digest.update(str(inside).encode() + b"\0" + _digest(source))
    return f"{file.stem}-{digest.hexdigest()[:16]}"


@cache
def _compiler() -> str:
    return "".join(f"{package} {version(package)} " for package in ("numba", "llvmlite", "numpy"))


@cache
def _digest(source: Path) -> bytes:
    return sha256(source.read_bytes()).digest()


@cache
def _cache_folder(file: Path) -> Path | None:
    folder = folder_name(file)
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    beside = file.parent / "__pycache__"
    for parent in (config.CACHE_DIR, beside, user / "hindsched"):
        if not parent:
            continue
        place = Path(parent).resolve() / folder
        try:
            if _is_usable(place, is_beside_sources=parent == beside):
                return place
        except InputError as error:
            if parent == config.CACHE_DIR:
                raise
            logging.getLogger(LOGGER).warning("%s", error)
    return None


def _is_usable(folder: Path, *, is_beside_sources: bool) -> bool:
    """Return whether this user can write to a cache folder, which is made if necessary, and no other user owns it.

    Who can write beside the sources can change the sources themselves, so only the folder itself counts there.

    Raises
    ------
    InputError
        For a folder that other users can write to.
    """
    try:
        if is_beside_sources:
            folder.parent.mkdir(parents=True, exist_ok=True)
        for place in reversed(folder.parents):
            place.mkdir(mode=0o700, exist_ok=True)
        if not (is_beside_sources or _is_own(folder.parent, is_parent=True)):
            return False
        folder.mkdir(mode=0o700, exist_ok=True)
        return _is_own(folder, is_parent=False) and os.access(folder, os.W_OK)
    except OSError:
        return False


def _is_own(folder: Path, *, is_parent: bool) -> bool:
    """Return whether a folder belongs to this user or root; an `InputError` says that others can write to it."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):  # a link is not followed: who made it can change it
        return False
    mode = stat.S_IMODE(status.st_mode)
    is_open = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private_group(status.st_gid))
    if is_open and not (is_parent and mode & stat.S_ISVTX):  # in a sticky folder others cannot replace ours
        raise InputError(
            f"other users can write to this folder of machine code (mode {mode:04o}), which can run their code: "
            "empty it and make it yours (chmod 700), or name another folder in NUMBA_CACHE_DIR",
            file=folder,
        )
    return status.st_uid in (os.getuid(), 0)


def _is_private_group(group: int) -> bool:
    """Return whether a group has this user's name and no other member, as it is usual with the umask 002."""
    import grp  # noqa: PLC0415  # both exist on Unix only
    import pwd  # noqa: PLC0415

    try:
        name, found = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:  # the user or the group has no entry
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def _cache_of(function: Callable[..., Any], folder: Path, kind: type[_KernelCache]) -> Any:
    """Return numba's cache of a function in a folder, with files that are checked.

    The folder's name stands for all the sources, so that neither their place nor their date counts: two copies of the
    project share machine code where they share the folder.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        kept = kind(function)
    finally:
        config.CACHE_DIR = before
    kept._cache_path = str(folder / function.__module__)
    kept._cache_file = _CheckedFiles(kept.cache_path, kept._impl.filename_base, "")
    kept._cache_file.function = function
    return kept


def _hand_on(made: Any, inner: Callable[[], Any]) -> None:
    """Let other kernels call ``inner()``, which has no Python wrapper; constants are typed as any other value.

    ``inner()`` is created when the first such kernel is compiled. Loading machine code does not need it.
    """

    def template(positional: Any, named: Any) -> Any:
        values = {name: types.unliteral(one) for name, one in named.items()}
        return inner().get_call_template(tuple(types.unliteral(one) for one in positional), values)

    made.get_call_template = template
    made.get_overload = lambda signature: inner().get_overload(signature)
    made.inner = inner


class _KernelCache(_FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, which loads machine code without numba's libraries for compilation.

    These take half a second to import. The compiler imports them itself before it compiles.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _EntryResults(_CompiledResults):  # type: ignore[misc]
    """Results of compilation without the code that other kernels are linked with: only names of functions are left."""

    def reduce(self, cres: Any) -> Any:
        (name, kind, (machine_code, _)), *rest = super().reduce(cres)
        entries = (cres.fndesc.llvm_func_name, cres.fndesc.llvm_cpython_wrapper_name)
        stubs = "\n".join(f'define void @"{entry}"() {{ ret void }}' for entry in entries)
        return ((name, kind, (machine_code, llvm_binding.parse_assembly(stubs).as_bitcode())), *rest)


class _EntryCache(_KernelCache):
    """The cache of a function that only Python calls."""

    _impl_class = _EntryResults


class _Progress:
    """Reports the kernel that is compiled, and how many of its functions are ready."""

    def __init__(self) -> None:
        self._num_kernels = 0
        self._kernel = ""
        self._waiting: set[Any] = set()
        self._total = 0

    def begin(self, function: Callable[..., Any]) -> None:
        """Report a function that is to be compiled: the next kernel, unless it is a part of the last one."""
        if function not in self._waiting:
            self._num_kernels += 1
            self._kernel = f"{function.__module__}.{function.__qualname__}"
            self._waiting = {function} | _called_by(function)
            self._total = len(self._waiting)
            self._report()

    def step(self, function: Callable[..., Any]) -> None:
        """Report that a function is ready; one that is compiled again for other types does not count."""
        if function in self._waiting:
            self._waiting.remove(function)
            if self._waiting:
                self._report()

    def _report(self) -> None:
        logging.getLogger(LOGGER).info(
            "compiling machine code, once after an installation: kernel %d (%s), function %d of %d",
            *(self._num_kernels, self._kernel, self._total - len(self._waiting) + 1, self._total),
        )


_progress = _Progress()


def _called_by(kernel: Callable[..., Any]) -> set[Any]:
    """Return the functions that a kernel calls, directly or not, and that are compiled on their own."""
    found: set[Any] = set()
    waiting, seen = [kernel], {kernel}
    while waiting:
        function = waiting.pop()
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            if isinstance(called, Dispatcher) and hasattr(called, "inner") and called.py_func not in seen:
                seen.add(called.py_func)
                waiting.append(called.py_func)
                if called.targetoptions.get("inline") != "always":
                    found.add(called.py_func)
    return found


class _CheckedFiles(_IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of one function, each with a digest of its content at the end.

    A process holds a lock while it compiles the function. Other processes wait and load its code.
    """

    #: The function; `_cache_of` sets it.
    function: Callable[..., Any]

    #: Seconds to wait for the lock before compiling without it; a stopped process never releases its lock.
    _PATIENCE_S = 600.0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._lock = FileLock(f"{self._index_path}.lock", timeout=self._PATIENCE_S)

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        data = self._made_for(key)
        if data is None:
            _progress.begin(self.function)
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)
            with suppress(Timeout, OSError):  # the lock only saves time
                self._lock.acquire()
            data = self._made_for(key)  # another process may have compiled it meanwhile
        return data

    def release(self) -> None:
        """Release the lock, so that other processes compile the function or load it."""
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
    """Return whether a file exists and ends with the digest of its content; readers of pickles ignore the digest."""
    try:
        content = file.read_bytes()
    except OSError:
        return False
    size = sha256().digest_size
    return content[-size:] == sha256(content[:-size]).digest()
