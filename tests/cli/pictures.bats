# `orrery export --svg`: each picture says exactly what the database holds, and stays XML whatever that is.
load helper

marks() { python3 "$BATS_TEST_DIRNAME/svg_marks.py" "$1"; }
picture() { "$ORRERY" export "$1" --svg "$2" --output "$2.svg" && marks "$2.svg" >"$2.marks"; }

setup_file() {
    cd "$BATS_FILE_TMPDIR" || exit 1
    "$ORRERY" run "$SCENARIOS/lessons/bubble.yaml" --db pipe.db >/dev/null 2>&1
    "$ORRERY" run "$SCENARIOS/weeks/async-vs-sync.yaml" --set run.duration=5d --detail step --db weeks.db >/dev/null 2>&1
    "$ORRERY" run "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml" --db wall.db >/dev/null 2>&1 || [ $? -eq 4 ]
    "$ORRERY" study "$SCENARIOS/hello-8-gpus.yaml" --vary layout.tp=1,2,4 --vary layout.microbatch=1,2,4 \
        --db study.db >/dev/null 2>&1
}
setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    pipe=$BATS_FILE_TMPDIR/pipe.db weeks=$BATS_FILE_TMPDIR/weeks.db wall=$BATS_FILE_TMPDIR/wall.db study=$BATS_FILE_TMPDIR/study.db
}

@test "gantt: each pass from the first start to the last end of its spans, none left out" {
    picture "$pipe" gantt
    sql "$pipe" "select 'stage ' || c.stage || ', ' || p.text || ' of microbatch ' || s.microbatch || ': ' || min(s.ts) ||
        ' to ' || max(s.ts + s.dur) || ' ns' from slice_raw s join track t on t.id = s.track_id
        join rank_class c on c.id = t.rank_class join string p on p.id = s.phase
        where t.name = 'compute' and s.depth = 0 and p.text in ('forward', 'backward') and s.microbatch >= 0
          and c.id in (select min(id) from rank_class group by stage)
        group by c.stage, p.text, s.microbatch" | sort >want
    sed -n 's/; waits: .*//; /microbatch/p' gantt.marks | sort >got
    [ "$(wc -l <want)" -eq 64 ]
    diff want got
}

@test "gantt: what is hatched for a slower card, and what is inside ops, is the straggler term" {
    "$ORRERY" run "$SCENARIOS/step/straggler.yaml" --set training.global_batch=32 --db slow.db >/dev/null 2>&1
    "$ORRERY" export slow.db --svg gantt --output slow.svg
    python3 - "$(sql slow.db "select sum(dur) / 1e9 / (select count(*) from rank) from idle where cause = 'straggler'")" <<'PY'
import re, sys
unit = {"ms": 1e-3, "s": 1.0}
whole, a, inside, b = re.search(r">straggler ([\d.]+) (m?s), .*; ([\d.]+) (m?s) of it not hatched: inside ops", open("slow.svg").read()).groups()
whole, inside = float(whole) * unit[a], float(inside) * unit[b]
assert inside > 0.01 * whole and abs(whole - inside - float(sys.argv[1])) < 0.01 * whole, (whole, inside, sys.argv[1])
PY
    lacks "not hatched" <("$ORRERY" export "$pipe" --svg gantt) # no card is slow
}

@test "memory: every byte of every stage, and their sum" {
    for db in "$pipe" "$wall"; do
        picture "$db" memory
        for tenant in weights gradients master moments activations temporary communication context fragmentation; do
            sql "$db" "select printf('stage %d, $tenant: %.0f bytes', stage, ${tenant}_bytes) from stage_memory where ${tenant}_bytes > 0"
        done | sort >want
        sed 's/ (.*//' memory.marks | sort >got
        diff want got
        [ "$(sql "$db" "select printf('%.0f', sum(peak_reserved_bytes)) from stage_memory")" = \
            "$(sed 's/.*: \([0-9]*\) bytes/\1/' got | awk '{sum += $1} END {printf "%.0f", sum}')" ]
    done
    grep -q "#c1121f" memory.svg # past the line
}

@test "waterfall: the terms add up to the step, of weeks to a kept step" {
    for db in "$pipe" "$weeks"; do
        picture "$db" waterfall
        "$ORRERY" explain "$db" --json >explain.json 2>/dev/null
        python3 - "$(sql "$db" "select case when useful_s > 0 then step_s * wall_s / useful_s else step_s end from run")" <<'PY'
import re, sys
terms = [line.split(" s (")[0].split(": ") for line in open("waterfall.marks") if not line.startswith("sum")]
total = float(re.search(r"sum: (\S+) s", open("waterfall.marks").read()).group(1))
assert len(terms) >= 5 and terms[0][0] == "useful", terms
assert abs(sum(float(t[1]) for t in terms) - total) < 1e-8 * total
assert abs(total - float(sys.argv[1])) < 1e-8 * total
PY
    done
}

@test "waterfall: each term has the colour that its legend gives to what the term is" {
    "$ORRERY" run "$SCENARIOS/lessons/bubble.yaml" --set layout.recompute=full --detail summary --db full.db >/dev/null 2>&1
    for db in full.db "$weeks"; do
        picture "$db" waterfall
        python3 - <<'PY'
import re
text = open("waterfall.svg").read()
legend = {what: colour for colour, what in re.findall(r'width="10" height="10" fill="(#\w+)"[^>]*/>\n<text[^>]*>([^<]+)<', text)}
terms = dict((term, colour) for colour, term in re.findall(r'fill="(#\w+)"[^>]*><title>(\w+): ', text) if term != "sum")
assert len(set(legend.values())) == len(legend) >= 3, legend
kernels = {"masked_scores", "kernels", "recompute", "optimizer"}  # what a GPU works on beside the model's own FLOPs
weeks = {"checkpoint", "lost_work", "detect", "restart", "wait", "degraded", "maintenance"}
for term, colour in terms.items():
    what = "arithmetic at the peak" if term == "useful" else "kernels" if term in kernels else \
        "failures and saves" if term in weeks else "waiting"
    assert colour == legend[what], (term, colour, what)
assert kernels <= terms.keys() or weeks & terms.keys(), terms
PY
    done
}

@test "map: every node with its busiest wires, and the busiest of all over the step" {
    pipe=wide.db # of several nodes and kinds of wires
    "$ORRERY" run "$SCENARIOS/step/contended-fabric.yaml" --db "$pipe" >/dev/null 2>&1
    picture "$pipe" map
    sql "$pipe" "select printf('node %d: its busiest %s carries %.12f', n.node, n.kind, l.moved_bytes / (l.bytes_per_s * (select step_s from run)))
        from node_wire n join track t on t.id = n.track_id join link l on l.kind || ', ' || l.\"from\" || ' to ' || l.\"to\" = t.name" | sort >want
    sed -n 's/ of its capacity$//; /^node /p' map.marks | awk '{$NF = sprintf("%.12f", $NF)} 1' | sort >got
    [ "$(wc -l <want)" -eq 16 ]
    diff want got
    for kind in fabric nic nvlink; do # beside the wires of each kind how busy the busiest is
        grep -qF ">$(sql "$pipe" "select printf('%.1f %%', 100 * max(moved_bytes / bytes_per_s) / (select step_s from run)) from link where kind = '$kind'")</text>" map.svg
    done
    for kind in fabric nic nvlink; do # the mean over the step, from its moments
        sed -n "s/^$kind, \([0-9]*\) to \([0-9]*\) ns: \([^ ]*\) of.*/\1 \2 \3/p" map.marks | sort -n >moments
        awk -v want="$(sql "$pipe" "select max(moved_bytes / bytes_per_s) from link where kind = '$kind'")" '
            $1 != end + 0 {exit 1} {end = $2; sum += $3 * ($2 - $1) / 1e9}
            END {exit !(NR > 3 && sum > want * (1 - 1e-6) && sum < want * (1 + 1e-6))}' moments
        [ "$(tail -1 moments | cut -d' ' -f2)" = "$(sql "$pipe" "select cast(round(step_s * 1e9) as integer) from run")" ]
    done
}

@test "map: every GPU with its rank, every wire with its load" {
    picture "$pipe" map
    [ "$(grep -c '^gpu ' map.marks)" = "$(sql "$pipe" "select count(*) from gpu")" ]
    sql "$pipe" "select 'gpu ' || g.id || ' of node ' || g.node || ': rank ' || r.rank || ', stage ' || r.pp || ', tensor rank ' ||
        r.tp || ', replica ' || r.dp from gpu g join rank r on r.gpu = g.id order by g.id" >want
    grep '^gpu ' map.marks >got
    diff want got
    for kind in $(sql "$pipe" "select distinct kind from link"); do
        [ "$(sql "$pipe" "select sum(link_count) from link where kind = '$kind'")" = \
            "$(sed -n "s/^$kind: \([0-9]*\) wires.*/\1/p" map.marks | awk '{sum += $1} END {printf "%.0f", sum}')" ]
    done
}

@test "roofline, tornado: what explain says, to the digit" {
    picture "$pipe" roofline
    "$ORRERY" explain --walls "$pipe" --json 2>/dev/null >walls.json
    picture "$pipe" tornado
    "$ORRERY" explain "$pipe" --json 2>/dev/null >explain.json
    python3 - <<'PY'
import json, re
kernels = [k for k in json.load(open("walls.json"))["kernels"] if k["flops"] > 0]
drawn = [re.match(r"\S+ (.+): (\S+) FLOP, (\S+) bytes, (\S+) s, \w+$", line).groups() for line in open("roofline.marks")]
assert len(drawn) == len(kernels) >= 5
for k, d in zip(kernels, drawn):
    assert (float(d[1]), float(d[2])) == (k["flops"], k["bytes"]), (k, d)
rows = {e["input"] if "input" in e else e["key"]: e for e in json.load(open("explain.json"))["elasticities"]}
tornado = [re.match(r"(\S+), 10 % (more|less): (\S+)", line).groups() for line in open("tornado.marks")]
assert len(tornado) >= 4 and all(t[0] in rows for t in tornado), (tornado, list(rows))
moves = {(name, way): rows[name][f"cost_{way}_ratio"] - 1.0 for name in rows for way in ("more", "less")}
for name, way, change in tornado:
    assert float(change) == moves[name, way], (name, way, change, moves[name, way])
assert {(t[0], t[1]) for t in tornado} == {key for key, change in moves.items() if change != 0.0}
PY
}

@test "roofline: each dot stands as far below the roof of its own precision as its line says" {
    for precision in bf16 fp8; do
        "$ORRERY" run "$SCENARIOS/step/mixtral-8x7b-64xh100.yaml" --set training.precision=$precision --detail summary --db $precision.db >/dev/null 2>&1
        "$ORRERY" explain --walls $precision.db --json 2>/dev/null >walls.json
        picture $precision.db roofline
        python3 "$BATS_TEST_DIRNAME/svg_roofline.py" roofline.svg walls.json $([ $precision = bf16 ] && echo 1 || echo 2)
    done
}

@test "ucurve: each value that is a word stands below the axis once" {
    "$ORRERY" study "$hello" --vary layout.recompute=none,full --db words.db >/dev/null 2>&1
    picture words.db ucurve
    for word in none full; do
        [ "$(grep -c "text-anchor=\"middle\"[^>]*>$word</text>" ucurve.svg)" -eq 1 ]
    done
}

@test "pareto, ucurve: the means of a study" {
    picture "$study" pareto
    picture "$study" ucurve
    sql "$study" "select p.label || ': ' || printf('%.17g', t.mean) || ' tokens/s, ' || printf('%.17g', b.mean) || ' bytes'
        from study_point p join study_summary t on t.point = p.point and t.metric = 'tokens_per_s'
        join study_summary b on b.point = p.point and b.metric = 'peak_reserved_bytes' where p.fits = 1" | sort >want
    grep 'tokens/s' pareto.marks | sort >got
    [ "$(wc -l <want)" -eq 9 ]
    python3 - <<'PY'
import re
read = lambda name: {l.split(": ")[0]: [float(x) for x in re.findall(r"[\d.e+]+(?= tokens/s| bytes)", l.split(": ")[1])] for l in open(name)}
want, got = read("want"), read("got")
assert want.keys() == got.keys() and all(abs(a - b) <= 1e-14 * a for k in want for a, b in zip(want[k], got[k]))
PY
}

@test "pareto of a search: its played layouts, and the front among them" {
    "$ORRERY" plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --global-batch 64 --db plan.db >/dev/null 2>&1
    picture plan.db pareto
    sql plan.db "select printf('%.15g %.0f', tokens_per_s, peak_reserved_bytes) from plan_candidate where fate = 'played'" | sort >want
    python3 - >got <<'PY'
import re
marks = [re.findall(r": ([\d.e+]+) tokens/s, ([\d.e+]+) bytes", line) for line in open("pareto.marks")]
print("\n".join(sorted("%.15g %.0f" % (float(m[0][0]), float(m[0][1])) for m in marks if m)))
PY
    [ "$(wc -l <want)" -ge 5 ]
    diff want <(sort got)
    for kind in gantt ucurve map; do
        expect 1 "$ORRERY" export plan.db --svg $kind --output x.svg
        said "--svg pareto"
    done
    [ ! -e x.svg ]
}

@test "hostile words stay words" {
    cp "$pipe" bad.db
    sql bad.db "update run set title = '</title><script>alert(1)</script>&' || char(1) || x'ff'; update message set text = '<a href=\"x\">' where severity = 'note'"
    for kind in gantt memory waterfall map; do
        picture bad.db $kind
        lacks '<script' $kind.svg
    done
    grep -q '&lt;script&gt;' gantt.svg
    grep -q '&lt;a href' gantt.svg
}

@test "what a database does not hold is refused with what to do, and no file is left" {
    for kind in pareto ucurve; do
        expect 1 "$ORRERY" export "$pipe" --svg $kind --output x.svg
        said "orrery study SCENARIO --vary"
    done
    for kind in gantt memory waterfall roofline tornado map; do
        expect 1 "$ORRERY" export "$study" --svg $kind --output x.svg
        said "orrery run SCENARIO"
    done
    "$ORRERY" run "$hello" --detail summary --db summary.db >/dev/null 2>&1
    expect 1 "$ORRERY" export summary.db --svg gantt --output x.svg
    said "--detail op"
    for kind in waterfall tornado; do
        expect 1 "$ORRERY" export "$wall" --svg $kind --output x.svg
        said "memory ended before a step was timed"
    done
    [ ! -e x.svg ]
    expect 2 "$ORRERY" export "$pipe" --svg pie
    said "gantt"
    expect 2 "$ORRERY" export "$pipe" --svg map --format csv
    said "leave out --format"
    expect 2 "$ORRERY" export "$pipe" --svg map --format chrome
    said "leave out --format"
}

@test "the same bytes each time" {
    for kind in gantt memory map waterfall roofline; do
        "$ORRERY" export "$pipe" --svg $kind >a.svg
        "$ORRERY" export "$pipe" --svg $kind >b.svg
        cmp a.svg b.svg
    done
    cmp <("$ORRERY" export "$pipe" --svg gantt) <("$ORRERY" export "$pipe" --format svg)
}
