"""Every block of Python on a page, in order, in one namespace and a scratch folder that sees the
scenarios. What the text blocks show must have been printed, at least as the beginning of a line.

usage: page.py PAGE"""
import contextlib
import io
import os
import pathlib
import re
import sys
import time

page = pathlib.Path(sys.argv[1]).resolve()
os.symlink(page.parents[1] / "scenarios", "scenarios")
source = page.read_text()
shown, printed, names, count = [], io.StringIO(), {"__name__": "page"}, 0
first = None
for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", source, re.M | re.S):
    if language == "text":
        shown += [line for line in block.split("\n") if line.strip()]
    if language != "python":
        continue
    begin = time.monotonic()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, f"{page.name}: block {count + 1}", "exec"), names)
    first = first or time.monotonic() - begin
    count += 1
    if time.monotonic() - begin > 10:
        print(f"page: {time.monotonic() - begin:.1f} s: block {count}")
lines = printed.getvalue().split("\n")
missing = [line for line in shown if not any(p.startswith(line.rstrip().removesuffix("...")) for p in lines)]
for line in missing:
    print(f"page: no block prints: {line}")
print(f"page: {count} blocks, {len(shown)} lines shown, the first block in {first:.1f} s")
sys.exit(1 if missing or not count or not shown else 0)
