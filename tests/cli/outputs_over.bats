# No command writes over what is not its own: every output option of every command, as the program's
# own tables list them, is given its own inputs, results databases, scenarios and files of others.
load helper

validation=$BATS_TEST_DIRNAME/../validation

# The lines that have the option to be filled in, one a line: the word IN is the input.
lines_of() { # command option
    case "$1 $2" in
    "chakra --db") echo "chakra $hello job IN=job.0.et" ;;
    "explain --svg") echo "explain IN=run.db" ;;
    "merge --db" | "merge --svg") echo "merge IN=study.db" ;;
    "validate --svg") echo "validate IN=rows.csv" ;;
    "lesson --db" | "lesson --html") echo "lesson IN=lesson.yaml" ;;
    "import --output")
        echo "import nccl-tests IN=nccl.txt --op all_reduce --gpu h100-80gb-sxm"
        echo "import pytorch IN=trace.json --gpu h100-80gb-sxm"
        echo "import failures IN=log.csv --gpus 64"
        echo "import xid IN=log.csv"
        echo "import slurm IN=log.csv"
        ;;
    "plan --db") echo "plan IN=scenario.yaml" ;;
    "study --db" | "study --svg") echo "study IN=scenario.yaml --vary layout.microbatch=1,2" ;;
    "run --db")
        echo "run IN=scenario.yaml"
        echo "run $hello --uncertainty 2 --against IN=scenario.yaml"
        echo "run $hello --uncertainty 2 --measured IN=scenario.yaml:step=1s"
        ;;
    "export --output")
        for format in chrome csv svg failures; do echo "export IN=run.db --format $format"; done
        for picture in memory map; do echo "export IN=run.db --svg $picture"; done
        echo "export IN=scenario.yaml --launch megatron"
        echo "export IN=scenario.yaml --launch megatron --json"
        echo "export IN=run.db --launch torchtitan"
        ;;
    "replay --html")
        echo "replay IN=run.db"
        echo "replay run.db IN=other.db"
        ;;
    "profile --output")
        echo "profile shapes IN=scenario.yaml"
        echo "profile from IN=rows.csv --gpu h100-80gb-sxm"
        ;;
    *) return 1 ;;
    esac
}

files() {
    cp "$hello" scenario.yaml
    "$ORRERY" run "$hello" --db run.db >out 2>err
    cp run.db other.db
    "$ORRERY" study "$hello" --vary layout.microbatch=1,2 --shard 1/1 --db study.db >out 2>err
    printf 'name: small\nmodel: {preset: gpt2-124m}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n' >lesson.yaml
    printf 'training: {sequence: 1024, global_batch: 64}\nlayout: {microbatch: 8}\n' >>lesson.yaml
    printf 'lesson:\n  order: 1\n  shows: s\n  look_for: l\n' >>lesson.yaml
    cp "$validation/kernels.csv" rows.csv
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/import/nccl_tests" nccl.txt
    cp "$BATS_TEST_DIRNAME/../fuzz/corpus/import/pytorch" trace.json
    printf 'at,unit_kind,unit,cause,repair\n3.2h,gpu,1,HBM,2h\n9h,gpu,2,HBM,2h\n' >log.csv
    python3 "$BATS_TEST_DIRNAME/chakra_write.py" job 8 <<<"all 4 1 us=1000 name=forward"
    sqlite3 foreign.db 'create table t (x); insert into t values (1)'
    printf 'A thesis.\n' >thesis.txt
    printf '\0\1\2\3' >weights.bin
    printf '{"model": "gpt2-124m"}\n' >scenario.json
    rm out err
}

# refused TARGET COMMAND...: told, nothing of the folder is changed, nothing is left in it.
refused() {
    local target=$1 got=0
    shift
    timeout 100 "$ORRERY" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || got=$?
    if [ "$got" -lt 1 ] || [ "$got" -gt 3 ] || [ ! -s "$BATS_TEST_TMPDIR/err" ]; then
        echo "exit code $got: orrery $*"
        return 1
    fi
    sums >"$BATS_TEST_TMPDIR/after"
    diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after" || { echo "changed by: orrery $*"; return 1; }
}
# unharmed COMMAND...: whatever becomes of it, what was there before is as it was.
unharmed() {
    timeout 100 "$ORRERY" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || true
    md5sum --quiet -c "$BATS_TEST_TMPDIR/before" || { echo "changed by: orrery $*"; return 1; }
    find . -newer "$BATS_TEST_TMPDIR/before" -type f -delete
}
sums() { find . -type f -o -type l | sort | xargs md5sum; }

@test "no output of any command takes the place of an input, a database, a scenario, a stranger's file" {
    mkdir folder
    cd folder
    files
    "$OUTPUTS" >../options
    [ "$(wc -l <../options)" -ge 12 ]
    while read -r command option kind; do
        lines_of "$command" "$option" >../lines || { echo "no line tries $command $option"; return 1; }
        while read -r line; do
            input=$(grep -o 'IN=[^ :]*' <<<"$line" | cut -c4-)
            read -ra words <<<"${line//IN=/}"
            [ "$command" != chakra ] || words=(chakra "$hello" job)
            ln "$input" hard.link
            ln -s "$input" soft.link
            cp thesis.txt way.partial # stands on the way of `way`
            sums >../before
            for target in "$input" "./$input" hard.link soft.link; do
                refused "$target" "${words[@]}" "$option" "$target" </dev/null
            done
            foreign="foreign.db thesis.txt weights.bin scenario.json rows.csv"
            # A results database replaces one of its own, and that is told (resume.bats).
            [ "$kind" = database ] || foreign="$foreign other.db study.db lesson.yaml"
            # A table of columns takes the place of another.
            [[ "$line" != *csv* && "$line" != *failures* && "$line" != *xid* && "$line" != *slurm* ]] ||
                foreign=${foreign/rows.csv/}
            for target in $foreign; do
                refused "$target" "${words[@]}" "$option" "$target" </dev/null
            done
            unharmed "${words[@]}" "$option" way
            rm hard.link soft.link way.partial
        done <../lines
    done <../options
}

@test "an output takes the place of its own kind, and an option that the tables do not know is met too" {
    "$ORRERY" run "$hello" --db run.db >out 2>err
    for twice in 1 2; do
        for format in chrome csv svg; do
            expect 0 "$ORRERY" export run.db --format $format --output x.$format
        done
        expect 0 "$ORRERY" export "$hello" --launch megatron --output x.sh
        expect 0 "$ORRERY" export "$hello" --launch megatron --json --output x.json
        expect 0 "$ORRERY" profile shapes "$hello" --output x.shapes
        expect 0 "$ORRERY" explain run.db --svg x.explained
        expect 0 "$ORRERY" replay run.db --html x.html
        expect 0 "$ORRERY" export run.db --table layout_rank --format csv --output x.csv
        : >x.sh # empty: nothing is lost
    done
    expect 1 "$ORRERY" export run.db --format svg --output x.html
    said "x.html holds something else, not an SVG picture: not replaced"
    cp run.db x.db
    expect 1 "$ORRERY" explain run.db --svg x.db
    said "--svg: x.db holds a database, not an SVG picture: not replaced; name another file"
}
