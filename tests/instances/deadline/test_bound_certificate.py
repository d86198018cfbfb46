"""Certificates of bounds: those of the solver are valid and never above the optimum; mutants break P1 or P2."""

import json
import random

import pytest

from hindsched.instances import InputError
from hindsched.instances.deadline import BoundCertificate, check, read_certificate, write_certificate, write_schedule
from hindsched.offline.deadline import solve
from hindsched.offline.deadline.lagrangian import lagrangian_bound
from tests.cases.deadline import drawn, job


def changed(certificate, **changes):
    return BoundCertificate({**certificate.document, **changes})


def test_bounds_are_certified_and_never_above_the_optimum():
    tight = proven = 0
    for seed in range(60):
        instance = drawn(seed)
        result = solve(instance)
        if result.certificate is None:
            assert result.value is None
            continue
        verdict = check(instance, result.certificate)
        assert verdict.is_valid, (seed, str(verdict))
        assert verdict.outcome.value == lagrangian_bound(instance).value
        proven += 1
        if result.value is not None:
            assert verdict.outcome.value <= result.value
            tight += verdict.outcome.value == result.value
    assert proven > 30
    assert tight > 10


def test_files_are_exact():
    instance = drawn(3)
    certificate = lagrangian_bound(instance).certificate(instance)
    text = write_certificate(certificate)
    assert text == write_schedule(certificate)
    again = read_certificate(json.loads(text))
    assert again == certificate
    assert again.instance == instance.fingerprint
    with pytest.raises(InputError, match="colour"):
        read_certificate(json.loads(text) | {"colour": 1})
    with pytest.raises(InputError, match="phi"):
        read_certificate(json.loads(text) | {"phi": 7})
    with pytest.raises(InputError, match="missing key lambda"):
        read_certificate({key: value for key, value in json.loads(text).items() if key != "lambda"})


def test_a_certificate_by_hand():
    """One slot of spot at 1 an hour, one of on-demand at 3: 15 s of work without overhead cost 10 + 30."""
    instance = job("10", work_s=15)
    # columns: nothing; nothing with home 0; spot; on-demand. A second of work is worth 3, as much as on demand
    phi = [[-20, -20, -20, -20], [0, 0, 0, 0], [0, 0, 0, 0]]
    made = BoundCertificate.of(instance, 3, 1, phi)
    verdict = check(instance, made)
    assert verdict.is_valid, str(verdict)
    assert verdict.outcome.value == 30  # 45 - 20 = 25, up to a multiple of ten
    assert solve(instance).value == 40
    too_much = BoundCertificate.of(instance, 3, 1, [[-19, -20, -20, -20], *phi[1:]])
    found = check(instance, too_much)
    assert (found.time, found.rule) == (0, "P2")
    assert "phi[0][0]: -19 is too much if then spot runs in zone 0" in found.reason
    last = check(instance, BoundCertificate.of(instance, 3, 1, [*phi[:2], [0, 0, 1, 0]]))
    assert (last.time, last.rule) == (2, "P2")


@pytest.mark.parametrize(
    "change",
    [
        {"lambda": [1]},
        {"lambda": [-1, 1]},
        {"lambda": [1, 0]},
        {"lambda": [1.0, 1]},
        {"lambda": [True, 1]},
        {"phi": [[0, 0, 0, 0]]},
        {"phi": [[0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]},
        {"phi": [[0, 0, 0, 0.0], [0, 0, 0, 0], [0, 0, 0, 0]]},
        {"phi": [[0, 0, 0, True], [0, 0, 0, 0], [0, 0, 0, 0]]},
        {"instance": "sha256:0"},
        {"instance": None},
        {"colour": 1},
        {"format": "deadline-bound/2"},
    ],
    ids=str,
)
def test_forms(change):
    instance = job("10", work_s=15)
    good = BoundCertificate.of(instance, 0, 1, [[0] * 4] * 3)
    assert check(instance, good).outcome.value == 0
    assert check(instance, changed(good, **change)).rule == "P1"


def test_larger_potentials_are_refused():
    """Where phi is the least cost of the tail, no first number can be larger."""
    rng = random.Random(1)
    for seed in range(30):
        instance = drawn(seed)
        certificate = lagrangian_bound(instance).certificate(instance)
        if certificate.document["lambda"] == [0, 1] and not any(map(any, certificate.document["phi"])):
            continue
        rows = [list(row) for row in certificate.document["phi"]]
        rows[0][0] += 1
        assert check(instance, changed(certificate, phi=rows)).rule == "P2"
        rows = [list(row) for row in certificate.document["phi"]]
        t, u = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
        rows[t][u] += 10**20
        assert check(instance, changed(certificate, phi=rows)).rule == "P2"
        rows[t][u] -= 2 * 10**20  # smaller numbers are a weaker proof, or none for the slots before
        verdict = check(instance, changed(certificate, phi=rows))
        assert verdict.rule == ("P2" if t else None)
