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
