#!/usr/bin/env python3
"""The printed JSON Schema, held against a validator that is not ours (Debian python3-jsonschema).

It must accept every scenario that ships and every one below that `orrery check` accepts, and reject
those below that `orrery check` rejects for what a schema can know: keys, types, units, ranges,
names. Every default must be a value of its own key.
usage: schema.py ORRERY FOLDER_OF_SCENARIOS"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import yaml

ORRERY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
BASE = {
    "model": {"preset": "gpt2-124m"},
    "cluster": {"gpu": "h100-80gb-sxm", "nodes": 2, "fabric": "ib-ndr-8x400"},
    "training": {"sequence": 1024, "global_batch": 32},
}
SPARES = {"policy": "hot-spare", "spares": 2}
# What is laid over BASE; None is an empty value.
ACCEPTED = [
    {},
    {"model": "gpt2-124m"},
    {"layout": None, "perturbations": None, "notes": None},
    {"notes": []},
    {"name": 7, "seed": "1k"},
    {"cluster": {"fabric": {"kind": "fat_tree", "nic": "200Gb/s"}}},
    {"cluster": {"fabric": {"kind": "fat_tree", "nic_bandwidth": "200Gb/s"}}},
    {"cluster": {"node": {"name": "dgx-h100", "nic_bandwidth": "1.5e2 Gb/s"}}},
    {"layout": {"dp": "auto", "tp": "1", "sequence_parallel": False}},
    {"training": {"tokens": "15T", "gradient_bytes": "auto"}},
    {"perturbations": {"jitter": "2%", "stragglers": [{"gpu": 3, "speed": 0.5}]}},
    {"run": {"duration": "54d"}, "failures": [{"preset": "llama3-405b"}], "recovery": SPARES},
    {"run": {"duration": "5d"}, "recovery": SPARES,
     "failures": [{"cause": "a", "mtbf": "5.8y", "repair": "24h", "detect": {"mean": "auto"}},
                  {"preset": "rsc-1"}]},
    {"run": {"duration": "5d"}, "checkpoint": {"interval": "optimal", "bytes_per_parameter": 14}},
]
REJECTED = [
    {"modle": {}},
    {"model": None},
    {"training": None},
    {"model": {"preset": "gpt2-124"}},
    {"model": {"layers": 4.5}},
    {"cluster": {"gpu": "H100"}},
    {"cluster": {"gpu": {"name": "h100-80gb-sxm", "hbm": 80}}},
    {"cluster": {"gpu": {"name": "h100-80gb-sxm", "hbm": "80 GHz"}}},
    {"cluster": {"fabric": {"kind": "fat_tree", "nic_speed": "200Gb/s"}}},
    {"cluster": {"nodes": 0}},
    {"cluster": {"nodes": [2]}},
    {"training": {"sequence": "1k5"}},
    {"layout": {"tp": -1}},
    {"layout": {"sequence_parallel": "yes"}},
    {"layout": {"schedule": "2f2b"}},
    {"layout": {"recompute": "all"}},
    {"perturbations": {"jitter": "2 s"}},
    {"perturbations": {"stragglers": [{"gpu": 3}]}},
    {"perturbations": {"stragglers": {"gpu": 3, "speed": 0.5}}},
    {"notes": [None]},
    {"failures": [{"mtbf": "5y"}], "run": {"duration": "1d"}},
    {"failures": [{}], "run": {"duration": "1d"}},
    {"failures": [{"preset": "rsc-1", "mtbf": "5y"}], "run": {"duration": "1d"}},
    {"failures": [{"preset": "rsc-1", "cause": "x"}], "run": {"duration": "1d"}},
    {"failures": [{"preset": "rsc-3"}], "run": {"duration": "1d"}},
    {"run": {"duration": 54}},
    {"recovery": {"restart": {"detect": {"law": "fixd"}}}},
]
# An empty value is written as nothing: the word null is a word to us.
yaml.SafeDumper.add_representer(
    type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def laid_over(base, changes):
    out = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = laid_over(out[key], value) if both else value
    return out


def check(document):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(yaml.safe_dump(document))
        file.flush()
        return subprocess.run([ORRERY, "check", file.name], capture_output=True, text=True)


def first_fault(validator, document):
    fault = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return fault and "/".join(map(str, fault.absolute_path)) + ": " + fault.message[:200]


def defaults(schema, path="", out=None):
    """Every (path, schema) that states a default."""
    out = [] if out is None else out
    if isinstance(schema, dict):
        if "default" in schema and not isinstance(schema["default"], dict):
            out.append((path, schema))
        for key, inner in schema.items():
            defaults(inner, f"{path}/{key}", out)
    elif isinstance(schema, list):
        for index, inner in enumerate(schema):
            defaults(inner, f"{path}/{index}", out)
    return out


schema = json.loads(subprocess.run([ORRERY, "schema"], capture_output=True, check=True).stdout)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
files = sorted(FOLDER.glob("*.yaml")) + [p for room in ("step", "memory", "weeks", "studies") for p in sorted((FOLDER / room).glob("*.yaml"))]
expect(len(files) >= 39, f"only {len(files)} scenarios in {FOLDER}")
for file in files:
    fault = first_fault(validator, yaml.safe_load(file.read_text()))
    expect(fault is None, f"{file.name}: {fault}")
for changes in ACCEPTED:
    document = laid_over(BASE, changes)
    result, fault = check(document), first_fault(validator, document)
    expect(result.returncode == 0, f"check rejects {changes}: {result.stdout}{result.stderr}")
    expect(fault is None, f"the schema rejects {changes}: {fault}")
for changes in REJECTED:
    document = laid_over(BASE, changes)
    expect(check(document).returncode == 3, f"check accepts {changes}")
    expect(first_fault(validator, document) is not None, f"the schema accepts {changes}")
stated = defaults(schema)
expect(len(stated) > 100, f"only {len(stated)} defaults")
for path, inner in stated:
    fault = first_fault(jsonschema.Draft202012Validator(inner), inner["default"])
    expect(fault is None, f"default of {path}: {fault}")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
