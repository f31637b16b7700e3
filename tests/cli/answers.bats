# Answers that must agree with each other: utilisation, advice, `check` and `run`.
load helper

@test "MFU, causal MFU and HFU: the causal one from 16 K tokens on, the same in text, JSON, database" {
    far="--set training.global_batch=8 --set model.position=rope"
    expect 0 "$ORRERY" run "$hello" $far --set training.sequence=16384 --db a.db
    shows "causal MFU"
    shows "HFU"
    "$ORRERY" run "$hello" $far --set training.sequence=16384 --no-db --json >out
    [ "$(sql a.db "select abs(u.causal_mfu_ratio - json_extract(j.t, '\$.causal_mfu')) < 1e-15
        and abs(u.hfu_ratio - json_extract(j.t, '\$.hfu')) < 1e-15
        and abs(u.mfu_ratio - json_extract(j.t, '\$.mfu')) < 1e-15
        and u.causal_mfu_ratio < u.hfu_ratio and u.hfu_ratio < u.mfu_ratio
        from run u, (select cast(readfile('out') as text) as t) j")" = 1 ]
    expect 0 "$ORRERY" run "$hello" $far --set training.sequence=16383 --no-db
    lacks "causal MFU" out
    expect 0 "$ORRERY" run "$hello" $far --set training.sequence=16384 \
        --set training.causal=false --no-db
    lacks "causal MFU" out
}

@test "the length of a training: tokens over tokens a second" {
    "$ORRERY" run "$hello" --set training.tokens=1B --no-db >out
    "$ORRERY" run "$hello" --no-db --json >json
    seconds=$(sql :memory: "select 1e9 / json_extract(readfile('json'), '\$.tokens_per_s')")
    minutes=$(printf '%.1f min' "$(sql :memory: "select $seconds / 60")")
    shows "training     $minutes of such steps for 1.00 B tokens"
}

# Plays each of the advised layouts as --set takes it: it fits, at the speed that was said.
advice_holds() { # scenario
    "$ORRERY" run "$1" --no-db --json >advice.json 2>err || [ $? -eq 4 ]
    local rows
    rows=$(sql :memory: "select count(*) from json_each(readfile('advice.json'), '\$.advice.fitting')")
    for ((i = 0; i < rows; i++)); do
        sets=$(sql :memory: "select '--set ' || replace(json_extract(readfile('advice.json'), '\$.advice.fitting[$i].set'), ' ', ' --set ')")
        # shellcheck disable=SC2086
        expect 0 "$ORRERY" run "$1" $sets --no-db --json
        [ "$(sql :memory: "select json_extract(a, '\$.advice.fitting[$i].tokens_per_s') = json_extract(b, '\$.tokens_per_s')
            from (select readfile('advice.json') a, readfile('out') b)")" = 1 ]
    done
    echo "$rows"
}

@test "out of memory: what is advised fits, and as fast as said; zero-2 on 64 A100" {
    cat >a100.yaml <<-END
	model: {preset: llama3-8b}
	cluster: {gpu: a100-80gb-sxm, nodes: 8, fabric: ib-hdr-8x200}
	training: {sequence: 8192, global_batch: 512}
	layout: {tp: 1, pp: 1, microbatch: 1, recompute: none, sharding: zero-0}
	software: megatron
	END
    expect 4 "$ORRERY" run a100.yaml --no-db
    shows "would help one change"
    grep -A1 "would help" out | grep -q "layout.sharding=zero-2"
    [ "$(advice_holds a100.yaml)" = 4 ]
    expect 4 "$ORRERY" memory a100.yaml --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.advice.fitting[0].set')")" = "layout.sharding=zero-2" ]
    [ "$(advice_holds "$SCENARIOS/memory/memory-3b-long-sequence.yaml")" = 2 ]
}

@test "out of memory: nothing that cannot be done is advised" {
    expect 4 "$ORRERY" memory "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml"
    shows "would help another layout, or more GPUs"
    lacks "more tp" out
    lacks "smaller microbatch" out
    expect 4 "$ORRERY" run "$SCENARIOS/memory/memory-3b-long-sequence.yaml" --set layout.recompute=full \
        --set training.sequence=262144 --no-db --json
    [ "$(sql :memory: "select json_array_length(json_extract(readfile('out'), '\$.advice.fitting'))")" = 0 ]
    lacks "more recomputation" out
    expect 0 "$ORRERY" run "$hello" --no-db --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.advice') is null")" = 1 ]
}

# `check` rejects with 3 just what `run` rejects (3, or 5), ends with 4 where memory is not enough, as
# `run` does, and says each sentence that `run` says.
agrees() {
    local ran=0 checked=0
    "$ORRERY" run "$@" --no-db >out 2>run.err || ran=$?
    "$ORRERY" check "$@" >out 2>check.err || checked=$?
    [ $ran -ne 5 ] || ran=3
    if [ $ran -ne $checked ] || grep -F error: run.err check.err | cut -d: -f2- | sort | uniq -u | grep . ||
        { [ $ran -eq 3 ] && ! grep -qE '(error|^orrery): ' check.err; }; then
        echo "run $ran, check $checked: $*"
        cat run.err check.err
        return 1
    fi
    grep '^orrery: ' run.err >a || true
    grep '^orrery: ' check.err >b || true
    [ $ran -ne 3 ] || cmp a b
}

@test "check rejects what run rejects, in the same words: every shipped scenario" {
    local files
    mapfile -t files < <(shipped)
    [ ${#files[@]} -ge 39 ]
    for ((i = 0; i < ${#files[@]}; i += ${EVERY:-1})); do
        agrees "${files[i]}"
    done
}

@test "check rejects what run rejects: clusters, sizes, lengths" {
    wide="$SCENARIOS/llama3-405b-16384xh100.yaml"
    agrees "$hello" --set cluster.node.nvlink_bandwidth=1e-10B/s
    grep -q "years" check.err
    agrees "$wide" --set perturbations.jitter=0.01 --set training.global_batch=65536
    grep -q "more than can be simulated" check.err
    agrees "$wide" --set cluster.fabric.nics=9
    grep -q "more NICs" check.err
    agrees "$wide" --set cluster.fabric.nics=3
    agrees "$wide" --set cluster.fabric=none
    agrees "$wide" --set cluster.node.pcie_bandwidth=0GB/s
    agrees "$wide" --set cluster.node.nics=0 --set cluster.fabric.nics=0
    agrees "$wide" --set layout.pp=12
    agrees "$wide" --set layout.vpp=3
    agrees "$hello" --set layout.tp=5
    agrees "$SCENARIOS/step/torus-7b.yaml" --set cluster.nodes=7
    agrees "$SCENARIOS/weeks/silent-corruption.yaml" --set cluster.node.nvlink_bandwidth=1e-10B/s
    agrees "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml"
    expect 3 "$ORRERY" check "$hello" --set cluster.node.nvlink_bandwidth=1e-10B/s --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.valid') = 0
        and json_extract(readfile('out'), '\$.refusal') like '%years%'")" = 1 ]
    expect 0 "$ORRERY" check "$hello" --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.valid') = 1
        and json_extract(readfile('out'), '\$.refusal') is null")" = 1 ]
}

@test "check rejects what run rejects: what is stated of saves, with each policy" {
    local policy own weeks="$SCENARIOS/weeks/silent-corruption.yaml" played=0
    for policy in $("$ORRERY" list checkpoint | awk '/^  [a-z]/ {print $1}'); do
        for own in persist=2h persist=0s stall=1min load=1min keep=1 corrupt=0.1; do
            agrees "$weeks" --set run.duration=1d --set "checkpoint.policy=$policy" --set "checkpoint.$own"
            played=$((played + 1))
        done
    done
    [ $played -ge 30 ]
    expect 3 "$ORRERY" check "$weeks" --set checkpoint.persist=2h
    said "checkpoint.persist: with this policy training waits until a save is durable"
}

@test "a card in a node with another socket is warned about, with the node that it comes in" {
    expect 0 "$ORRERY" check "$hello" --set cluster.node=pcie-8x-a100
    said "pcie-8x-a100 takes cards with socket pcie, and h100-80gb-sxm has sxm5"
    said "it usually comes in dgx-h100"
    expect 0 "$ORRERY" check "$hello" --set cluster.node=pcie-8x-a100 --set cluster.gpu=h100-80gb-pcie
    lacks "socket" err
    expect 0 "$ORRERY" check "$hello" --set 'cluster.node={name: pcie-8x-a100, socket: sxm5}'
    lacks "socket" err
    expect 0 "$ORRERY" check "$hello" --set cluster.node=aws-p5
    lacks "socket" err
}

@test "collective: of nodes that are not equally full one ring over one NIC is noted" {
    uneven="unevenly (the last has 4): one ring over one NIC of each node joins them"
    for form in "" --json; do
        expect 0 "$ORRERY" collective --gpus 12 --min 1GiB --max 1GiB $form
        said "note: 12 GPUs fill nodes of 8 $uneven"
        [ "$(wc -l <err)" = 1 ]
    done
    # what the note is about: fewer GPUs take longer, with a ring
    time_of() { "$ORRERY" collective --gpus "$1" --min 1GiB --max 1GiB --json 2>/dev/null | jq '.rows[0].time_s'; }
    awk -v few="$(time_of 12)" -v more="$(time_of 16)" 'BEGIN { exit !(few > 8 * more) }'
    for gpus in 4 8 16 24; do
        expect 0 "$ORRERY" collective --gpus "$gpus" --min 1GiB --max 1GiB
        lacks "unevenly" err
    done
    for op in all_to_all send; do
        expect 0 "$ORRERY" collective --op "$op" --gpus 12 --min 1GiB --max 1GiB
        lacks "unevenly" err
    done
    expect 0 "$ORRERY" collective --op all_gather --gpus 12 --min 1GiB --max 1GiB
    said "$uneven"
}
