"""The notebooks of docs/notebooks: their cells in order, in one namespace and an empty folder, as a
reader would run them; without Jupyter, which they do not need. Figures that the text shows in bold
must have been printed by a cell above; no cell holds outputs.

usage: notebooks.py NOTEBOOK..."""
import contextlib
import io
import json
import pathlib
import re
import sys
import time


def sources(notebook):
    """(kind, text) of each cell, and what is wrong with the file."""
    document = json.loads(notebook.read_text(encoding="utf-8"))
    wrong = [] if document["nbformat"] == 4 else ["it is not of nbformat 4"]
    for cell in document["cells"]:
        if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"] is not None):
            wrong.append(f"{cell['id']} holds outputs")
    if re.search(r"/(home|root|work|tmp|Users)/", notebook.read_text(encoding="utf-8")):
        wrong.append("it holds a path of a machine")
    return [(cell["cell_type"], "".join(cell["source"])) for cell in document["cells"]], wrong


def plain(text):
    return re.sub(r"\s+", " ", text)


def play(notebook):
    """The faults of a notebook."""
    cells, faults = sources(notebook)
    names, printed, figures, blocks = {"__name__": notebook.stem}, "", 0, 0
    for kind, text in cells:
        if kind == "code":
            blocks += 1
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, f"{notebook.name}: cell {blocks}", "exec"), names)
            printed += plain(out.getvalue())
            continue
        for figure in re.findall(r"\*\*([^*]+)\*\*", text):
            figures += 1
            if not re.search(rf"(?<![\d.]){re.escape(plain(figure))}(?![\d])", printed):
                faults.append(f"no cell prints {figure}")
    if not blocks or figures < 3:
        faults.append(f"{blocks} cells of code and {figures} figures in its text are few")
    return faults


def main():
    bad = 0
    for name in sys.argv[1:]:
        began, faults = time.monotonic(), play(pathlib.Path(name))
        for fault in faults:
            print(f"{name}: {fault}")
        bad += len(faults)
        print(f"{pathlib.Path(name).name}: {time.monotonic() - began:.1f} s, {len(faults)} faults")
    sys.exit(1 if bad or len(sys.argv) < 2 else 0)


if __name__ == "__main__":
    main()
