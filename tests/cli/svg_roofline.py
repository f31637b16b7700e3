#!/usr/bin/env python3
"""Does each kernel of a drawn roofline stand as far below the roof of its own precision as its line says?

usage: svg_roofline.py FILE.svg WALLS.json PRECISIONS    The roofs are read off the drawing: heights by the ticks, ridges by
                                                         the slope. PRECISIONS: how many there have to be."""
import json, re, sys
from math import log

svg, kernels = open(sys.argv[1]).read(), [k for k in json.load(open(sys.argv[2]))["kernels"] if k["flops"] > 0]
texts = [(float(x), float(y), text) for x, y, text in re.findall(r'<text x="(\S+)" y="(\S+)"[^>]*>([^<]*)</text>', svg)]
number = lambda text: float(text.split()[0]) * {"": 1, "k": 1e3, "T": 1e12, "P": 1e15}["".join(text.split()[1:])]
ticks = [(y - 4.0, number(text)) for x, y, text in texts if x == 72.0]
(low, first), (high, last) = ticks[0], ticks[-1]
height = lambda flops_per_s: low + (high - low) * log(flops_per_s / first) / log(last / first)
rate = lambda y: first * (last / first) ** ((y - low) / (high - low))

lines = [[tuple(map(float, point.split())) for point in path.split("L")] for path in re.findall(r'stroke-width="1.8" d="M([^"]*)"', svg)]
peaks = {k["precision"]: k["peak_flops_per_s"] for k in kernels}
assert len(lines) == len(peaks) == int(sys.argv[3]), (lines, peaks)
(x0, y0), (x1, y1) = lines[0][:2]
slope = lambda x: y0 + (y1 - y0) * (x - x0) / (x1 - x0)
for name, peak in peaks.items():  # its flat begins where the slope is as high, and has its name
    (line,) = [line for line in lines if abs(line[-1][1] - height(peak)) < 0.2]
    assert abs(line[-2][1] - height(peak)) < 0.2 and abs(slope(line[-2][0]) - height(peak)) < 0.4, (name, line)
    assert [text for _, y, text in texts if text.startswith(name + ":") and abs(y - height(peak)) < 16], name

dots = [(float(x), float(y), *tip.rsplit(", ", 1)) for x, y, tip in re.findall(r'<circle cx="(\S+)" cy="(\S+)".*?<title>(.*?)</title>', svg)]
said = [match.groups() for _, _, text in texts if (match := re.fullmatch(r"\d+  (.+), (\d+) % of (\w+)", text))]
assert len(dots) == len(said) == len(kernels)
for (x, y, tip, precision), (name, percent, roof), k in zip(dots, said, kernels):
    assert tip.startswith(name + ":") and precision == k["precision"], (tip, name, k)
    own = height(peaks[precision])
    assert roof == (precision if slope(x) < own else "HBM"), (name, roof)
    drawn = 100 * rate(y) / rate(max(own, slope(x)))
    assert abs(drawn - float(percent)) < 0.5 + 0.01 * drawn, (name, drawn, percent)

numbers = [(x, y) for x, y, text in texts if re.fullmatch(r"\d+", text) and 78 < x < 518 and y < 402]
assert len(numbers) == len(dots)
for i, (x, y) in enumerate(numbers):
    assert all(abs(x - a) > 13 or abs(y - b) > 10 for a, b in numbers[:i]), ("one over the other", i + 1)

# Above the frame its two colours, in one row; beside it the list, under its heading.
top = max(float(y) for y in re.findall(r'<path d="M\S+ (\S+)V', svg))
left, right = map(float, re.search(r'<path d="M(\S+) \S+H([^"]+)"', svg).groups())
keys = [(x, y) for x, y, text in texts if text.startswith("bound by ")]
assert len(keys) == 2 and keys[0][1] == keys[1][1] < top - 8 and left < keys[0][0] < keys[1][0], keys
((heading_x, heading_y),) = [(x, y) for x, y, text in texts if text.startswith("forward kernel")]
rows = [(x, y) for x, y, text in texts if re.fullmatch(r"\d+  .+, \d+ % of \w+", text)]
assert all(x == heading_x > right for x, _ in rows), (heading_x, rows)
assert [y for _, y in rows] == sorted({y for _, y in rows}) and heading_y < rows[0][1], rows
