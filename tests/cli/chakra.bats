# orrery chakra: execution traces of all ranks, checked and played on the cluster of a scenario.
load helper

write() { python3 "$BATS_TEST_DIRNAME/chakra_write.py" "$@"; }
value() { sed -n "s/^  \"$1\": \([^,]*\),*$/\1/p" out; }
near() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a >= b * (1 - 1e-9) && a <= b * (1 + 1e-9))}'; }

# A step of eight ranks: compute, gradients beside it, a message, a straggler, a group of four.
step() {
    write "${1:-job}" 8 <<'NODES'
all 4 1 us=1000 name=forward
all 4 2 us=700 wait=1 name=backward
all 7 3 comm_type=0 comm_size=268435456 wait=1 name=gradients
7 4 4 us=500 wait=3 name=straggler
0 5 5 comm_dst=1 comm_size=1048576 wait=2
1 6 5 comm_src=0 comm_size=1048576
4-7 7 6 comm_type=2 comm_size=1048576 pg_name=tp wait=2
NODES
}

@test "traces of eight ranks: what they hold, the step, where its time goes" {
    step
    expect 0 "$ORRERY" import chakra job
    shows "job: 8 ranks, 31 nodes, 17 of compute, 2 collectives, 1 message"
    expect 0 "$ORRERY" chakra "$hello" job
    shows "17 of compute"
    shows "on 1 x dgx-h100 (h100-80gb-sxm)"
    shows "exposed communication"
    shows "all ranks"
    shows "digest"
    mkdir far && step far/job && mv out near
    expect 0 "$ORRERY" chakra "$hello" far/job
    diff <(tail -n +2 near) <(tail -n +2 out)
    expect 0 "$ORRERY" chakra "$hello" job --top 2
    shows "Ranks that compute longest"
    shows "Groups that communicate longest"
}

@test "the parts of the mean rank and of each rank add up to the step" {
    step
    expect 0 "$ORRERY" chakra "$hello" job --json
    [ "$(jq -r .schema out)" = orrery.chakra/1 ]
    jq -e '.step_time_s as $t | ([.breakdown[]] | add - $t | fabs) < 1e-12 * $t' out
    jq -e '.step_time_s as $t | all(.ranks[]; ([.compute, .memory, .exposed_communication, .host, .wait, .done]
        | add - $t | fabs) < 1e-12)' out
    jq -e '.rank_count == 8 and .node_count == 31 and .nodes == {compute: 17, compute_by_rates: 0, compute_untimed: 0,
        host: 0, memory: 0, collectives: 2, messages: 1, dependencies_dropped: 0}' out
    jq -e '.ranks | length == 8 and all(.[0:7][]; (.compute - 0.0017 | fabs) < 1e-12)' out
    jq -e '.groups | map(.name) == ["all ranks", "tp", "message"] and .[1].ranks == [4, 5, 6, 7] and .[1].bytes == 4194304' out
}

@test "a collective of all ranks takes what orrery collective says, on one node and on two" {
    for gpus in 8 16; do
        nodes=$((gpus / 8))
        write "all$gpus" "$gpus" <<<'all 7 1 comm_type=0 comm_size=16777216'
        expect 0 "$ORRERY" chakra "$hello" "all$gpus" --set cluster.nodes=$nodes --set cluster.fabric=ib-ndr-8x400 --json
        mine=$(value step_time_s)
        expect 0 "$ORRERY" collective --gpus "$gpus" --min 16MiB --max 16MiB --json
        near "$mine" "$(jq '.rows[0].time_s' out)"
    done
}

@test "a trace of more than a gibibyte is refused as that" {
    truncate -s $((1024 * 1024 * 1024 + 1)) large.0.et
    expect 3 "$ORRERY" import chakra large
    said "large.0.et: more than 1073741824 bytes"
}

@test "compute takes the sum of its durations, without one the card's time" {
    write sum 1 <<'NODES'
0 4 1 us=10
0 4 2 us=20 wait=1
0 4 3 us=30
0 4 4 us=15 cpu=1
NODES
    expect 0 "$ORRERY" chakra "$hello" sum --json
    near "$(value step_time_s)" 60e-6
    write rates 1 <<<'0 4 1 num_ops=1000000000000 tensor_size=1000'
    expect 0 "$ORRERY" chakra "$hello" rates
    shows "1 of compute without a duration: num_ops and tensor_size at the rates of the card"
    expect 0 "$ORRERY" import chakra rates
    shows "1 of compute without a duration: num_ops and tensor_size at the rates of the card"
    expect 0 "$ORRERY" chakra "$hello" rates --json
    fast=$(value step_time_s)
    expect 0 "$ORRERY" chakra "$hello" rates --set cluster.gpu=a100-80gb-sxm --set cluster.node=dgx-a100 --json
    awk -v a="$fast" -v b="$(value step_time_s)" 'BEGIN {exit !(a > 1e-3 && b > 2 * a)}'
    write none 1 <<<'0 4 1'
    expect 0 "$ORRERY" import chakra none
    shows "1 of compute without duration, num_ops and tensor_size take no time"
    expect 0 "$ORRERY" chakra "$hello" none
    shows "1 of compute without duration, num_ops and tensor_size take no time"
    shows "step 0 s"
}

@test "a slow card is slow for traces too" {
    step
    expect 0 "$ORRERY" chakra "$hello" job --json
    whole=$(value step_time_s)
    cp "$hello" slow.yaml
    printf 'perturbations: {stragglers: [{gpu: 3, speed: 0.5}]}\n' >>slow.yaml
    expect 0 "$ORRERY" chakra slow.yaml job --json
    jq -e '(.ranks[3].compute - 0.0034 | fabs) < 1e-12' out
    awk -v a="$whole" -v b="$(value step_time_s)" 'BEGIN {exit !(b > 1.3 * a)}'
}

@test "the database holds ranks, groups and every node; report prints the same from it" {
    step
    expect 0 "$ORRERY" chakra "$hello" job --db job.db
    said "job.db: "
    mv out said
    expect 0 "$ORRERY" report job.db
    cmp out said
    expect 0 "$ORRERY" chakra "$hello" job --db again.db
    cmp job.db again.db
    # The document, too, with the ranks of groups and what the scenario left open.
    expect 0 "$ORRERY" chakra "$hello" job --json
    jq -S . out >said
    expect 0 "$ORRERY" report job.db --json
    jq -S . out | cmp said -
    jq -e '.scenario == "GPT-2 on 8 H100" and .seed == 1 and (.choices | length > 0) and .groups[2].ranks == [0, 1]' out
    [ "$(sql job.db 'select count(*) from task_slice')" = 31 ]
    [ "$(sql job.db "select count(*) from pragma_table_info('task_slice') c left join doc d on d.object = 'task_slice' and d.\"column\" = c.name where d.text is null")" = 0 ]
    expect 0 "$ORRERY" export job.db --format csv --table task_rank
    [ "$(wc -l <out)" = 9 ]
    expect 1 "$ORRERY" explain job.db
    said "holds execution traces that were played, no run"
    expect 1 "$ORRERY" replay job.db --html page.html
    said "orrery export FILE writes their timeline"
    expect 0 "$ORRERY" chakra "$hello" job --db job.db
    expect 0 "$ORRERY" run "$hello" --db job.db
    said "which held a play of traces of 'GPT-2 on 8 H100'"
    cp job.3.et before
    expect 2 "$ORRERY" chakra "$hello" job --db job.3.et
    said "would be written over"
    cmp job.3.et before
    expect 2 "$ORRERY" chakra "$hello" job --db "$hello"
    sqlite3 again.db "delete from task_rank"
    expect 1 "$ORRERY" report again.db
    said "the tables of execution traces are damaged"
}

@test "the timeline is one of trace events: whole, in time, no spans overlap" {
    step
    "$ORRERY" chakra "$hello" job --db job.db >out 2>err
    expect 0 "$ORRERY" export job.db --output timeline.json
    jq -e '[.traceEvents[] | select(.ph == "X")] | length == 31' timeline.json
    jq -e '[.traceEvents[] | select(.name == "process_name")] | length == 8' timeline.json
    jq -e '[.traceEvents[] | select(.name == "thread_name" and .pid == 1) | .args.name] | sort
        == ["all ranks", "compute", "message 0 to 1"]' timeline.json
    jq -e '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) | all(.[]; sort_by(.ts)
        | . as $s | all(range(1; length); $s[.].ts >= $s[. - 1].ts + $s[. - 1].dur - 0.0005))' timeline.json
    jq -e '[.traceEvents[] | select(.name == "forward" and .pid == 3)] | .[0].dur == 1000' timeline.json
    # Each event is a node of the database, in every column.
    sql job.db "select s.rank, s.ts, s.dur, n.text, s.node, s.wait from task_slice s
        join string n on n.id = s.name order by s.rank, s.node" >rows
    jq -r '[.traceEvents[] | select(.ph == "X")] | sort_by(.pid, .args.node)[] | [.pid, (.ts * 1000 | round),
        (.dur * 1000 | round), .name, .args.node, .args.wait_ns] | map(tostring) | join("|")' timeline.json | cmp - rows
    [ "$(sql job.db 'select count(*) from task_slice where wait > 0')" -gt 0 ]
    expect 0 "$ORRERY" export job.db --rank 2 --output one.json
    jq -e '[.traceEvents[] | .pid] | unique == [2]' one.json
    expect 1 "$ORRERY" export job.db --rank 8
    said "no rank 8"
}

@test "what cannot be played is refused with file, node and remedy" {
    step
    expect 2 "$ORRERY" chakra "$hello"
    said "takes a scenario and what stands before the rank"
    expect 1 "$ORRERY" chakra "$hello" nothing
    said "nothing.0.et: there is no such file"
    expect 1 "$ORRERY" chakra "$hello" nowhere/nothing
    said "nowhere/: No such file or directory"
    rm job.3.et
    expect 3 "$ORRERY" chakra "$hello" job
    said "job.3.et is missing: there are 7 such files"
    step
    gzip -c job.2.et >packed && mv packed job.2.et
    expect 3 "$ORRERY" import chakra job
    said "job.2.et: is compressed: gunzip it first"
    step
    head -c 30 job.5.et >cut && mv cut job.5.et
    expect 3 "$ORRERY" import chakra job
    said "job.5.et: byte "
    write many 9 <<<'all 4 1 us=1'
    expect 3 "$ORRERY" chakra "$hello" many
    said "the trace has 9 ranks, the cluster 8 GPUs: give it more nodes (cluster.nodes)"
    write ages 1 <<<'0 4 1 us=18446744073709551615'
    expect 3 "$ORRERY" chakra "$hello" ages
    said "the step takes 5.85e+05 years, more than can be recorded (100)"
    expect 1 "$ORRERY" import chakra "$(printf 'a\033[31mb')"
    lacks "$(printf '\033')" err
}

# ASTRA-sim's custom ring all-reduce sends before it receives: 8 ranks, 14 steps of 128 KiB.
@test "a ring that sends before it receives is played, above the eager limit it is named" {
    for rank in 0 1 2 3 4 5 6 7; do
        for step in $(seq 0 13); do
            echo "$rank 5 $((2 * step + 1)) comm_dst=$(((rank + 1) % 8)) comm_size=131072 wait=$((2 * step))"
            echo "$rank 6 $((2 * step + 2)) comm_src=$(((rank + 7) % 8)) comm_size=131072 wait=$((2 * step + 1))"
        done
    done | sed 's/ wait=0$//' >nodes
    write ring 8 <nodes
    expect 0 "$ORRERY" import chakra ring
    expect 0 "$ORRERY" chakra "$hello" ring --json
    one=$("$ORRERY" collective --op send --gpus 2 --min 131072 --max 131072 --json | jq '.rows[0].time_s')
    awk -v a="$(jq .step_time_s out)" -v b="$one" 'BEGIN {exit !(b > 0 && a > 13.999 * b && a < 14.001 * b)}'
    for command in "import chakra" "chakra $hello"; do
        for limit in 64KiB 131071 0; do
            # shellcheck disable=SC2086
            expect 3 timeout 20 "$ORRERY" $command ring --eager $limit
            said "a send of more bytes than the eager limit waits for its receiver (--eager)"
        done
    done
    expect 0 "$ORRERY" import chakra ring --eager 128KiB
    expect 2 "$ORRERY" import slurm nodes --eager 128KiB
    said "takes no --eager"
}

@test "dependencies on nodes that are not there are dropped when asked, and counted" {
    write holes 1 <<'NODES'
0 4 1 us=10 wait=50
0 4 2 us=10 wait=1,51
NODES
    expect 3 "$ORRERY" import chakra holes
    said "waits for node 50, which is not in the file"
    said "--drop-missing"
    expect 0 "$ORRERY" import chakra holes --drop-missing
    shows "2 dependencies on nodes that are not in the traces left out"
    expect 0 "$ORRERY" chakra "$hello" holes --drop-missing --db holes.db
    shows "2 dependencies on nodes that are not in the traces left out"
    expect 0 "$ORRERY" report holes.db
    shows "2 dependencies on nodes that are not in the traces left out"
    expect 0 "$ORRERY" chakra "$hello" holes --drop-missing --json
    [ "$(jq .nodes.dependencies_dropped out)" = 2 ]
}

@test "ranks that wait for each other are named, and nothing hangs" {
    write ring 3 <<'NODES'
0 6 1 comm_src=2 comm_size=8
0 5 2 comm_dst=1 comm_size=8 wait=1
1 6 1 comm_src=0 comm_size=8
1 5 2 comm_dst=2 comm_size=8 wait=1
2 6 1 comm_src=1 comm_size=8
2 5 2 comm_dst=0 comm_size=8 wait=1
NODES
    for command in "import chakra" "chakra $hello"; do
        # shellcheck disable=SC2086
        expect 3 timeout 20 "$ORRERY" $command ring
        said "the ranks wait for each other and never end: rank "
        said "for the first again"
    done
    write crossed 2 <<'NODES'
0 7 1 comm_type=0 comm_size=8 pg_name=a
0 7 2 comm_type=0 comm_size=8 pg_name=b wait=1
1 7 1 comm_type=0 comm_size=8 pg_name=b
1 7 2 comm_type=0 comm_size=8 pg_name=a wait=1
NODES
    expect 3 timeout 20 "$ORRERY" import chakra crossed
    said "never end: rank "
    write other 2 <<'NODES'
0 7 1 comm_type=0 comm_size=8
0 7 2 comm_type=2 comm_size=8
1 7 1 comm_type=2 comm_size=8
1 7 2 comm_type=0 comm_size=8
NODES
    expect 3 "$ORRERY" import chakra other
    said "other.1.et: node 1 (node): collective 1 of group 'all ranks' is ALL_GATHER of 8 bytes, but on rank 0 (node 1) ALL_REDUCE"
}
