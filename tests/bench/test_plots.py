"""Pictures: correct curves, distinguishable policies, and files written completely."""

import math
import re
import warnings

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.font_manager import fontManager

from hindsched.bench.coupled.gantt import draw_gantt
from hindsched.bench.report import canvas
from hindsched.bench.report.ecdf import draw_ecdf
from hindsched.instances import InputError
from hindsched.instances.coupled.generate import small
from hindsched.online.coupled import POLICIES, make_policy, simulate

INF = math.inf


def ratio(policy, value):
    return {"policy": policy, "high": INF if value is None else value}


def curves(found, policies):
    _, (axes,) = canvas.new_figure()
    draw_ecdf(axes, pd.DataFrame(found), policies, xlabel="makespan / hindsight optimum")
    return axes, {line.get_label(): line for line in axes.get_lines()}


def test_a_curve_ends_below_one_by_the_share_of_unfinished_runs():
    found = [ratio("IE", 1.0), ratio("IE", 2.0), ratio("IE", 2.0), ratio("IE", None), ratio("IP", 3.0)]
    axes, lines = curves(found, ["IE", "IP", "IY"])
    left, right = axes.get_xlim()
    assert left < 1
    assert right > 3
    assert lines["IE"].get_xydata().tolist() == [[left, 0], [1, 0.25], [2, 0.75], [right, 0.75]]
    assert lines["IP"].get_xydata().tolist() == [[left, 0], [3, 1], [right, 1]]
    assert "IY" not in lines  # no run of it has finished


def test_where_all_is_optimal_there_is_still_something_to_see():
    axes, lines = curves([ratio("IE", 1.0)], ["IE"])
    left, right = axes.get_xlim()
    assert left < 1 < right
    assert lines["IE"].get_xydata().tolist() == [[left, 0], [1, 1], [right, 1]]


@pytest.mark.filterwarnings("error")
def test_ratios_without_upper_ends_leave_the_picture_empty():
    _, lines = curves([ratio("IE", None)], ["IE"])
    assert lines == {}


def test_no_two_policies_look_the_same():
    policies = [*POLICIES, *(f"mine.py:Mine{i}" for i in range(12))]
    _, lines = curves([ratio(policy, 1.5) for policy in policies], policies)
    looks = {(line.get_color(), line.get_linestyle()) for line in lines.values()}
    assert len(looks) == len(policies)


@pytest.fixture
def figure():
    instance = small(5, slots=30, iterations=2)
    figure, (axes,) = canvas.new_figure()
    draw_gantt(axes, instance, simulate(instance, make_policy("IE")).schedule)
    return figure


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_equal_figures_give_equal_files(figure, tmp_path, ending):
    canvas.save(figure, tmp_path / f"one.{ending}")
    canvas.save(figure, tmp_path / f"two.{ending}")
    first, second = sorted(path.read_bytes() for path in tmp_path.iterdir())
    assert first == second != b""


def test_an_svg_file_is_short_but_keeps_its_texts_and_its_small_numbers():
    figure, (axes,) = canvas.new_figure()
    axes.plot([0, 1, 2], [0.0, 1 / 3, 2 / 7], linewidth=0.12345678)
    axes.set_title("pi is 3.14159265, about\n   22 / 7")
    svg = canvas.drawn(figure, "svg").decode()
    assert "3.14159265" in svg
    assert "stroke-width:0.1235" in svg
    tags = "".join(re.findall("<[^<>]*>", svg))
    assert not re.search(r"[1-9]\d*\.\d{3}", tags.split("</metadata>")[1])
    assert "\n " not in svg


def test_a_picture_is_written_completely_and_through_links_or_not_at_all(figure, tmp_path):
    link = tmp_path / "link.svg"
    link.symlink_to(tmp_path / "there.svg")
    canvas.save(figure, link)
    assert link.is_symlink()
    assert (tmp_path / "there.svg").read_text().startswith("<?xml")
    for path, said in ((tmp_path / "no" / "a.svg", "no such directory"), (tmp_path / "a.jpg", "expected .svg, .pdf")):
        with pytest.raises(InputError, match=said):
            canvas.save(figure, path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.svg", "there.svg"]


def titled(text):
    figure, (axes,) = canvas.new_figure(width=3.0, heights=(1.0,))
    axes.set_title(text)
    return figure


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
@pytest.mark.parametrize("name", ["\u7bc0\u9ede", "$x_1$ \u7bc0\u9ede"])
def test_signs_that_no_font_has_are_one_line(tmp_path, monkeypatch, capsys, caplog, recwarn, ending, name):
    own = [font for font in fontManager.ttflist if font.name.startswith(("DejaVu", "STIX", "cm"))]
    monkeypatch.setattr(fontManager, "ttflist", own)
    file = tmp_path / f"a.{ending}"
    canvas.save(titled(name), file)
    said = f"hindsched: {file}: no font has a sign for \u7bc0\u9ede, so boxes are drawn; an .svg file keeps the text\n"
    assert capsys.readouterr().err == ("" if ending == "svg" else said)
    assert [str(one.message) for one in recwarn] == []
    assert caplog.messages == []
    if ending == "svg" and "$" not in name:
        assert name in file.read_text()


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_another_font_is_used_where_it_has_the_signs(tmp_path, capsys, recwarn, ending):
    with mpl.rc_context({"font.family": "cmr10", "axes.formatter.use_mathtext": True}):  # it has no Cyrillic letters
        canvas.save(titled("\u0416\u0443\u043a"), tmp_path / f"a.{ending}")
    assert capsys.readouterr().err == ""
    assert [str(one.message) for one in recwarn] == []


def test_other_warnings_are_kept():
    figure = titled("a")
    figure.savefig = lambda *_, **__: warnings.warn("kept", UserWarning, stacklevel=1)
    with pytest.warns(UserWarning, match="kept"):
        canvas.drawn(figure, "png")
