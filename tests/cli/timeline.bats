# Laws of a recorded timeline, in SQL over the files of shipped scenarios: a handful of cheap ones,
# every one with TIMELINES=all.
load helper

few="step/contended-fabric step/torus-7b step/dragonfly-13b step/fsdp-7b hello-8-gpus step/cp-ring-long-context"

# of_each COMMAND: runs it with the database of each scenario that has a timeline as $db.
of_each() {
    local name names=$few count=0
    [ "${TIMELINES:-few}" = few ] || names=$(shipped_names)
    for name in $names; do
        db=$BATS_FILE_TMPDIR/${name##*/}.db
        [ -e "$db" ] || "$ORRERY" run "$SCENARIOS/$name.yaml" --db "$db" >out 2>err || [ $? -eq 4 ] || { cat err; return 1; }
        [ "$(sql "$db" "select count(*) from slice_raw")" -gt 0 ] || continue
        count=$((count + 1))
        "$@" || { echo "... of $name"; return 1; }
    done
    [ "$count" -ge 6 ]
}

# Means over bins, of each wire: what it carries a second against what it can, and in all.
wires="with b as (select t.id as track, t.name, v.value,
        (coalesce(lead(v.ts) over (partition by t.id order by v.ts), (select round(step_s * 1e9) from run)) - v.ts) / 1e9 as s
        from counter_raw v join track t on t.id = v.track_id where t.kind = 'wire'),
    w as (select b.track, max(b.value) as most, sum(b.value * b.s) as bytes, l.bytes_per_s, l.moved_bytes
        from b join link l on l.kind || ', ' || l.\"from\" || ' to ' || l.\"to\" = b.name group by b.track)"

below_capacity() {
    local faults
    faults=$(sql "$db" "$wires select printf('%d: %.9g of %.9g B/s', track, most, bytes_per_s) from w where most > bytes_per_s * (1 + 1e-9)")
    [ -z "$faults" ] || { echo "above capacity: $faults"; return 1; }
}
conserved() {
    local faults
    faults=$(sql "$db" "$wires select printf('%d: %.12g of %.12g B', track, bytes, moved_bytes) from w where abs(bytes - moved_bytes) > 1e-9 * moved_bytes
        union all select 'no curve' from track where kind = 'wire' and id not in (select track from w)")
    [ -z "$faults" ] || { echo "not what was moved: $faults"; return 1; }
}

@test "a Chrome trace counts wires in bytes a second, which add up to what was moved" {
    "$ORRERY" run "$hello" --db h.db >out 2>err
    expect 0 "$ORRERY" export h.db --output h.json
    sql :memory: "with e as (select value as v from json_each(readfile('h.json'), '\$.traceEvents') where value ->> 'ph' = 'C'),
        w as (select v ->> 'name' as name, v ->> '\$.args.bytes_per_s' as rate,
              (coalesce(lead(v ->> 'ts') over (partition by v ->> 'name' order by v ->> 'ts'), v ->> 'ts') - (v ->> 'ts')) / 1e6 as s
              from e where v ->> '\$.args.bytes_per_s' is not null)
        select name, sum(rate * s) from w group by name" >wires
    sql h.db "select t.name, l.moved_bytes from track t join link l on l.kind || ', ' || l.\"from\" || ' to ' || l.\"to\" = t.name
        where t.kind = 'wire'" >moved
    [ "$(wc -l <moved)" -gt 0 ]
    join -t'|' <(sort wires) <(sort moved) | awk -F'|' '{n++; if (($2 - $3) ^ 2 > 1e-12 * $3 ^ 2) exit 1} END {if (n == 0) exit 1}'
    [ "$(sort wires | cut -d'|' -f1)" = "$(sort moved | cut -d'|' -f1)" ]
    # what a GPU holds is in bytes
    sql :memory: "select count(*) > 0 and sum(value ->> 'name' like 'nvlink%') = 0 from json_each(readfile('h.json'), '\$.traceEvents')
        where value ->> '\$.args.bytes' is not null" | grep -qx 1
}

@test "no wire carries more than it can, in any bin" {
    of_each below_capacity
    # and where wires are fully used, the curve says so
    sql "$BATS_FILE_TMPDIR/contended-fabric.db" "$wires select max(most / bytes_per_s) > 1 - 1e-9 from w" | grep -qx 1
}

@test "the bins of a wire hold all that it moved" {
    of_each conserved
}

# Of each class and cause: idle seconds against the breakdown. What the pace of the slowest card adds is inside the ops.
causes="with waits as (select c.id, t.id as track, t.busy_s - c.compute_s - c.recompute_s - c.optimizer_s as paced_s, c.*
        from rank_class c join track t on t.rank_class = c.id and t.name = 'compute'),
    want as ($(for part in bubble exposed_tp exposed_cp exposed_ep exposed_pp exposed_dp offload host; do
        echo "select track, '$part' as cause, ${part}_s as seconds from waits union all"; done)
        select track, 'straggler', straggler_s - paced_s from waits),
    got as (select track_id as track, n.text as cause, sum(i.dur) / 1e9 as seconds, count(*) as spans
        from idle_raw i join string n on n.id = i.cause group by 1, 2)"

as_the_breakdown() {
    local faults
    faults=$(sql "$db" "$causes select printf('track %d: %s %.9f s, the breakdown says %.9f', w.track, w.cause, coalesce(g.seconds, 0), w.seconds)
        from want w left join got g using (track, cause) where abs(coalesce(g.seconds, 0) - w.seconds) > 1e-9 * (1 + coalesce(g.spans, 0))
        union all select printf('track %d: %s is no cause', track, cause) from got where cause not in (select cause from want)")
    [ -z "$faults" ] || { echo "not as the breakdown: $faults"; return 1; }
}
as_the_run() {
    local faults
    faults=$(sql "$db" "with r as (select count(*) as ranks from rank), i as (select cause, sum(dur) / 1e9 / ranks as seconds, 1.0 * count(*) / ranks as spans from idle, r group by cause)
        select printf('%s: %.9f s of the mean rank, %.9f idle', part, b.seconds, coalesce(i.seconds, 0)) from breakdown b left join i on i.cause = b.part
        where part not in ('compute', 'recompute', 'optimizer', 'straggler') and abs(b.seconds - coalesce(i.seconds, 0)) > 1e-9 * (1 + coalesce(i.spans, 0))")
    [ -z "$faults" ] || { echo "not as the run: $faults"; return 1; }
}
tiles() {
    local faults
    faults=$(sql "$db" "with span as (select track_id, ts, dur from slice_raw s join track t on t.id = s.track_id where t.name = 'compute' and depth = 0 and dur > 0
            union all select track_id, ts, dur from idle_raw),
        met as (select track_id, ts, lag(ts + dur, 1, 0) over (partition by track_id order by ts) as before from span)
        select 'track ' || track_id || ' at ' || ts from met where ts <> before
        union all select 'track ' || track_id || ' ends' from span group by track_id having abs(max(ts + dur) - (select step_s * 1e9 from run)) > 1 limit 5")
    [ -z "$faults" ] || { echo "waits and ops do not tile the step: $faults"; return 1; }
}

@test "idle seconds by cause are those of the breakdown, and tile the step with the ops" {
    of_each as_the_breakdown
    of_each as_the_run
    of_each tiles
    # a cause that is given to another is seen
    cp "$BATS_FILE_TMPDIR/contended-fabric.db" wrong.db
    sql wrong.db "insert into string values (99999, 'bubble'); update idle_raw set cause = 99999 where rowid = (select min(rowid) from idle_raw)"
    db=wrong.db
    if as_the_breakdown >out; then echo "a wrong cause is not seen" && return 1; fi
}

# What the rectangles of the pipeline say when pointed at, against the breakdown of the class of their row.
drawn_as_the_breakdown() {
    "$ORRERY" export "$db" --svg gantt --output gantt.svg
    python3 "$BATS_TEST_DIRNAME/svg_marks.py" gantt.svg | sed -nE 's/^(stage [0-9]+(, slowest: rank [0-9]+)?)[,:].*; waits: /\1|/p' |
        awk -F '|' '{n = split($2, waits, ", "); for (i = 1; i <= n; i++) {split(waits[i], w, " "); sum[$1 "|" w[1]] += w[2]}}
            END {for (k in sum) {split(k, key, "|"); printf "insert into drawn values (\047%s\047, \047%s\047, %.0f);\n", key[1], key[2], sum[k]}}' >drawn.sql
    [ -s drawn.sql ]
    sql "$db" "create temp table drawn (row, cause, ns)" ".read drawn.sql" "$causes,
        rows as (select t.id as track, 'stage ' || s.stage || case role when 'slowest' then ', slowest: rank ' || s.first_rank else '' end as row
            from stage_class s join track t on t.rank_class = s.rank_class and t.name = 'compute')
        select printf('%s: %s %.9f s, the breakdown says %.9f', r.row, w.cause, coalesce(d.ns, 0) / 1e9, w.seconds)
        from want w join rows r using (track) left join drawn d on d.row = r.row and d.cause = w.cause left join got g on g.track = r.track and g.cause = w.cause
        where abs(coalesce(d.ns, 0) / 1e9 - w.seconds) > 1e-9 * (1 + coalesce(g.spans, 0))
        union all select 'no row ' || row from drawn where row not in (select row from rows)" >faults
    [ ! -s faults ] || { echo "not drawn as the breakdown:"; cat faults; return 1; }
}

@test "the pipeline is drawn with the waits of the breakdown, row by row and cause by cause" {
    of_each drawn_as_the_breakdown
    # a cause that is given to another is seen, and the legend has the numbers of the report
    cp "$BATS_FILE_TMPDIR/contended-fabric.db" wrong.db
    sql wrong.db "insert into string values (99999, 'bubble'); update idle_raw set cause = 99999 where rowid = (select max(rowid) from idle_raw)"
    db=wrong.db
    if drawn_as_the_breakdown >out; then echo "a wrong cause is not seen" && return 1; fi
    db=$BATS_FILE_TMPDIR/contended-fabric.db
    "$ORRERY" export "$db" --svg gantt --output gantt.svg
    sql "$db" "select part || ' ' || printf('%.1f ms, %.2f %%', 1000 * seconds, percent) from breakdown where part = 'exposed_dp'" >want
    grep -qFf want gantt.svg
    if grep -q ">bubble" gantt.svg; then echo "a bubble without a pipeline" && return 1; fi
}

@test "the slowest class of each stage stands beside its first" {
    db=slow.db
    "$ORRERY" run "$SCENARIOS/hello-8-gpus.yaml" --set 'perturbations.stragglers=[{gpu: 5, speed: 70%}]' --db "$db" >/dev/null 2>&1
    "$ORRERY" export "$db" --svg gantt --output gantt.svg
    grep -qF ">stage 0, slowest: rank 5<" gantt.svg
    drawn_as_the_breakdown
    sql "$db" "select role, first_rank from stage_class order by rank_class" >got
    printf 'first|0\nslowest|5\n' | diff - got
    db=alike.db
    "$ORRERY" run "$SCENARIOS/hello-8-gpus.yaml" --db "$db" >/dev/null 2>&1
    "$ORRERY" export "$db" --svg gantt --output gantt.svg
    if grep -q slowest gantt.svg; then echo "alike cards, and one is the slowest" && return 1; fi
}

@test "bytes that are no UTF-8 become the mark of what cannot be read, and the trace stays JSON" {
    expect 0 "$ORRERY" run "$hello" --detail kernel --db names.db
    sqlite3 names.db "update string set text = cast(x'41ff42' as text) where text = 'attention'"
    expect 0 "$ORRERY" export names.db --format chrome
    jq -e '[.traceEvents[] | select(.name == "A\ufffdB")] | length > 0' out
}
