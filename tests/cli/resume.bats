# Studies that are stopped, watched, and gone on with: nothing that was done is lost.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    cat "$hello" - >weeks.yaml <<'YAML'
run: {duration: 2d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: disk, stall: 20s, load: 30s}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: restart-in-place, restart: {detect: 1min, start: 2min}}
YAML
    study=(study weeks.yaml --vary checkpoint.interval=1min..4h:log:40 --threads 1)
}

tables() { # every row of a study, in the order in which it stands there
    for table in meta string study study_point study_value study_raw study_summary; do
        sql "$1" "select * from $table"
    done
}

complete() { sql "$1" "select value from meta where key = 'complete'"; }

@test "killed at 100 moments and resumed blindly: row for row, and byte for byte, the same" {
    "$ORRERY" "${study[@]}" --seeds 40 --db whole.db --csv >whole.csv 2>err
    tables whole.db >whole
    rounds=0 kills=0 ends=0
    while [ "$rounds" -lt 100 ]; do
        rounds=$((rounds + 1))
        "$ORRERY" "${study[@]}" --seeds 40 --db a.db --resume --csv >a.csv 2>err &
        pid=$!
        sleep "0.0$((RANDOM % 30 + 10))"
        kill -9 "$pid" 2>/dev/null || true
        got=0
        wait "$pid" 2>/dev/null || got=$?
        case $got in
        0)
            ends=$((ends + 1))
            [ "$(complete a.db)" = 1 ]
            cmp a.csv whole.csv
            cmp a.db whole.db
            rm -f a.db
            ;;
        137) kills=$((kills + 1)) ;;
        *)
            echo "exit code $got"
            cat err
            return 1
            ;;
        esac
    done
    expect 0 "$ORRERY" "${study[@]}" --seeds 40 --db a.db --resume --csv
    cmp out whole.csv
    tables a.db | diff - whole
    cmp a.db whole.db
    [ "$(echo a.db*)" = a.db ]
    [ "$kills" -ge 20 ]
}

# A commit in a rollback journal that nobody ended, as writers of earlier versions left it.
@test "a hot journal is rolled back, by readers and by --resume" {
    "$ORRERY" run "$hello" --set training.global_batch=512 --detail kernel --db a.db >out 2>err
    before=$(sql a.db "select count(*) from slice_raw")
    cp a.db b.db.partial
    sql b.db.partial "pragma cache_size = 10; begin; update slice_raw set dur = dur + 1" \
        ".shell cp b.db.partial c.db.partial; cp b.db.partial-journal c.db.partial-journal" >out
    [ "$(sql b.db.partial "select sum(dur) from slice_raw")" = "$(sql a.db "select sum(dur) from slice_raw")" ]
    run cmp -s c.db.partial a.db # pages of the commit are in the file
    [ "$status" -eq 1 ]
    [ -s c.db.partial-journal ]
    expect 0 "$ORRERY" export c.db.partial --format csv --table slice_raw
    [ "$(($(wc -l <out) - 1))" = "$before" ]
    [ ! -s c.db.partial-journal ]
    "$ORRERY" export a.db --format csv --table slice_raw | cmp - out
}

@test "a study that runs can be read, and says so to a second one; the second waits for nobody" {
    study=(study weeks.yaml --vary checkpoint.interval=1min..4h:log:400 --threads 1) # is not done before it is stopped
    "$ORRERY" "${study[@]}" --seeds 4000 --db a.db >out 2>running &
    pid=$!
    until [ "$(sql a.db.partial "select count(*) from study_point" 2>/dev/null || echo 0)" -ge 1 ]; do
        [ -d "/proc/$pid" ]
    done
    last=0
    for _ in $(seq 40); do # every answer has rows, and none is "database is locked"
        now=$(sql a.db.partial "select count(*) from study_point")
        [ "$now" -ge "$last" ]
        last=$now
    done
    expect 0 "$ORRERY" export a.db.partial --format csv --table study_curve
    [ "$(wc -l <out)" -ge 2 ]
    for again in --resume --csv; do
        expect 1 timeout 10 "$ORRERY" "${study[@]}" --seeds 4000 --db a.db $again
        said "a.db.partial is being written by another orrery, process $pid:"
        said "Ctrl-C keeps what it has done"
    done
    kill -TERM "$pid"
    got=0
    wait "$pid" || got=$?
    [ "$got" -eq 130 ]
    [ "$(sql a.db.partial "select count(*) from study_point")" -ge "$last" ]
}

@test "a reader that stays does not hold the study up, nor sees it break" {
    "$ORRERY" "${study[@]}" --seeds 300 --db whole.db >out 2>err
    "$ORRERY" "${study[@]}" --seeds 300 --db a.db >out 2>err &
    pid=$!
    until [ "$(sql a.db.partial "select count(*) from study_point" 2>/dev/null || echo 0)" -ge 1 ]; do
        [ -d "/proc/$pid" ]
    done
    mkfifo questions
    sqlite3 a.db.partial <questions >answers 2>&1 &
    reader=$!
    exec 7>questions
    echo "begin; select count(*) > 0 from study_point;" >&7
    got=0
    wait "$pid" || got=$?
    echo "select count(*) > 0 from study_point;" >&7
    exec 7>&-
    wait "$reader"
    [ "$got" -eq 0 ]
    [ "$(tr '\n' ' ' <answers)" = "1 1 " ]
    cmp a.db whole.db
    [ "$(echo a.db*)" = a.db ]
}

@test "--resume of what is complete plays nothing; with more seeds it goes on; others are refused" {
    "$ORRERY" "${study[@]}" --seeds 10 --db a.db --csv >few 2>err
    cp a.db before
    expect 0 "$ORRERY" "${study[@]}" --seeds 10 --db a.db --csv --resume
    said "a.db is complete: no point is left to play"
    cmp out few
    cmp a.db before
    expect 0 "$ORRERY" "${study[@]}" --seeds 30 --db a.db --csv --resume
    mv out resumed
    said "replaced a.db, which held a study of 'GPT-2 on 8 H100'"
    lacks "nothing to resume" err
    expect 0 "$ORRERY" "${study[@]}" --seeds 30 --db b.db --csv
    cmp out resumed
    tables a.db >a
    tables b.db | diff - a
    expect 3 "$ORRERY" "${study[@]}" --seeds 30 --db a.db --set cluster.nodes=1 --resume
    said "another study"
    cmp a.db b.db
}

@test "an unfinished study with more seeds: its points are played further, once" {
    got=0
    (ulimit -f 1200; exec "$ORRERY" "${study[@]}" --seeds 10 --db a.db >out 2>err) || got=$?
    [ "$got" -eq 1 ] # the disk was full
    said "a.db.partial"
    [ ! -e a.db ]
    [ "$(complete a.db.partial)" = 0 ]
    kept=$(sql a.db.partial "select count(*) from study_point")
    [ "$kept" -ge 1 ] && [ "$kept" -lt 40 ]
    expect 0 "$ORRERY" "${study[@]}" --seeds 20 --db a.db --resume --csv
    mv out resumed
    expect 0 "$ORRERY" "${study[@]}" --seeds 20 --db b.db --csv
    cmp out resumed
    for table in study study_point study_value study_summary "study_result order by 1, 2, 3, 4"; do
        sql a.db "select * from $table" >a
        sql b.db "select * from $table" | diff - a
    done
}

@test "points that break a rule, and those that do not fit, are stored once" {
    refused=(study "$SCENARIOS/llama3-70b-64xh100.yaml" --vary layout.tp=3,8,5
        --vary layout.pp=1,2 --db)
    "$ORRERY" "${refused[@]}" w.db >whole 2>err
    [ "$(sql w.db "select count(*) from study_refused")" -ge 2 ]
    (ulimit -f 300; exec "$ORRERY" "${refused[@]}" a.db >out 2>err) || true
    expect 0 "$ORRERY" "${refused[@]}" a.db --resume
    cmp a.db w.db
    expect 0 "$ORRERY" "${refused[@]}" a.db --resume
    said "a.db is complete"
    head -n 8 whole >a
    head -n 8 out | cmp - a
}

@test "an unfinished study that is begun anew, and results that are replaced, are named" {
    (ulimit -f 1200; exec "$ORRERY" "${study[@]}" --seeds 10 --db a.db >out 2>err) || true
    kept=$(sql a.db.partial "select count(*) from study_point")
    expect 0 "$ORRERY" "${study[@]}" --seeds 2 --db a.db
    said "a.db.partial held $kept points of an unfinished study"
    expect 0 "$ORRERY" run "$hello" --db a.db
    said "replaced a.db, which held a study of 'GPT-2 on 8 H100'"
    expect 0 "$ORRERY" run "$SCENARIOS/step/fsdp-7b.yaml" --db a.db
    said "replaced a.db, which held a run of 'GPT-2 on 8 H100'"
    expect 0 "$ORRERY" run "$hello" --db new.db
    lacks replaced err
}

@test "a plan killed at any moment, however early, goes on with --resume" {
    plan=(plan --model llama3-8b --gpu h100-80gb-sxm --gpus 8 --json)
    "$ORRERY" "${plan[@]}" 2>err | jq 'del(.seconds)' >whole
    for delay in .01 .02 .03 .04 .05 .07 .09 .12; do
        rm -f p.db*
        "$ORRERY" "${plan[@]}" --db p.db >out 2>err 3>&- &
        pid=$!
        sleep "$delay"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" || true # gone, and its lock with it
        expect 0 "$ORRERY" "${plan[@]}" --db p.db --resume
        jq 'del(.seconds)' out | cmp - whole
    done
    # What a writer leaves before its first commit, after the journal's mode, after the schema alone.
    rm -f p.db*
    : >p.db.partial
    expect 0 "$ORRERY" "${plan[@]}" --db p.db --resume
    said "p.db.partial: nothing to resume; the search begins at its start"
    cp p.db begun.db
    rm -f p.db*
    sqlite3 p.db.partial 'pragma page_size = 8192; pragma journal_mode = wal; vacuum' >out
    expect 0 "$ORRERY" "${plan[@]}" --db p.db --resume
    said "nothing to resume"
    jq 'del(.seconds)' out | cmp - whole
    for table in $(sqlite3 begun.db "select name from sqlite_schema where type = 'table' and name not in ('doc', 'meta')"); do
        sqlite3 begun.db "delete from $table"
    done
    sqlite3 begun.db "delete from meta where key <> 'complete'; update meta set value = '0'"
    rm -f p.db*
    cp begun.db p.db.partial
    expect 0 "$ORRERY" "${plan[@]}" --db p.db --resume
    said "nothing to resume"
    jq 'del(.seconds)' out | cmp - whole
    # What somebody else keeps under that name is not emptied.
    rm -f p.db*
    sqlite3 p.db.partial 'create table t (x); insert into t values (1)'
    expect 3 "$ORRERY" "${plan[@]}" --db p.db --resume
    [ "$(sqlite3 p.db.partial 'select x from t')" = 1 ]
}
