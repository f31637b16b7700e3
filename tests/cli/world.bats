# The world outside: closed and full outputs, limits, signals, files in the way.
load helper

@test "closed stdout and a full device: exit 1, and the database is still good" {
    got=0
    "$ORRERY" run "$hello" --db a.db >&- 2>err || got=$?
    [ "$got" -eq 1 ]
    said "standard output"
    [ "$(sql a.db "pragma integrity_check")" = ok ]
    got=0
    "$ORRERY" list >/dev/full 2>err || got=$?
    [ "$got" -eq 1 ]
    said "standard output"
}

@test "a reader that leaves: exit 0, no signal, no noise" {
    "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --db a.db >out 2>err
    { code=0; "$ORRERY" export a.db 2>err || code=$?; echo $code >code; } | head -c 10 >head
    [ "$(cat code)" = 0 ]
    [ ! -s err ]
}

@test "closed stdin, stdout and stderr at once: no file is damaged" {
    got=0
    "$ORRERY" run "$hello" --db a.db <&- >&- 2>&- || got=$?
    [ "$got" -eq 1 ]
    [ "$(sql a.db "pragma integrity_check")" = ok ]
}

@test "a file that is no database is not replaced" {
    echo thesis >hello-8-gpus.db
    expect 1 "$ORRERY" run "$hello"
    said "not replaced"
    [ "$(cat hello-8-gpus.db)" = thesis ]
    [ ! -s out ] # told before the simulation
}

@test "an older database of ours is replaced only by a complete one" {
    "$ORRERY" run "$hello" --db a.db >out 2>err
    before=$(sql a.db "select digest from run")
    expect 5 "$ORRERY" run "$long" --db a.db --max-db 1MiB
    said "--max-db"
    [ "$(sql a.db "select digest from run")" = "$before" ]
    [ "$(sql a.db.partial "select value from meta where key = 'complete'")" = 0 ]
    expect 0 "$ORRERY" export a.db.partial --format csv --table meta
    said "incomplete"
}

@test "a full disk: exit 1, no file under the final name, the partial one opens" {
    got=0
    (ulimit -f 1024; exec "$ORRERY" run "$long" --db a.db >out 2>err) || got=$?
    [ "$got" -eq 1 ]
    [ ! -e a.db ]
    [ "$(sql a.db.partial "pragma integrity_check")" = ok ]
    [ "$(sql a.db.partial "select value from meta where key = 'complete'")" = 0 ]
    expect 0 "$ORRERY" run "$hello" --db a.db # and with room again all is well
    [ ! -e a.db.partial ]
}

@test "a folder that cannot be written" {
    expect 1 "$ORRERY" run "$hello" --db /proc/a.db
    said "/proc/a.db"
    [ ! -s out ]
}

@test "kill -9 at any moment: never a half file under the final name" {
    for delay in 0.1 0.2 0.4 0.8 1.6; do
        rm -f a.db*
        "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --detail kernel --db a.db >out 2>err &
        pid=$!
        sleep "$delay"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        if [ -e a.db ]; then
            [ "$(sql a.db "select value from meta where key = 'complete'")" = 1 ]
        fi
        if [ -s a.db.partial ] && sql a.db.partial "select 1 from meta" >/dev/null 2>&1; then
            # killed between commit and rename it is complete; hostile.bats looks closer
            [ "$(sql a.db.partial "pragma integrity_check")" = ok ]
        fi
    done
}

@test "stopped while it writes: the unfinished file opens and says so" {
    "$ORRERY" run "$SCENARIOS/llama3-70b-64xh100.yaml" --detail flow --db a.db >out 2>err &
    pid=$!
    for _ in $(seq 1000); do
        [ -s a.db.partial ] && break
        sleep 0.01
    done
    kill -TERM "$pid" # bash starts background jobs with SIGINT ignored; SIGTERM takes the same path
    got=0
    wait "$pid" || got=$?
    [ "$got" -eq 143 ]
    [ ! -e a.db ]
    [ "$(sql a.db.partial "select value from meta where key = 'complete'")" = 0 ]
    [ "$(sql a.db.partial "pragma integrity_check")" = ok ]
    said "interrupted: a.db.partial opens, and says that it is incomplete"
    expect 0 "$ORRERY" run "$hello" --db a.db
    [ ! -e a.db.partial ]
}

@test "Ctrl-C: exit 130" {
    got=0
    timeout --foreground --preserve-status -s INT 0.3 \
        "$ORRERY" run "$SCENARIOS/llama3-405b-16384xh100.yaml" --unfold --no-db >out 2>err || got=$?
    [ "$got" -eq 130 ]
    said "interrupted"
}

@test "a pipe as output file is written as it stands, and stays a pipe" {
    "$ORRERY" run "$hello" --db a.db >out 2>err
    mkfifo pipe
    cat pipe >through &
    expect 0 "$ORRERY" export a.db --format csv --table breakdown --output pipe
    wait
    [ -p pipe ]
    "$ORRERY" export a.db --format csv --table breakdown >direct
    cmp through direct
    [ ! -e pipe.partial ]
}
