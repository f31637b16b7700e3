load helper

# page LINE...: a README with these lines in an sh block.
page() {
    { echo "text"; echo '```sh'; printf '%s\n' "$@"; echo '```'; echo "false is text"; } >page.md
}
readme() { "$SCENARIOS/../tests/readme" "$(dirname "$ORRERY")/.." page.md; }

@test "the README's commands are run in one shell, and a failing one is named" {
    page './bootstrap.sh run' 'export PATH="$PWD/build/release/analysis:$PATH"' \
        'orrery list gpus > gpus' 'test -s gpus && test -s \' '  llama3-70b-64xh100.db'
    expect 0 readme
    shows "4 commands, 0 failed"
    page 'true' 'sh -c "exit 4"   # dies (exit code 4)' 'no-such-command x'
    expect 1 readme
    shows "exit code 127, not 0: no-such-command x"
    shows "3 commands, 1 failed"
    page 'true # exit code 4'
    expect 1 readme
    page
    expect 1 readme
}

@test "what a page shows must have been printed, figures and all" {
    page 'echo "step time 34.9 s of 256 sequences and a long tail that is cut"'
    { echo '```text'; echo 'step time 34.9 s of 256 sequences and a long tail'; echo 'step time ...'; echo '```'; } >>page.md
    expect 0 readme
    sed -i 's/^step time 34.9/step time 34.8/' page.md
    expect 1 readme
    shows "no command prints: step time 34.8 s"
    sed -i 's/^step time 34.8/step time 34.9/; s/a long tail$/a long nose/' page.md
    expect 1 readme
    shows "a long nose"
    sed -i 's/a long nose$/a long tail/; s/^step time \.\.\./step cost .../' page.md
    expect 1 readme
    shows "no command prints: step cost ..."
}

@test "of a page with a section only that is read" {
    page false
    { echo '## The one'; echo '```sh'; echo 'echo a line'; echo '```'; echo '```text'; echo 'a line'; echo '```'
        echo '## Another'; echo '```sh'; echo 'false'; echo '```'; } >>page.md
    expect 0 "$SCENARIOS/../tests/readme" "$(dirname "$ORRERY")/.." "page.md#The one"
    shows "1 commands, 0 failed"
    sed -i 's/^a line/b line/' page.md
    expect 1 "$SCENARIOS/../tests/readme" "$(dirname "$ORRERY")/.." "page.md#The one"
    expect 1 "$SCENARIOS/../tests/readme" "$(dirname "$ORRERY")/.." "page.md#No such"
    shows "has no section 'No such'"
}

@test "pages are read one after the other, in one shell" {
    page 'first=1'
    mv page.md first.md
    page 'test "$first" = 1'
    expect 0 "$SCENARIOS/../tests/readme" "$(dirname "$ORRERY")/.." first.md page.md
    expect 1 readme
}

@test "docs/commands.md has a section for each command, and for nothing else" {
    "$ORRERY" --help | awk '/^usage:/ {on = 1} /^  --version/ {on = 0} on && /^  [a-z]/ {print $1}' | sort >commands
    grep '^## ' "$SCENARIOS/../docs/commands.md" | cut -c4- | sort >sections
    diff commands sections
    [ "$(wc -l <commands)" -ge 21 ]
}

docs_names() { python3 "$BATS_TEST_DIRNAME/docs_names.py" "$ORRERY" "$SCENARIOS/.." "$@"; }

@test "every command, option and key that a page names exists" {
    expect 0 docs_names "$SCENARIOS"/../README.md $(find "$SCENARIOS/../docs" -name '*.md')
    [ "$(tail -1 out | tr -c '0-9\n' ' ' | awk '{print ($1 > 200 && $2 > 300 && $3 > 40)}')" = 1 ]
    # and one that does not is named, wherever it stands
    { echo 'Call `orrery pln --db x.db`, `orrery run x.yaml --no-dbs`, `--frob'nicate'`, `layout.ttp`, `failures[0].mtbff`.'
        echo '```sh'; echo 'orrery run x.yaml | grep --colour x; orrery study x.yaml \'; echo '  --seed-count 4'; echo '```'
        echo 'And `layout.tp`, `failures[].mtbf`, `run.db`, `orrery run x.yaml --set layout.tp=2`.'; } >page.md
    expect 1 docs_names page.md
    for fault in 'page.md:1: there is no command `orrery pln`' 'page.md:1: `orrery run` has no option --no-dbs' 'page.md:1: no program knows the option --frob'nicate'' \
        'page.md:1: there is no key `layout.ttp`' 'page.md:1: there is no key `failures[0].mtbff`' 'page.md:3: `orrery study` has no option --seed-count'; do
        shows "$fault"
    done
    shows "6 that do not exist"
}
