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
	layout: {tp: 1}
	software: megatron
	END
    expect 4 "$ORRERY" run a100.yaml --no-db
    shows "would help one change"
    grep -A1 "would help" out | grep -q "layout.sharding=zero-2"
    [ "$(advice_holds a100.yaml)" = 4 ]
    expect 4 "$ORRERY" memory a100.yaml --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.advice.fitting[0].set')")" = "layout.sharding=zero-2" ]
    [ "$(advice_holds "$SCENARIOS/memory-3b-long-sequence.yaml")" = 1 ]
}

@test "out of memory: nothing that cannot be done is advised" {
    expect 4 "$ORRERY" memory "$SCENARIOS/memory-wall-70b-1gpu.yaml"
    shows "would help more GPUs"
    lacks "more tp" out
    lacks "smaller microbatch" out
    expect 4 "$ORRERY" run "$SCENARIOS/memory-3b-long-sequence.yaml" --set layout.recompute=full \
        --set training.sequence=262144 --no-db --json
    [ "$(sql :memory: "select json_array_length(json_extract(readfile('out'), '\$.advice.fitting'))")" = 0 ]
    lacks "more recomputation" out
    expect 0 "$ORRERY" run "$hello" --no-db --json
    [ "$(sql :memory: "select json_extract(readfile('out'), '\$.advice') is null")" = 1 ]
}
