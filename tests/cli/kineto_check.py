"""usage: kineto_check.py DB TRACE: a trace of `export --format kineto` against what the database of
`run --detail flow` holds of its rank: kernels, messages, groups, launches, and the times that
HolisticTraceAnalysis counts (unions of intervals), in whole nanoseconds. Its own words on stdout."""
import json
import sqlite3
import sys

SIZES = {"BFloat16": 2, "Half": 2, "Float": 4, "Byte": 1}
NAMES = {"all_reduce": "allreduce", "all_gather": "_allgather_base", "reduce_scatter": "_reduce_scatter_base",
         "all_to_all": "all_to_all"}
KERNELS = {"allreduce": "AllReduce_Sum", "_allgather_base": "AllGather", "_reduce_scatter_base": "ReduceScatter_Sum"}
SAME = {"tp": ("cp", "dp", "pp"), "dp": ("tp", "pp"), "cp": ("tp", "dp", "pp"), "world": ()}

db = sqlite3.connect(sys.argv[1])
trace = json.load(open(sys.argv[2]))
rank, world = trace["distributedInfo"]["rank"], trace["distributedInfo"]["world_size"]
events = trace["traceEvents"]


def ns(us):
    return round(us * 1000)


def of(*categories):
    return [e for e in events if e.get("cat") in categories]


def span(e):
    return ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])


def union(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return sum(b - a for a, b in out)


def rows(sql):
    return db.execute(sql, (rank,)).fetchall()


assert world == db.execute("select count(*) from rank").fetchone()[0]
gpu = of("kernel", "gpu_memcpy")
nccl = [e for e in gpu if e["name"].startswith("ncclDevKernel_")]
own = [e for e in gpu if e["name"].startswith("orrery::")]
copies = of("gpu_memcpy")
assert len(nccl) + len(own) + len(copies) == len(gpu)

# Launches: one for each kernel, of the same number, none later, and in the order of the host.
launches = {e["args"]["correlation"]: e for e in of("cuda_runtime")}
assert len(launches) == len(of("cuda_runtime")) == len(gpu)
at = 0
for e in sorted(gpu, key=lambda e: e["args"]["correlation"]):
    launch = launches[e["args"]["correlation"]]
    assert at <= ns(launch["ts"]) <= ns(e["ts"]), (at, launch, e)
    at = max(at, ns(launch["ts"]))
    assert launch["name"] == ("cudaMemcpyAsync" if e in copies else "cudaLaunchKernel")
    assert launch["tid"] == launch["pid"] != e["pid"] and e["tid"] == e["args"]["stream"]
    assert {e["pid"]} == {d["id"] for d in trace["deviceProperties"]} == {e["args"]["device"]}

# Gaps of the compute stream that end as the host launches, as HTA's idle-time breakdown has them.
stream = next(e["tid"] for e in events if e["ph"] == "M" and e["args"].get("name") == "stream 7 compute")
before, waited, gaps = None, 0, set()
for e in sorted((e for e in own if e["tid"] == stream), key=lambda e: (ns(e["ts"]), e["args"]["correlation"])):
    begin, end = span(e)
    launch = ns(launches[e["args"]["correlation"]]["ts"])
    if before is not None and launch > before:
        waited += begin - before
        gaps.add(begin)
    before = end
host = rows("select i.ts + i.dur from idle i join slice s on s.rank = i.rank and s.ts = i.ts + i.dur and s.stream = 'compute' "
            "where i.rank = ? and i.cause = 'host' and s.depth = 1 and s.dur > 0")
first = min(ns(e["ts"]) for e in own)
assert gaps == {end for end, in host if end > first}, (len(gaps), len(host))
print("host_wait", waited)

# Kernels of this card, one by one: name, pass and times.
kernels = rows("select ts, dur, name, phase, microbatch, layer from slice where rank = ? and depth = 1 and dur > 0 "
               "and stream not in ('to_host', 'from_host') order by ts, id")
mine = sorted(own, key=lambda e: (ns(e["ts"]), e["args"]["correlation"]))
assert len(kernels) == len(mine) > 0, (len(kernels), len(mine))
for (ts, dur, name, phase, microbatch, layer), e in zip(kernels, mine):
    assert abs(ts - ns(e["ts"])) <= 1 and abs(dur - ns(e["dur"])) <= 1 and e["name"].endswith("::" + name), (ts, dur, name, e)
    assert (phase, microbatch, layer) == tuple(e["args"].get(k) for k in ("phase", "microbatch", "layer"))
    passes = {"forward": "::forward::", "recompute": "::forward::", "backward": "::backward::" if "grad" in name else "::"}
    assert passes.get(phase, "::") in e["name"], e

# Messages, one by one: operation, elements, members.
where = dict((r, dict(tp=t, cp=c, dp=d, pp=p)) for r, t, c, d, p in db.execute("select rank, tp, cp, dp, pp from rank"))
configured = {g["pg_name"]: g for g in trace["distributedInfo"]["pg_config"]}
assert configured["0"]["pg_size"] == world and trace["distributedInfo"]["pg_count"] == len(configured)
messages = rows("select s.ts - s.wait, s.ts + s.dur, s.stream, x.op, x.bytes, x.ranks, s.phase from slice s join transfer x "
                "on x.slice_id = s.id where s.rank = ? and x.bytes > 0 and s.dur > 0 order by 3, 1")
streams = {e["tid"]: e["args"]["name"].split()[-1] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
mine = sorted(nccl, key=lambda e: (streams[e["tid"]], ns(e["ts"])))
assert len(messages) == len(mine), (len(messages), len(mine))
for (begin, end, name, op, size, members, phase), e in zip(messages, mine):
    a = e["args"]
    assert span(e) == (begin, end) and streams[e["tid"]] == name and a["phase"] == phase, (begin, end, name, e)
    want = NAMES.get(op) or ("send" if name.startswith("send") else "recv")
    assert a["Collective name"] == want and e["name"] == "ncclDevKernel_" + KERNELS.get(want, "SendRecv"), e
    n = {"_allgather_base": (1, members), "_reduce_scatter_base": (members, 1)}.get(want, (1, 1))
    assert a["In msg nelems"] * n[1] == a["Out msg nelems"] * n[0], e
    assert max(a["In msg nelems"], a["Out msg nelems"]) * SIZES[a["dtype"]] == size, (size, e)
    assert a["dtype"] == {"gradients": "Float", "optimizer": "Float"}.get(phase, "BFloat16"), e
    ranks = json.loads(a["Process Group Ranks"])
    group = configured[a["Process Group Name"]]
    assert group["ranks"] == ranks and group["pg_size"] == len(ranks) == a["Group size"] == members, e
    here = where[rank]
    if name in SAME:
        assert sorted(ranks) == [r for r, w in where.items() if all(w[k] == here[k] for k in SAME[name])], (name, ranks)
        assert "Src Rank" not in a and "Dst Rank" not in a
    elif name.startswith(("send", "recv")):
        away = 1 if name.endswith("next") else -1
        stages = 1 + max(w["pp"] for w in where.values())
        peer = next(r for r, w in where.items() if w == dict(here, pp=(here["pp"] + away) % stages))
        sends = name.startswith("send")
        assert ranks == ([rank, peer] if sends else [peer, rank]) and a["Dst Rank" if sends else "Src Rank"] == peer, e

# Copies between card and host.
moved = rows("select ts, ts + dur, stream, name from slice where rank = ? and depth = 0 and dur > 0 "
             "and stream in ('to_host', 'from_host') order by ts, stream")
mine = sorted(copies, key=lambda e: (ns(e["ts"]), streams[e["tid"]]))
assert [(m[0], m[1], m[2]) for m in moved] == [span(e) + (streams[e["tid"]],) for e in mine]
for e in mine:
    assert e["name"].startswith("Memcpy DtoH" if streams[e["tid"]] == "to_host" else "Memcpy HtoD") and e["args"]["bytes"] > 0
sums = rows("select k.message_bytes + k.hbm_bytes from op_kind k join track t on t.id = k.track_id join rank r on "
            "r.rank_class = t.rank_class where r.rank = ? and t.name in ('to_host', 'from_host')")
assert abs(sum(s for s, in sums) - sum(e["args"]["bytes"] for e in copies)) <= len(copies)
print("copies", len(copies))

# What HTA's temporal breakdown and overlap count.
compute = rows("select ts, ts + dur from slice where rank = ? and stream in ('compute', 'copy') and depth = 0 and dur > 0")
talk = [m[:2] for m in messages]
both = union(compute + talk)
mine = [span(e) for e in own], [span(e) for e in nccl]
assert union(mine[0]) == union(compute) and union(mine[1]) == union(talk) and union(mine[0] + mine[1]) == both
print("compute", union(mine[0]), "communication", union(mine[1]), "any", both)

# The step.
step, = [e for e in events if e.get("cat") == "user_annotation"]
assert step["name"] == "ProfilerStep#0" and step["ts"] == 0
assert abs(ns(step["dur"]) - 1e9 * db.execute("select step_s from run").fetchone()[0]) <= 1
assert all(b <= ns(step["dur"]) for _, b in map(span, gpu))
