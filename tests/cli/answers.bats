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
