"""What pages name must exist: `orrery COMMAND`, its options, other options, keys of scenarios.

usage: docs_names.py ORRERY ROOT PAGE...

- `orrery WORD` in code (a span or a block): WORD is a command, and each --option behind it, up to
  a pipe or the end of the command, stands in the help of that command.
- An option in a span of code by itself stands in a help, or anywhere in the sources (of programs
  that launch scripts start, of the project's own scripts).
- A dotted word in a span whose first part is a key of scenarios is a path of the schema.
"""
import json
import re
import subprocess
import sys

ORRERY, ROOT, PAGES = sys.argv[1], sys.argv[2], sys.argv[3:]
# Dotted words that are no keys: names of files, and columns of tables of the same name.
FILE_ENDS = {"c", "h", "db", "md", "sh", "py", "js", "html", "yaml", "json", "svg", "csv", "sql", "study"}
# Of cmake, ctest, Megatron-LM and NeMo, named to be told from ours or as what is not simulated.
FOREIGN = {"--preset", "--test-dir", "--fp4-param-gather", "--overlap-cpu-optimizer-d2h-h2d", "model.cp_comm_type"}
OPTION_IN_SOURCES = "--[a-z][a-z0-9_-]*"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*")


def call(*words):
    return subprocess.run([ORRERY, *words], capture_output=True, text=True).stdout


def commands():
    listed = re.findall(r"^  ([a-z]+) ", call("--help").split("usage:")[1].split("--version")[0], re.M)
    return {name: set(OPTION.findall(call(name, "--help"))) | {"--help"} for name in listed}


def paths(schema, path, out):
    if not isinstance(schema, dict):
        return
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key, []):
            paths(branch, path, out)
    for name in schema.get("properties", {}):
        out.add(path + (name,))
        paths(schema["properties"][name], path + (name,), out)
    paths(schema.get("items"), path, out)


def spans(text):
    """Code of a page with its line: each line of a block (those a backslash joins, together), each span."""
    inside, held, start = False, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif inside:
            start = start if held else number
            held += line
            if held.endswith("\\"):
                held = held[:-1] + " "
                continue
            yield start, held, True
            held = ""
    prose = re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    for m in re.finditer(r"(?<!`)`([^`]+)`(?!`)", prose):
        yield prose.count("\n", 0, m.start()) + 1, m[1].replace("\n", " "), False


def calls(code):
    """(command, its own text) of each call of orrery in a piece of code."""
    code = re.sub(r"#.*", "", code)
    for m in re.finditer(r"(?:^|[\s;|(/\"])orrery ((?:--?\w[\w-]* )*)([a-z][a-z-]*)([^|;&`)>]*)", code):
        yield m[2], m[3]


def source_options():
    """Options that stand in files of the project other than its pages."""
    kinds = [f"--include={name}" for name in ("*.c", "*.h", "*.bats", "*.yaml", "CMakeLists.txt", "run", "build", "check")]
    folders = [f"{ROOT}/{name}" for name in ("analysis", "scenarios", "models", "sim", "tests")]
    return set(subprocess.run(["grep", "-rhoE", *kinds, "-e", OPTION_IN_SOURCES, *folders], capture_output=True, text=True).stdout.split())


def main():
    known, keys = commands(), set()
    paths(json.loads(call("schema")), (), keys)
    first = {path[0] for path in keys}
    anywhere, met, faults = source_options().union(*known.values()), [0, 0, 0], []
    for page in PAGES:
        text = open(page, encoding="utf-8").read()
        added = set(re.findall(r"struct command command_([a-z]+) =", text))  # a command that the page writes
        for line, code, block in spans(text):
            place = f"{page}:{line}"
            own = list(calls(code))
            for command, rest in own:
                if command in added:
                    continue
                met[0] += 1
                if command not in known:
                    if block and not re.search(r"--|\.(yaml|db)\b", rest):
                        continue  # a sentence that a program prints
                    faults.append(f"{place}: there is no command `orrery {command}`")
                    continue
                for option in OPTION.findall(rest):
                    met[1] += 1
                    if option not in known[command]:
                        faults.append(f"{place}: `orrery {command}` has no option {option}")
            if block:
                continue
            for option in [] if own else OPTION.findall(code):
                met[1] += 1
                if not any(o.startswith(option) for o in anywhere) if option.endswith("-") else option not in anywhere | FOREIGN:
                    faults.append(f"{place}: no program knows the option {option}")
            for word in re.findall(r"(?<![\w./-])[a-z_]+(?:\[\d*\])?(?:\.[a-z_]+(?:\[\d*\])?)+(?![\w/(*-])", code):
                path = tuple(re.sub(r"\[\d*\]", "", word).split("."))
                if path[0] not in first or path[-1] in FILE_ENDS:
                    continue
                met[2] += 1
                if path not in keys and word not in FOREIGN:
                    faults.append(f"{place}: there is no key `{word}`")
    print("\n".join(faults))
    print(f"{met[0]} calls, {met[1]} options, {met[2]} keys; {len(faults)} that do not exist")
    return 1 if faults else 0


sys.exit(main())
