"""The jobs of campaigns: the hindsight optimum of an instance, and one policy on the same instance."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hindsched import instances
from hindsched.bench.campaign.child_process import is_child, limited
from hindsched.bench.campaign.engine import Job, code_digest, source_digest
from hindsched.bench.campaign.processes import call_in_child
from hindsched.bench.campaign.sources import Source
from hindsched.bench.family import AnyFamily, family_named, family_of
from hindsched.bench.run_records import OptimumBounds, Options, RunRecord
from hindsched.bench.shared_types import Policy, Problem, Row
from hindsched.instances.errors import InputError, SelfCheckError, printable
from hindsched.instances.text_files import as_unicode, read_bytes
from hindsched.offline.results import Number, Result, Status
from hindsched.online.loading import source_files, split_file, stdout_to_stderr

__all__ = [
    "RunPlan",
    "answered",
    "files_of_policy",
    "job_key",
    "label_of",
    "load_shared",
    "names_of",
    "optimum_job",
    "schedule_path",
    "simulate",
    "simulate_apart",
]


def optimum_job(source: Source, options: Options, folder: Path) -> Job:
    """Return the job that computes the hindsight optimum and keeps its checked schedule in ``folder``."""
    of_solver = (options.solver, options.time_limit_s, *options.solve, *_objective(source, options).values())
    key = job_key(source.family, "offline", "optimum", source.identity, *of_solver)
    arguments = (source, options, schedule_path(folder, key))
    return Job(key, f"optimum of {source.name}", _optimum, arguments, group=source.identity, failed=_failed_optimum)


def label_of(policy: Policy) -> str:
    """Return the label of a policy in tables: its text, or the name of an object."""
    return as_unicode(policy if isinstance(policy, str) else str(getattr(policy, "name", type(policy).__name__)))


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One policy with one combination of options: what its jobs on all instances of a family share.

    The code of a user's policy is part of the jobs and of their keys. Contents of files that options name are part of
    the keys; remote workers must have these files.

    Parameters
    ----------
    family
        The family of the instances.
    policy
        A text as for `hindsched.online.make_policy`, or an object.
    options
        Options of the runs.
    files
        Content of the files of a user's policy.
    contents
        Digests of the users' files that the rows depend on, by policy or option.
    depends_on
        The parts of the keys, in addition to the instance.
    """

    family: AnyFamily
    policy: Policy
    options: Options
    files: Mapping[str, bytes]
    contents: Mapping[str, str]
    depends_on: tuple[object, ...]

    @classmethod
    def of(cls, family: AnyFamily, policy: Policy, options: Options) -> RunPlan:
        """Return the plan of a policy as its files are now."""
        files = files_of_policy(policy)
        content = _policy_digest(policy, family, files)
        label = label_of(policy)
        values = sorted(family.run_values(options).items())
        in_options = {value: _files_of_option(value) for _, value in values}
        named = [hashlib.sha256(text).hexdigest() for texts in in_options.values() for text in texts]
        depends_on = (label, content, *values, *named, options.seed, options.check_slots)
        isolated = ("isolated",) if options.isolated and content else ()  # such rows never stand for other ones
        contents = {
            value: hashlib.sha256(repr(texts).encode()).hexdigest() for value, texts in in_options.items() if texts
        }
        contents |= {label: content} if content else {}
        short = {name: digest[:16] for name, digest in contents.items()}
        return cls(family, policy, options, files, short, (*depends_on, *family.solved_in_runs(options), *isolated))

    def job(self, source: Source) -> Job:
        """Return the job that runs the policy on an instance."""
        identity = source.identity
        key = job_key(source.family, "online", "run", identity, *self.depends_on)
        note = f"{label_of(self.policy)} on {source.name}"
        arguments = (source, self.policy, self.options, self.files, self.contents)
        return Job(key, note, _run, arguments, group=identity, failed=_failed_run)


def files_of_policy(policy: Policy) -> dict[str, bytes]:
    """Return the content of the file of a user's policy, and of modules next to it that it imports."""
    path, class_name = split_file(policy) if isinstance(policy, str) else ("", "")
    if not class_name and not Path(path).is_file():  # the family says what it expects
        return {}
    return {str(file): read_bytes(file) for file in source_files(path)}


def _files_of_option(value: object) -> list[bytes]:
    """Return the content of the files that an option names: ``FILE.py:CLASS`` with its imports, or ``WORD:FILE``."""
    if not isinstance(value, str):
        return []
    found = [text for _, text in sorted(files_of_policy(value).items())]
    file = value.partition(":")[2]
    return [*found, read_bytes(file)] if file and Path(file).is_file() else found


def _local_policy(policy: Policy, files: Mapping[str, bytes]) -> Policy:
    """Return a policy whose files exist here: missing or different files are written to a private folder."""
    if not files or all(Path(name).is_file() and Path(name).read_bytes() == text for name, text in files.items()):
        return policy
    path = split_file(policy)[0]
    folder = Path(path).parent
    root = _private_folder(tuple(sorted((str(Path(name).relative_to(folder)), text) for name, text in files.items())))
    return str(root / Path(path).name) + policy.removeprefix(path)


@cache
def _private_folder(files: tuple[tuple[str, bytes], ...]) -> Path:
    """Write files to a new folder that no other user can write to; this process removes it at its end."""
    root = Path(tempfile.mkdtemp(prefix="hindsched-policy-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    status = root.lstat()
    if (hasattr(os, "getuid") and status.st_uid != os.getuid()) or stat.S_IMODE(status.st_mode) != 0o700:
        raise InputError("not a private folder, expected one of this user with mode 0700", file=root)
    for name, text in files:
        (root / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (root / name).write_bytes(text)
    return root


def _policy_digest(policy: Policy, family: AnyFamily, files: Mapping[str, bytes]) -> str:
    """Return the digest of a user's policy; empty for a built-in one.

    The digest covers its file with its imports from the same folder, or the package of its entry point, or the pickled
    object.
    """
    if not isinstance(policy, str):
        import cloudpickle

        try:
            return hashlib.sha256(cloudpickle.dumps(policy)).hexdigest()
        except Exception as error:  # a user's object may raise anything
            raise InputError(
                f"cannot be pickled: {type(error).__name__}", place=f"policy {label_of(policy)}"
            ) from error
    if _is_built_in(policy, family):
        return ""
    if files:
        return hashlib.sha256(repr([text for _, text in sorted(files.items())]).encode()).hexdigest()
    for point in entry_points(group="hindsched.policies", name=policy):
        spec = find_spec(point.module.partition(".")[0])
        if spec is not None:
            return source_digest(*map(Path, spec.submodule_search_locations or [str(spec.origin)]))
    return ""


def _is_built_in(policy: Policy, family: AnyFamily) -> bool:
    return isinstance(policy, str) and policy in (*family.policies(), *family.our_policies())


def schedule_path(folder: Path, key: str) -> Path:
    """Return the file of the schedule of an optimum."""
    return folder / "schedules" / f"{key[:16]}.json"


def job_key(family: str, package: str, *parts: object) -> str:
    """Return the key of a row that depends on ``parts`` and on the code of ``instances`` and ``package``."""
    return hashlib.sha256(repr((code_digest("instances", package, family=family), *parts)).encode()).hexdigest()


_loaded: Row = {}


def load_shared(source: Source) -> Any:
    """Load an instance once for consecutive jobs, which share its cached values."""
    if source.identity not in _loaded:
        _loaded.clear()
        _loaded[source.identity] = source.load()
    return _loaded[source.identity]


@contextmanager
def _on(source: Source) -> Iterator[None]:
    """Add the name of the instance to an error without a file."""
    try:
        yield
    except InputError as error:
        raise error.in_file(source.name) from None


def _optimum(source: Source, options: Options, path: Path) -> Row:
    family = family_named(source.family).under(options)
    with _on(source):
        instance = load_shared(source)
        result = family.solve(instance, options)
    if result.schedule is not None and family.keeps(result.schedule):
        path.parent.mkdir(parents=True, exist_ok=True)
        instances.write_schedule(result.schedule, path)
    return {"kind": "optimum", **names_of(source, instance), **_objective(source, options), **answered(result, options)}


def _objective(source: Source, options: Options) -> Row:
    """Return the objective of an optimum; nothing for a family with only one."""
    family, name = family_named(source.family), "objective"
    return {name: dict(options.run).get(name, family.default(name))} if name in family.run_options else {}


def names_of(source: Source, instance: Problem) -> Row:
    """Return the entries of a row on its instance."""
    names = {"family": source.family, "setting": source.setting, "instance": source.name, "point": source.point}
    return {**names, "fingerprint": instance.fingerprint}


def answered(result: Result, options: Options) -> Row:
    """Return the entries of a row on a solver's result."""
    return {
        "solver": result.by,
        "time_limit_s": options.time_limit_s,
        **_bounds(OptimumBounds.of(result)),
        "bound": _json(result.bound),
        "check": None if result.schedule is None else "valid",  # the family's solve raises otherwise
        "counts": dict(result.counts),
        "runtime_s": round(result.runtime_s, 6),
    }


def _bounds(bounds: OptimumBounds) -> Row:
    return {
        "status": str(bounds.status),
        "value": _json(bounds.value),
        "lower": _json(bounds.lower),
        "upper": _json(bounds.upper),
    }


def _json(number: Number | None) -> int | float | None:
    return number if number is None or isinstance(number, int) else float(number)


def simulate(family: AnyFamily, instance: Problem, policy: Policy, options: Options) -> RunRecord:
    """Run a policy with the seed that derives from the campaign and the instance."""
    with stdout_to_stderr():
        return family.under(options).run(instance, policy, options, policy_seed(instance, options))


def simulate_apart(instance: Problem, policy: Policy, options: Options, *, limit_s: float | None = None) -> RunRecord:
    """Run a policy as `simulate` does; a user's policy runs in a child process, so that it cannot end this one.

    Raises
    ------
    InputError
        For a policy that ends its process or exceeds ``limit_s`` seconds, and as `simulate` raises it.
    """
    family = family_of(instance)
    if _is_built_in(policy, family):
        return simulate(family, instance, policy, options)
    place = f"policy {label_of(policy)}"
    return call_in_child(_simulate_limited, instance, policy, options, place=place, limit_s=limit_s)


def _simulate_limited(instance: Problem, policy: Policy, options: Options) -> RunRecord:
    with limited():
        return simulate(family_of(instance), instance, policy, options)


def policy_seed(instance: Problem, options: Options) -> int:
    """Return the seed of a run, different for every instance."""
    digest = hashlib.sha256(f"{options.seed}:{instance.fingerprint}".encode()).digest()
    return int.from_bytes(digest[:6], "little")


def _run(
    source: Source, policy: Policy, options: Options, files: Mapping[str, bytes], contents: Mapping[str, str]
) -> Row:
    label = label_of(policy)
    family = family_named(source.family).under(options)
    with _on(source):
        instance = load_shared(source)
        started = time.monotonic()
        try:
            with limited():
                record = simulate(family, instance, _local_policy(policy, files), options)
        except SelfCheckError:
            raise
        except BaseException as error:
            if _is_built_in(policy, family) or not _is_of_policy(error):
                raise
            message = (
                str(error.in_file(source.name))
                if isinstance(error, InputError)
                else (f"{label} on {source.name}: raised {type(error).__name__}: {error}")
            )
            return _failed_run(printable(message), source, policy, options, files, contents)
        runtime_s = time.monotonic() - started
    checked = family.replay(instance, record, f"{label} on {source.name}")
    row = {
        **_head(source, instance, label, options, contents),
        family.value: _json(record.value),
        "limit": _json(record.limit),
        **record.facts,
        **checked,
        "runtime_s": round(runtime_s, 6),
    }
    if record.optimum is not None:
        row["optimum"] = {**_bounds(record.optimum), "solver": record.optimum.by}
    return row


def _head(source: Source, instance: Problem, label: str, options: Options, contents: Mapping[str, str]) -> Row:
    """Return the first entries of the row of a run; ``contents`` are digests of users' files that it depends on."""
    return {
        "kind": "run",
        **names_of(source, instance),
        "policy": label,
        **({"contents": dict(contents)} if contents else {}),
        **family_named(source.family).run_values(options),
        "seed": policy_seed(instance, options),
    }


def _is_of_policy(error: BaseException) -> bool:
    """Return whether a user's policy may have raised an error: a child gets no interruption from outside."""
    return isinstance(error, Exception) or is_child()


def _failed_run(
    message: str,
    source: Source,
    policy: Policy,
    options: Options,
    files: Mapping[str, bytes],
    contents: Mapping[str, str],
) -> Row:
    """Return the row of a run that failed: it counts as unfinished, with nothing known about its value."""
    value = family_named(source.family).under(options).value
    head = _head(source, load_shared(source), label_of(policy), options, contents)
    return {**head, value: None, "limit": None, "check": None, "runtime_s": None, "failure": message}


def _failed_optimum(message: str, source: Source, options: Options, path: Path) -> Row:
    """Return the row of an optimum whose solver lost its process: nothing is known about it."""
    about = {**names_of(source, load_shared(source)), **_objective(source, options)}
    names = {"kind": "optimum", **about, "solver": options.solver}
    unknown = dict.fromkeys(("value", "lower", "upper", "bound", "check", "runtime_s"))
    known: Row = {"time_limit_s": options.time_limit_s, "status": str(Status.UNKNOWN), "counts": {}}
    return {**names, **known, **unknown, "failure": message}
