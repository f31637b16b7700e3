#!/usr/bin/env python3
"""The documents that --json prints against the schemas that `orrery schema --of NAME` prints.

usage: documents.py ORRERY SOURCES     in an empty folder
Laws: every kind of document has a schema (JSON Schema 2020-12) that says its version, its keys and
their units; every document of LINES is valid by it; every key of a schema is in one of them, and one that
may be missing is missing in another; an object
with a key more, a key less or a value of another type is refused."""
import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

ORRERY, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
PLAN = "plan --model=gpt2-124m --gpu=a100-80gb-sxm --sequence=1024 --global-batch=8 --top=2"
#: What the lines read; their exit code may be another.
BEFORE = """
run {s}/hello-8-gpus.yaml --db hello.db
run {s}/hello-8-gpus.yaml --db other.db --set layout.microbatch=2
run {s}/weeks/silent-corruption.yaml --db weeks.db
export hello.db --format kineto --output trace.json
chakra {s}/hello-8-gpus.yaml job --db chakra.db
profile from {v}/kernels.csv --gpu h100-80gb-sxm --output h100.db
run {s}/memory/memory-3b-long-sequence.yaml --db unfit.db
run {s}/hello-8-gpus.yaml --set cluster.profile={w}/h100.db --db profiled.db
study {s}/hello-8-gpus.yaml --vary layout.microbatch=1,2 --shard 1/2 --db shard1.db
study {s}/hello-8-gpus.yaml --vary layout.microbatch=1,2 --shard 2/2 --db shard2.db
"""
#: A document each; several scenarios of each command, and each of its outcomes.
LINES = f"""
run {{s}}/hello-8-gpus.yaml --no-db
run {{s}}/hello-8-gpus.yaml --no-db --uncertainty 8
run {{s}}/hello-8-gpus.yaml --no-db --uncertainty 8 --against {{s}}/step/fsdp-7b.yaml
run {{s}}/step/mixtral-8x7b-64xh100.yaml --no-db
run {{s}}/step/straggler.yaml --no-db
run {{s}}/hello-8-gpus.yaml --no-db --set expect.fits=true --set expect.mfu=50% --set expect.scenario=hello
run {{s}}/memory/memory-13b-1gpu.yaml --no-db
run {{s}}/memory/memory-3b-long-sequence.yaml --no-db
run {{s}}/hello-8-gpus.yaml --no-db --set cluster.profile={{w}}/h100.db
run {{s}}/weeks/silent-corruption.yaml --no-db
run {{s}}/weeks/opt-175b.yaml --no-db
run {{s}}/weeks/async-vs-sync.yaml --no-db
check {{s}}/hello-8-gpus.yaml
check {{s}}/memory/memory-13b-1gpu.yaml
check wrong.yaml
memory {{s}}/hello-8-gpus.yaml
memory {{s}}/memory/memory-13b-1gpu.yaml
memory {{s}}/memory/memory-3b-long-sequence.yaml
memory {{s}}/step/mixtral-8x7b-64xh100.yaml
memory {{s}}/memory/lora-70b-1-node.yaml
{PLAN} --gpus=2 --why=pp=2
{PLAN} --gpus=2 --why=tp=3
{PLAN} --gpus=4 --pareto --launch megatron --tokens 1T
plan {{s}}/memory/memory-wall-70b-1gpu.yaml
plan {{s}}/hello-8-gpus.yaml --top 2 --mtbf 1y --deadline 60d --set training.tokens=1T --seeds 2
plan {{s}}/hello-8-gpus.yaml --measured step=75ms --top 2 --set layout.tp=1 --set layout.microbatch=8 --set layout.recompute=none
{PLAN} --gpus=2 --power 9kW
plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 --why tp=8
plan --model gpt2-124m --gpu h100-80gb-sxm --gpus 8 --global-batch 64 --sequence 4096
plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --sequence 65536 --global-batch 1000000
plan {{s}}/hello-8-gpus.yaml --set training.global_batch=7
plan {{s}}/hello-8-gpus.yaml --top 2 --vary cluster.gpus=1,8
plan {{s}}/hello-8-gpus.yaml --top 2 --vary cluster.gpus=4,8 --mtbf 1y --seeds 2
plan {{s}}/hello-8-gpus.yaml --top 2 --vary cluster.gpu=h100-80gb-sxm,a100-80gb-sxm --pareto --set training.tokens=1T --power 9kW
study {{s}}/hello-8-gpus.yaml --vary layout.microbatch=1 --no-db
study {{s}}/hello-8-gpus.yaml --vary layout.microbatch=1,2,3 --no-db
study {{s}}/studies/spares-study.yaml --vary recovery.spares=4,16 --seeds 2 --no-db
study {{s}}/llama3-70b-64xh100.yaml --vary layout.microbatch=2,1 --no-db
merge shard1.db shard2.db --db merged.db
lesson
lesson bubble
lesson memory-wall
collective --gpus=8 --min=1MiB --max=2MiB
collective --gpus=16 --min=1MiB --max=2MiB --op all_to_all
chakra {{s}}/hello-8-gpus.yaml job
report hello.db
report weeks.db
report chakra.db
explain hello.db
explain weeks.db
explain unfit.db
explain profiled.db
explain --walls {{s}}/hello-8-gpus.yaml
explain --walls --model llama3-70b --gpu h100-80gb-sxm --gpus 64
compare hello.db other.db
compare hello.db {{s}}/memory/memory-13b-1gpu.yaml
compare {{s}}/hello-8-gpus.yaml --trace trace-rank0.json
compare {{s}}/hello-8-gpus.yaml --trace strange.json
watch {{s}}/hello-8-gpus.yaml train.log
export {{s}}/hello-8-gpus.yaml --launch megatron
export {{s}}/hello-8-gpus.yaml --launch torchtitan
validate {{v}}/pipeline.csv
validate {{v}}/layers.csv
validate {{v}}/memory.csv
validate steps.csv --uncertainty 2
profile show h100.db
profile check h100.db
list
list gpus h100-80gb-sxm
list software megatron
doctor
"""


def call(*words):
    return subprocess.run([ORRERY, *words], capture_output=True, text=True)


def prepare():
    """The files that the lines read."""
    nodes = """all 4 1 us=1000 name=forward
all 4 2 us=700 wait=1 name=backward
all 7 3 comm_type=0 comm_size=268435456 wait=1 name=gradients
0 5 5 comm_dst=1 comm_size=1048576 wait=2
1 6 5 comm_src=0 comm_size=1048576
4-7 7 6 comm_type=2 comm_size=1048576 pg_name=tp wait=2
"""
    subprocess.run([sys.executable, SOURCES / "tests/cli/chakra_write.py", "job", "8"], input=nodes, text=True, check=True)
    lines = []
    for i in range(1, 81):
        step, at = (0.08 if i < 40 else 0.11) + (0.5 if i == 60 else 0), 0.1 * i + (300 if i > 70 else 0)
        lines.append(f" [2026-11-03 00:{int(at) // 60:02d}:{at % 60:06.3f}] iteration {i - 3 * (i > 70):8d}/ 5000 | consumed samples: {i} | "
                     f"elapsed time per iteration (ms): {1000 * step:.3f} |")
    pathlib.Path("train.log").write_text("\n".join(lines) + "\n")
    pathlib.Path("wrong.yaml").write_text("model: gpt2-124m\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\nlayout: {tq: 2}\n")
    rows = (SOURCES / "tests/validation/steps.csv").read_text().splitlines()
    pathlib.Path("steps.csv").write_text("\n".join(rows[:4]) + "\n")


def expand(line):
    return line.format(s=SOURCES / "scenarios", v=SOURCES / "tests/validation", w=pathlib.Path.cwd()).split()


def printed():
    """(line, document) of each line."""
    prepare()
    for line in BEFORE.strip().splitlines():
        done = call(*expand(line))
        if done.returncode not in (0, 3, 4):
            sys.exit(f"documents: orrery {line}: exit code {done.returncode}\n{done.stderr}")
    trace = json.loads(pathlib.Path("trace-rank0.json").read_text())
    spans = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    trace["traceEvents"].remove(spans[7])
    trace["traceEvents"].append({**spans[7], "name": "mystery"})
    pathlib.Path("strange.json").write_text(json.dumps(trace))
    for line in LINES.strip().splitlines():
        done = call(*expand(line), "--json")
        try:
            yield line, json.loads(done.stdout)
        except ValueError:
            sys.exit(f"documents: orrery {line}: no document, exit code {done.returncode}\n{done.stderr}")
    yield "schema --commands", json.loads(call("schema", "--commands").stdout)


#: End of a key's name: the unit that its description ends with.
UNITS = [("_bytes_per_s", "B/s"), ("_flops_per_s", "FLOP/s"), ("tokens_per_s", "tokens/s"), ("_per_1e6_tokens", "GPU s"),
         ("tokens_per_s_per_gpu", "tokens/s"), ("_s", "s"), ("_bytes", "B"), ("_ratio", "1"), ("_usd", "USD"), ("_w", "W"),
         ("_j", "J"), ("_days", "d"), ("_hz", "Hz"), ("_j_per_token", "J"), ("tokens_per_day", "tokens")]
faults = []


def fault(text):
    faults.append(text)
    print(text)


def objects(schema):
    """(name, object) of the document and of each definition."""
    return [("", schema), *schema["$defs"].items()]


def check_schema(name, schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    family, _, version = schema["properties"]["schema"]["const"].partition("/")
    if schema["$id"] != f"urn:orrery:document:{name}:{version}" or family.replace("_", "-") != f"orrery.{name}":
        fault(f"{name}: {schema['$id']} is not that of {family}/{version}")
    if not schema["title"] or not schema["$comment"].startswith(f"version {version}, "):
        fault(f"{name}: no title, or another version")
    for where, one in objects(schema):
        if one["type"] != "object" or "additionalProperties" not in one or one["additionalProperties"] is True:
            fault(f"{name}: {where} is open")
        if not set(one["required"]) <= set(one["properties"]):
            fault(f"{name}: {where} requires what it does not have")
        for key, value in one["properties"].items():
            told = value.get("description", "")
            unit = next((u for end, u in UNITS if key.endswith(end)), None) if "minimum" not in value else None
            number = "number" in json.dumps(value.get("type", ""))
            if not told or (number and unit and not told.endswith(f"[{unit}]")):
                fault(f"{name}: {where}.{key}: what is it, in which unit? {told!r}")


def walk(schema, rule, value, see):
    """Calls see(definition, object) for each object of a valid document."""
    while "anyOf" in rule or "$ref" in rule:
        if value is None:
            return
        rule = rule["anyOf"][1] if "anyOf" in rule else rule
        name = rule["$ref"].rsplit("/", 1)[1]
        rule = dict(schema["$defs"][name], name=name)
    if isinstance(value, list):
        for item in value:
            walk(schema, rule["items"], item, see)
    elif isinstance(value, dict) and "properties" in rule:
        see(rule.get("name", ""), rule, value)
        for key, item in value.items():
            walk(schema, rule["properties"].get(key, rule["additionalProperties"]), item, see)


def other(value):
    """Of no type that a key takes beside this one."""
    return {"a": 1} if not isinstance(value, dict) else "word"


def check_refusals(name, schema, where, rule, value):
    """Objects that differ from a valid one by a key."""
    bare = {key: of for key, of in rule.items() if key != "name"}
    validator = jsonschema.Draft202012Validator({**bare, "$defs": schema["$defs"]})
    if not validator.is_valid(value):
        fault(f"{name}: {where}: an object of a valid document is refused")
    wrong = []
    if rule["additionalProperties"] is False:
        wrong.append(({**value, "no_such_key": 1}, "with a key more"))
    for key in value:
        wrong.append(({**value, key: other(value[key])}, f"with another {key}"))
        if key in rule["required"]:
            less = copy.copy(value)
            del less[key]
            wrong.append((less, f"without {key}"))
        length = rule["properties"].get(key, {}).get("minItems")
        if length is not None:
            wrong += [({**value, key: [None] * (length + by)}, f"with {length + by} values in {key}") for by in (-1, 1)]
        if "enum" in rule["properties"].get(key, {}):
            wrong.append(({**value, key: "no such word"}, f"with another word as {key}"))
    for one, what in wrong:
        if validator.is_valid(one):
            fault(f"{name}: {where or 'the document'} {what} is valid")


def check_sources(names):
    """Every kind of document that the sources name has a schema, every command with --json a line."""
    text = "".join(p.read_text() for p in (SOURCES / "analysis").rglob("*.c"))
    known = {f"orrery.{n}".replace("compare-trace", "compare_trace") for n in names}
    for kind in set(re.findall(r'"(orrery\.[a-z_-]+)/\d+"', text)) - {"orrery.db"} - known:
        fault(f"{kind} has no schema")
    played = {line.split()[0] for line in LINES.strip().splitlines()}
    for command in json.loads(call("schema", "--commands").stdout)["commands"]:
        if any(o["name"] == "--json" for o in command["options"]) and command["name"] not in played:
            fault(f"no line here has {command['name']} --json")


def main():
    commands = json.loads(call("schema", "--commands").stdout)["commands"]
    of = next(o for c in commands if c["name"] == "schema" for o in c["options"] if o["name"] == "--of")
    schemas = {name: json.loads(call("schema", "--of", name).stdout) for name in of["choices"]}
    for name, schema in schemas.items():
        check_schema(name, schema)
    check_sources(schemas)
    seen, always, count = {name: {} for name in schemas}, {name: {} for name in schemas}, 0
    for line, document in printed():
        name = document["schema"].partition("/")[0][len("orrery."):].replace("_", "-")
        schema, count = schemas[name], count + 1
        for error in list(jsonschema.Draft202012Validator(schema).iter_errors(document))[:5]:
            fault(f"{line}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}")

        def see(where, rule, value):
            if where not in seen[name]:
                check_refusals(name, schema, where, rule, value)
            seen[name].setdefault(where, set()).update(value)
            always[name].setdefault(where, set(value)).intersection_update(value)
        walk(schema, schema, document, see)
    for name, schema in schemas.items():
        for where, one in objects(schema):
            for key in set(one["properties"]) - seen[name].get(where, set()):
                fault(f"no document of {name} has {where}.{key}")
            # Metrics of a study are those of its objective's kind: which may be missing, the lines above do not show.
            steady = always[name].get(where, set()) & set(one["properties"]) - set(one["required"])
            for key in steady if (name, where) != ("study", "study_point") else ():
                fault(f"{name}: {where}.{key} may be missing, and is in every document")
    print(f"{count} documents of {len(schemas)} kinds, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
