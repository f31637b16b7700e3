load helper

# on_terminal COLUMNS COMMAND: what it prints on a terminal so wide.
on_terminal() {
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no terminal can be made here"
    local columns=$1
    shift
    env -u COLUMNS NO_COLOR=1 script -qec "stty cols $columns; $*" /dev/null </dev/null |
        tr -d '\r' >shown
}

between() { # LEAST MOST FILE
    local widest
    widest=$(awk 'length($0) > most {most = length($0)} END {print most + 0}' "$3")
    [ "$widest" -ge "$1" ] || { echo "$widest columns, below $1"; return 1; }
    [ "$widest" -le "$2" ] || { echo "$widest columns, above $2"; return 1; }
}

@test "help and lists are as wide as the terminal, and 96 columns elsewhere" {
    on_terminal 60 "$ORRERY" list gpus h100-80gb-sxm
    sed -n '/^Sources/,$p' shown >sources
    between 50 60 sources
    on_terminal 140 "$ORRERY" list gpus h100-80gb-sxm
    sed -n '/^Sources/,$p' shown >sources
    between 120 140 sources
    on_terminal 140 env COLUMNS=70 "$ORRERY" run --help
    sed -n '/^  --/,/^$/p' shown >options
    between 60 70 options
    on_terminal 20 "$ORRERY" list gpus h100-80gb-sxm
    sed -n '/^Sources/,$p' shown >sources
    between 35 60 sources
    COLUMNS=60 expect 0 "$ORRERY" list gpus h100-80gb-sxm
    sed -n '/^Sources/,$p' out >sources
    between 85 96 sources
}

@test "who takes longer than two seconds says that it is at work, whatever it does" {
    slowly() { sleep "${1:-2.7}"; cat "$hello"; }
    unset ORRERY_PROGRESS
    for command in "check -" "memory -" "run - --no-db" "study - --no-db --vary layout.microbatch=1"; do
        # shellcheck disable=SC2086
        slowly | expect 0 "$ORRERY" $command
        grep -qx "${command%% *}: at work for [23] s" err
        [ "$(grep -c "at work" err)" -eq 1 ] # the next one comes 30 s later
    done
    slowly 5.2 | expect 0 "$ORRERY" check -
    [ "$(grep -c "at work" err)" -eq 1 ]
    expect 0 "$ORRERY" check "$hello" # what is done in a blink says nothing
    lacks "at work" err
    slowly | ORRERY_PROGRESS=off expect 0 "$ORRERY" check -
    lacks "at work" err
    "$ORRERY" run "$hello" --db x.db >out 2>err
    timeout -s INT 3.5 "$ORRERY" replay x.db --port $((20000 + RANDOM % 20000)) >out 2>err || true # waits for its reader
    lacks "at work" out err
}

@test "on a terminal the line renews itself, and makes way for what is said" {
    unset ORRERY_PROGRESS
    echo "(sleep 4.2; cat '$hello') | '$ORRERY' check -" >slow
    on_terminal 90 bash slow
    [ "$(grep -o 'check: at work for [0-9]* s' shown | sort -u | wc -l)" -ge 2 ]
    echo "(sleep 1; cat '$hello') | '$ORRERY' check -" >quick # less than two seconds
    cp shown slow_shown
    on_terminal 90 bash quick
    lacks "at work" shown
    mv slow_shown shown
    # The line is taken away before the words that follow: after \033[K nothing of it is left.
    grep -aqP 'at work for \d+ s\e\[K<stdin>' shown
}

@test "the line of a plan's progress is taken away before its result" {
    unset ORRERY_PROGRESS
    on_terminal 120 "$ORRERY" plan --model llama3-70b --gpu h100-80gb-sxm --global-batch 1024 --threads 1 \
        --vary cluster.gpus=256,512,1024,2048
    grep -aqP 'plan: .* done, .* left\e\[K' shown
    ! grep -aP ' left(?!\e\[K)' shown || false
    # Without the line of who is at work, which is taken away, too; a search that takes a second.
    for gpus in 4096 16384 65536; do
        ORRERY_PROGRESS=off on_terminal 120 "$ORRERY" plan --model llama3-70b --gpu h100-80gb-sxm \
            --global-batch "$gpus" --threads 1 --gpus "$gpus"
        ! grep -aqP 'plan: .* done, .* left\e\[K' shown || break
    done
    grep -aqP 'plan: .* done, .* left\e\[K' shown
    ! grep -aP ' left(?!\e\[K)' shown || false
}

@test "files of the line are looked for before anything is played" {
    expect 1 "$ORRERY" run "$long" --no-db --uncertainty 400 --measured nofile.yaml:step=1s
    said "orrery run: --measured: cannot read nofile.yaml: No such file or directory"
    expect 1 "$ORRERY" run "$long" --no-db --uncertainty 400 --against nofile.yaml
    said "orrery run: --against: cannot read nofile.yaml: No such file or directory"
    expect 1 "$ORRERY" merge nofile1.db nofile2.db --json
    said "orrery merge: cannot read nofile1.db: No such file or directory"
    expect 1 "$ORRERY" validate "$BATS_TEST_DIRNAME/../validation/layers.csv" --profile nofile.db
    said "--profile: cannot read nofile.db"
    [ ! -s out ]
}

@test "weeks that hardly get on are left at the first signal" {
    run timeout --foreground --preserve-status -k 60 4 "$ORRERY" plan --model llama3-8b --gpu h100-80gb-sxm --gpus 64 --tokens 1T --mtbf 1s
    [ "$status" -eq 130 ]
}
