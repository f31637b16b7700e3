load helper

scenario() { # a week of eight GPUs that fail often
    cat "$hello" >weeks.yaml
    cat >>weeks.yaml <<'YAML'
run: {duration: 7d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: disk, stall: 20s, load: 30s}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: restart-in-place, restart: {detect: 1min, start: 2min}}
YAML
}

@test "a U curve: report, figure, database" {
    scenario
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:13 --seeds 60 --svg u.svg
    shows "best goodput"
    grep -q "optimum between points: [0-9.]* min, 95 % interval [0-9.]* min to [0-9.]* min$" out
    shows "Young"
    grep -q "exact" u.svg
    python3 "$BATS_TEST_DIRNAME/svg_marks.py" u.svg >marks
    [ "$(sql weeks.study.db "select count(*) from study_point")" = 13 ]
    [ "$(sql weeks.study.db "select count(*) from study_result where metric = 'goodput'")" = 780 ]
    [ "$(sql weeks.study.db "select value from meta where key = 'complete'")" = 1 ]
    # badput tiles the wall clock in every replication
    [ "$(sql weeks.study.db "select count(*) from (select point, seed, sum(case when metric = 'wall_s' then -value else value end) as off from study_result where metric in ('wall_s', 'useful_s', 'checkpoint_s', 'lost_work_s', 'detect_s', 'restart_s', 'wait_s', 'degraded_s', 'maintenance_s') group by point, seed) where abs(off) > 604800e-9")" = 0 ]
}

@test "the same for any number of threads" {
    scenario
    for threads in 1 2 5; do
        expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --seeds 50 --no-db --csv --threads $threads
        mv out "csv$threads"
    done
    cmp csv1 csv2
    cmp csv1 csv5
}

@test "seeds are common: the first replications of more are those of fewer" {
    scenario
    expect 0 "$ORRERY" study weeks.yaml --seeds 10 --db few.db
    expect 0 "$ORRERY" study weeks.yaml --seeds 40 --db more.db
    sql few.db "select seed, value from study_result where metric = 'failures' order by seed" >a
    sql more.db "select seed, value from study_result where metric = 'failures' order by seed" | head -10 >b
    cmp a b
}

@test "--confidence stops early" {
    scenario
    expect 0 "$ORRERY" study weeks.yaml --seeds 2000 --confidence 1% --db c.db
    n=$(sql c.db "select replications from study_point")
    [ "$n" -ge 32 ] && [ "$n" -lt 2000 ]
    [ "$(sql c.db "select (high95 - mean) <= 0.01 * mean from study_summary where metric = 'goodput'")" = 1 ]
}

@test "an interrupted study keeps its points and goes on" {
    scenario
    ln -s "$SCENARIOS/catalogue" figures
    varied=(--vary checkpoint.interval=1min..4h:log:60 --vary checkpoint.keep=1)
    rest=(--set checkpoint.stall=20s --set name="A week" --catalogue figures --objective lost_work_s)
    rest2=(--svg i.svg --seed 3 --seeds 2000 --confidence 0.0001 --top 60 --db i.db)
    main=(study weeks.yaml "${varied[@]}" "${rest[@]}" "${rest2[@]}")
    "$ORRERY" "${main[@]}" --csv --threads 2 >out 2>err &
    pid=$!
    # A third thread, beside those of the program and its signals, is the first point on its way.
    until [ "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -gt 2 ]; do
        [ -d /proc/$pid ]
    done
    kill -TERM $pid
    got=0
    wait $pid || got=$?
    [ "$got" -eq 130 ]
    grep -qxF "to go on: orrery study weeks.yaml ${varied[*]} --set checkpoint.stall=20s --set 'name=A week' --catalogue figures --objective lost_work_s ${rest2[*]} --csv --resume" err
    [ ! -e i.db ]
    [ "$(sql i.db.partial "select value from meta where key = 'complete'")" = 0 ]
    done_before=$(sql i.db.partial "select count(*) from study_point")
    [ "$done_before" -ge 1 ]
    [ "$done_before" -lt 60 ]
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..3h:log:60 --vary checkpoint.keep=1 "${rest[@]}" "${rest2[@]}" --resume
    said "another study"
    expect 0 "$ORRERY" "${main[@]}" --csv --resume
    mv out resumed
    expect 0 "$ORRERY" "${main[@]:0:${#main[@]}-2}" --no-db --csv
    cmp out resumed
}

@test "a study of single steps: no seeds, layouts side by side" {
    expect 0 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.pp=2,4 --vary layout.microbatch=1,2 --no-db
    shows "tokens_per_s"
    shows "layout.pp, layout.microbatch"
    shows "does not fit in memory"
    lacks "P10" out
    ! grep -q "closed forms" out || false
}

@test "weeks that do not fit are a row, beside those that do; none at all is exit code 4" {
    scenario
    for model in llama3-70b gpt3-1.3b; do
        expect $([ $model = llama3-70b ] && echo 4 || echo 0) "$ORRERY" study weeks.yaml --set model.preset=$model --seeds 3 --no-db
    done
    expect 0 "$ORRERY" study weeks.yaml --vary model.preset=llama3-70b,gpt3-1.3b --seeds 3 --db fit.db
    shows "does not fit in memory"
    shows "gpt3-1.3b"
    [ "$(sql fit.db "select group_concat(fits) from study_point")" = 0,1 ]
    expect 4 "$ORRERY" study weeks.yaml --vary model.preset=llama3-70b --seeds 3 --no-db
    lacks "widen it" out
}

json() { sql :memory: "select $1 from (select readfile('out') as j)"; }

@test "points that break a rule are left out and counted by it" {
    main=(study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=1,3)
    expect 0 "$ORRERY" "${main[@]}" --vary layout.pp=2,3,4,5 --db skip.db
    shows "6 of 8 points left out:"
    shows "  2: layout: the world size 64 is not divisible by tp x pp x cp = 8 x 3 x 1 = 24 (layout.microbatch=1, layout.pp=3)"
    shows "  4: training.global_batch: the global batch 256 is not divisible by dp x microbatch = 4 x 3 = 12 (layout.microbatch=3, layout.pp=2)"
    [ "$(grep -c '^[13], [0-9]' out)" = 2 ]
    said "2 points, 2 replications"
    [ "$(sql skip.db "select group_concat(point) from study_point")" = 0,2 ]
    [ "$(sql skip.db "select group_concat(point) from study_refused")" = 1,3,4,5,6,7 ]
    [ "$(sql skip.db "select reason from study_refused where label = 'layout.microbatch=1, layout.pp=5'")" = \
        "layout: the world size 64 is not divisible by tp x pp x cp = 8 x 5 x 1 = 40" ]
    expect 0 "$ORRERY" "${main[@]}" --vary layout.pp=2,3 --no-db --json
    said "3 of 4 points left out"
    [ "$(json "json_array_length(j, '$.points')")" = 1 ]
    [ "$(json "json_array_length(j, '$.rejected_points') || json_extract(j, '$.rejected_points[1].point')")" = 32 ]
    [ "$(sql :memory: "select group_concat(value) from json_each(readfile('out'), '$.rejected')")" = 1,2 ]
    expect 0 "$ORRERY" "${main[@]}" --vary layout.pp=2,3 --no-db --csv
    [ "$(wc -l <out)" = 2 ]
    said "3 of 4 points left out"
    # none is left: the rule with its place; a word that is wrong wherever it stands is no point
    expect 3 "$ORRERY" "${main[@]}" --vary layout.pp=3,5 --no-db
    said "layout.pp=3: the scenario is rejected; nothing was run"
    expect 3 "$ORRERY" "${main[@]}" --vary layout.schedule=1f1b,gpip --no-db
    said "did you mean 'gpipe'?"
    # ... but a key that only some of the points know leaves the others
    expect 0 "$ORRERY" study "$SCENARIOS/step/contended-fabric.yaml" --vary cluster.fabric.kind=fat_tree,dragonfly --vary cluster.fabric.oversubscription=1,2 --no-db
    shows "2 of 4 points left out"
}

@test "a point whose step cannot be played is left out like one that breaks a rule" {
    vary=(--vary cluster.node.nvlink_bandwidth=1e-10B/s,450GB/s)
    expect 0 "$ORRERY" study "$hello" "${vary[@]}" --db slow.db
    shows "1 of 2 points left out:"
    [ "$(grep -c "^  1: a step takes .* years, more than can be recorded (100) (cluster.node.nvlink_bandwidth=1e-10B/s)\$" out)" = 1 ]
    said "1 point, 1 replication"
    [ "$(sql slow.db "select group_concat(point) from study_point")" = 1 ]
    [ "$(sql slow.db "select group_concat(point) from study_refused where reason like '% more than can be recorded (100)'")" = 0 ]
    [ "$(sql slow.db "select count(*) from study_raw where point = 0")" = 0 ]
    # drawn seeds: refused at the first
    expect 0 "$ORRERY" study "$hello" "${vary[@]}" --set perturbations.jitter=0.01 --seeds 3 --no-db
    shows "1 of 2 points left out:"
    said "1 point, 3 replications"
    expect 1 "$ORRERY" study "$hello" --vary cluster.node.nvlink_bandwidth=1e-10B/s --no-db
    shows "1 of 1 point left out:"
    # and of weeks
    scenario
    expect 0 "$ORRERY" study weeks.yaml "${vary[@]}" --seeds 3 --no-db
    shows "1 of 2 points left out:"
    shows "more than can be recorded (100)"
}

@test "one replication has no spread, in no form" {
    scenario
    for seeds in 1 2; do
        expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --seeds $seeds --db s$seeds.db
        mv out text$seeds
        expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --seeds $seeds --no-db --csv
        mv out csv$seeds
        expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --seeds $seeds --no-db --json
        [ "$(json "json_extract(j, '$.points[0].goodput.p10') is null")" = $((2 - seeds)) ]
        [ "$(json "json_extract(j, '$.points[0].goodput.ci95[1]') is null")" = $((2 - seeds)) ]
        [ "$(json "json_extract(j, '$.points[0].goodput.mean') is null")" = 0 ]
        [ "$(sql s$seeds.db "select count(p10) + count(low95) + count(high95) + count(p50) + count(p90) from study_summary where metric = 'goodput'")" = $((10 * seeds - 10)) ]
    done
    lacks "P10\|95 %\|  seeds" text1
    shows_in() { grep -q "$1" "$2"; }
    shows_in "P10" text2
    shows_in "one seed does not tell" text1
    lacks "low95\|mean\|p50" csv1
    [ "$(head -1 csv1 | tr , '\n' | grep -c goodput)" = 1 ]
    [ "$(head -1 csv2 | tr , '\n' | grep -c goodput)" = 6 ]
    # as many cells as the head has, none of them a word of the C library
    [ "$(awk -F, '{print NF}' csv1 csv2 | sort -u | wc -l)" = 2 ]
    lacks ",-*nan\|,-*inf" csv1 csv2
    # the figures of both are those of the same seed
    [ "$(sql s1.db "select value from study_result where metric = 'goodput'")" = "$(sql s2.db "select value from study_result where metric = 'goodput' and seed = 1")" ]
}

@test "a step without jitter is played once, and says so" {
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --seeds 50 --db once.db
    said "each point was played once"
    said "2 points, 2 replications"
    lacks "one seed does not tell\|P10" out
    [ "$(sql once.db "select group_concat(replications) from study_point")" = 1,1 ]
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --no-db
    lacks "played once" err
    expect 0 "$ORRERY" study "$hello" --set perturbations.jitter=0.02 --seeds 3 --no-db
    said "1 point, 3 replications"
    shows "P10"
}

@test "--top lists the best, best first; the database keeps all" {
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4,8 --db top.db --csv --top 3
    [ "$(wc -l <out)" = 4 ]
    cut -d, -f1 out | tail -3 >got
    sql top.db "select substr(label, 19) from study_point p join study_summary s on s.point = p.point where metric = 'tokens_per_s' order by mean desc limit 3" >want
    cmp got want
    [ "$(sql top.db "select count(*) from study_point")" = 4 ]
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4,8 --no-db --objective step_time_s --top 2
    shows "the best 2 of 4 points"
    [ "$(grep -c "^[1248]  " out)" = 2 ]
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4,8 --no-db --json --top 1
    [ "$(json "json_extract(j, '$.points[0].point') = json_extract(j, '$.optimum.point')")" = 1 ]
    expect 2 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --no-db --top 0
}

@test "what does not fit says what it would need" {
    expect 0 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=2,1 --db need.db
    shows "does not fit in memory: "
    shows " short, first for "
    expect 4 "$ORRERY" memory "$SCENARIOS/llama3-70b-64xh100.yaml" --set layout.microbatch=2 --json
    need=$(sql :memory: "select max(json_extract(value, '$.peak_reserved_bytes')) from json_each(readfile('out'), '$.classes')")
    usable=$(json "json_extract(j, '$.usable_hbm_bytes')")
    tensor=$(json "json_extract(j, '$.first_failure.tensor')")
    [ "$(sql need.db "select tensor from study_point where point = 0")" = "$tensor" ]
    [ "$(sql need.db "select mean = $need from study_summary where point = 0 and metric = 'peak_reserved_bytes'")" = 1 ]
    [ "$(sql need.db "select abs(short_bytes - ($need - $usable)) < 1 and short_bytes > 0 from study_point where point = 0")" = 1 ]
    [ "$(sql need.db "select fits || coalesce(tensor, '-') || coalesce(short_bytes, '-') from study_point where point = 1")" = 1-- ]
    expect 0 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=2,1 --no-db --json
    [ "$(json "json_extract(j, '$.points[0].first_failure.tensor')")" = "$tensor" ]
    [ "$(json "json_extract(j, '$.points[1].first_failure') is null")" = 1 ]
    expect 0 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=2,1 --no-db --csv
    grep -q "^2,1,no,.*,$tensor\$" out
    # nothing fits: no optimum, the nearest instead
    expect 4 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=4,2 --no-db
    shows "no point fits in memory; the nearest, layout.microbatch=2, is "
    shows "orrery memory "
    lacks "best" out
    expect 4 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.microbatch=4,2 --no-db --json
    [ "$(json "json_extract(j, '$.optimum') is null")" = 1 ]
}

@test "the value of the optimum is the one number that was varied, or null: the point has the rest" {
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2,4 --no-db --json
    [ "$(json "json_extract(j, '$.optimum.value') = json_extract(j, '$.optimum.vary.\"layout.microbatch\"')")" = 1 ]
    expect 0 "$ORRERY" study "$hello" --vary layout.sharding=zero-1,zero-3 --no-db --json # words
    [ "$(json "json_type(j, '$.optimum.value') || ' ' || json_type(j, '$.optimum.vary.\"layout.sharding\"')")" = "null text" ]
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --vary layout.tp=1,2 --no-db --json # two keys
    [ "$(json "json_type(j, '$.optimum.value') || ' ' || (select count(*) from json_each(j, '$.optimum.vary'))")" = "null 2" ]
    # and the point that it names is the best of all
    [ "$(json "(select json_extract(value, '$.point') from json_each(j, '$.points') order by json_extract(value, '$.tokens_per_s.mean') desc limit 1) = json_extract(j, '$.optimum.point')")" = 1 ]
}

@test "the best makes the most tokens a day where a key changes the step, whatever its goodput" {
    scenario
    # half of the GPUs fail half as often: a greater share of fewer tokens
    expect 0 "$ORRERY" study weeks.yaml --vary cluster.gpus=4,8 --seeds 4 --no-db --json
    [ "$(json "json_extract(j, '$.points[0].goodput.mean') > json_extract(j, '$.points[1].goodput.mean') and json_extract(j, '$.points[0].tokens_per_day.mean') < json_extract(j, '$.points[1].tokens_per_day.mean')")" = 1 ]
    [ "$(json "json_extract(j, '$.optimum.point')")" = 1 ]
    [ "$(json "json_extract(j, '$.objective')")" = tokens_per_day ]
    # keys of weeks leave the step as it is: then the share of it is told
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --seeds 4 --no-db --json
    [ "$(json "json_extract(j, '$.objective')")" = goodput ]
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=5min,20min --vary layout.tp=1,2 --seeds 4 --no-db --json
    [ "$(json "json_extract(j, '$.objective')")" = tokens_per_day ]
    # what is asked for is taken
    expect 0 "$ORRERY" study weeks.yaml --vary cluster.gpus=4,8 --seeds 4 --objective goodput --no-db --json
    [ "$(json "json_extract(j, '$.optimum.point')")" = 0 ]
}

@test "points that are alike are tied, and none of them is best" {
    scenario
    expect 0 "$ORRERY" study weeks.yaml --set run.work=1d --set run.duration=300d --set failures=[] --vary recovery.restart.detect=1min..9min:3 --seeds 3 --no-db
    shows "tied for the best goodput: all 3 points have the same"
    lacks "widen" out
    [ "$(grep -c '  tied$' out)" = 3 ]
    expect 0 "$ORRERY" study weeks.yaml --set run.work=1d --set run.duration=300d --set failures=[] --vary recovery.restart.detect=1min..9min:3 --seeds 3 --no-db --json
    [ "$(json "json_type(j, '$.optimum.value') || json_extract(j, '$.optimum.tied_points') || json_extract(j, '$.optimum.at_end')")" = "null[0,1,2]0" ]
    # work that is done within its time takes none of the rest
    expect 0 "$ORRERY" study weeks.yaml --set run.work=1d --set run.duration=300d --seeds 3 --no-db --json
    [ "$(json "json_extract(j, '$.points[0].wall_s.mean') < 86400 * 2 and json_extract(j, '$.points[0].goodput.mean') > .5")" = 1 ]
}

@test "it ends with the line that runs the best point" {
    cp "$hello" "it's mine.yaml"
    expect 0 "$ORRERY" study "it's mine.yaml" --set training.global_batch=32 --vary layout.microbatch=1,2,4 --vary layout.pp=1,2 --seed 3 --no-db --json
    line=$(json "json_extract(j, '$.optimum.run')")
    best=$(sql :memory: "select max(json_extract(value, '$.tokens_per_s.mean')) from json_each(readfile('out'), '$.points')")
    orrery() { "$ORRERY" "$@"; }
    expect 0 eval "$line --no-db --json"
    [ "$(json "abs(json_extract(j, '$.tokens_per_s') / $best - 1) < 1e-12 and json_extract(j, '$.seed') = 3")" = 1 ]
    expect 0 "$ORRERY" study "it's mine.yaml" --set training.global_batch=32 --vary layout.microbatch=1,2,4 --vary layout.pp=1,2 --seed 3 --no-db
    shows "to run it: $line"
}

@test "weeks show the step that they are made of" {
    scenario
    expect 0 "$ORRERY" study weeks.yaml --vary layout.microbatch=1,4 --seeds 2 --db both.db
    shows "MFU"
    shows "memory"
    expect 0 "$ORRERY" run weeks.yaml --set layout.microbatch=4 --no-db --json
    for key in mfu step_time_s tokens_per_s peak_reserved_bytes; do
        [ "$(sql both.db "select count(*) from study_result where metric = '$key' and point like '%=4' and value = json_extract(readfile('out'), '$.$key')")" = 2 ]
    done
}

@test "cost of steps: the GPUs of every node that is used, in studies as in runs" {
    price='--set cost.gpu_hour=3.6USD --set training.tokens=2T'
    # 4 ranks of 8 GPUs in a node: the node is paid for; 32 of 64 GPUs: four nodes
    for case in "$hello --set layout.dp=4:8:1024*64" "$long --set layout.dp=2:32:8192*256"; do
        IFS=: read -r scenario gpus tokens <<<"$case"
        expect 0 "$ORRERY" study $scenario $price --no-db --json
        step=$(json "json_extract(j, '$.points[0].step_time_s.mean')")
        [ "$(json "abs(json_extract(j, '$.points[0].cost_usd_per_step.mean') / ($gpus * 3.6 / 3600 * $step) - 1) < 1e-12")" = 1 ]
        [ "$(json "abs(json_extract(j, '$.points[0].cost_usd_per_1e9_tokens.mean') / ($gpus * 3.6 / 3600 * $step / ($tokens) * 1e9) - 1) < 1e-12")" = 1 ]
        [ "$(json "abs(json_extract(j, '$.points[0].cost_usd_for_budget.mean') / ($gpus * 3.6 / 3600 * $step * ((2000000000000 + ($tokens) - 1) / ($tokens))) - 1) < 1e-12")" = 1 ]
    done
    # no price, or no budget: nothing is told
    expect 0 "$ORRERY" study "$hello" --set cost.gpu_hour=0USD --vary layout.microbatch=1,2 --no-db --csv
    lacks "usd" out
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --no-db --csv
    grep -q "cost_usd_per_step" out
    lacks "budget" out
}

@test "published: RSC-1's effective training time, saved each hour and every 5 minutes" {
    expect 0 "$ORRERY" study "$SCENARIOS/weeks/rsc-1.yaml" --vary checkpoint.interval=60min,5min --seeds 400 --db rsc.db
    for row in "0 .720" "1 .934"; do # the end of the run costs nothing: a thousandth
        read -r point share <<<"$row"
        [ "$(sql rsc.db "select abs(mean - $share) < .0025 from study_summary where metric = 'ettr' and point = $point")" = 1 ]
    done
}

@test "wrong lines are refused with a remedy" {
    scenario
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval
    said "write KEY=a,b,c"
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.intervall=1min,2min
    said "did you mean"
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1,2
    said "has no unit"
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval=0s,1min
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min,2min --objective speed
    said "goodput"
    expect 2 "$ORRERY" study weeks.yaml --seeds many
    expect 2 "$ORRERY" study weeks.yaml --seeds 0
    said "above 0"
    expect 1 "$ORRERY" study nowhere.yaml
    said "nowhere.yaml: No such file or directory"
    expect 3 "$ORRERY" study weeks.yaml --vary seed=1,2
    said "how many with --seeds"
    expect 2 "$ORRERY" study weeks.yaml --csv --json
    expect 0 "$ORRERY" study weeks.yaml --seeds 1 --no-db
    lacks "95 %" out # no interval from one run
    expect 2 "$ORRERY" study weeks.yaml --confidence 2
    expect 2 "$ORRERY" study weeks.yaml --svg u.svg
    said "--vary"
    expect 2 "$ORRERY" study weeks.yaml --resume --no-db
    expect 0 "$ORRERY" study weeks.yaml --seeds 2 --resume
    said "nothing to resume"
    expect 1 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min,2min --seeds 2 --no-db --svg nowhere/u.svg
    said "nowhere/u.svg"
}

@test "a key that changes nothing in a whole study is warned of, one that does at some point is not" {
    local -a base=(study "$hello" --no-db --csv --set layout.tp=1 --set layout.pp=1 --set layout.dp=8)
    expect 0 "$ORRERY" "${base[@]}" --vary software.tp_exposed_host=0s,1us,1ms
    [ "$(grep -c "warning: .* has no effect" err)" = 1 ]
    grep -q "warning: software.tp_exposed_host has no effect with tp 1: it is about tensor-parallel ranks" err
    base=(study "$hello" --no-db --csv --set layout.dp=auto --set software.tp_exposed_host=1us)
    expect 0 "$ORRERY" "${base[@]}" --vary layout.tp=1,2 --set layout.pp=1
    lacks "has no effect" err
    expect 0 "$ORRERY" "${base[@]}" --vary layout.pp=1,2 --set layout.tp=1
    [ "$(grep -c "has no effect" err)" = 1 ]
}
