"""usage: chakra_check.py DB PREFIX PLAYED [WITHIN]: the traces of `export --format chakra` against the database of
`run --detail flow` that they were written from, and against PLAYED, that of `orrery chakra --eager 0` on them: the
step is the same within WITHIN of it, and without WITHIN each node begins when its op did. Its own words on
stdout."""
import collections
import glob
import json
import os
import sqlite3
import sys

from chakra_read import COLL, COMP, LOAD, METADATA, RECV, SEND, STORE, trace

TYPES = {"all_reduce": 0, "all_gather": 2, "broadcast": 5, "all_to_all": 6, "expert_exchange": 6, "reduce_scatter": 7}
# Streams by number, as models/layout/stream.h counts them.
STREAMS = ("compute tp cp ep dp gather replicate embed world send_next recv_prev send_prev recv_next copy ep_data ep_gather "
           "ep_replicate to_host from_host cp_heads").split()

db = sqlite3.connect(sys.argv[1])
prefix = sys.argv[2]
played = sqlite3.connect(sys.argv[3])


def rows(sql, *values, of=db):
    return of.execute(sql, values).fetchall()


world, = rows("select count(*) from rank")[0]
assert len(glob.glob(glob.escape(prefix) + ".*.et")) == world
traces = [trace("%s.%d.et" % (prefix, rank)) for rank in range(world)]
used = {n["pg_name"] for t in traces for n in t if n["type"] == COLL}
groups = json.load(open(prefix + ".groups.json")) if os.path.exists(prefix + ".groups.json") else {}
assert used <= set(groups)
where = {r: dict(tp=t, cp=c, dp=d, pp=p) for r, t, c, d, p in rows("select rank, tp, cp, dp, pp from rank")}
met = collections.defaultdict(lambda: collections.defaultdict(list))
sent, received = {}, {}
apart_us = 0

for rank, nodes in enumerate(traces):
    # Ids, dependencies, types.
    ids = {}
    for n in nodes:
        assert n["id"] not in ids and len(set(n["waits"])) == len(n["waits"])
        assert all(w in ids for w in n["waits"]), "waits for what is not before it"
        assert (n["type"] == METADATA) == (not ids) == (not n["waits"]), n
        ids[n["id"]] = n
    words = {METADATA: "METADATA", LOAD: "MEM_LOAD", STORE: "MEM_STORE", COMP: "COMP", SEND: "COMM_SEND",
             RECV: "COMM_RECV", COLL: "COMM_COLL"}
    assert all(n["name"].startswith(words[n["type"]] + "_NODE_") for n in nodes)

    # The groups of the rank, as ASTRA-sim cuts them out: two characters at each end are not theirs.
    told = {g["pg_name"]: g["ranks"] for g in json.loads(nodes[0]["inputs"][2:-2])}
    for name, ranks in told.items():
        assert int(name) > 0 and groups[name] == ranks and rank in ranks and len(set(ranks)) == len(ranks) > 1

    # What the rank did, stream by stream.
    host = [n for n in nodes if n["type"] == COMP and n["is_cpu_op"]]
    card = [n for n in nodes if n["type"] != METADATA and not n["is_cpu_op"]]
    assert nodes[0]["is_cpu_op"] and len(host) + len(card) + 1 == len(nodes)
    assert all(a["id"] in b["waits"] for a, b in zip(host, host[1:]))
    by_stream = collections.defaultdict(list)
    for n in card:
        by_stream[n["stream"]].append(n)
    slices = collections.defaultdict(list)
    for s in rows("select s.stream, s.name, s.ts, s.dur, s.phase, s.microbatch, s.layer, x.op, x.bytes, x.ranks from slice s "
                  "left join transfer x on x.slice_id = s.id where s.rank = ? and s.depth = 0 order by s.stream, s.ts, s.id", rank):
        slices[s[0]].append(s[1:])
    assert {STREAMS[k] for k in by_stream} == set(slices), (sorted(by_stream), sorted(slices))
    for stream, mine in by_stream.items():
        label = STREAMS[stream]
        # A ring is a send and a receive behind each other, of one op.
        ops, i = [], 0
        while i < len(mine):
            ring = mine[i]["type"] == SEND and i + 1 < len(mine) and mine[i + 1]["type"] == RECV
            ops.append(mine[i:i + 1 + ring])
            i += 1 + ring
        assert len(ops) == len(slices[label]), (label, len(ops), len(slices[label]))
        # Rounding is made good: sums agree to a microsecond from the first op to any.
        owed = 0
        for before, op, s in zip([None] + ops, ops, slices[label]):
            name, ts, dur, phase, microbatch, layer, kind, size, members = s
            n = op[0]
            assert name == n["name"].split("_NODE_", 1)[1] and ts // 1000 == n["start"], (n, s)
            owed += dur - 1000 * n["us"]
            assert -1000 < owed <= 500 and (n["us"] > 0) == (dur > 0), (owed, n, s)
            assert (phase, microbatch, layer) == (n["phase"], n.get("microbatch"), n.get("layer"))
            assert before is None or all(b["id"] in o["waits"] for b in before for o in op), "its stream is not in order"
            if n["type"] == COLL:
                each = members if kind == "all_gather" else 1
                assert n["comm_type"] == TYPES[kind] and abs(n["comm_size"] * each - size) <= each / 2, (n, s)
                assert len(told[n["pg_name"]]) == members and rank in told[n["pg_name"]]
                met[n["pg_name"]][rank].append((n["comm_type"], n["comm_size"]))
            elif n["type"] in (SEND, RECV):
                share = (members - 1) / members if kind == "ring_exchange" else 1
                assert (len(op) == 2) == (kind == "ring_exchange"), (op, kind)
                assert len(op) == 2 or label.startswith("send" if n["type"] == SEND else "recv")
                for m in op:
                    assert abs(m["comm_size"] - share * size) <= 0.5, (m, s)
                    assert m["comm_src" if m["type"] == SEND else "comm_dst"] == rank
                    ends = sent if m["type"] == SEND else received
                    key = m["comm_src"], m["comm_dst"], m["comm_tag"]
                    assert key not in ends, "a tag stands twice"
                    ends[key] = m["comm_size"]
                    # The other rank differs in the dimension of the stream alone.
                    peer = m["comm_dst"] if m["type"] == SEND else m["comm_src"]
                    axis = "cp" if kind == "ring_exchange" else "pp"
                    assert {k for k in where[rank] if where[rank][k] != where[peer][k]} == {axis}, (rank, peer)
                    if axis == "pp":
                        stages = 1 + max(w["pp"] for w in where.values())
                        away = 1 if label.endswith("next") else -1
                        assert where[peer]["pp"] == (where[rank]["pp"] + away) % stages, (label, rank, peer)
            else:
                assert n["type"] == {"to_host": STORE, "from_host": LOAD}.get(label, COMP), (n, label)
        # FLOPs and bytes of compute, of whole ops.
        if mine[0]["type"] in (COMP, LOAD, STORE):
            want = rows("select sum(k.flops), sum(k.hbm_bytes + k.message_bytes), sum(k.ops) from op_kind k join track t on t.id = "
                        "k.track_id join rank r on r.rank_class = t.rank_class where r.rank = ? and t.name = ?", rank, label)[0]
            assert want[2] == len(mine)
            assert abs(sum(n.get("num_ops", 0) for n in mine) - want[0]) <= len(mine), (want, label)
            assert abs(sum(n["tensor_size"] for n in mine) - want[1]) <= len(mine), (want, label)

    starts = dict(rows("select node, ts from task_slice where rank = ?", rank, of=played))
    apart_us = max([apart_us] + [abs(starts[n["id"]] // 1000 - n["start"]) for n in card if n["us"] > 0])

# All ranks of a group meet in the same order, in collectives of one type and size.
for name, ranks in met.items():
    assert sorted(ranks) == sorted(groups[name]) and len({tuple(calls) for calls in ranks.values()}) == 1, name
assert sent == received
# Of 0.5 us that a node may be off, few add up: the next of its stream makes it good.
run_s, = rows("select step_s from run")[0]
play_s, = rows("select step_s from task_step", of=played)[0]
print("groups %d, messages %d, step %.9f, played %.9f, starts within %d us" % (len(used), len(sent), run_s, play_s, apart_us))
if len(sys.argv) > 4:
    assert abs(play_s - run_s) <= float(sys.argv[4]) * run_s
else:
    assert abs(play_s - run_s) <= 5e-6 and apart_us <= 5
