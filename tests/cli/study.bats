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
    shows "optimum between points"
    shows "Young"
    grep -q "exact" u.svg
    [ "$(sql weeks.study.db "select count(*) from study_point")" = 13 ]
    [ "$(sql weeks.study.db "select count(*) from study_result where metric = 'goodput'")" = 780 ]
    [ "$(sql weeks.study.db "select value from meta where key = 'complete'")" = 1 ]
    # badput tiles the wall clock in every replication
    [ "$(sql weeks.study.db "select count(*) from (select point, seed, sum(case when metric = 'wall_s' then -value else value end) as off from study_result where metric in ('wall_s', 'useful_s', 'checkpoint_s', 'lost_work_s', 'detect_s', 'restart_s', 'wait_s', 'degraded_s', 'maintenance_s', 'idle_s') group by point, seed) where abs(off) > 604800e-9")" = 0 ]
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
    "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:60 --seeds 2000 --threads 2 --db i.db >out 2>err &
    pid=$!
    # A third thread, beside those of the program and its signals, is the first point on its way.
    until [ "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -gt 2 ]; do
        [ -d /proc/$pid ]
    done
    kill -TERM $pid
    got=0
    wait $pid || got=$?
    [ "$got" -eq 130 ]
    said "--vary checkpoint.interval=1min..4h:log:60 --seeds 2000 --db i.db --resume"
    [ ! -e i.db ]
    [ "$(sql i.db.partial "select value from meta where key = 'complete'")" = 0 ]
    done_before=$(sql i.db.partial "select count(*) from study_point")
    [ "$done_before" -ge 1 ]
    [ "$done_before" -lt 60 ]
    expect 3 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..3h:log:60 --seeds 2000 --db i.db --resume
    said "another study"
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:60 --seeds 2000 --db i.db --resume --csv
    mv out resumed
    expect 0 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min..4h:log:60 --seeds 2000 --no-db --csv
    cmp out resumed
}

@test "a study of single steps: no seeds, layouts side by side" {
    expect 0 "$ORRERY" study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.pp=2,4 --vary layout.microbatch=1,2 --no-db
    shows "tokens_per_s"
    shows "layout.pp, layout.microbatch"
    shows "does not fit in memory"
    [ "$(grep -c ' 1  ' out)" -ge 3 ]
    ! grep -q "closed forms" out
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

@test "published: RSC-1's effective training time, saved each hour and each 5 minutes" {
    expect 0 "$ORRERY" study "$SCENARIOS/rsc-1.yaml" --vary checkpoint.interval=60min,5min --seeds 400 --db rsc.db
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
    grep -qE " % +- " out # no interval from one run
    expect 2 "$ORRERY" study weeks.yaml --confidence 2
    expect 2 "$ORRERY" study weeks.yaml --svg u.svg
    said "--vary"
    expect 2 "$ORRERY" study weeks.yaml --resume --no-db
    expect 3 "$ORRERY" study weeks.yaml --resume
    expect 1 "$ORRERY" study weeks.yaml --vary checkpoint.interval=1min,2min --seeds 2 --no-db --svg nowhere/u.svg
    said "nowhere/u.svg"
}
