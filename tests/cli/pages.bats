# Pages of one line a question, which rot unless they are played: docs/cheatsheet.md, docs/queries.md.
load helper

@test "the cheat sheet: one page, every command, and each line does what it says" {
    page="$SOURCES/docs/cheatsheet.md"
    [ "$(wc -l <"$page")" -le 60 ]
    for command in $("$ORRERY" schema --commands | jq -r '.commands[].name'); do
        grep -q "^orrery $command " "$page" || grep -qx "orrery $command" "$page" || { echo "no line of $command"; return 1; }
    done
    # Nothing is told of a code that --help does not have, and none is left out.
    "$ORRERY" --help | sed -n '/^exit code/,/^$/p' | grep -oE '\b[0-9]+ [a-z]' | cut -d' ' -f1 >codes
    sed -n 's/^Exit codes: //p' "$page" | grep -oE '\b[0-9]+ [a-z]' | cut -d' ' -f1 | diff codes -
    PATH="$(dirname "$ORRERY"):$PATH" expect 0 "$SOURCES/tests/readme" "$(dirname "$ORRERY")/.." "$page"
    shows ", 0 failed"
}

@test "docs/queries.md: every query answers, and every table and view has one" {
    expect 0 python3 "$BATS_TEST_DIRNAME/queries.py" "$ORRERY" "$SOURCES"
    shows ", 0 faults"
}
