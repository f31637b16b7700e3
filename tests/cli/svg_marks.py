#!/usr/bin/env python3
"""What the marks of an SVG figure say when pointed at, one a line, and its title and description.

usage: svg_marks.py FILE    Fails where it is no XML, has no title or description, is not an image for a screen
                            reader, or holds an element that a figure has no use for."""
import sys, xml.etree.ElementTree as xml

KNOWN = {"svg", "title", "desc", "defs", "pattern", "rect", "path", "text", "circle"}
root = xml.parse(sys.argv[1]).getroot()
name = lambda element: element.tag.split("}")[1]
assert root.get("role") == "img", "no role"
children = [name(child) for child in root]
assert children[:2] == ["title", "desc"], children[:2]
assert all(root[i].text and root[i].text.strip() for i in (0, 1)), "empty title or description"
strange = {name(element) for element in root.iter()} - KNOWN
assert not strange, strange
for element in root.iter():
    assert not any(key.startswith("on") or "href" in key for key in element.attrib), element.attrib
    for child in element:
        if name(child) == "title" and element is not root:
            print(child.text)
