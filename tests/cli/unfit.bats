# What does not fit in memory: every command that tells numbers of a layout says so and where, and
# those that answer with a comparison or a verdict end with 4.
load helper

write() {
    cat >fit.yaml <<'END'
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}
training: {sequence: 8192, global_batch: 128, attention: cudnn}
layout: {tp: 2, pp: 2, sharding: zero-1, microbatch: 1, recompute: none, schedule: 1f1b}
software: megatron
END
    # its first step is timed as if the card were large enough; the other's optimizer has no room
    sed 's/^layout:.*/layout: {tp: 1, pp: 1, sharding: zero-0, microbatch: 1, recompute: none}/' fit.yaml >wide.yaml
    sed 's/preset: llama3-8b/preset: llama3-70b/; s/^layout:.*/layout: {tp: 1, pp: 1, sharding: zero-0, microbatch: 1, recompute: none}/' \
        fit.yaml >huge.yaml
    sed 's/dgx-h100, nodes/{name: dgx-h100, host_memory: 16GB}, nodes/; s/recompute: none/recompute: full, optimizer_offload: 1/' \
        fit.yaml >host.yaml
    for name in fit wide huge host; do
        "$ORRERY" run $name.yaml --db $name.db >/dev/null 2>&1 || [ $? -eq 4 ]
        for i in 1 2; do
            "$ORRERY" study $name.yaml --vary layout.microbatch=1,2 --shard $i/2 --db $name.$i.db >/dev/null 2>&1
        done
        { cat $name.yaml; cat <<'END'; } >$name.lesson.yaml
lesson: {order: 1, shows: s, look_for: l, questions: [{ask: how long, answer: step_s, why: w}]}
END
    done
    printf 'step,seconds\n1,2.5\n2,2.5\n' >steps.csv
    echo '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"nvjet","ts":1,"dur":5,"args":{"stream":7}}]}' >trace.json
}

# X: one that does not fit. The exit code, where it is said, the words, the command.
doors="4 out Out|of|memory run X.yaml --no-db
4 err X.yaml|does|not|fit|in|memory:|there|is|no|time|to|compare run fit.yaml --no-db --uncertainty=2 --against X.yaml
4 out Out|of|memory memory X.yaml
4 out does|not|fit|in|memory check X.yaml
4 out A|does|not|fit|in|memory:|there|is|no|time|to|compare compare X.yaml fit.yaml
4 out B|does|not|fit|in|memory:|there|is|no|time|to|compare compare fit.db X.db
4 err A|does|not|fit|in|memory:|there|is|no|time|to|compare compare X.yaml --trace trace.json
4 err X.yaml|does|not|fit|in|memory:|there|is|no|forecast watch X.yaml steps.csv
4 out does|not|fit|in|memory study X.yaml --vary layout.microbatch=1 --no-db
4 out does|not|fit|in|memory merge X.1.db X.2.db --db X.merged.db
4 out no|point|fits|in|memory merge X.1.db X.2.db --db X.all.db
0 out does|not|fit lesson X.lesson.yaml
4 out Out|of|memory report X.db
0 out does|not|fit explain --walls X.yaml
0 err X.db|does|not|fit|in|memory export X.db --svg memory
0 err X.db|does|not|fit|in|memory export X.db --format csv --table run
0 err does|not|fit|in|memory export X.yaml --launch megatron
0 X.html not|fit replay X.db --html X.html"
# Those that no layout is given to, or that look for one, or whose own tests hold them:
#   plan (looks for what fits: below), validate (its rows are runs that took place), chakra (traces say
#   nothing of memory)
exempt="plan validate chakra collective profile import list schema doctor completion"

@test "each command tells what does not fit, and ends as documented" {
    write
    while read -r code where words command; do
        for name in wide huge host; do
            expect "$code" "$ORRERY" ${command//X/$name}
            words_of=${words//|/ }
            file=${where//X/$name}
            case $file in *.html) unpacked "$file" >page && file=page ;; esac
            grep -qF -- "${words_of//X/$name}" "$file" || { echo "$file lacks '${words_of//X/$name}': ${command//X/$name}"; head -40 "$file"; return 1; }
        done
    done <<<"$doors"
    for name in $("$ORRERY" --help | awk '/^  [a-z]+ +[a-z]/ && $1 != "orrery" { print $1 }'); do
        grep -q "[a-z.|:] $name " <<<"$doors" || [[ " $exempt " == *" $name "* ]] || { echo "no row for $name"; return 1; }
    done
}

@test "what does fit is not told to be short" {
    write
    for command in "run fit.yaml --no-db" "run fit.yaml --no-db --uncertainty=2 --against fit.yaml" "memory fit.yaml" "check fit.yaml" \
        "compare fit.yaml fit.db" "compare fit.yaml --trace trace.json" "report fit.db" "explain fit.db" "export fit.db --svg memory" \
        "explain --walls fit.yaml"; do
        expect 0 "$ORRERY" $command
        lacks "not fit\|[Oo]ut of memory\|large enough" out err
    done
}

@test "two forecasts of which one does not fit: no faster, no ratio, which stage and how much" {
    write
    for pair in "fit wide wide" "wide fit wide" "fit huge huge" "fit host host"; do
        set -- $pair
        expect 4 "$ORRERY" run $1.yaml --uncertainty=2 --against $2.yaml --db x.db
        said "$3.yaml does not fit in memory: there is no time to compare"
        lacks "faster\|Against" out
        [ "$(grep -c "does not fit in memory" err)" = 1 ]
        [ "$("$ORRERY" compare $1.yaml $2.yaml | grep -A2 "does not fit in memory" | tail -n +2)" = \
            "$(grep -A2 "does not fit in memory" err | tail -n +2 | grep '^  ')" ] || {
            cat err
            return 1
        }
        "$ORRERY" report x.db | cmp - out
    done
    expect 4 "$ORRERY" run wide.yaml --no-db --uncertainty=2 --against host.yaml
    said "wide.yaml does not fit in memory"
    said "host.yaml does not fit in memory"
    expect 4 "$ORRERY" run fit.yaml --no-db --uncertainty=2 --against wide.yaml --json
    jq -e '.uncertainty.against == null and .uncertainty.faster_probability == null' out
}

# All of the optimizer lies in the memory of the node, which has 1 GB: no card is short.
@test "the CPUs of a node are too small: which, what they have, how much is missing" {
    write
    expect 4 "$ORRERY" run host.yaml --no-db --json
    jq -e '.first_failure.place == "host" and .first_failure.reserved_bytes == 16e9' out
    short=$(jq -r '.first_failure.short_bytes / 1073741824 * 10 | round / 10' out)
    for command in "compare host.yaml fit.yaml" "compare fit.db host.db" "explain host.db" "compare host.yaml --trace trace.json"; do
        expect 4 "$ORRERY" $command
        cat out err >both
        grep -F "the CPUs of a node have 14.9 GiB: $short GiB short, at " both || { echo "$command, $short"; cat both; return 1; }
        lacks "would reserve\|asks for" both
    done
}

@test "explain: times of a larger card are told as such; without times none" {
    write
    expect 4 "$ORRERY" explain wide.db
    shows "This layout does not fit in memory: the times below are of cards that were large enough"
    shows "stage 0 would reserve 178 GiB of 79.2 GiB usable"
    shows "From the peak"
    expect 4 "$ORRERY" explain wide.db --json
    jq -e '(.fits | not) and .first_failure.stage == 0' out
    expect 4 "$ORRERY" explain huge.db
    said "no step was timed"
    [ ! -s out ]
    expect 0 "$ORRERY" explain fit.db --json
    jq -e '.fits and .first_failure == null' out
}

@test "a study says as many bytes short as the run of its point, on cards and on hosts" {
    write
    for name in wide host; do
        expect 4 "$ORRERY" study $name.yaml --vary layout.microbatch=1 --no-db --json
        study=$(jq '.points[0].first_failure.short_bytes' out)
        awk -v s="$study" 'BEGIN { exit !(s > 0) }'
    done
    expect 4 "$ORRERY" memory host.yaml --json
    jq -e --argjson s "$study" '.first_failure.short_bytes == $s' out
}

@test "a study and a merge: where all points are short of their nodes' CPUs, no card is blamed" {
    write
    for name in wide host; do
        rm -f $name.x.db
        for command in "study $name.yaml --vary layout.microbatch=1,2 --no-db" "merge $name.1.db $name.2.db --db $name.x.db"; do
            expect 4 "$ORRERY" $command
            if [ $name = host ]; then
                shows "GiB short in the memory of a node's CPUs; its cards have enough"
                [ "$(grep -c "does not fit in memory of the node's CPUs: " out)" = 2 ]
                lacks "on a card\|fills the card" out
            else
                shows "GiB short on a card of 79.2 GiB"
                lacks "CPUs" out
            fi
        done
        "$ORRERY" study $name.yaml --vary layout.microbatch=1,2 --no-db --json >out 2>/dev/null || [ $? -eq 4 ]
        jq -e --arg place "$([ $name = host ] && echo host || echo card)" 'all(.points[]; .first_failure.place == $place)' out
    done
}

@test "a lesson says that the times of a run that does not fit are of a larger machine" {
    write
    for name in wide host; do
        expect 0 "$ORRERY" lesson $name.lesson.yaml
        shows "does not fit: told as if it did"
    done
    expect 0 "$ORRERY" lesson huge.lesson.yaml # its step has no time
    lacks "as if it did" out
    expect 0 "$ORRERY" lesson fit.lesson.yaml
    lacks "does not fit" out
}

# A batch that is too large to simulate, one that dp does not divide, CPUs that are too small, and cards.
@test "plan: what nothing fits for, and no card is blamed that has enough" {
    write
    expect 4 "$ORRERY" plan host.yaml --hold tp,pp,sharding,recompute,microbatch
    shows "in the memory of a node's CPUs, which have 14.9 GiB: offload less"
    lacks "larger card" out
    expect 4 "$ORRERY" plan host.yaml --hold tp,pp,sharding,recompute,microbatch --json
    jq -e '.lack | .rule == null and .host_room_bytes == 16e9 and .host_bytes > 16e9' out
    local -a wide=(plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --sequence 65536)
    expect 4 "$ORRERY" "${wide[@]}" --global-batch 1000000 --json
    jq -e '.lack | .rule == "training.global_batch" and .host_bytes == null' out
    layout=$(jq -r '.lack.layout | to_entries[] | select(.value != null and .value != 0 and .key != "ends_count") | "\(.key)=\(.value)"' out)
    sentence=$(jq -r '.lack.sentence' out)
    expect 4 "$ORRERY" "${wide[@]}" --global-batch 1000000
    tr '\n' ' ' <out | grep -qF "the batch breaks a rule, training.global_batch: $sentence" || { tail -9 out; return 1; }
    tr '\n' ' ' <out | grep -q "are too many to simulate (at most 60000 microbatches"
    lacks "larger card\|hold less on each" out
    # it is true: the layout fits with a batch that can be simulated
    local -a sets=()
    for one in $layout; do sets+=(--set "layout.$one"); done
    expect 0 "$ORRERY" memory fit.yaml --set cluster.nodes=1 --set training.sequence=65536 --set training.global_batch=64 "${sets[@]}"
    expect 0 "$ORRERY" "${wide[@]}" --global-batch 64
    expect 4 "$ORRERY" "${wide[@]}" --global-batch 1000000 --json --vary cluster.gpus=4,8
    jq -e '[.. | .missed? // empty] == ["rule", "rule"]' out
    # and where cards are too small whatever the batch, they are blamed
    expect 4 "$ORRERY" plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 1000000
    shows "Nothing fits: weights, gradients and optimizer alone are more than the cards hold"
    expect 4 "$ORRERY" plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 --json
    jq -e '.lack == null' out
}

@test "memory: the smallest layout that is told holds it on as many cards" {
    write
    for name in wide huge; do
        expect 4 "$ORRERY" memory $name.yaml --json
        gpus=$(jq -r .minimum_gpus out)
        jq -e '.minimum_layout | .tp * .pp * .cp * .dp == $gpus' --argjson gpus "$gpus" out
        local -a sets=(--set "cluster.gpus=$gpus")
        [ "$gpus" -gt 8 ] || sets+=(--set cluster.fabric=none)
        sed 's/, nodes: 4//' $name.yaml >few.yaml
        for one in $(jq -r '.minimum_layout | to_entries[] | select(.value != null and .value != 0 and .key != "ends_count")
                | "\(.key)=\(.value | if type == "number" then floor else . end)"' out); do
            sets+=(--set "layout.$one")
        done
        expect 0 "$ORRERY" memory few.yaml "${sets[@]}"
        expect 4 "$ORRERY" memory $name.yaml
        shows "$(jq -r '"tp \(.tp), pp \(.pp), cp \(.cp), dp \(.dp), "' <<<"$("$ORRERY" memory $name.yaml --json | jq .minimum_layout)")"
    done
    expect 4 "$ORRERY" memory huge.yaml --limit 2 --json
    jq -e '.minimum_gpus == null and .minimum_layout == null' out
    expect 4 "$ORRERY" memory huge.yaml --limit 2
    shows "no legal layout up to 2 GPUs holds it"
}
