#!/usr/bin/env python3
"""Writes Chakra execution traces for tests: chakra_write.py PREFIX RANKS < LINES

A line is a node: RANKS TYPE ID [KEY=VALUE]..., with RANKS a number, a range 0-3 or `all`, TYPE a
number of the schema. Keys: us (duration), wait (ids, by comma), name, cpu; any other is an attribute
(whole numbers as int64_val, words as string_val)."""
import sys


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def stretch(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if value.lstrip("-").isdigit() and name != "pg_name":
        held = number(9, int(value))
    else:
        held = stretch(29, value.encode())
    return stretch(10, stretch(1, name.encode()) + held)


def node(kind, ident, fields):
    out = number(1, int(ident)) + stretch(2, fields.pop("name", "node").encode()) + number(3, int(kind))
    for other in filter(None, fields.pop("wait", "").split(",")):
        out += number(5, int(other))
    out += number(7, int(fields.pop("us", "0")))
    if "cpu" in fields:
        out += stretch(10, stretch(1, b"is_cpu_op") + number(27, int(fields.pop("cpu"))))
    for name, value in fields.items():
        out += attribute(name, value)
    return varint(len(out)) + out


def main():
    prefix, ranks = sys.argv[1], int(sys.argv[2])
    head = stretch(1, b"0.0.4")
    files = [bytearray(varint(len(head)) + head) for _ in range(ranks)]
    for line in sys.stdin:
        where, kind, ident, *fields = line.split()
        first, _, last = ("0-%d" % (ranks - 1) if where == "all" else where).partition("-")
        for rank in range(int(first), int(last or first) + 1):
            files[rank] += node(kind, ident, dict(field.split("=", 1) for field in fields))
    for rank, data in enumerate(files):
        with open("%s.%d.et" % (prefix, rank), "wb") as out:
            out.write(data)


main()
