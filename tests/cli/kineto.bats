# orrery export DB --format kineto: a trace a rank, as PyTorch's profiler writes them.
load helper

# Tensor, pipeline and data parallel, as each has groups of its own.
small() {
    cat >small.yaml <<'YAML'
name: Small
model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32k}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 8}
layout: {tp: 2, pp: 2, dp: 2, microbatch: 1, sharding: zero-1, sequence_parallel: true}
software: megatron
YAML
    expect 0 "$ORRERY" run small.yaml --detail flow --db small.db
}
check() { python3 "$BATS_TEST_DIRNAME/kineto_check.py" "$@" >out 2>err || { cat out err; return 1; }; }

@test "the traces of all ranks hold what the database does, to the nanosecond" {
    small
    expect 0 "$ORRERY" export small.db --format kineto --output t.json
    said "wrote 8 traces, of ranks 0 to 7: t-rank0.json and so on"
    [ "$(ls t-rank?.json | wc -l)" = 8 ]
    for rank in 0 1 2 3 4 5 6 7; do
        check small.db t-rank$rank.json
        [ "$(jq .distributedInfo.rank t-rank$rank.json)" = $rank ]
        [ "$(jq '.deviceProperties[0].id' t-rank$rank.json)" = $rank ] # as launchers number cards of a node
    done
    grep -qE '"rank": 5, "world_size": 8' t-rank5.json # as readers look for it
    expect 0 "$ORRERY" run small.yaml --set cluster.gpus=1 --set layout.tp=1 --set layout.pp=1 --set layout.dp=1 --db one.db
    expect 0 "$ORRERY" export one.db --format kineto --output one.json
    said "wrote one trace: one-rank0.json"
}

@test "the step that they come from differs from them by nothing" {
    small
    expect 0 "$ORRERY" export small.db --format kineto --output t.json
    for rank in 0 3 6; do
        expect 0 "$ORRERY" compare small.yaml --trace t-rank$rank.json --json
        jq -e ".rank == $rank and .profiler_step == 0 and .all.measured_spans == .all.simulated_spans" out
        jq -e '.all.measured_alone == 0 and .all.simulated_alone == 0 and .alone == []' out
        jq -e '[.kinds[] | .measured_spans == .simulated_spans and ((.measured_s - .simulated_s) | fabs) < 1e-6] | all' out
        jq -e '(.measured.compute_s - .simulated.compute_s | fabs) < 1e-6' out
    done
}

@test "copies between card and host" {
    small
    expect 0 "$ORRERY" run small.yaml --set layout.activation_offload=50% --set layout.pp=1 --detail flow --db off.db
    expect 0 "$ORRERY" export off.db --format kineto --rank 1 --output off.json
    check off.db off.json
    [ "$(awk '$1 == "copies" {print $2}' out)" -gt 0 ]
    jq -e '[.traceEvents[] | select(.cat == "gpu_memcpy") | .name] | unique | length == 2' off.json
    jq -e '[.traceEvents[] | select(.name == "cudaMemcpyAsync")] | length > 0' off.json
}

@test "experts: rows are exchanged, products of experts are told apart" {
    small
    local sets=(--set layout.pp=1 --set model.experts=8 --set model.experts_per_token=2 --set model.moe_ffn_hidden=2048
        --set layout.ep=4 --set layout.dp=auto)
    expect 0 "$ORRERY" run small.yaml "${sets[@]}" --detail flow --db moe.db
    expect 0 "$ORRERY" export moe.db --format kineto --rank 2 --output moe.json
    jq -e '[.traceEvents[] | select(.args["Collective name"] // "" | startswith("all_to_all")) | .args["Process Group Ranks"] | fromjson | index(2) != null] | length > 0 and all' moe.json
    jq -e '[.traceEvents[] | select(.name | startswith("orrery::moe_gemm::backward::expert "))] | length > 0' moe.json
    expect 0 "$ORRERY" compare small.yaml "${sets[@]}" --trace moe.json --json
    jq -e '.all.measured_alone == 0 and .all.simulated_alone == 0 and .all.measured_spans > 0' out
}

@test "--detail op is enough, and one rank goes to stdout" {
    small
    expect 0 "$ORRERY" run small.yaml --db op.db
    expect 0 "$ORRERY" export small.db --format kineto --rank 6
    cp out flow.json
    expect 0 "$ORRERY" export op.db --format kineto --rank 6
    cmp out flow.json
    check small.db flow.json
}

@test "what no trace can be made of is refused with the remedy" {
    small
    expect 2 "$ORRERY" export small.db --format kineto
    said "name them with --output trace.json, or ask for one with --rank 0"
    expect 1 "$ORRERY" export small.db --format kineto --rank 8
    said "the database has ranks 0 to 7, no rank 8"
    expect 2 "$ORRERY" export small.db --format kineto --table slice --rank 0
    said "orrery export: --table goes with --format csv"
    mkdir empty
    expect 2 "$ORRERY" export small.db --format csv --catalogue empty
    said "orrery export: --catalogue goes with --launch or --format kineto"
    for detail in summary step; do
        expect 0 "$ORRERY" run small.yaml --detail $detail --db less.db
        expect 1 "$ORRERY" export less.db --format kineto --rank 0
        said "recorded with --detail $detail, without the times of ops: simulate it again: orrery run SCENARIO --detail op"
    done
    expect 0 "$ORRERY" study small.yaml --vary training.global_batch=8,16 --db study.db
    expect 1 "$ORRERY" export study.db --format kineto --rank 0
    said "it holds no run"
    expect 4 "$ORRERY" run small.yaml --set model.hidden=65536 --set model.layers=64 --db unfit.db
    expect 1 "$ORRERY" export unfit.db --format kineto --rank 0
    said "there is no timeline"
}

@test "a timeline that is not of its layout is refused" {
    small
    refuses() { # SQL WHY
        cp small.db bad.db
        sql bad.db "$1"
        expect 1 "$ORRERY" export bad.db --format kineto --rank 0 --output bad.json
        said "$2"
        [ ! -e bad.json ]
    }
    refuses "delete from slice_raw where id = (select min(id) from slice where depth = 0 and id > 5)" "the timeline of rank 0 is not of the ops of its layout"
    refuses "update slice_raw set name = (select max(id) from string) where id = 1" "is not of the ops"
    refuses "insert into slice_raw select 99999999, ts, dur, wait, track_id, name, phase, microbatch, layer, chunk, 0 from slice_raw where id = 1" "is not of the ops"
    refuses "update slice_raw set dur = -1 where id = 1" "has a span outside of time"
    refuses "update slice_raw set wait = ts + 1 where id = 1" "has a span outside of time"
    refuses "delete from rank where rank = 3" "is not that of its layout"
    refuses "update rank set rank_class = 77 where rank = 3" "is not that of its layout"
    refuses "update track set rank_class = 77 where id = 1" "of no class of ranks"
    refuses "update track set name = 'nonsense' where id = 1" "the timeline of rank 0 is not"
}

@test "no file of another kind is replaced, traces of this program are" {
    small
    echo '{"schemaVersion": 1, "traceEvents": []}' >t-rank3.json # a profiler's own
    expect 1 "$ORRERY" export small.db --format kineto --output t.json
    said "t-rank3.json holds something else, not a trace that Orrery wrote: not replaced"
    rm t-rank3.json
    expect 0 "$ORRERY" export small.db --format kineto --output t.json
    expect 0 "$ORRERY" export small.db --format kineto --output t.json
    mkdir a.b
    expect 0 "$ORRERY" export small.db --format kineto --output a.b/t
    [ -s a.b/t-rank7 ]
}
