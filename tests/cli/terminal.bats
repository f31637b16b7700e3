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

@test "the manual page is the help of every command, and scdoc takes it" {
    command -v scdoc >/dev/null || skip "scdoc is not installed"
    page="$BATS_TEST_DIRNAME/../../docs/man"
    expect 0 "$page" "$ORRERY"
    cp out page.scd
    scdoc <page.scd >page.1
    grep -q '^.TH "orrery" "1"' page.1
    for command in $("$ORRERY" doctor | sed -n 's/^  can  *//p'); do
        grep -qi "^.SH ORRERY $command\$" page.1
        "$ORRERY" "$command" --help | while read -r line; do
            grep -qF -- "$line" page.scd || { echo "the page lacks: $line"; exit 1; }
        done
    done
}
