#!/usr/bin/env python3
"""What the marks of an SVG figure say when pointed at, one a line, and its title and description.

usage: svg_marks.py FILE    Fails where it is no XML, has no title or description, is not an image for a screen
                            reader, holds an element that a figure has no use for, or where something stands
                            outside the page or a text over another one."""
import sys, xml.etree.ElementTree as xml

KNOWN = {"svg", "title", "desc", "defs", "pattern", "rect", "path", "text", "circle"}
WIDTH, HEIGHT = 5.0, 8.0  # of a character of 12 units, at least: what these boxes share is shared in every font
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


def box(element):
    """Left, top, right and bottom of what is drawn; None: a path, a turned text, the whole page."""
    at = lambda *keys: [float(element.get(key)) for key in keys]
    if name(element) == "text" and element.get("transform") is None:
        (x, y), size = at("x", "y"), float(element.get("font-size", 12)) / 12
        width = len("".join(element.itertext())) * WIDTH * size
        x -= {"middle": width / 2, "end": width}.get(element.get("text-anchor"), 0)
        return x, y - HEIGHT * size, x + width, y
    if name(element) == "rect" and element.get("x"):
        x, y, width, height = at("x", "y", "width", "height")
        assert width >= 0 and height >= 0, element.attrib
        return x, y, x + width, y + height
    if name(element) == "circle":
        x, y = at("cx", "cy")
        return x, y, x, y
    return None


page = [float(edge) for edge in root.get("viewBox").split()]
texts = []
for element in root.iter():
    if (drawn := box(element)) is None:
        continue
    left, top, right, bottom = drawn
    words = "".join(element.itertext())
    assert left > -0.1 and top > -0.1 and right < page[2] + 0.1 and bottom < page[3] + 0.1, ("outside", drawn, words)
    if name(element) == "text":
        for other, said in texts:
            wide = min(right, other[2]) - max(left, other[0])
            high = min(bottom, other[3]) - max(top, other[1])
            assert wide < 1 or high < 1, ("one over the other", words, said)
        texts.append((drawn, words))
