# A host with little memory: an answer, or exit code 1 with a sentence; no signal, no talk of bugs.
load helper

# answers_or_says KIB COMMAND...
answers_or_says() {
    local kib=$1 got=0
    shift
    (ulimit -v "$kib"; exec "$ORRERY" "$@" >out 2>err) || got=$?
    if [ "$got" -eq 1 ] && grep -qE "out of memory|asked for and refused|cannot wait for signals" err; then
        refused=$((refused + 1))
    elif [ "$got" -eq 0 ]; then
        answered=$((answered + 1))
    else
        echo "exit code $got with $kib KiB: $*"
        cat err
        return 1
    fi
    lacks "bug of Orrery" err
}

@test "every command at many limits of memory: answered or refused, never a signal" {
    (ulimit -v 200000; "$ORRERY" --version) >out 2>&1 || skip "this build needs more to start"
    "$ORRERY" run "$hello" --db good.db >out 2>err
    refused=0 answered=0
    for kib in $(seq 10000 2000 28000) 40000 60000 200000; do
        (ulimit -v "$kib"; "$ORRERY" schema) >out 2>&1 || [ "$?" -ne 127 ] || continue # no libraries
        answers_or_says "$kib" run "$long" --db a.db
        answers_or_says "$kib" run "$hello" --no-db --json --uncertainty 2
        answers_or_says "$kib" study "$SCENARIOS/weeks/rsc-1.yaml" --seeds 3 --db s.db
        answers_or_says "$kib" check "$hello" --json
        answers_or_says "$kib" export good.db
        answers_or_says "$kib" collective --gpus 64
    done
    [ "$refused" -ge 6 ]
    [ "$answered" -ge 12 ]
}

@test "the size that was asked for is told" {
    (ulimit -v 200000; "$ORRERY" --version) >out 2>&1 || skip "this build needs more to start"
    got=0
    (ulimit -v 40000; exec "$ORRERY" run "$SCENARIOS/llama3-405b-16384xh100.yaml" --no-db \
        --unfold >out 2>err) || got=$?
    [ "$got" -eq 1 ]
    grep -qE 'out of memory: ([0-9]+ MiB|[0-9]{1,7} bytes) were asked for and refused' err
}

@test "check says it, too, where a run would not fit" {
    expect 4 "$ORRERY" run "$SCENARIOS/memory/memory-13b-1gpu.yaml" --no-db
    expect 4 "$ORRERY" check "$SCENARIOS/memory/memory-13b-1gpu.yaml"
    shows "no errors, 0 warnings, but it does not fit in memory: 'orrery memory' says what fills it"
    expect 4 "$ORRERY" check "$SCENARIOS/memory/memory-13b-1gpu.yaml" --json
    jq -e '.valid and .fits == false' out
    expect 0 "$ORRERY" check "$hello" --json
    jq -e '.valid and .fits' out
}
