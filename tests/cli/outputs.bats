# What is written never takes the place of what is read, and never in silence.
load helper

# unharmed FILE COMMAND...: refused with exit code 2 and a sentence; FILE keeps its bytes.
unharmed() {
    local file=$1
    shift
    cp "$file" before
    expect 2 "$ORRERY" "$@"
    said "which is read"
    cmp "$file" before
    rm before
}

@test "no output destroys an input: itself, links, other spellings, names on the way" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    cp "$hello" s.yaml
    mkdir folder
    ln -s x.db soft.db
    ln x.db hard.db
    unharmed x.db export x.db --output x.db
    unharmed x.db export x.db --format svg --output "$PWD/x.db"
    unharmed x.db export folder/../x.db --output ./x.db
    unharmed x.db export x.db --output soft.db
    unharmed x.db export soft.db --output x.db
    unharmed x.db export x.db --output hard.db
    cp x.db y.db.partial
    unharmed y.db.partial export y.db.partial --output y.db
    unharmed s.yaml run s.yaml --db s.yaml
    unharmed s.yaml run "$hello" --uncertainty 2 --against s.yaml --db s.yaml
    unharmed s.yaml run "$hello" --uncertainty 2 --measured s.yaml:step=1s --db s.yaml
    unharmed s.yaml profile shapes s.yaml --output s.yaml
    unharmed s.yaml import failures s.yaml --gpus 8 --output s.yaml
    for beside in "" -journal -wal -shm -whole; do
        cp s.yaml "t.partial$beside"
        unharmed "t.partial$beside" run "t.partial$beside" --db t
        rm "t.partial$beside"
    done
    cp s.yaml t.partial-other # is nobody's
    expect 0 "$ORRERY" run t.partial-other --db t
    unharmed s.yaml study s.yaml --vary seed=1,2 --svg s.yaml
    unharmed s.yaml study s.yaml --db s.yaml
    unharmed s.yaml run - --db s.yaml <s.yaml
    cp "$BATS_TEST_DIRNAME/../validation/layers.csv" v.csv
    unharmed v.csv validate v.csv --svg v.csv
    [ ! -e x.db.partial ]
    expect 0 "$ORRERY" validate /dev/stdin --worst 0 --svg /dev/null < <(cat v.csv) # pipes and devices lose nothing
    expect 0 "$ORRERY" export x.db --output x.json # and others are written
    [ -s x.json ]
}

@test "files that a scenario names, and those of a catalogue, are inputs too" {
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/huggingface/llama" config.json
    sed 's/^model:.*/model: {hf: config.json}/' "$hello" >hf.yaml
    expect 0 "$ORRERY" check hf.yaml
    unharmed config.json run hf.yaml --db config.json
    unharmed config.json study hf.yaml --vary layout.microbatch=1 --db config.json
    cp config.json other.json
    unharmed other.json study hf.yaml --vary model.hf=config.json,other.json --db other.json
    unharmed config.json study hf.yaml --vary model.hf=config.json,other.json --db config.json
    cp -r "$SCENARIOS/catalogue" mine
    unharmed mine/gpus.yaml run "$hello" --catalogue mine --db mine/gpus.yaml
    unharmed mine/gpus.yaml validate "$BATS_TEST_DIRNAME/../validation/layers.csv" \
        --catalogue mine --svg mine/../mine/gpus.yaml
    printf 'at,unit_kind,unit,cause,repair\n3.2h,gpu,1,HBM,2h\n' >trace.csv
    cat "$hello" - >weeks.yaml <<'YAML'
run: {duration: 7d}
failures: [{cause: log, law: trace, trace: trace.csv}]
checkpoint: {policy: none}
YAML
    expect 0 "$ORRERY" check weeks.yaml
    unharmed trace.csv run weeks.yaml --db trace.csv
}

@test "two outputs are two files" {
    expect 2 "$ORRERY" study "$hello" --vary layout.microbatch=1 --db a.db --svg a.db
    said "--svg and --db would be the same file"
    expect 2 "$ORRERY" study "$hello" --vary layout.microbatch=1 --db a.db --svg ./a.db.partial
    said "would be the same file"
    mkdir folder
    expect 2 "$ORRERY" study "$hello" --vary layout.microbatch=1 --db folder/a --svg folder/../folder/a
    said "would be the same file"
    [ -z "$(find . -name 'a*')" ]
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1 --no-db --svg a
}

@test "standard output and error are outputs: appended to what is read they would never end it" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    cp x.db before
    got=0
    "$ORRERY" export x.db >>x.db 2>err || got=$?
    [ "$got" -eq 2 ]
    said "standard output goes to x.db"
    cmp x.db before
    cp "$hello" s.yaml
    got=0
    "$ORRERY" check s.yaml >out 2>>s.yaml || got=$?
    [ "$got" -eq 2 ]
    touch gpus # a word of the line is no file
    "$ORRERY" list gpus >gpus
    [ -s gpus ]
}

@test "targets that cannot be written are told before the simulation" {
    mkdir folder
    echo old >kept.svg
    chmod a-w kept.svg
    study=(study "$hello" --vary layout.microbatch=1 --no-db --svg)
    for target in none/u.svg folder kept.svg /proc/u.svg "$(printf 'x%.0s' $(seq 300))"; do
        expect 1 "$ORRERY" "${study[@]}" "$target"
        said "--svg"
        [ ! -s out ]
    done
    expect 1 "$ORRERY" "${study[@]}" kept.svg
    said "kept.svg is read-only"
    [ "$(cat kept.svg)" = old ]
    echo thesis >thesis
    ln -s thesis t.svg.partial # is not followed
    expect 1 "$ORRERY" "${study[@]}" t.svg
    said "t.svg.partial"
    [ "$(cat thesis)" = thesis ]
    [ -z "$(find . -name 'u.svg*')" ]
    for target in none/a.db folder kept.svg /proc/a.db; do
        for command in run study; do
            expect 1 "$ORRERY" $command "$hello" --db "$target"
            said "$target"
            [ ! -s out ]
        done
    done
    [ "$(cat kept.svg)" = old ]
}

@test "a link in the place of the half file is followed by nobody" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    printf 'at,node,cause,repair_s\n1h,n1,HBM,60\n' >log.csv
    echo thesis >thesis
    ln -s thesis t.out.partial
    for line in "export x.db --output" "export x.db --format csv --table meta --output" "export x.db --svg map --output" \
        "export $hello --launch megatron --output" "profile shapes $hello --output" "replay x.db --html" "explain x.db --svg" \
        "validate $BATS_TEST_DIRNAME/../validation/layers.csv --svg" "import failures log.csv --gpus 8 --gpus-per-node 8 --output"; do
        expect 1 "$ORRERY" $line t.out
        said "t.out.partial"
        [ "$(cat thesis)" = thesis ] && [ ! -e t.out ] || { echo "written by: $line"; return 1; }
    done
}

@test "a file that could not be written whole does not get its name" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    old='{"displayTimeUnit":"old"}'
    echo "$old" >t.json
    got=0
    (ulimit -f 4; exec "$ORRERY" export x.db --output t.json >out 2>err) || got=$?
    [ "$got" -eq 1 ]
    said "cannot write t.json"
    [ "$(cat t.json)" = "$old" ]
    [ ! -e t.json.partial ]
    ln -s /dev/full full # by a link: a fault that removes it does not remove the device
    expect 1 "$ORRERY" export x.db --output full
    said "cannot write full: No space left"
    [ -c full ]
    expect 1 "$ORRERY" export "$hello" --launch megatron --output full
    said "orrery export: cannot write full: No space left"
    [ -c full ]
    expect 0 "$ORRERY" export "$hello" --launch megatron --output x.sh
    lacks "orrery export" err
}

@test "names that mean something elsewhere: taken as users expect, or refused with a sentence" {
    expect 2 "$ORRERY" run "$hello" --db :memory:
    said "--no-db"
    expect 2 "$ORRERY" run "$hello" --db -
    said "cannot be a stream"
    expect 2 "$ORRERY" run "$hello" --db file:x.db
    said "./file:NAME"
    [ -z "$(ls -A | grep -v '^out$\|^err$')" ]
    expect 0 "$ORRERY" run "$hello" --db ./file:x.db
    [ -s file:x.db ]
    expect 2 "$ORRERY" study "$hello" --vary layout.microbatch=1 --no-db --svg -
    said "name a file"
    "$ORRERY" export ./file:x.db >direct
    expect 0 "$ORRERY" export ./file:x.db --output -
    cmp out direct
    [ ! -e - ]
    for same in /dev/fd/1 /proc/self/fd/1; do # not /dev/stdout, which a fault could remove
        "$ORRERY" export ./file:x.db --output $same >through
        cmp through direct
    done
    expect 1 "$ORRERY" export - <./file:x.db
    said "a database cannot be read from a stream"
}

@test "a scenario from standard input: run, check, memory, study, validate" {
    "$ORRERY" run "$hello" --no-db --json >file.json
    for how in pipe file; do
        rm -f ./*.db
        if [ $how = pipe ]; then
            cat "$hello" | expect 0 "$ORRERY" run - --json
        else
            expect 0 "$ORRERY" run - --json <"$hello"
        fi
        [ "$(grep '"digest"' out)" = "$(grep '"digest"' file.json)" ]
        [ -s stdin.db ]
    done
    echo 'nonsense: 1' | expect 3 "$ORRERY" check -
    said "<stdin>:1:1"
    cat "$hello" | expect 0 "$ORRERY" memory -
    cat "$hello" | expect 0 "$ORRERY" study - --vary layout.microbatch=1,2 --no-db --csv
    cp out piped
    expect 0 "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --no-db --csv
    cmp piped out
    cat "$BATS_TEST_DIRNAME/../validation/layers.csv" | expect 0 "$ORRERY" validate - --worst 0
}

@test "every command notices that standard output is full" {
    "$ORRERY" run "$hello" --db x.db >out 2>err
    csv="$BATS_TEST_DIRNAME/../validation/layers.csv"
    for line in "run $hello --no-db" "run $hello --no-db --json" "run $hello --db y.db" \
        "check $hello" "memory $hello" "study $hello --no-db" "study $hello --db z.db" \
        "collective" "export x.db" "validate $csv" "list" "schema" "doctor" "completion bash" \
        "run --help" "--help" "-h" "--version"; do
        got=0
        "$ORRERY" $line >/dev/full 2>err || got=$?
        [ "$got" -eq 1 ] || { echo "$got: $line"; return 1; }
        said "standard output: No space left"
    done
}

@test "a reader that has left is no trouble to tell" {
    for line in "list" "list gpus" "schema" "export x.db"; do
        "$ORRERY" run "$hello" --db x.db >out 2>err
        { got=0; "$ORRERY" $line 2>err || got=$?; echo "$got" >code; } | head -n 1 >head
        [ "$(cat code)" -eq 0 ]
        [ ! -s err ]
    done
}

@test "2>&1 keeps the order: the report, then what is said of it" {
    "$ORRERY" run "$hello" --db x.db >both 2>&1
    tail -n 1 both | grep -q "x.db: .* rows"
    "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --db s.db >both 2>&1
    head -n 1 both | grep -q "s.db"
    tail -n 1 both | grep -q "2 points, 2 replications"
    "$ORRERY" memory "$hello" -v >both 2>&1
    "$ORRERY" memory "$hello" -v >out 2>err
    cat err out | cmp - both
}

@test "-h is --help, everywhere" {
    "$ORRERY" --help >long
    expect 0 "$ORRERY" -h
    cmp out long
    for command in run check memory study collective export validate list schema doctor completion; do
        "$ORRERY" "$command" --help >long
        expect 0 "$ORRERY" "$command" -h
        cmp out long
    done
    expect 0 "$ORRERY" run nothing.yaml -h
}

@test "no HOME, no folder to stand in" {
    expect 0 env -u HOME "$ORRERY" run "$hello" --db x.db
    mkdir gone
    cd gone
    rmdir ../gone
    here=$BATS_TEST_TMPDIR
    got=0
    "$ORRERY" run "$hello" >"$here/out" 2>"$here/err" || got=$?
    [ "$got" -eq 1 ]
    "$ORRERY" run "$hello" --db "$here/y.db" >"$here/out" 2>>"$here/err"
    cd "$here"
    said "hello-8-gpus.db"
    said "y.db: "
    [ -s y.db ]
}
