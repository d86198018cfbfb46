"""SVG files as elements of an HTML page, with the page's colours and fonts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

__all__ = ["inline_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HREF = f"{{{_XLINK}}}href"
_COLOUR = re.compile(r"#([0-9a-f]{6})\b")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_PAINTED = ("style", "fill", "stroke")


def inline_svg(text: str, prefix: str) -> str:
    """Return an SVG document as an element for an HTML page.

    Its names get a prefix, so that one page can hold several pictures. A colour is replaced by the page's property
    ``--c-rrggbb``, if there is one, as on a dark screen. Size and metadata are left out.

    Parameters
    ----------
    text
        An SVG file of matplotlib.
    prefix
        A different prefix for every picture of a page.

    Examples
    --------
    >>> svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"><g id="a" fill="#ffffff"/></svg>'
    >>> inline_svg(svg, "one")
    '<svg aria-hidden="true"><g id="one-a" fill="var(--c-ffffff,#ffffff)" /></svg>'
    """
    root = ElementTree.fromstring(text)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        if "id" in element.attrib:
            element.set("id", f"{prefix}-{element.get('id')}")
        if _HREF in element.attrib:
            element.set("href", "#" + prefix + "-" + element.attrib.pop(_HREF).removeprefix("#"))
        for name, value in element.attrib.items():
            painted = _COLOUR.sub(r"var(--c-\1,#\1)", value) if name in _PAINTED else value
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", painted))
        if "d" in element.attrib:
            element.set("d", " ".join(_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", element.attrib["d"]).split()))
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("aria-hidden", "true")
    return ElementTree.tostring(root, encoding="unicode")
