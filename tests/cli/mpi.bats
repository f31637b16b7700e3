# Ranks of a real mpirun on this machine: one result, as of one process.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    command -v mpirun >/dev/null || skip "mpirun is not installed: Debian's openmpi-bin has it"
    "$ORRERY" doctor | grep -q 'MPI  *.* v[0-9]' || skip "this build knows no MPI: Debian's libopenmpi-dev has it"
    hello="$SCENARIOS/hello-8-gpus.yaml"
    long="$SCENARIOS/llama3-70b-64xh100.yaml"
    cat "$hello" - >weeks.yaml <<'YAML'
run: {duration: 2d}
failures: [{cause: gpu, unit: gpu, law: exponential, mtbf: 2d}]
checkpoint: {policy: sync, interval: 10min, storage: disk, stall: 20s, load: 30s}
storage: [{name: disk, path: host, survival: domain, total_write_bandwidth: 10GB/s, total_read_bandwidth: 10GB/s}]
recovery: {policy: restart-in-place, restart: {detect: 1min, start: 2min}}
YAML
    unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX OMPI_COMM_WORLD_RANK
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_execute_quiet=1
    export ASAN_OPTIONS=detect_leaks=0 # MPI's own
    few=(study weeks.yaml --vary checkpoint.interval=5min,20min,1h --seeds 5)
    big=(study weeks.yaml --vary checkpoint.interval=1min..4h:log:40 --threads 1 --seeds 4000)
}

ranks() { # N WORD...: orrery WORD... in N ranks
    local n=$1
    shift
    timeout 60 mpirun -n "$n" "$ORRERY" "$@" 3>&- 4>&-
}

begin() { # the same, in the background; its ranks are the children of $job
    local n=$1
    shift
    mpirun -n "$n" "$ORRERY" "$@" >out 2>err 3>&- 4>&- &
    job=$!
}

ends() { # CODE: of $job
    local got=0
    wait "$job" || got=$?
    [ $got = "$1" ] || { echo "exit code $got, expected $1"; cat err; return 1; }
}

same_as_one() { # "N..." STUDY...: on standard output and as a database, by N ranks
    local want=0 counts=$1
    shift
    "$ORRERY" "$@" --db one.db >one 2>err || want=$?
    for n in $counts; do
        rm -f many.db
        expect $want ranks $n "$@" --db many.db
        cmp out one
        cmp many.db one.db
        [ -z "$(ls -- *rank*of* 2>/dev/null)" ]
    done
}

@test "mpirun study: 1, 2 and 4 ranks make the rows of one process, byte for byte" {
    same_as_one "1 2 4" study weeks.yaml --vary checkpoint.interval=1min..4h:log:13 --seeds 20 --csv
    same_as_one 2 study "$hello" --vary layout.microbatch=1,2 --seeds 7 --set perturbations.jitter=0.05
    same_as_one 2 study "$long" --vary layout.microbatch=4,2 # nothing fits: 4
}

@test "mpirun study: the first rank alone speaks; no database is left where none is asked for" {
    "$ORRERY" "${few[@]}" --json --no-db | jq 'del(.seconds)' >one
    expect 0 ranks 2 "${few[@]}" --json --no-db --svg u.svg
    jq 'del(.seconds)' out >many
    cmp many one
    [ -s u.svg ]
    [ -z "$(ls -- *.db* 2>/dev/null)" ]
    expect 0 ranks 2 "${few[@]}"
    [ "$(grep -c 'try: sqlite3' err)" = 1 ]
    [ "$(ls -- *.db)" = weeks.study.db ]
    expect 0 ranks 2 "${few[@]}" --resume
    said "is complete: no point is left to play"
}

@test "mpirun study: what is wrong is told once, with its exit code" {
    expect 3 ranks 3 study weeks.yaml --vary checkpoint.interval=soon
    [ "$(grep -c 'nothing was run' err)" = 1 ]
    expect 1 ranks 3 study nowhere.yaml
    [ "$(grep -c 'orrery study: ' err)" = 1 ]
    expect 2 ranks 2 "${few[@]}" --csv --json
    [ "$(grep -c 'not both' err)" = 1 ]
    expect 2 ranks 3 study weeks.yaml --sed 5
    [ "$(grep -c 'unknown option' err)" = 1 ]
    expect 2 ranks 2 study - </dev/null
    said "name its file"
}

@test "mpirun study: a rank that cannot go on ends all, and says which and why" {
    mkdir m.rank2of3.db.partial
    expect 1 ranks 3 "${big[@]}" --db m.db
    said "rank 1: orrery study: "
}

points() { # of a rank's database, finished or not
    local file=$1
    [ -e "$file" ] || file=$1.partial
    sql "file:$file?mode=ro" "select count(*) from study_point" 2>/dev/null || echo 0
}

further() { # POINTS: waits until the last of two ranks has stored more than these
    for _ in $(seq 200); do
        [ "$(points m.rank2of2.db)" -gt "$1" ] && return 0
        sleep 0.02
    done
    return 1
}

@test "mpirun study: killed or interrupted, the same line goes on and repeats nothing" {
    "$ORRERY" "${big[@]}" --db one.db >one 2>err
    begin 2 "${big[@]}" --db m.db
    further 0
    kill -9 "$(pgrep -P $job | tail -n 1)"
    ends 137
    [ ! -e m.db ]
    first=$(points m.rank2of2.db)
    begin 2 "${big[@]}" --db m.db
    further "$first"
    kill -INT "$(pgrep -P $job | tail -n 1)" # one rank: it ends the others
    ends 130
    now=$(points m.rank2of2.db)
    [ "$now" -ge "$first" ] # what was there stayed
    begin 2 "${big[@]}" --db m.db
    further "$now"
    kill -INT $job # mpirun, which answers with a code of its own
    ends 1
    expect 0 ranks 2 "${big[@]}" --db m.db
    cmp out one
    cmp m.db one.db
    [ -z "$(ls -- *rank*of* 2>/dev/null)" ]
}

@test "mpirun study: what another study left does not stand in the way" {
    touch m.rank1of2.db
    expect 0 "$ORRERY" study weeks.yaml --seeds 3 --shard 1/2 --db m.rank2of2.db
    mv m.rank2of2.db m.rank1of2.db
    expect 0 ranks 2 "${few[@]}" --db m.db
    "$ORRERY" "${few[@]}" --db one.db >one 2>err
    cmp m.db one.db
    cmp out one
}

@test "mpirun plan: 1, 2 and 4 ranks print and write what one process does" {
    line=(plan --model llama2-7b --gpu a100-80gb-sxm --gpus 16 --sequence 4096 --global-batch 64 --why tp=8)
    same_as_one "1 2 4" "${line[@]}"
    same_as_one 2 plan --model llama3-70b --gpu a100-40gb-sxm --gpus 8 --global-batch 8 # nothing fits: 4
    "$ORRERY" "${line[@]}" --json | jq 'del(.seconds)' >one
    expect 0 ranks 2 "${line[@]}" --json
    jq 'del(.seconds)' out | cmp - one
    [ -z "$(ls -- *plan*.db* 2>/dev/null)" ]
    expect 3 ranks 2 plan --model llama9-7b --gpu h100-80gb-sxm
    [ "$(grep -c 'nothing was run' err)" = 1 ]
    expect 2 ranks 2 plan
    [ "$(grep -c 'it takes a scenario' err)" = 1 ]
}

@test "mpirun plan: interrupted, the same line goes on" {
    line=(plan --model llama3-70b --gpu h100-80gb-sxm --gpus 256 --global-batch 1024 --threads 1)
    "$ORRERY" "${line[@]}" --db one.db >one 2>err
    begin 2 "${line[@]}" --db m.db
    for _ in $(seq 200); do
        [ -s m.rank2of2.db.partial ] && break
        sleep 0.02
    done
    kill -9 "$(pgrep -P $job | tail -n 1)"
    ends 137
    [ ! -e m.db ]
    expect 0 ranks 2 "${line[@]}" --db m.db
    cmp out one
    cmp m.db one.db
    [ -z "$(ls -- *rank*of* 2>/dev/null)" ]
}

@test "a build without MPI says so; the program alone links it" {
    ldd "$ORRERY" | grep -q libmpi
    if ls "${ORRERY%/analysis/orrery}"/tests/sim/test_* >/dev/null 2>&1; then
        for test in "${ORRERY%/analysis/orrery}"/tests/analysis/study/test_study "${ORRERY%/analysis/orrery}"/tests/sim/test_arena; do
            [ -x "$test" ] || continue
            ! ldd "$test" | grep -q libmpi || false
        done
    fi
}
