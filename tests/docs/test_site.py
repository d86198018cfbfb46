"""The documentation as a site: complete contents, valid links, and a description of every policy and solver."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hindsched.instances.families import BUILT_IN, part

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)|!\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = [first or second for first, second in LINK.findall(without_code(page.read_text(encoding="utf-8")))]
    inside = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    missing = [
        target
        for target in inside
        if not (page.parent / target).exists() and not (page.parent / f"{target}.md").exists()
    ]
    assert missing == []


def test_every_page_is_in_the_contents():
    listed = set()
    for block in re.findall(r"```\{toctree\}\n(.*?)```", (ROOT / "docs/index.md").read_text(), flags=re.DOTALL):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                listed.add(line.partition("<")[2].rstrip(">") or line)
    assert listed == {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in PAGES} - {"index"}


@pytest.mark.parametrize("family", BUILT_IN)
def test_every_policy_and_solver_is_described(family):
    text = (ROOT / "docs/policies.md").read_text()
    names = [*part(family, "online").POLICIES, *part(family, "offline").SOLVERS]
    assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.parametrize("family", BUILT_IN)
def test_every_format_is_described(family):
    text = (ROOT / "docs/formats.md").read_text()
    known = [*part(family, "instances").INSTANCE_FORMATS, *part(family, "instances").SCHEDULE_FORMATS]
    assert [name for name in known if f"`{name}`" not in text] == []


def test_formulas_have_indices_and_code_stays_as_it_is():
    pytest.importorskip("sphinx")
    nodes = pytest.importorskip("docutils.nodes")
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    page = nodes.document(None, None)
    code = nodes.literal("x_q <= 3", "x_q <= 3")
    page += [
        nodes.paragraph("", "E_{k-1} <= F'_1 + n_com, but max_copies and spot_aws_v100"),
        nodes.paragraph("", "", code),
    ]
    conf.set_formulas(page)
    assert [node.astext() for node in page.findall(nodes.subscript)] == ["k-1", "1", "com"]
    assert page.astext() == "Ek-1 ≤ F'1 + ncom, but max_copies and spot_aws_v100\n\nx_q <= 3"


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_nb")
    pytest.importorskip("furo")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-D", "nb_execution_mode=off"]
    done = subprocess.run([*command, ROOT / "docs", tmp_path], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert 'id="hindsched.offline.solve"' in page
    assert not re.findall(r'(?:src|href)="https?://[^"]+\.(?:js|css|woff2?)', page), "read without a network"


def cells(page: Path) -> list[str]:
    return re.findall(r"```\{code-cell\} python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if cells(page)], ids=lambda page: page.stem)
def test_the_notebooks_run(page, tmp_path):
    lines = [line for cell in cells(page) for line in cell.splitlines() if not line.startswith(":tags:")]
    script = tmp_path / "notebook.py"
    script.write_text("\n".join(lines))
    for data in page.parent.glob("*.csv"):
        shutil.copy(data, tmp_path)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
