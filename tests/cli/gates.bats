# What other projects call: the pre-commit hooks, the GitHub Action, and what they read of this one.
load helper

yaml() { python3 -c 'import sys, yaml; d = yaml.safe_load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
files() {
    mkdir -p bin "with blanks"
    ln -sf "$ORRERY" bin/orrery
    export PATH=$PWD/bin:$PATH
    cp "$hello" good.yaml
    { cat "$hello"; echo 'expect: {mfu: ">= 99%"}'; } >held.yaml
    sed 's/tp: 1/tq: 1/' "$hello" >"with blanks/wrong.yaml"
    cp "$SCENARIOS/memory/memory-13b-1gpu.yaml" wall.yaml
}

@test "each hook calls a script that is there, and tells of every file" {
    command -v python3 >/dev/null && python3 -c 'import yaml' || skip "Python's yaml is not installed"
    files
    hooks=$SOURCES/.pre-commit-hooks.yaml
    [ "$(yaml "$hooks" '[h["id"] for h in d]')" = "['orrery-check', 'orrery-run']" ]
    [ "$(yaml "$hooks" '{(h["language"], tuple(h["types"])) for h in d}')" = "{('script', ('yaml',))}" ]
    # As pre-commit does: the words of the entry, the first below the hook's checkout, then files.
    read -r -a check <<<"$(yaml "$hooks" 'd[0]["entry"]')"
    read -r -a run <<<"$(yaml "$hooks" 'd[1]["entry"]')"
    expect 0 "$SOURCES/${check[0]}" "${check[1]}" good.yaml held.yaml
    expect 3 "$SOURCES/${check[0]}" "${check[1]}" "with blanks/wrong.yaml" good.yaml
    said "unknown key 'tq'"
    shows "good.yaml: no errors"
    expect 4 "$SOURCES/${check[0]}" "${check[1]}" "with blanks/wrong.yaml" wall.yaml good.yaml
    expect 0 "$SOURCES/${run[0]}" "${run[1]}" good.yaml
    expect 6 "$SOURCES/${run[0]}" "${run[1]}" held.yaml good.yaml
    said 'held.yaml:10:15: error: expect.mfu: expected >= 99%'
    shows "GPT-2 on 8 H100"
    [ -z "$(ls -- *.db 2>/dev/null)" ]
    expect 2 "$SOURCES/${run[0]}" sweep good.yaml
    expect 0 "$SOURCES/${run[0]}" run
}

@test "the step of the action: files from its inputs, whose text is no command" {
    command -v python3 >/dev/null && python3 -c 'import yaml' || skip "Python's yaml is not installed"
    files
    action=$SOURCES/action.yml
    [ "$(yaml "$action" 'd["runs"]["using"], sorted(d["inputs"]), d["inputs"]["command"]["default"]')" = \
        "('composite', ['command', 'scenarios'], 'check')" ]
    yaml "$action" 'd["runs"]["steps"][1]["run"]' >step.sh
    lacks 'inputs\.' step.sh
    [ "$(yaml "$action" 'd["runs"]["steps"][1]["env"]')" = "{'COMMAND': '\${{ inputs.command }}', 'SCENARIOS': '\${{ inputs.scenarios }}'}" ]
    step() { env GITHUB_ACTION_PATH="$SOURCES" COMMAND="$1" SCENARIOS="$2" bash --noprofile --norc -eo pipefail step.sh; }
    expect 0 step check $'good.yaml\nheld.yaml\n'
    expect 6 step run "good.yaml  held.yaml"
    expect 1 step check "good.yaml gone.yaml"
    expect 1 step check 'good.yaml $(touch broken)'
    [ ! -e broken ]
    # What it installs when there is none: the package of this checkout.
    yaml "$action" 'd["runs"]["steps"][0]["run"]' >install.sh
    env GITHUB_ACTION_PATH=/nowhere bash -eo pipefail install.sh
    grep -q 'bootstrap.sh" package' install.sh
    "$SOURCES/bootstrap.sh" 2>&1 | grep -q 'bootstrap.sh package .*build/package/orrery_\*\.deb'
}

@test "CITATION.cff has the keys that version 1.2.0 of the format demands, and this version" {
    python3 -c 'import yaml' || skip "Python's yaml is not installed"
    cff=$SOURCES/CITATION.cff
    [ "$(yaml "$cff" 'sorted({"authors", "cff-version", "message", "title"} - set(d))')" = "[]" ]
    [ "$(yaml "$cff" 'd["cff-version"], d["type"], d["license"]')" = "('1.2.0', 'software', 'Apache-2.0')" ]
    [ "orrery $(yaml "$cff" 'd["version"]')" = "$("$ORRERY" --version)" ]
}
