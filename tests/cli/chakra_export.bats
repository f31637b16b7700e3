# orrery export DB --format chakra: an execution trace a rank, read back, checked and played.
export PYTHONDONTWRITEBYTECODE=1 # the scripts share a module
load helper

write_small() {
    cat >small.yaml <<'YAML'
name: Small
model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32k}
cluster: {gpu: h100-80gb-sxm, gpus: 8}
training: {sequence: 2048, global_batch: 8}
layout: {tp: 2, pp: 2, dp: 2, microbatch: 1, sharding: zero-1, sequence_parallel: true}
software: megatron
YAML
}
experts=(--set model.experts=8 --set model.experts_per_token=2 --set model.moe_ffn_hidden=2048)

# law [--within RATIO] SETS...: traces of the step hold what the database does, and play as the step did.
law() {
    local within=()
    if [ "$1" = --within ]; then within=("$2") && shift 2; fi
    [ -e small.yaml ] || write_small
    expect 0 "$ORRERY" run small.yaml "$@" --detail flow --db run.db
    rm -f t.*
    expect 0 "$ORRERY" export run.db --format chakra --output t
    expect 0 "$ORRERY" chakra small.yaml "$@" t --eager 0 --db played.db
    python3 "$BATS_TEST_DIRNAME/chakra_check.py" run.db t played.db "${within[@]}" >out 2>err || { cat out err; return 1; }
    issued
    expect 0 "$ORRERY" import chakra t
    count collective "select cast(round(sum(1.0 / x.ranks)) as integer) from slice s join transfer x on x.slice_id = s.id
        where x.op not in ('send', 'ring_exchange') having count(*) > 0"
    count compute "select count(*) from slice where depth = 0 and stream in ('compute', 'copy')"
}
# ASTRA-sim issues less at once, so no step is shorter; and it ends, ranks that drift apart or not.
issued() {
    for slower in 0 0.3; do
        python3 "$BATS_TEST_DIRNAME/chakra_issue.py" t $slower >issued || { echo "stuck after $(cat issued) s"; return 1; }
        awk -v t="$(cat issued)" -v run="$(sql run.db 'select step_s from run')" 'BEGIN {exit !(t > run - 5e-6 && t < 3 * run)}'
    done
}
count() { # WHAT SQL: import chakra counts what the database has
    local want
    want=$(sql run.db "$2")
    [ -n "$want" ] || { lacks " $1" out; return; }
    tr -d , <out | grep -qE "(^| )$want (of )?$1" || { cat out; echo "not $want $1"; return 1; }
}

@test "pipelines: one chunk, chunks that wrap round, V shapes, both directions, tied embeddings" {
    law
    count messages "select count(*) from slice where depth = 0 and stream like 'send_%'"
    law --set layout.tp=1 --set layout.pp=4 --set training.global_batch=16
    law --set layout.vpp=1 --set training.sequence=16384 --set layout.tp=1 --set layout.dp=4
    law --set layout.schedule=zb-v
    law --set layout.schedule=dualpipe --set training.global_batch=16
    law --set layout.schedule=dualpipe-v --set training.global_batch=16
    law --set model.tied_embeddings=true
}

@test "experts: rows are exchanged, beside pipelines too" {
    law "${experts[@]}" --set layout.ep=4 --set layout.pp=1 --set layout.dp=auto
    law "${experts[@]}" --set layout.ep=4 --set layout.tp=1 --set layout.dp=4
    # Rows that are relayed between two nodes are an all-to-all elsewhere.
    law --within 0.02 "${experts[@]}" --set layout.ep=8 --set layout.dispatch=deepep --set layout.pp=1 --set layout.tp=1 \
        --set layout.dp=16 --set layout.sequence_parallel=false --set cluster.gpus=16 --set cluster.fabric=ib-ndr-8x400 \
        --set training.global_batch=16
    [ "$(sql run.db "select count(*) > 0 from transfer where op = 'expert_exchange'")" = 1 ]
}

@test "ops of less than half a microsecond take one, and longer ones less" {
    law --set cluster.gpu.kernel_start=20ns --set model.hidden=128 --set model.heads=2 --set training.sequence=128 \
        --set layout.tp=1 --set layout.dp=4 --set layout.sequence_parallel=false
    [ "$(sql run.db "select count(*) > 0 from slice where depth = 0 and stream = 'compute' and dur between 1 and 499")" = 1 ]
}

@test "shards of ZeRO and FSDP, in groups, on two nodes" {
    local flat=(--set layout.pp=1 --set layout.tp=1 --set layout.dp=8 --set layout.sequence_parallel=false)
    law "${flat[@]}" --set layout.sharding=zero-3
    law "${flat[@]}" --set layout.sharding=hsdp --set layout.shard_group=4
    law --set software=torchtitan --set layout.pp=1 --set layout.dp=4 --set layout.sharding=fsdp
    law --set cluster.gpus=16 --set cluster.fabric=ib-ndr-8x400 --set layout.dp=4 --set layout.placement=scattered
}

# A ring's exchange is one message there, and n - 1 steps here: their latencies differ.
@test "keys and values pass round a ring" {
    local long=(--set layout.cp=4 --set layout.tp=1 --set layout.dp=1 --set layout.sequence_parallel=false)
    law --within 0.001 --set layout.cp=4 --set layout.cp_method=ring --set layout.pp=1 --set layout.dp=1
    law --within 0.001 "${long[@]}" --set layout.cp_method=ring
    law --within 0.001 "${long[@]}" --set layout.cp_method=all_to_all_ring --set layout.cp_inner=2
}

# Copies of both directions share a lane where traces are played.
@test "copies between card and host" {
    law --set layout.activation_offload=50% --set layout.pp=1 --set layout.dp=auto
    law --within 0.3 --set layout.activation_offload=50% --set software=torchtitan
    count memory "select count(*) from slice where depth = 0 and stream in ('to_host', 'from_host')"
}

@test "one rank has no group and no message" {
    law --set cluster.gpus=1 --set layout.tp=1 --set layout.pp=1 --set layout.dp=1
    expect 0 "$ORRERY" export run.db --format chakra --output one
    said "wrote one trace: one.0.et"
    jq -e '. == {"1": [0]}' one.groups.json
    expect 0 "$ORRERY" export run.db --format chakra --output one # over its own
}

@test "--detail op is enough, one rank goes to stdout, a slow card is slow there too" {
    write_small
    expect 0 "$ORRERY" run small.yaml --detail flow --db flow.db
    expect 0 "$ORRERY" run small.yaml --db op.db
    expect 0 "$ORRERY" export op.db --format chakra --output t
    said "wrote 8 traces, of ranks 0 to 7: t.0.et and so on"
    said "wrote the ranks of 9 groups: t.groups.json"
    expect 0 "$ORRERY" export flow.db --format chakra --rank 5
    cmp out t.5.et
    expect 0 "$ORRERY" export flow.db --format chakra --rank 6 --output six.et
    cmp six.et t.6.et
    printf 'perturbations: {stragglers: [{gpu: 3, speed: 0.5}]}\n' >>small.yaml
    expect 0 "$ORRERY" run small.yaml --detail flow --db run.db
    expect 0 "$ORRERY" export run.db --format chakra --output slow
    sed -i /perturbations/d small.yaml # the durations hold it
    expect 0 "$ORRERY" chakra small.yaml slow --eager 0 --db played.db
    python3 "$BATS_TEST_DIRNAME/chakra_check.py" run.db slow played.db
}

@test "traces of a part of the ranks, or of two jobs, are not played as another job" {
    write_small
    expect 0 "$ORRERY" run small.yaml --db small.db
    expect 0 "$ORRERY" export small.db --format chakra --output t
    mkdir whole && cp t.* whole
    rm t.[2-7].et
    for command in "import chakra" "chakra small.yaml"; do
        # shellcheck disable=SC2086
        expect 3 "$ORRERY" $command t
        said "t.0.et: group '5' names rank 2, of which there is no trace (the last is t.1.et): give the traces of all ranks"
    done
    rm t.*
    expect 0 "$ORRERY" run small.yaml --set cluster.gpus=16 --set cluster.fabric=ib-ndr-8x400 --set layout.dp=4 --db large.db
    expect 0 "$ORRERY" export large.db --format chakra --output t
    expect 1 "$ORRERY" export small.db --format chakra --output t
    said "t.8.et is there, of a rank that this job does not have (0 to 7): it would be read as one of its traces; remove it"
    expect 0 "$ORRERY" import chakra t # nothing was replaced
    cp whole/t.* .
    expect 3 "$ORRERY" import chakra t
    said "t.8.et: group '5' has other ranks than t.0.et says: these are traces of different jobs"
    # Over one card nothing says another thing: the others miss it.
    expect 0 "$ORRERY" run small.yaml --set cluster.gpus=1 --set layout.tp=1 --set layout.pp=1 --set layout.dp=1 --db one.db
    expect 0 "$ORRERY" export one.db --format chakra --rank 0 --output whole/t.0.et
    expect 3 "$ORRERY" import chakra whole/t
    said "whole/t.1.et: "
    expect 0 "$ORRERY" export small.db --format kineto --output k.json
    expect 1 "$ORRERY" export one.db --format kineto --output k.json
    said "k-rank1.json is there, of a rank that this job does not have"
}

@test "a database of weeks holds the step inside: its traces are those of the step alone" {
    write_small
    expect 0 "$ORRERY" run small.yaml --db step.db
    echo 'run: {duration: 1d}' >>small.yaml
    expect 0 "$ORRERY" run small.yaml --db weeks.db
    [ "$(sql weeks.db 'select wall_s from run')" = 86400.0 ]
    for format in chakra kineto; do
        expect 0 "$ORRERY" export step.db --format $format --rank 3
        mv out step
        expect 0 "$ORRERY" export weeks.db --format $format --rank 3
        cmp step out
    done
}

@test "what no trace can be made of is refused, no file of another kind is replaced" {
    write_small
    expect 0 "$ORRERY" run small.yaml --db small.db
    expect 2 "$ORRERY" export small.db --format chakra
    said "--format chakra writes a file a rank: name them with --output PREFIX, or ask for one with --rank 0"
    expect 1 "$ORRERY" export small.db --format chakra --rank 8
    said "the database has ranks 0 to 7, no rank 8"
    expect 0 "$ORRERY" run small.yaml --detail step --db less.db
    expect 1 "$ORRERY" export less.db --format chakra --rank 0
    said "without the times of ops: simulate it again"
    python3 "$BATS_TEST_DIRNAME/chakra_write.py" t 4 <<<'all 4 1 us=1'
    cp t.3.et before
    expect 1 "$ORRERY" export small.db --format chakra --output t
    said ".et holds something else, not an execution trace that Orrery wrote: not replaced"
    cmp t.3.et before
    rm t.*
    echo '{"1": [0, 1]}' >t.groups.json
    expect 1 "$ORRERY" export small.db --format chakra --output t
    said "t.groups.json holds something else, not groups of ranks that Orrery wrote: not replaced"
    rm t.groups.json
    expect 0 "$ORRERY" export small.db --format chakra --output t
    expect 0 "$ORRERY" export small.db --format chakra --output t
}
