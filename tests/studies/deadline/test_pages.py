"""Numbers on the pages of deadline agree with numbers computed directly from the files."""

import lzma

import pandas as pd
import pytest

from docs.studies.claims import Verdict
from docs.studies.deadline.claims import factors, judge
from docs.studies.deadline.intervals import Resamples, difference, ratio
from docs.studies.deadline.pages import Published
from docs.studies.rows import ROWS
from hindsched.instances.deadline import spot_zones
from hindsched.instances.errors import InputError


@pytest.fixture(scope="module")
def published() -> Published:
    return Published()


@pytest.fixture(scope="module")
def costs() -> dict[tuple[str, ...], dict[str, int]]:
    """Return the costs under ``step`` of each instance, by policy, from the bare file."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    with lzma.open(ROWS / "deadline_runs.csv.xz", "rt") as file:
        names = next(file).strip().split(",")
        for line in file:
            row = dict(zip(names, line.rstrip("\n").split(","), strict=True))
            if row["guard"] != "step_old":
                key = tuple(row[name] for name in ("deadline_h", "overhead_s", "zone", "start"))
                found.setdefault(key, {})[row["policy"]] = int(row["cost"])
    return found


def test_means_are_those_of_the_bare_rows(published, costs) -> None:
    mine = [by for key, by in costs.items() if key[:2] == ("70", "720")]
    ratio = sum(by["uniform"] / by["free"] for by in mine) / len(mine)
    assert published.cell("ratio", "uniform", "70", "720") == f"{ratio:.3f}"
    dollars = sum(by["renewal"] for by in mine) / len(mine) / 3.6e9
    assert published.cell("dollars", "renewal", "70", "720") == f"{dollars:.2f}"
    assert published.instances() == f"{len(costs):,}"
    score = (3.06 * 48 - sum(by["free"] for by in mine) / len(mine) / 3.6e9) / ((3.06 - 0.9731) * 48)
    assert published.cell("score", "free", "70", "720") == f"{score:.2f}"


def test_no_policy_is_below_the_optima(costs) -> None:
    for by in costs.values():
        assert by["free"] <= by["guarded"] <= min(cost for name, cost in by.items() if name not in ("free", "guarded"))


def test_factors_are_ratios_of_mean_gaps(published, costs) -> None:
    found = factors(published._lines)
    for key, factor in found.items():
        cell = key.split("-")
        if not key[0].isdigit():
            continue
        mine = [by for instance, by in costs.items() if list(instance[: len(cell)]) == cell]
        gaps = [sum(by[name] - by["free"] for by in mine) for name in ("greedy", "uniform")]
        assert factor.windows == len(mine)
        assert factor.mean.value == pytest.approx(gaps[0] / gaps[1])
        assert all(estimate.low < estimate.value < estimate.high for estimate in (factor.mean, factor.bad))
    assert sum(found[key].windows for key in ("low", "middle", "high")) == found["all"].windows == len(costs)


def test_windows_are_divided_by_their_time_with_spot() -> None:
    """A zone with little spot, and one that has it nearly always."""
    rows = [
        {"deadline_h": 52, "overhead_s": 180, "zone": zone, "start": start, "policy": policy, "guard": "", "cost": cost}
        for zone, start in (("us-east-1a", 0), ("us-west-2b", 12000))
        for policy, cost in (("free", 1), ("greedy", 5), ("uniform", 3))
    ]
    found = factors(pd.DataFrame(rows))
    for key, zone, start in (("low", "us-east-1a", 0), ("high", "us-west-2b", 12000)):
        job = spot_zones.window([zone], start, work_s=1, deadline_s=52 * 3600, overhead_s=0)
        assert (job.spot[0].mean() < 1 / 3, job.spot[0].mean() > 2 / 3) == (key == "low", key == "high")
        assert (found[key].windows, found[key].mean.value) == (1, 2)
    assert "middle" not in found


def test_a_factor_counts_against_the_paper_only_with_its_whole_interval(published) -> None:
    found = published._factors
    (conditions,) = (claim for claim in published._claims if "tight" in claim.claim)
    for key in ("52", "70", "92", "low", "middle", "high"):
        is_below = min(found[key].mean.high, found[key].bad.high) < 2
        assert (found[key].setting in conditions.reason) == is_below
    assert conditions.verdict is Verdict.PARTLY


def test_estimates_use_the_statistic_of_their_resamples() -> None:
    windows = pd.DataFrame({"zone": ["a"] * 20, "start": [0] * 20})  # one block: every resample is the sample
    drawn, first, second = Resamples(windows), range(1, 21), [2] * 20
    for share, value in ((None, 10.5), (0.95, 19)):
        assert ratio(drawn, first, second, share) == pytest.approx((value / 2,) * 3)
        assert difference(drawn, first, second, share) == pytest.approx((value - 2,) * 3)


def test_no_claim_holds_without_the_papers_statistic(published) -> None:
    claims = judge(published._lines)
    assert published.num_claims() == str(sum(claim.verdict is not Verdict.MEASURED for claim in claims))
    assert all(claim.verdict is not Verdict.HOLDS for claim in claims if claim.source.startswith("CBL"))


def test_resamples_draw_whole_zones_and_blocks() -> None:
    windows = pd.DataFrame({"zone": ["a", "a", "b", "b"], "start": [0, 1, 0, 5000]})
    weights = Resamples(windows).weights
    assert (weights[:, 0] == weights[:, 1]).all()  # one block
    assert weights.mean(axis=0) == pytest.approx([1, 1, 1, 1], abs=0.15)
    # values that are equal in a zone vary with the zones only
    assert set(Resamples(windows).mean([1, 1, 3, 3]).tolist()) == {1, 2, 3}
    assert set(Resamples(windows).quantile([1, 2, 3, 4], 1.0).tolist()) <= {2.0, 3.0, 4.0}


def test_unknown_words_are_refused(published) -> None:
    for words in (("ratio", "uniform", "71", "720"), ("ratio", "up", "70", "720"), ("prices", "uniform", "70", "720")):
        with pytest.raises(InputError):
            published.cell(*words)


def test_test_windows_are_not_of_the_design() -> None:
    rows = pd.read_csv(ROWS / "deadline_held_out.csv")
    assert not set(rows["zone"]) & {"us-east-1a", "us-east-1d", "us-east-2b", "us-west-2b"}
    assert rows["start"].min() >= 10_079
    last = rows["start"] + rows["deadline_h"] * 3600 // spot_zones.SLOT_S
    assert last.max() <= spot_zones.SAMPLES
