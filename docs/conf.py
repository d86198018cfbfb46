"""How the documentation becomes a site: `make site`."""

import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "hindsched"
author = "The hindsched authors"
version = release = version_of("hindsched")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["build", "studies"]
source_suffix = {".md": "myst-nb"}
root_doc = "index"

html_theme = "furo"
html_title = "hindsched"
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
templates_path: list[str] = []

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
# pages are read on a forge too, where links to sources work; on the site they go nowhere, and say so quietly
suppress_warnings = ["docutils"]

# notebooks are run at every build; a cell that fails stops it
nb_execution_mode = os.environ.get("HINDSCHED_NOTEBOOKS", "auto")
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True
nb_merge_streams = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_static_path = ["_static"]
html_css_files = ["site.css"]

#: In running text: a letter with an index (``x_q``, ``e_{i-1}``), and comparisons of two characters.
_INDEX = re.compile(r"(?<![\w.])([^\W\d_]'?)_(\{[^{}]+\}|[A-Za-z0-9]+)(?!\w)")


def set_formulas(document: nodes.document) -> None:
    """Set formulas, which are plain text on a forge: indices below the line, and one sign for <= and for >=."""
    for text in list(document.findall(nodes.Text)):
        above = []
        parent = text.parent
        while parent is not None:
            above.append(parent)
            parent = parent.parent
        if any(isinstance(node, nodes.literal | nodes.FixedTextElement | nodes.raw | addnodes.desc) for node in above):
            continue
        found: list[nodes.Node] = []
        end = 0
        plain = str(text).replace("<=", "≤").replace(">=", "≥")
        for match in _INDEX.finditer(plain):
            index = match[2].strip("{}")
            found += [nodes.Text(plain[end : match.start()] + match[1]), nodes.subscript(index, index)]
            end = match.end()
        if found or plain != str(text):
            text.parent.replace(text, [*found, nodes.Text(plain[end:])])


def setup(app: Sphinx) -> None:
    """Set formulas before titles are collected."""
    app.connect("doctree-read", lambda app, document: set_formulas(document), priority=100)
