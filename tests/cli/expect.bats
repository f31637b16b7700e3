# `expect:` of a scenario. The bounds are written from the JSON document of the same run (expect_bounds.py).
load helper

# with YAML: that scenario with these lines behind it, as mine.yaml.
with() { { cat "$of"; printf '%s\n' "$@"; } >mine.yaml; }
# bounds SIGN PRECISION [SHIFT]: mine.yaml with such bounds on all numbers; how many they are in $count.
bounds() {
    { cat "$of"; python3 "$BATS_TEST_DIRNAME/expect_bounds.py" document.json "$@" 2>count; } >mine.yaml
    count=$(cat count)
}
hold() { expect 0 "$ORRERY" run mine.yaml --no-db || { cat err; return 1; }; lacks 'error:' err; }
# fail [NUMBER]: so many of the bounds do not hold (all), and each is told.
fail() {
    expect 6 "$ORRERY" run mine.yaml --no-db
    told=$(grep -c 'error: expect\.' err)
    more=$(sed -n 's/^and \([0-9]*\) more that do not hold$/\1/p' err)
    [ $((told + ${more:-0})) -eq "${1:-$count}" ] || { cat mine.yaml err; return 1; }
}

@test "each number holds as at least and at most what the document and the report have, and as neither above nor below what it is" {
    long_one
    for of in "$long" "$SCENARIOS/weeks/async-vs-sync.yaml"; do
        expect 0 "$ORRERY" run "$of" --no-db --json
        cp out document.json
        for precision in full printed; do
            for sign in '>=' '<=' '='; do bounds "$sign" $precision; hold; done
            [ $precision = printed ] || for sign in '>' '<'; do bounds "$sign" full; fail; done
            # One in the last place decides.
            bounds '>=' $precision 1; fail
            bounds '<=' $precision -1; fail
            bounds '=' $precision 1; fail
            bounds '>' $precision 1; fail
            bounds '<' $precision -1; fail
            bounds '>' $precision -1; hold
            bounds '<' $precision 1; hold
        done
        [ "$count" -ge 17 ]
    done
}

@test "a bound of one or two digits is compared exactly, one of three as it is written, and < and > always exactly" {
    of=$hello # a step of 74.208 ms
    with 'expect: {step_time: "> 74ms, < 75ms"}'; hold
    with 'expect: {step_time: "<= 74ms"}'; fail 1
    with 'expect: {step_time: ">= 75ms"}'; fail 1
    with 'expect: {step_time: 74.2ms}'; hold
    with 'expect: {step_time: "<= 74.20 ms"}'; fail 1
    with 'expect: {step_time: "<= 0.0742s"}'; hold
    with 'expect: {step_time: "<= 74.0ms"}'; fail 1
    # A strict bound is a limit: what the number is decides, not what is printed of it.
    with 'expect: {step_time: "< 74.21ms"}'; hold
    with 'expect: {step_time: "> 74.20ms, < 74.3ms"}'; hold
    with 'expect: {step_time: "> 74.21ms"}'; fail 1
    with 'expect: {step_time: "< 74.2ms"}'; fail 1
    with 'expect: {rank_count: ">= 8.00", class_count: 1}'; hold
    with 'expect: {rank_count: "> 8"}'; fail 1
    # A count of four digits or more, against its first three.
    more=(run "$hello" --no-db --set training.global_batch=640)
    ops=$("$ORRERY" "${more[@]}" --json 2>/dev/null | jq .op_count)
    [ "$ops" -gt 1000 ] && [ $((ops % 10)) -ne 0 ]
    expect 0 "$ORRERY" "${more[@]}" --set "expect.op_count=\"= $ops\""
    expect 6 "$ORRERY" "${more[@]}" --set "expect.op_count=\"<= $(printf '%.2e' $((ops - ops % 10**(${#ops} - 3))))\""
    said "but it is $ops"
    # The first bound that does not hold is told, with what is.
    with 'expect: {step_time_s: "<= 1s, <= 73ms, <= 2ms"}'; fail 1
    said 'mine.yaml:10:23: error: expect.step_time_s: expected <= 73ms, but it is 74.2084ms'
    grep -A2 'error: expect' err | tail -1 | grep -q '^      |                       ^~~~~~~~~~~~~~~~~~~~~~~~$'
    with 'expect: {mfu: ">= 95.00001%"}'; fail 1
    said "but it is 0.0954147"
}

@test "flags and words are themselves" {
    of=$hello
    with 'expect: {fits: true, announced: false, scenario: GPT-2 on 8 H100}'; hold
    with 'expect: {fits: false, announced: true, scenario: hello}'; fail 3
    said 'expect.fits: expected false, but it is true'
    said "expect.scenario: expected hello, but it is 'GPT-2 on 8 H100'"
}

@test "what does not fit: exit code 4, unless fits is among what is expected or something does not hold" {
    of=$SCENARIOS/memory/memory-wall-70b-1gpu.yaml
    with 'expect: {fits: false}'; hold
    with 'expect: {fits: true}'; fail 1
    with 'expect: {fits: false, mfu: "> 1%"}'; fail 1
    said 'expect.mfu: expected > 1%, but there is none: memory runs out before a step is timed'
    with 'expect: {mfu: "> 1%"}'; fail 1
    said 'expect.mfu: expected > 1%, but there is none'
    with 'expect: {scenario: another}'; fail 1
    with 'expect: {rank_count: ">= 1"}'
    expect 4 "$ORRERY" run mine.yaml --no-db
    lacks 'error: expect' err
    with 'expect: {}'
    expect 4 "$ORRERY" run mine.yaml --no-db
}

@test "wrong names and bounds are refused in place, before anything is run" {
    of=$hello
    while IFS='|' read -r column yaml words; do
        with "expect: {$yaml}"
        for command in check "run --no-db"; do
            # shellcheck disable=SC2086
            expect 3 "$ORRERY" $command mine.yaml
            said "mine.yaml:10:$column: error: expect.$words"
        done
    done <<'ROWS'
10|mfuu: "> 4%"|mfuu: no result has this name; did you mean 'mfu'?
10|MFU: "> 4%"|MFU: no result has this name; did you mean 'mfu'?
10|step: 3s|step: no result has this name; did you mean
10|tp: 3|tp: no result has this name; known
10|no_key: 3|no_key: no result has this name; known
10|goodput: "> 4%"|goodput: is of weeks, which a scenario has with `run:`
21|step_time: "> 4"|step_time: '4' has no unit; write one of ns, us
21|step_time: "> 4GB"|step_time: '4GB' has no known unit
15|mfu: "> 4s"|mfu: '4s' is a plain number with something behind it; only %
24|tokens_per_s: "> 9 MJ"|tokens_per_s: '9 MJ' is not a plain number; it is in tokens/s
24|tokens_per_s: "> 9%"|tokens_per_s: '9%' is not a count
22|rank_count: "> 4.5"|rank_count: '4.5' is not a whole number
16|fits: yes|fits: 'yes' is neither true nor false
16|fits: ">= true"|fits: this has no order
20|scenario: "> x"|scenario: this has no order
15|mfu: "=> 4%"|mfu: '> 4%' is not a number
15|mfu: "> 4%, "|mfu: a comma stands between two bounds, and the last is missing
15|mfu: ", > 4%"|mfu: '' is not a number
10|mfu: ["> 4%"]|mfu: expected a value or a bound
10|mfu: |mfu: expected a value or a bound
25|step_time: 3s, step_time_s: 4s|step_time_s: says 'step_time' a second time
ROWS
}

@test "nothing else of the document changes, and --set takes bounds" {
    expect 0 "$ORRERY" run "$hello" --no-db --json
    cp out plain
    expect 6 "$ORRERY" run "$hello" --no-db --json --set 'expect.mfu=">= 90%"'
    diff <(jq -S . plain) <(jq -S "del(.expectations)" out)
    said '--set:1:12: error: expect.mfu: expected >= 90%, but it is 9.54147%'
    expect 0 "$ORRERY" run "$hello" --no-db --set 'expect={mfu: "< 90%", step_time: "< 1s"}'
    expect 6 "$ORRERY" run "$hello" --db kept.db --set 'expect.mfu=">= 90%"'
    [ "$(sql kept.db 'select count(*) from run')" -eq 1 ]
    expect 5 "$ORRERY" run "$hello" --db small.db --max-db 10k --set 'expect.mfu=">= 90%"'
    # Other commands read the scenario, and leave the bounds alone.
    of=$hello
    with 'expect: {mfu: ">= 90%"}'
    expect 0 "$ORRERY" check mine.yaml
    expect 0 "$ORRERY" memory mine.yaml
}

@test "the document has each name, its bounds as written, whether they hold and what is" {
    of=$hello
    with 'expect: {fits: true, step_time: "> 74ms, < 75ms", mfu: ">= 40%", scenario: hello, goodput: 1}'
    expect 3 "$ORRERY" run mine.yaml --no-db --json # goodput is of weeks
    with 'expect: {fits: true, step_time: "> 74ms, < 75ms", mfu: "> 1%, >= 40%", scenario: hello, tokens_per_s: "> 1M"}'
    expect 6 "$ORRERY" run mine.yaml --no-db --json
    jq -e '[.expectations[] | [.key, .holds]] == [["fits", true], ["step_time", true], ["mfu", false],
        ["scenario", false], ["tokens_per_s", false]]' out
    jq -e '.expectations[1].expected == "> 74ms, < 75ms" and .expectations[2].expected == "> 1%, >= 40%"' out
    jq -e '[.expectations[].is] == [.fits, .step_time_s, .mfu, .scenario, .tokens_per_s]' out
    # As many do not hold as are told, and a scenario that expects nothing has no such key.
    [ "$(grep -c 'error: expect' err)" -eq "$(jq '[.expectations[] | select(.holds | not)] | length' out)" ]
    with 'expect: {}'
    expect 0 "$ORRERY" run mine.yaml --no-db --json
    jq -e '.expectations == []' out
    expect 0 "$ORRERY" run "$hello" --no-db --json
    jq -e 'has("expectations") | not' out
    # What was not timed is null, and holds nothing.
    of=$SCENARIOS/memory/memory-13b-1gpu.yaml
    with 'expect: {fits: false, mfu: "> 1%"}'
    expect 6 "$ORRERY" run mine.yaml --no-db --json
    jq -e '.expectations == [{key: "fits", expected: "false", holds: true, is: false},
        {key: "mfu", expected: "> 1%", holds: false, is: null}]' out
}

@test "hostile names and bounds: bounded, clean, no crash" {
    of=$hello
    long_word=$(printf 'x%.0s' $(seq 5000))
    with "expect: {$long_word: 1}"
    expect 3 "$ORRERY" check mine.yaml
    with "expect: {mfu: \"> $long_word\", step_time: \"$(printf '1%.0s' $(seq 300))s\"}"
    expect 3 "$ORRERY" check mine.yaml
    with 'expect: {"\e[31m": 1, mfu: "> \e[31m"}'
    expect 3 "$ORRERY" check mine.yaml
    lacks "$(printf '\033')" err
    with 'expect: {mfu: "> 1e999%"}'
    expect 3 "$ORRERY" check mine.yaml
    with 'expect: {mfu: ">= 0.00e-300, <= 1e300, > -4.00%", model_flops_per_step: "> 0.000"}'; hold
    with "expect: {mfu: \"$(printf '> 1%%,%.0s' $(seq 500)) > 2%\"}"; hold
    { cat "$hello"; echo expect:; for i in $(seq 60); do echo "  name_$i: 1"; done; } >mine.yaml
    expect 3 "$ORRERY" check mine.yaml
    [ "$(grep -c 'error: expect' err)" -le 20 ]
}
