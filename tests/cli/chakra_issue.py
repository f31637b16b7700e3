"""usage: chakra_issue.py PREFIX SLOWER: plays traces as ASTRA-sim issues nodes (astra-sim/workload/Workload.cc and
HardwareResource.cc): of a rank one node of the host, one of compute, and one of everything else but receives at a time, of
those that are ready the lowest id first; a send never waits; a collective for all of its ranks. Durations are those of the
nodes, each drawn up to SLOWER longer, so that ranks drift apart. Prints the seconds; not all nodes end: exit code 1."""
import bisect
import collections
import glob
import heapq
import json
import random
import sys

from chakra_read import COLL, COMP, RECV, SEND, trace

prefix, slower = sys.argv[1], float(sys.argv[2])
traces = [trace("%s.%d.et" % (prefix, rank)) for rank in range(len(glob.glob(glob.escape(prefix) + ".*.et")))]
size = {g["pg_name"]: len(g["ranks"]) for t in traces for g in json.loads(t[0]["inputs"][2:-2])}
draw = random.Random(1)


class Rank:
    def __init__(self, nodes):
        self.nodes = {n["id"]: n for n in nodes}
        self.left = {n["id"]: len(n["waits"]) for n in nodes}
        self.ready = [n["id"] for n in nodes if not n["waits"]]
        self.after = collections.defaultdict(list)
        self.calls = collections.Counter()
        self.busy = set()
        for n in nodes:
            for w in n["waits"]:
                self.after[w].append(n["id"])


def resource(n):
    if n["is_cpu_op"]:
        return "host"
    return {COMP: "compute", RECV: None}.get(n["type"], "other")


ranks = [Rank(t) for t in traces]
events, order = [], 0
met = collections.defaultdict(list)
sent, waiting = {}, {}


def end(at, rank, i):
    global order
    order += 1
    heapq.heappush(events, (at, order, rank, i))


def issue(now, rank, i):
    n = ranks[rank].nodes[i]
    over = now + n["us"] * (1 + slower * draw.random())
    if n["type"] == COLL:
        call = n["pg_name"], ranks[rank].calls[n["pg_name"]]
        ranks[rank].calls[n["pg_name"]] += 1
        met[call].append((rank, i))
        if len(met[call]) == size[n["pg_name"]]:
            for who in met[call]:
                end(over, *who)
    elif n["type"] in (SEND, RECV):
        message = n["comm_src"], n["comm_dst"], n["comm_tag"]
        if n["type"] == SEND:
            sent[message] = over
            end(over, rank, i)
            if message in waiting:
                end(over, *waiting[message])
        elif message in sent:
            end(max(now, sent[message]), rank, i)
        else:
            waiting[message] = rank, i
    else:
        end(over, rank, i)


def look(now, rank):
    r = ranks[rank]
    for i in list(r.ready):
        what = resource(r.nodes[i])
        if what not in r.busy:
            r.busy |= {what} - {None}
            r.ready.remove(i)
            issue(now, rank, i)


now = done = 0
for rank in range(len(ranks)):
    look(0, rank)
while events:
    now, _, rank, i = heapq.heappop(events)
    r = ranks[rank]
    done += 1
    r.busy.discard(resource(r.nodes[i]))
    for j in r.after[i]:
        r.left[j] -= 1
        if r.left[j] == 0:
            bisect.insort(r.ready, j)
    look(now, rank)
print("%.9f" % (now / 1e6))
sys.exit(done != sum(map(len, traces)))
