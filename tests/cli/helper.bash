# Common to the tests of the command line. ORRERY is the program, SCENARIOS the folder of scenario
# files; ctest sets both. Every test works in a folder of its own.
export ORRERY_PROGRESS=off # tests look at standard error; a slow machine would add lines

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    hello="$SCENARIOS/hello-8-gpus.yaml"
    long="$SCENARIOS/llama3-70b-64xh100.yaml" # its timeline fills megabytes
}

# expect CODE COMMAND...: runs it, stdout in out, stderr in err.
expect() {
    local want=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    if [ "$got" -ne "$want" ]; then
        echo "exit code $got, expected $want: $*"
        head -20 out err
        return 1
    fi
}
# `jq -e` of jq 1.6 says yes of an empty file: here it must answer.
jq() {
    [ "$1" = -e ] || { command jq "$@"; return; }
    local answer
    answer=$(command jq "$@") && [ -n "$answer" ] && printf '%s\n' "$answer"
}
said() { grep -qF -- "$1" err || { echo "stderr lacks '$1':"; cat err; return 1; }; }
shows() { grep -qF -- "$1" out || { echo "stdout lacks '$1':"; head -50 out; return 1; }; }
lacks() { if grep -q -- "$1" "${@:2}"; then echo "found '$1' in ${*:2}"; return 1; fi; }
# unpacked FILE: the documents of a page. zlib's stream with the head of a gzip file, whose sums are others.
unpacked() {
    { printf '\037\213\010\0\0\0\0\0\0\3'; sed -n 's/.*{"packed":"\([^"]*\)"}.*/\1/p' "$1" | base64 -d | tail -c +3; } |
        gzip -dc 2>/dev/null || true
}
# shipped: the files of scenarios that ship; the course (lessons/) has tests of its own.
shipped() { ls "$SCENARIOS"/*.yaml "$SCENARIOS"/{step,memory,weeks,studies}/*.yaml; }
shipped_names() { shipped | sed "s|^$SCENARIOS/||; s|\\.yaml$||"; } # as in weeks/rsc-1
sql() { sqlite3 "$@"; }
# long_one: begins a test whose lines shorter ones run too: with sanitizers it would take minutes.
long_one() { [ "${EVERY:-1}" -eq 1 ] || skip "played by a build without sanitizers"; }
