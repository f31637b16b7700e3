"""Reads Chakra execution traces for tests: written from et_def.proto and the wire format alone. trace(PATH) is a list of
nodes, dicts of fields and attributes; what no such file holds is an AssertionError."""
import collections

METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(1, 8)
VALUES = {7: "int32", 9: "int64", 13: "uint64", 27: "bool", 29: "string"}
HELD = {"is_cpu_op": "bool", "num_ops": "int64", "tensor_size": "uint64", "comm_type": "int64", "comm_size": "int64",
        "comm_src": "int32", "comm_dst": "int32", "comm_tag": "int32", "pg_name": "string"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at, out = 0, collections.defaultdict(list)
    while at < len(data):
        tag, at = varint(data, at)
        assert tag & 7 in (0, 2), tag
        value, at = varint(data, at)
        if tag & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        out[tag >> 3].append(value)
    return out


def numbers(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def node(data):
    f = fields(data)
    assert set(f) <= {1, 2, 3, 5, 6, 7, 8, 10} and all(len(f[k]) <= 1 for k in (1, 2, 3, 5, 6, 7, 8))
    out = {"id": f[1][0], "name": f[2][0].decode(), "type": f[3][0], "waits": numbers(f[5][0]) if f[5] else [],
           "start": f[6][0] if f[6] else None, "us": f[7][0] if f[7] else 0,
           "inputs": fields(f[8][0])[1][0].decode() if f[8] else None}
    for raw in f[10]:
        a = fields(raw)
        name = a.pop(1)[0].decode()
        (kind, (value,)), = a.items()
        assert name not in out and VALUES[kind] == HELD.get(name, VALUES[kind]), (name, kind)
        out[name] = value.decode() if kind == 29 else value
    return out


def trace(path):
    data, at, messages = open(path, "rb").read(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        assert 0 < size <= len(data) - at
        messages.append(data[at:at + size])
        at += size
    head = fields(messages[0])
    assert head[1] == [b"0.0.4"]
    return [node(m) for m in messages[1:]]
