# `orrery report FILE.db` prints what `run` or `study` printed, byte for byte.
load helper

# same [OPTION...] -- ARGUMENTS of run or study: what it prints, and what `report` prints.
same() {
    local options=() got=0
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    rm -f x.db*
    "$ORRERY" "$@" "${options[@]}" --db x.db >printed 2>err || got=$?
    [ "$got" -eq 0 ] || [ "$got" -eq 4 ] || { cat err; return 1; }
    [ "$(wc -l <printed)" -gt 4 ]
    expect "$got" "$ORRERY" report x.db "${options[@]}"
    cmp printed out || { diff printed out | head -20; return 1; }
    [ "$1" = study ] || "$ORRERY" "$@" "${options[@]}" --no-db >alone 2>err || [ "$?" -eq 4 ]
    [ "$1" = study ] || cmp printed alone
}

@test "of a step: pipelines, context parallel, unfolded, at every detail, with every default" {
    same -- run "$hello"
    same -v -- run "$hello"
    same -- run "$hello" --detail summary
    same -- run "$hello" --unfold --set perturbations.jitter=0.05
    same -- run "$SCENARIOS/llama3-70b-64xh100.yaml" --set layout.pp=4 --set training.global_batch=64
    same -- run "$SCENARIOS/step/cp-ring-long-context.yaml" --detail summary
    same -- run "$SCENARIOS/step/dragonfly-13b.yaml" --detail step --set cost.gpu_hour=3USD --set training.tokens=1T
    same -- run "$hello" --set 'notes=[{at: 12.5ms, say: "half way, 100 % of it"}]' --set name="It's \"named\""
}

@test "of a step above every MFU of validation, which the database holds" {
    cat >above.yaml <<'SCENARIO'
model: {preset: mixtral-8x7b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 8, fabric: ib-ndr-8x400}
training: {sequence: 4096, global_batch: 512}
layout: {tp: 1, pp: 4, dp: 16, ep: 8, vpp: 2, microbatch: 1, schedule: interleaved, sharding: zero-1}
software: megatron
SCENARIO
    same -- run above.yaml --detail summary
    shows "above every MFU of this card in bf16 with experts among the clean rows"
    [ "$(sql x.db "select count(*) from message where severity = 'published' and key = 'mfu'")" = 1 ]
    same -- run above.yaml --detail summary --set layout.microbatch=2 --set layout.recompute=full
    lacks "above every MFU" out
}

@test "of what does not fit, with advice and without" {
    same -- run "$hello" --set training.global_batch=2048 --set layout.microbatch=128
    same -- run "$hello" --set training.global_batch=16384 --set layout.microbatch=2048
    same -v -- run "$SCENARIOS/memory/memory-wall-70b-1gpu.yaml"
}

@test "the exit code is that of the run, the study or the plan: 4 where nothing fits; expectations are of run" {
    wall=$SCENARIOS/memory/memory-wall-70b-1gpu.yaml
    expect 4 "$ORRERY" run "$wall" --db x.db
    expect 4 "$ORRERY" report x.db
    expect 4 "$ORRERY" report x.db --json
    jq -e '.fits == false' out
    expect 4 "$ORRERY" study "$wall" --vary layout.microbatch=1,2 --db s.db
    expect 4 "$ORRERY" report s.db
    expect 4 "$ORRERY" report s.db --json
    expect 4 "$ORRERY" plan --model llama3-70b --gpu h100-80gb-sxm --gpus 2 --db p.db
    expect 4 "$ORRERY" report p.db
    # One point that fits is enough, of which `study` ends with 0, too.
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2048 --set training.global_batch=16384 --db s.db
    expect 0 "$ORRERY" report s.db
    expect 6 "$ORRERY" run "$hello" --db x.db --set 'expect.mfu=">= 90%"'
    expect 0 "$ORRERY" report x.db --json
    jq -e 'has("expectations") | not' out
    expect 0 "$ORRERY" report --help
    shows 'exit code: 0 done, 1 no such database'
    shows '4 the run, every point of the study'
}

@test "of an uncertain step, alone and against another" {
    same -- run "$hello" --uncertainty 16
    same -- run "$SCENARIOS/step/fsdp-7b.yaml" --uncertainty 8 --against "$SCENARIOS/step/torus-7b.yaml"
}

@test "of weeks: every scenario that has a run, and each interruption" {
    for file in $(grep -l '^run:' $(shipped)); do
        [ -n "$(grep -E '^(name|run):' "$file")" ] || continue
        same -- run "$file" --detail summary
    done
    same -v -- run "$SCENARIOS/weeks/silent-corruption.yaml" --detail summary
    same -- run "$SCENARIOS/weeks/async-vs-sync.yaml" --set run.duration=4d --set cost.storage_tb_month=20USD --detail step
}

@test "of studies: steps and weeks, refused points, words, an optimum, the best few" {
    same -- study "$hello" --vary layout.microbatch=1,2,3,4
    same -- study "$SCENARIOS/studies/spares-study.yaml" --vary recovery.spares=4,8 --seeds 5 --seed 7
    same -- study "$SCENARIOS/weeks/async-vs-sync.yaml" --vary checkpoint.interval=2min..1h:log:5 --seeds 10 --top 2
    same -- study "$SCENARIOS/weeks/async-vs-sync.yaml" --vary recovery.policy=hot-spare,wait-for-repair \
        --vary recovery.spares=1,4 --seeds 3 --objective ettr --set run.duration=3d
}

@test "of a study that was stopped: the points that were played, and how many were not" {
    "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4 --db x.db >printed 2>err
    sqlite3 x.db "delete from study_point where point = 1; delete from study_value where point = 1;
        delete from study_raw where point = 1; delete from study_summary where point = 1"
    expect 0 "$ORRERY" report x.db
    shows "1: not played: the study was stopped before (layout.microbatch=2)"
    lacks '^2 ' out
}

@test "what is no database, empty, damaged, or of no run: a sentence and exit 1" {
    echo thesis >thesis.db
    expect 1 "$ORRERY" report thesis.db
    [ ! -s out ]
    expect 1 "$ORRERY" report -
    said "cannot be read from a stream"
    expect 1 "$ORRERY" report nowhere.db
    said "cannot read nowhere.db"
    "$ORRERY" run "$hello" --db x.db >printed 2>err
    sqlite3 x.db "update run set model = null"
    expect 1 "$ORRERY" report x.db
    said "the table run is damaged: no model"
    sqlite3 x.db "delete from run"
    expect 1 "$ORRERY" report x.db
    said "the file holds no run"
    expect 2 "$ORRERY" report
}

@test "report --json: the document of the command that wrote the database" {
    expect 0 "$ORRERY" run "$SCENARIOS/weeks/rsc-1.yaml" --db a.db --json
    mv out run.json
    expect 0 "$ORRERY" report a.db --json
    jq -e '.schema == "orrery.run/1"' out
    keys='{step_time_s, goodput, badput, interruptions_by_cause, warnings, checkpoint_levels, breakdown}'
    jq -S "$keys" run.json >a
    jq -S "$keys" out >b
    cmp a b
    # what was chosen and every warning, that of groups that share wires in lock-step too
    printf '%s\n' "model: {preset: llama2-7b}" "cluster: {gpu: rtx5090-32gb, gpus: 16}" \
        "training: {sequence: 4096, global_batch: 128}" "software: torchtitan" \
        "layout: {tp: 1, pp: 4, microbatch: 4, sharding: zero-2, schedule: zb-h1}" >s.yaml
    expect 4 "$ORRERY" run s.yaml --db w.db --json
    jq -S '{warnings, choices, stagger}' out >a
    jq -e '(.warnings | map(select(contains("lock-step"))) | length == 1) and (.choices | length) > 2 and .stagger.draws > 0' out
    expect 4 "$ORRERY" report w.db --json
    jq -S '{warnings, choices, stagger}' out >b
    cmp a b
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --db s.db --json
    jq -S 'del(.seconds)' out >a
    expect 0 "$ORRERY" report s.db --json
    jq -S 'del(.seconds)' out >b
    cmp a b
    expect 0 "$ORRERY" plan "$hello" --db p.db --json
    jq -S .layouts out >a
    expect 0 "$ORRERY" report p.db --json
    jq -S .layouts out >b
    cmp a b
}

headed() { [ "$(head -1 out)" = "$1" ] || { head -1 out; echo "wanted: $1"; return 1; }; }
# A report of what --set changed does not stand below the words of the file: every text says what the
# view `title` of the database says, and what was chosen is not said to be changed.
@test "every text report is headed by what was changed" {
    cat >own.yaml <<'END'
name: Eight of H100
model: {preset: llama3-8b}
cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 1}
training: {sequence: 2048, global_batch: 32}
layout: {tp: 2, dp: auto, microbatch: 1}
END
    e=ééééééééééééééééééééééééé # 25 of two bytes
    same=(--set cluster.nodes=4 --set "notes=[{at: 1s, say: ${e}$e}]" --set training.global_batch=64)
    e24=éééééééééééééééééééééééé
    title="Eight of H100, changed: cluster.nodes=4, notes=[{at: 1s, say: ${e}éé and 1 more"
    expect 0 "$ORRERY" run own.yaml "${same[@]}" --db own.db
    headed "$title"
    [ "$(sql own.db 'select text from title')" = "$title" ]
    for call in "report own.db" "explain own.db"; do
        expect 0 "$ORRERY" $call
        headed "$title"
    done
    for call in memory "explain --walls" plan; do
        expect 0 "$ORRERY" $call own.yaml "${same[@]}"
        headed "$title"
    done
    expect 0 "$ORRERY" compare own.yaml own.db
    shows "A  Eight of H100 (own.yaml)"
    shows "B  $title (own.db)"
    expect 0 "$ORRERY" export own.db --svg roofline --output roof.svg
    grep -qF "$title" roof.svg
    expect 0 "$ORRERY" run own.yaml --set cluster.nodes=4 --set training.global_batch=64 --no-db --json
    grep -q '"scenario": "Eight of H100"' out
}
