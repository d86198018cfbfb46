"""The process of a user's policy: the script that `hindsched.online.isolation` starts.

The process receives a view of the past for each choice, and returns the choice. It holds nothing else of the run. The
script imports hindsched only after `_shut_in`, because threads that other packages start would escape it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
from importlib import import_module

__all__ = ["main"]

#: Numbers of system calls and constants of Linux's Landlock, the same on all machines.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _PATH_BENEATH, _SCOPES = 1 << 2, 1, 0b11
_SCOPED_SINCE = 6
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9


def main() -> None:
    """Serve one policy until the pipe closes."""
    with open(os.devnull, "r+b", buffering=0) as nothing:
        requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(nothing.fileno(), 0)
        try:
            os.dup2(2, 1)  # prints go to standard error
        except OSError:  # it is closed
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
    if sys.platform == "linux":
        _shut_in()
    sys.path[:] = pickle.load(requests)  # before anything of hindsched is loaded
    import_module("hindsched.online.isolation").serve(requests, answers)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _shut_in() -> None:
    """End this process with its parent; where the kernel has Landlock, keep it away from other processes.

    A process in a Landlock domain can neither trace processes outside it, read or write their memory, nor send them
    signals. All files stay readable but those of other processes below /proc.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    wanted = _Ruleset(_READ_FILE, 0, _SCOPES if version >= _SCOPED_SINCE else 0)
    size = ctypes.sizeof(_Ruleset) if version >= _SCOPED_SINCE else ctypes.sizeof(ctypes.c_uint64)
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0)
    if rules < 0:
        return
    own = [entry.path for entry in os.scandir("/proc") if not entry.name.isdigit()]  # /proc/self is this process
    for path in [*own, *(entry.path for entry in os.scandir("/") if entry.name != "proc")]:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # a link without a target
            continue
        libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_Rule(_READ_FILE, place)), 0)
        os.close(place)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)


if __name__ == "__main__":
    main()
