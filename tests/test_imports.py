"""Imports form no circle, and the product imports no study."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("instances", "offline", "online", "reductions", "bench")


@cache
def modules() -> dict[str, Path]:
    """Return every module of the toolkit and of the studies, by name."""
    found = {"hindsched": ROOT / "hindsched" / "__init__.py"}
    for folder, prefix in [*((name, "hindsched.") for name in PRODUCT), ("docs/studies", "")]:
        for path in (ROOT / folder).rglob("*.py"):
            name = prefix + ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield module and name of all imports below a node, except those for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from imported(other)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, "") for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative imports are not used"
            yield from ((child.module or "", alias.name) for alias in child.names)
        else:
            yield from imported(child)


@cache
def graph() -> nx.DiGraph:
    known = modules()
    found = nx.DiGraph()
    found.add_nodes_from(known)
    for name, path in known.items():
        for module, attribute in imported(ast.parse(path.read_text(encoding="utf-8"))):
            target = f"{module}.{attribute}" if f"{module}.{attribute}" in known else module
            if target != name and (target in known or target.startswith("docs")):
                found.add_edge(name, target)
    return found


def test_no_imports_form_a_circle():
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph()) if len(circle) > 1] == []


@pytest.mark.parametrize("package", ["hindsched", *(f"hindsched.{name}" for name in PRODUCT)])
def test_the_product_imports_no_study(package):
    edges = [(name, target) for name, target in graph().edges if f"{name}.".startswith(f"{package}.")]
    assert [edge for edge in edges if edge[1].startswith("docs")] == []


def test_the_graph_sees_imports_inside_functions():
    assert graph().has_edge("hindsched.bench.cli", "hindsched.bench.commands.group")
    assert graph().has_edge("docs.studies.__main__", "docs.studies.cli")
