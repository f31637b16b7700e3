# `orrery compare`: two runs, term by term.
load helper

compare() { "$ORRERY" compare "$@"; }
run_db() { "$ORRERY" run "$@" >/dev/null 2>&1; }

# Terms add up to the totals of both sides, differences to the difference, memory to what is reserved.
adds_up() {
    expect 0 compare "$@" --json
    jq -e '
        def near($a; $b; $of): ($a - $b | fabs) <= 1e-9 * ($of | fabs);
        .total as $t | .peak as $p
        | near([.terms[].a_s] | add; $t.a_s; $t.a_s) and near([.terms[].b_s] | add; $t.b_s; $t.b_s)
          and near([.terms[].difference_s] | add; $t.difference_s; $t.a_s + $t.b_s)
          and near([.terms[].difference_gpu_s_per_1e6_tokens] | add; $t.difference_gpu_s_per_1e6_tokens;
                   $t.a_gpu_s_per_1e6_tokens + $t.b_gpu_s_per_1e6_tokens)
          and near([.compute[].difference_s] | add; .terms[0].difference_s; $t.a_s + $t.b_s)
          and near([.memory[].difference_bytes] | add; $p.difference_bytes; $p.a_bytes + $p.b_bytes)
          and (.of_kept_steps or (near($t.a_s; .a.step_time_s; $t.a_s) and near($t.b_s; .b.step_time_s; $t.b_s)))
        ' out >/dev/null || { echo "does not add up: $*"; jq . out; return 1; }
}

@test "differences add up: layouts, models, hardware, weeks, databases and scenarios" {
    for sets in layout.tp=2 layout.sharding=fsdp layout.recompute=full training.global_batch=128 \
        training.sequence=512 perturbations.jitter=5% cluster.gpu=h200-141gb-sxm; do
        adds_up "$hello" "$hello" --set "$sets"
    done
    adds_up "$hello" "$SCENARIOS/step/fsdp-7b.yaml"
    adds_up "$SCENARIOS/llama3-70b-64xh100.yaml" "$SCENARIOS/step/gpt3-175b-1024xa100.yaml"
    weeks="$SCENARIOS/weeks/llama3-405b-54-days.yaml"
    adds_up "$weeks" "$weeks" --set checkpoint.interval=2h
    jq -e '.of_kept_steps and ([.terms[] | select(.term == "checkpoint") | .difference_s][0] < 0)' out
    jq -e '[.terms[] | select(.term == "lost_work") | .difference_s][0] > 0' out
    adds_up "$weeks" "$SCENARIOS/llama3-405b-16384xh100.yaml"
    jq -e '.of_kept_steps | not' out
}

@test "of weeks beside a step the undisturbed steps are compared, price included" {
    weeks="$SCENARIOS/weeks/async-vs-sync.yaml"
    grep -E '^(name|model|cluster|training|layout):' "$weeks" >step.yaml
    for pair in "$weeks step.yaml" "step.yaml $weeks"; do
        expect 0 "$ORRERY" compare $pair --json
        jq -e '.of_kept_steps | not' out
        jq -e '.a.digest == .b.digest and .a.cost_usd_per_step == .b.cost_usd_per_step and
            .a.cost_usd_per_1e9_tokens == .b.cost_usd_per_1e9_tokens and .a.cost_usd_per_1e9_tokens > 0 and
            (.a.cost_usd_per_step / .total.a_s * 1e9 / .a.tokens_per_s / .a.cost_usd_per_1e9_tokens - 1 | fabs) < 1e-9' out
    done
    expect 0 "$ORRERY" compare "$weeks" "$weeks" --set recovery.spares=0
    shows "10^9 kept tokens"
    expect 0 "$ORRERY" compare "$weeks" step.yaml
    lacks "kept tokens" out
}

@test "a database and its scenario are the same" {
    run_db "$hello" --db x.db --set layout.tp=2
    adds_up x.db "$hello" --set layout.tp=2
    jq -e '.total.difference_s == 0 and .settings == [] and .a.digest == .b.digest' out
    expect 0 compare x.db "$hello" --set layout.tp=2
    shows "  none"
    lacks "does not hold its scenario" out
    # mixed, and in either order
    run_db "$hello" --db y.db
    expect 0 compare x.db y.db --json
    jq -c '[.terms, .memory, .settings]' out >databases
    expect 0 compare x.db "$hello" --json
    jq -c '[.terms, .memory, .settings]' out | cmp - databases
    jq -e '[.settings[].name] | index("tp") != null and index("dp") != null' out
    a=$(jq '.total.difference_s' out)
    expect 0 compare "$hello" x.db --json
    jq -e --argjson a "$a" '.total.difference_s == -$a' out
    expect 0 compare - x.db --json <"$hello"
    jq -e --argjson a "$a" '.total.difference_s == -$a' out
}

@test "keys that no column keeps are told from the scenario that a database holds" {
    run_db "$SCENARIOS/weeks/rsc-1.yaml" --db w.db --set run.duration=5d
    for set in recovery.spares=0 checkpoint.interval=37min training.gradient_bytes=2 \
        perturbations.jitter=0.01 'failures[0].preset=rsc-2'; do
        expect 0 compare w.db "$SCENARIOS/weeks/rsc-1.yaml" --json --set run.duration=5d --set "$set"
        jq -e --arg key "${set%=*}" --arg value "${set#*=}" '[.settings[] | select(.of_the_scenario)] |
            length == 1 and .[0].name == $key and .[0].b == $value and .[0].a != $value' out
    done
    expect 0 compare w.db "$SCENARIOS/weeks/rsc-1.yaml" --set run.duration=5d --set training.gradient_bytes=2
    shows "training.gradient_bytes                  (not stated) -> 2"
    sqlite3 w.db "delete from meta where key = 'text'"
    expect 0 compare w.db "$SCENARIOS/weeks/rsc-1.yaml" --set run.duration=5d --set recovery.spares=0
    shows "a database does not hold its scenario: of its keys only those above are known"
}

@test "a figure of the catalogue that was changed is told, and does what it says" {
    expect 0 compare "$SCENARIOS/llama3-70b-64xh100.yaml" "$SCENARIOS/llama3-70b-64xh100.yaml" \
        --set 'cluster.node={name: dgx-h100, nvlink_bandwidth: 225GB/s}' --json
    jq -e '.settings == [{name: "cluster.node.nvlink_bandwidth", a: "", b: "225GB/s", of_the_catalogue: false, of_the_scenario: true},
        {name: "node.dgx-h100.nvlink_bandwidth", a: "450GB/s", b: "225GB/s", of_the_catalogue: true, of_the_scenario: false}]' out
    # half the NVLink: what tensor parallelism leaves exposed, kernels that run beside its traffic,
    # which gains nothing on this card, and the bubble that is made of both; the model's own FLOPs
    # take what they took
    part() { jq --arg term "$1" '([.terms[] | select(.term == $term) | .difference_s][0] / .total.difference_s)' out; }
    jq -en "$(part exposed_tp) > 0.6 and $(part compute) > 0 and $(part bubble) > 0"
    jq -en "$(part exposed_tp) + $(part compute) + $(part bubble) - 1 | fabs < 0.001"
    jq -e '[.compute[] | select(.term == "useful") | .difference_s][0] | fabs < 1e-9' out
}

@test "steps of other work are compared by GPU time" {
    expect 0 compare "$hello" "$hello" --set training.global_batch=128
    shows "GPU time of 10^6 tokens"
    shows "a step of A trains"
}

@test "what does not fit: memory and settings, exit code 4" {
    expect 4 compare "$hello" "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml"
    shows "B does not fit in memory"
    shows "Settings that differ"
    expect 4 compare "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml" "$hello" --json
    jq -e '.terms == null and .timed == false and .peak.a_bytes > 1e12' out
}

@test "a step that was timed as if the card were large enough is not compared" {
    cat >y.yaml <<'END'
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 128, tokens: 1T, attention: cudnn}
layout: {tp: 2, pp: 2, sharding: zero-1, microbatch: 1, recompute: none, schedule: 1f1b}
software: megatron
END
    wide=(--set layout.pp=1 --set layout.tp=1 --set layout.sharding=zero-0)
    expect 4 "$ORRERY" run y.yaml "${wide[@]}" --db wide.db --json
    jq -c '.first_failure | del(.call_site, .would_help, .at_s)' out >failure
    jq -e '.tokens_per_s != 0' out >/dev/null
    expect 4 compare y.yaml y.yaml "${wide[@]}"
    shows "B does not fit in memory"
    shows "stage 0 would reserve 178 GiB of 79.2 GiB usable"
    shows "61.9 MiB short"
    lacks "A does not fit\|tokens/s\|USD\|Time of" out
    no_times='(.timed | not) and .terms == null and .total == null'
    of_b='.b | (.fits | not) and ([.step_time_s, .tokens_per_s, .mfu, .cost_usd_per_step, .cost_usd_per_1e9_tokens] | all(. == null))'
    expect 4 compare y.yaml y.yaml "${wide[@]}" --json
    jq -e "$no_times and ($of_b) and .a.fits and .a.first_failure == null and .a.tokens_per_s > 0" out
    jq -c '.b.first_failure' out | cmp - failure
    # a database as B, as A, and on both sides
    expect 4 compare y.yaml wide.db --json
    jq -e "$no_times and ($of_b)" out
    jq -c '.b.first_failure' out | cmp - failure
    expect 4 compare wide.db y.yaml
    shows "A does not fit in memory"
    lacks "B does not fit" out
    expect 4 compare wide.db y.yaml "${wide[@]}"
    shows "A does not fit in memory"
    shows "B does not fit in memory"
    # weeks
    { cat y.yaml; echo "run: {duration: 2d}"; } >w.yaml
    expect 0 compare w.yaml w.yaml --json
    expect 4 compare w.yaml w.yaml "${wide[@]}" --json
    jq -e "$no_times and ($of_b) and .b.tokens_per_day == null" out
}

@test "what is wrong is told with its remedy" {
    run_db "$hello" --db good.db
    expect 2 compare "$hello"
    said "B is missing"
    expect 2 compare
    expect 2 compare - - <"$hello"
    expect 2 compare "$hello" good.db --set layout.tp=2
    said "a database is what was run"
    expect 1 compare nowhere.db good.db
    expect 1 compare good.db nowhere.yaml
    expect 3 compare good.db "$hello" --set layout.tp=3
    echo "not a database" >text.db
    expect 1 compare good.db text.db
    damaged() { # SQL, sentence
        cp good.db bad.db
        sqlite3 bad.db "$1"
        expect 1 timeout 20 "$ORRERY" compare good.db bad.db
        said "$2"
    }
    damaged "update run set bubble_s = bubble_s + 1" "do not add up"
    damaged "delete from run" "holds no run"
    damaged "delete from stage_memory" "no stage"
    cp good.db bad.db
    sqlite3 bad.db "update run set model = char(27) || '[31m', scenario = char(27); update constant set text = char(27) || text where name like 'gpu.%'"
    expect 0 compare good.db bad.db
    lacks "$(printf '\033')" out
}

@test "of many figures of the catalogue that differ twenty are told, and how many more there are" {
    cp -r "$SCENARIOS/catalogue" other
    sed -i -E '/^h100-80gb-sxm:/,/^[a-z]/s/: ([0-9]+)(TFLOP|%)/: \1.5\2/' other/gpus.yaml
    "$ORRERY" run "$hello" --db a.db >out 2>err
    "$ORRERY" run "$hello" --catalogue other --db b.db >out 2>err
    expect 0 compare a.db b.db --json
    all=$(jq '[.settings[] | select(.of_the_catalogue)] | length' out)
    [ "$all" -gt 21 ]
    expect 0 compare a.db b.db
    [ "$(grep -c '^  gpu\.h100-80gb-sxm\.' out)" -eq 20 ]
    shows "and $((all - 20)) figures more (--json has all)"
}

@test "compare: a lesson's words are no settings, and software is one however it is spelt" {
    sed 's/^software: megatron$/software: {profile: megatron}/' "$hello" >spelt.yaml
    if cmp -s "$hello" spelt.yaml; then false; fi
    expect 0 "$ORRERY" compare "$hello" spelt.yaml
    lacks "software" out
    expect 0 "$ORRERY" compare "$hello" "$SCENARIOS/lessons/straggler.yaml"
    shows "perturbations.stragglers"
    lacks "lesson\." out
    grep -q "^notes" "$SCENARIOS/lessons/bubble.yaml"
    expect 0 "$ORRERY" compare "$hello" "$SCENARIOS/lessons/bubble.yaml"
    lacks "lesson\.\|notes" out
}
