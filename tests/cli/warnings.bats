# What a scenario is warned about: every command that reads it says what `run` says of it before the
# step is simulated, and `study` of one point all that `run` says.
load helper

# keep FILE: the warnings of a standard error, without the places that are drawn below them.
keep() { grep 'warning: ' "$1" | sort -u || true; }
# Those that are known only of a simulated step; the other commands answer other questions.
late='costs .* %: with \|lock-step\|has tainted \|have tainted \|given up'
# says FILE COMMAND...: FILE holds the warnings of a run: does the command say them all?
says() {
    local wanted=$1 got=0
    shift
    "$ORRERY" "$@" >out 2>err || got=$?
    [ "$got" -eq 0 ] || [ "$got" -eq 3 ] || [ "$got" -eq 4 ] || { echo "exit code $got: $*"; cat err; return 1; }
    keep err >said
    if [ -n "$(comm -23 "$wanted" said)" ]; then
        echo "not said by $*:"
        comm -23 "$wanted" said
        return 1
    fi
}
# of_run FILE [--set K=V]...: what `run` says, in `whole`; without what is late, in `early`.
of_run() {
    local got=0
    "$ORRERY" run "$@" --no-db >out 2>err || got=$?
    [ "$got" -eq 0 ] || [ "$got" -eq 4 ] || [ "$got" -eq 5 ] || { echo "exit code $got: run $*"; cat err; return 1; }
    keep err >whole
    grep -v "$late" whole >early || true
}

@test "a study of one point says what run says of it: every shipped scenario" {
    long_one
    local all=0
    for path in $(shipped); do
        of_run "$path"
        says whole study "$path" --seeds 1 --no-db
        all=$((all + $(wc -l <whole)))
    done
    [ "$all" -ge 10 ]
}

# A scenario, a word of the warning, what is set.
write() {
    cat >lock.yaml <<'END'
model: {layers: 1, hidden: 2048, heads: 16, vocabulary: 1000}
cluster: {gpu: a100-40gb-sxm, node: hgx-a100-4nic, nodes: 2, fabric: {kind: fat_tree}}
training: {sequence: 1024, global_batch: 24}
layout: {tp: 8, microbatch: 3, sequence_parallel: true, order: dp-tp-cp-pp}
END
    weeks="$SCENARIOS/weeks/silent-corruption.yaml"
    stuck="$SCENARIOS/weeks/async-vs-sync.yaml"
    cat >cases <<END
$hello|socket|cluster.node=dgx-a100
$hello|usable_hbm|cluster.gpu={name: h100-80gb-sxm, hbm: 100GB}
$hello|with tp 1|software.tp_exposed_host=1us
$hello|on a single step|checkpoint.interval=1h
$hello|costs|training.global_batch=64
$SCENARIOS/step/llama3-8b-million-tokens.yaml|positions_max|
lock.yaml|lock-step|
$weeks|tainted|checkpoint.keep=1
$weeks|socket|cluster.node=dgx-a100
$stuck|hardly run|failures=[{cause: all, unit: job, mtbf: 4min}]
END
}

@test "every command that reads a scenario says what run says of it before the step" {
    long_one
    write
    while IFS='|' read -r path word set; do
        sets=(${set:+--set "$set"})
        of_run "$path" "${sets[@]}"
        grep -q -- "$word" whole || { echo "no warning of '$word'"; cat err; return 1; }
        says whole study "$path" "${sets[@]}" --seeds 1 --no-db
        says whole study "$path" "${sets[@]}" --seeds 1 --no-db --json
        says early check "$path" "${sets[@]}"
        says early memory "$path" "${sets[@]}"
        says early explain --walls "$path" "${sets[@]}"
        says early export "$path" "${sets[@]}" --launch megatron
        says early compare "$hello" "$path" "${sets[@]}"
        # those of a layout that it searches are no mistakes of the scenario
        grep -v 'has no effect with ' early >given || true
        seeds=()
        grep -q '^run:' "$path" && seeds=(--seeds 1)
        says given plan "$path" "${sets[@]}" "${seeds[@]}" --top 1
    done <cases
}

@test "of a value that was chosen nobody is warned; of the same value that is stated one is" {
    cat >bare.yaml <<'END'
model: nemotron-3-ultra-550b-a55b
cluster: {gpu: gb200-186gb, gpus: 576}
training: {global_batch: 2304}
layout: {pp: 2, cp: 1, ep: 32, etp: 1, microbatch: 1, schedule: 1f1b, recompute: none, dispatch: deepep}
END
    expect 0 "$ORRERY" check bare.yaml
    shows "layout.tp: 4 ("
    lacks "warning: layout\." err
    expect 0 "$ORRERY" check bare.yaml --set layout.tp=4
    said "warning: layout.tp: tp = 4 exceeds the 2 key-value heads"
}

@test "a warning of some points is told once, with how many" {
    local -a base=(study "$hello" --no-db --set layout.microbatch=8)
    expect 0 "$ORRERY" "${base[@]}" --vary cluster.gpu=h100-80gb-sxm,a100-80gb-sxm --vary training.global_batch=64,128,192
    [ "$(grep -c 'warning: cluster.node' err)" = 1 ]
    said "(at 3 of 6 points, the first: cluster.gpu=a100-80gb-sxm, training.global_batch=64)"
    expect 0 "$ORRERY" "${base[@]}" --vary cluster.gpu=h100-80gb-sxm,a100-80gb-sxm
    said "(at cluster.gpu=a100-80gb-sxm)"
    expect 0 "$ORRERY" "${base[@]}" --set cluster.gpu=a100-80gb-sxm --vary training.global_batch=64,128
    [ "$(grep -c 'warning: cluster.node' err)" = 1 ]
    lacks "(at " err
}

@test "a dear choice is told of the best point, tainted checkpoints of all, runs that were given up too" {
    expect 0 "$ORRERY" study "$hello" --no-db --vary layout.microbatch=1,2,4
    [ "$(grep -c 'costs .* %' err)" = 1 ]
    grep -q "layout.microbatch: costs .* (at layout.microbatch=4)" err
    expect 0 "$ORRERY" study "$SCENARIOS/weeks/silent-corruption.yaml" --no-db --seeds 1 --vary checkpoint.keep=1,2,240
    [ "$(grep -c 'tainted' err)" -ge 1 ]
    grep -q "tainted .*(at checkpoint.keep=1)" err
    expect 0 "$ORRERY" study "$SCENARIOS/weeks/silent-corruption.yaml" --no-db --seeds 1 --vary checkpoint.keep=2,3,240
    grep -q "tainted .*(at 2 of 3 points, the first: checkpoint.keep=2)" err
    expect 0 "$ORRERY" study "$SCENARIOS/weeks/silent-corruption.yaml" --no-db --seeds 1 --vary checkpoint.keep=2,3
    [ "$(grep -c 'tainted' err)" = 1 ]
    lacks "tainted .*(at " err
    expect 0 "$ORRERY" study "$SCENARIOS/weeks/async-vs-sync.yaml" --no-db --seeds 2 --set run.duration=auto \
        --set run.steps=1000 --set 'failures=[{cause: all, unit: job, mtbf: 20s}]'
    said "orrery: warning: 2 of 2 replications were given up: a limit: 100,000 failures"
}

@test "warnings beyond those that are kept are counted; so are errors" {
    local -a sets=()
    for set in model.{linear_chunk,linear_conv,linear_heads,linear_head_size,linear_key_heads,linear_key_size,moe_latent,q_rank}=2 \
        software.{math_mask_bytes,math_forward_bytes,math_backward_bytes,cp_merge_forward_bytes,cp_merge_backward_bytes,sparse_time,scan_time}=0.5 \
        software.{tp_overlap_cost,input_gradient_bytes,launch_tp_growth}=0.5 \
        software.{tp_scatter_sms,tp_scatter_splits,gather_parts,fsdp_prefetch,cp_gradient_bytes}=3; do
        sets+=(--set "$set")
    done
    for line in "run --no-db" "study --no-db" check memory; do
        "$ORRERY" ${line%% *} "$hello" "${sets[@]}" --set layout.microbatch=8 $(cut -s -d' ' -f2- <<<"$line") >out 2>err
        [ "$(grep -c "has no effect" err)" = 20 ]
        said "and 3 more warnings"
    done
    expect 0 "$ORRERY" check "$hello" "${sets[@]}" --set layout.microbatch=8
    shows "no errors, 23 warnings"
    counts='(.problems | group_by(.severity) | map({(.[0].severity): length}) | add) as $kept
        | .errors == ($kept.error // 0) + .more_errors and .warnings == ($kept.warning // 0) + .more_warnings'
    expect 0 "$ORRERY" check "$hello" "${sets[@]}" --set layout.microbatch=8 --json
    jq -e "$counts and .warnings == 23 and .more_warnings == 3 and .more_errors == 0" out
    expect 0 "$ORRERY" check "$hello" "${sets[@]}" --json # a late one as well
    jq -e "$counts and .warnings == 24 and .more_warnings == 3" out
    # late ones are never left out
    expect 0 "$ORRERY" run "$hello" "${sets[@]}" --no-db --json
    said "layout.microbatch: costs"
    jq -e '.warnings | (map(select(contains("costs"))) | length == 1) and (map(select(. == "and 3 more")) | length == 1)' out
    sets=()
    for i in $(seq 1 30); do sets+=(--set "nonsense$i=1"); done
    expect 3 "$ORRERY" check "$hello" "${sets[@]}"
    said "and 10 more errors"
    shows "30 errors, 0 warnings"
    expect 3 "$ORRERY" check "$hello" "${sets[@]}" --json
    jq -e "$counts and .errors == 30 and .more_errors == 10 and .warnings == 0" out
}

@test "collective says what a scenario with its names would be warned about, and nothing of its own" {
    expect 0 "$ORRERY" collective --gpu a100-80gb-sxm --node dgx-h100 --max 1M
    said "warning: cluster.node: dgx-h100 takes cards with socket sxm5"
    local good=0
    for gpu in $("$ORRERY" list gpus | awk '/^  [a-z]/ { print $1 }'); do # some have no usual node
        ! "$ORRERY" collective --gpu "$gpu" --max 8 >out 2>err || good=$((good + 1))
        ! grep "warning: " err | grep -v "warning: cluster\.gpu: .* announced" || return 1
    done
    [ "$good" -ge 10 ]
}
